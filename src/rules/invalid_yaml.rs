//! `invalid-yaml`: a YAML file does not parse.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, is_template, is_yaml};
use crate::kustomize::ProblemKind;
use crate::repo::Repo;
use crate::source::FileId;

pub(super) static RULE: Rule = Rule {
    name: "invalid-yaml",
    group: Group::Build,
    summary: "a YAML file does not parse",
    page: include_str!("../../rules/invalid-yaml.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in repo.head.tree.files() {
        let live = stops_a_build(repo, file);
        if !is_yaml(path) || !live && is_template(&repo.head.tree, path) {
            continue;
        }
        let Some(error) = &repo.files.yaml(file).error else {
            continue;
        };
        let text = repo.files.text(file);
        if !live && (text.contains("{{") || text.contains("{%")) {
            continue;
        }
        let severity = if live {
            Severity::Error
        } else {
            Severity::Info
        };
        let mut finding = Finding::new(
            RULE.name,
            severity,
            error.place,
            format!("the file is no valid YAML: {}", error.message),
        );
        finding.help = Some(if live {
            "mend the syntax here or on the line above; a build that reads this file fails as a whole".to_owned()
        } else {
            "mend the syntax here or on the line above; no build needs it to be YAML now".to_owned()
        });
        if live {
            finding.clusters = repo
                .head
                .flux
                .clusters
                .iter()
                .filter(|cluster| cluster_is_stopped(cluster, file))
                .map(|cluster| cluster.path.clone())
                .collect();
        }
        findings.push(finding);
    }
    findings
}

/// True if some build fails because of the file. A generator takes any text, so its inputs need not be YAML.
fn stops_a_build(repo: &Repo, file: FileId) -> bool {
    repo.head.live.files.contains(&file)
        && repo
            .head
            .flux
            .clusters
            .iter()
            .any(|cluster| cluster_is_stopped(cluster, file))
}

fn cluster_is_stopped(cluster: &Cluster, file: FileId) -> bool {
    cluster.kustomizations.iter().any(|kustomization| {
        kustomization
            .build
            .problems
            .iter()
            .any(|problem| problem.kind == ProblemKind::InvalidYaml && problem.place.file == file)
    })
}
