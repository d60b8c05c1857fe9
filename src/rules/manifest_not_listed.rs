//! `manifest-not-listed`: a manifest beside a live kustomization file that nothing references.

use std::collections::{BTreeMap, BTreeSet};

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml, join_name};
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, ProblemKind, kustomization_file, meant};
use crate::repo::Repo;
use crate::source::{FileId, Place};
use crate::tree::{Child, join, split};
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
    let mut referenced = referenced_paths(repo);
    referenced.extend(meant_by_missing(repo));
    let mut findings = Vec::new();
    for (directory, file) in &repo.head.live.directories {
        let Some(kustomization) = file else { continue };
        for (path, manifest) in beside(repo, directory, *kustomization) {
            let name = split(&path).1;
            if is_yaml(name)
                && !KUSTOMIZATION_FILE_NAMES.contains(&name)
                && !repo.head.live.files.contains(&manifest)
                && !referenced.contains(&path)
                && !is_template(&repo.head.tree, &path)
                && is_manifest(repo, manifest)
            {
                findings.push(report(repo, directory, *kustomization, &path, manifest));
            }
        }
    }
    findings
}

/// The files of a kustomization file's own directory, and those that lie as others do that it lists one
/// by one from below: where it lists `a/ks.yaml` and `b/ks.yaml`, also `c/ks.yaml`.
fn beside(repo: &Repo, directory: &str, kustomization: FileId) -> Vec<(String, FileId)> {
    let tree = &repo.head.tree;
    let own = tree
        .children(directory)
        .filter_map(|(name, child)| match child {
            Child::File(file) => Some((join_name(directory, name), file)),
            _ => None,
        });
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let documents = &repo.files.yaml(kustomization).documents;
    for entry in documents
        .first()
        .and_then(|document| document.root.get("resources"))
        .map(Node::items)
        .unwrap_or_default()
    {
        let text = entry.as_str().unwrap_or_default().trim_start_matches("./");
        if text.contains('/') && !text.starts_with("..") && is_yaml(text) {
            *counts.entry(split(text).1).or_default() += 1;
        }
    }
    let below = tree.files_below(directory).filter(|(path, _)| {
        let (mut at, name) = split(path);
        if at == directory || counts.get(name).is_none_or(|count| *count < 2) {
            return false;
        }
        while at != directory {
            if kustomization_file(tree, at).is_some() {
                return false;
            }
            at = split(at).0;
        }
        true
    });
    own.chain(below.map(|(path, file)| (path.to_owned(), file)))
        .collect()
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
    path: &str,
    manifest: FileId,
) -> Finding {
    let name = path
        .strip_prefix(directory)
        .unwrap_or(path)
        .trim_start_matches('/');
    let comment = repo
        .files
        .yaml(kustomization)
        .comments
        .iter()
        .find(|comment| names_file(&comment.text, name));
    // That it lies as listed files do is no proof that it should be listed.
    let is_below = name.contains('/');
    let severity = if comment.is_some() || is_below || is_for_once(repo, path, manifest) {
        Severity::Info
    } else {
        Severity::Warning
    };
    let finding = Finding::new(
        RULE.name,
        severity,
        Place::file_start(manifest),
        format!("`{name}` is in no build: the kustomization file does not list it"),
    )
    .help(format!(
        "add `- {name}` to `resources` of {}, or delete the file",
        repo.files.path(kustomization)
    ));
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

/// True for what is applied by hand: by a word of its name, or because it holds nothing but Jobs.
fn is_for_once(repo: &Repo, path: &str, manifest: FileId) -> bool {
    const WORDS: [&str; 12] = [
        "manual",
        "restore",
        "bootstrap",
        "example",
        "examples",
        "sample",
        "template",
        "test",
        "old",
        "disabled",
        "debug",
        "oneoff",
    ];
    let by_name = path
        .split(['/', '-', '_', '.'])
        .any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)));
    by_name
        || repo
            .files
            .yaml(manifest)
            .seen()
            .all(|document| document.root.str_at(&["kind"]) == Some("Job"))
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

/// The paths that entries mean which lead nowhere: `resource-not-found` says so of each.
fn meant_by_missing(repo: &Repo) -> impl Iterator<Item = String> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.kustomizations)
        .flat_map(|kustomization| &kustomization.build.problems)
        .filter(|problem| problem.kind == ProblemKind::ResourceNotFound)
        .filter_map(|problem| {
            let text = repo.files.slice(problem.place).trim_matches(['"', '\'']);
            let directory = split(repo.files.path(problem.place.file)).0;
            moved_from(repo, directory, text).or_else(|| meant(&repo.head.tree, directory, text))
        })
}

/// Where a file is now that an entry named at the base revision.
fn moved_from(repo: &Repo, directory: &str, text: &str) -> Option<String> {
    let path = join(directory, text)?;
    let moved = &repo.base.as_ref()?.change.moved;
    moved
        .iter()
        .find(|moved| moved.from == path)
        .map(|moved| moved.to.clone())
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
