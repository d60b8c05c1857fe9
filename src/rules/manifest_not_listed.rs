//! `manifest-not-listed`: a manifest beside a live kustomization file that nothing references.

use std::collections::BTreeSet;

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml, join_name};
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, kustomization_file};
use crate::repo::Repo;
use crate::source::{FileId, Place};
use crate::tree::{Child, join};
use crate::yaml::{Node, Value};

pub(super) static RULE: Rule = Rule {
    name: "manifest-not-listed",
    group: Group::Build,
    summary: "a manifest lies beside a kustomization file and nothing references it",
    page: include_str!("../../rules/manifest-not-listed.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let referenced = referenced_paths(repo);
    let mut findings = Vec::new();
    for (directory, file) in &repo.head.live.directories {
        let Some(kustomization) = file else { continue };
        for (name, child) in repo.head.tree.children(directory) {
            let Child::File(manifest) = child else {
                continue;
            };
            let path = join_name(directory, name);
            if !is_yaml(name)
                || KUSTOMIZATION_FILE_NAMES.contains(&name)
                || repo.head.live.files.contains(&manifest)
                || referenced.contains(&path)
                || is_template(&repo.head.tree, &path)
                || !is_manifest(repo, manifest)
            {
                continue;
            }
            findings.push(report(repo, directory, *kustomization, name, manifest));
        }
    }
    findings
}

/// True if every document is a Kubernetes object that some cluster could want: a patch
/// fragment or a kustomization is none, nor is an object of a tool that reads its own files.
fn is_manifest(repo: &Repo, file: FileId) -> bool {
    let yaml = repo.files.yaml(file);
    let mut documents = yaml.seen().peekable();
    documents.peek().is_some()
        && yaml.error.is_none()
        && documents.all(|document| {
            let root = &document.root;
            let group = root
                .str_at(&["apiVersion"])
                .and_then(|version| version.split_once('/'))
                .map_or("", |(group, _)| group);
            root.str_at(&["kind"]).is_some()
                && root.str_at(&["apiVersion"]).is_some()
                && root.str_at(&["metadata", "name"]).is_some()
                && !matches!(group, "kustomize.config.k8s.io" | "config.kubernetes.io")
                && root.str_at(&["kind"]) != Some("ServiceDefinition")
        })
}

fn report(
    repo: &Repo,
    directory: &str,
    kustomization: FileId,
    name: &str,
    manifest: FileId,
) -> Finding {
    let comment = repo
        .files
        .yaml(kustomization)
        .comments
        .iter()
        .find(|comment| names_file(&comment.text, name));
    let severity = if comment.is_some() {
        Severity::Info
    } else {
        Severity::Warning
    };
    let finding = Finding::new(
        RULE.name,
        severity,
        Place::file_start(manifest),
        format!("`{name}` is in no build: the kustomization file beside it does not list it"),
    )
    .help(format!(
        "add `- {name}` to `resources` of {}, or delete the file",
        repo.files.path(kustomization)
    ));
    let _ = directory;
    match comment {
        Some(comment) => finding.related(comment.place, "this comment names it"),
        None => {
            let place = repo
                .files
                .yaml(kustomization)
                .documents
                .first()
                .and_then(|document| document.root.entry("resources"))
                .map_or(Place::file_start(kustomization), |entry| entry.key.place);
            finding.related(place, "the list")
        }
    }
}

/// True if a comment names the file, and not a longer name that ends with it.
fn names_file(comment: &str, name: &str) -> bool {
    comment.match_indices(name).any(|(at, _)| {
        let before = comment[..at].chars().next_back();
        let after = comment[at + name.len()..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '/' | '-' | '"' | '\'' | '`'))
            && after.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
    })
}

/// Every path that any kustomization file of the tree, live or not, names in any scalar.
fn referenced_paths(repo: &Repo) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (directory, _) in std::iter::once("")
        .chain(repo.head.tree.directories())
        .filter_map(|directory| Some((directory, kustomization_file(&repo.head.tree, directory)?)))
    {
        if let Some(file) = kustomization_file(&repo.head.tree, directory)
            && let Some(document) = repo.files.yaml(file).documents.first()
        {
            collect(&document.root, directory, &mut found);
        }
    }
    found
}

fn collect(node: &Node, directory: &str, found: &mut BTreeSet<String>) {
    match &node.value {
        Value::Scalar(scalar) => {
            // A generator names its files as `key=path`.
            let path = scalar
                .text
                .rsplit_once('=')
                .map_or(scalar.text.as_str(), |(_, path)| path);
            if path.len() < 256 && !path.contains('\n') {
                found.extend(join(directory, path));
            }
        }
        Value::Sequence(items) => {
            for item in items.iter() {
                collect(item, directory, found);
            }
        }
        Value::Mapping(mapping) => {
            for entry in &mapping.entries {
                collect(&entry.value, directory, found);
            }
        }
    }
}
