//! `duplicate-key`: a mapping has a key twice.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml};
use crate::kustomize::KUSTOMIZATION_FILE_NAMES;
use crate::repo::Repo;
use crate::tree::split;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-key",
    group: Group::Build,
    summary: "a mapping has a key twice",
    page: include_str!("../../rules/duplicate-key.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in repo.head.tree.files() {
        let live = repo.head.live.files.contains(&file);
        // Of files that no build reads, only those that Kubernetes would read are judged.
        if !is_yaml(path) || !live && is_template(&repo.head.tree, path) {
            continue;
        }
        let yaml = repo.files.yaml(file);
        let in_kustomization_file = KUSTOMIZATION_FILE_NAMES.contains(&split(path).1);
        for duplicate in &yaml.duplicate_keys {
            let is_object = yaml
                .documents
                .get(duplicate.document)
                .is_some_and(|document| {
                    document.root.get("kind").is_some() && document.root.get("apiVersion").is_some()
                });
            if !live && !is_object {
                continue;
            }
            // A generator takes the file as text: whoever reads it takes the last.
            let (severity, consequence) = if in_kustomization_file || !is_object {
                (Severity::Warning, "the last one wins")
            } else {
                (Severity::Error, "kustomize refuses the file")
            };
            findings.push(
                Finding::new(
                    RULE.name,
                    severity,
                    duplicate.second,
                    format!("key `{}` is there twice: {consequence}", duplicate.key),
                )
                .help("join the two, or remove one")
                .related(duplicate.first, "the first one"),
            );
        }
    }
    findings
}
