//! `unencrypted-value`: a value that should be encrypted is in clear.

use super::support::encrypted::{encrypted_files, is_large_or_binary};
use super::support::{is_set_aside, list};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml};
use crate::repo::Repo;
use crate::sops::{self, Configs, CreationRule, Format, Leaf, LeafState, Match, Metadata};
use crate::source::{FileId, Place};
use crate::tree::split;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "unencrypted-value",
    group: Group::Sops,
    summary: "a value that SOPS should have encrypted is in clear, or the reverse",
    page: include_str!("../../rules/unencrypted-value.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let encrypted = encrypted_files(repo);
    let mut findings: Vec<Finding> = encrypted
        .iter()
        .filter_map(|(path, file, metadata)| in_encrypted_file(repo, path, *file, metadata))
        .collect();
    let configs = Configs::read(repo.files, &repo.head.tree);
    if !configs.is_empty() {
        let names: Vec<&str> = encrypted.iter().map(|(path, ..)| *path).collect();
        findings.extend(not_encrypted_at_all(repo, &configs, &names));
    }
    findings
}

/// The values of an encrypted file that are not as its own metadata says; one finding a file.
fn in_encrypted_file(
    repo: &Repo,
    path: &str,
    file: FileId,
    metadata: &Metadata,
) -> Option<Finding> {
    if !metadata.selector.is_valid() {
        return None;
    }
    let leaves = sops::leaves_of_file(repo.files, file, metadata);
    let clear: Vec<&Leaf> = leaves
        .iter()
        .filter(|leaf| leaf.should_be_encrypted())
        .collect();
    let locked: Vec<&Leaf> = leaves
        .iter()
        .filter(|leaf| leaf.should_be_clear())
        .collect();
    let finding = if let Some(first) = clear.first() {
        Finding::new(
            RULE.name,
            Severity::Error,
            first.place,
            format!(
                "{} in clear, although the file's own metadata ({}) selects {}: it can be read by all, and decryption of the file fails",
                names(&clear),
                selector(metadata),
                if clear.len() == 1 { "it" } else { "them" }
            ),
        )
        .help(format!(
            "restore the file as it was and set the value with `sops edit {path}`; change the value, since it stays in git's history"
        ))
    } else {
        let first = locked.first()?;
        Finding::new(
            RULE.name,
            Severity::Error,
            first.place,
            format!(
                "{} encrypted, although the file's own metadata ({}) does not select {}: nothing will decrypt it",
                names(&locked),
                selector(metadata),
                if locked.len() == 1 { "it" } else { "them" }
            ),
        )
        .help("restore the selection in the `sops` block with which the value was encrypted")
    };
    let first = finding.place;
    let rest = clear
        .iter()
        .chain(&locked)
        .filter(|leaf| leaf.place != first);
    let mut finding = finding.related(
        metadata.selector.place.unwrap_or(metadata.place),
        "what is selected is said here",
    );
    for leaf in rest.take(5) {
        let what = if leaf.state == LeafState::Clear {
            "in clear"
        } else {
            "encrypted"
        };
        finding = finding.related(leaf.place, format!("{what} too"));
    }
    Some(finding)
}

/// `` `stringData.TOKEN` is ``, `` `a`, `b` and 3 more are ``.
fn names(leaves: &[&Leaf]) -> String {
    let mut names: Vec<String> = leaves
        .iter()
        .take(2)
        .map(|leaf| format!("`{}`", leaf.path.join(".")))
        .collect();
    if leaves.len() > 2 {
        names.push(format!("{} more", leaves.len() - 2));
    }
    let verb = if leaves.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", list(&names))
}

fn selector(metadata: &Metadata) -> String {
    let selector = &metadata.selector;
    format!("`{}: {}`", selector.kind.key(), selector.pattern)
}

/// Files that a creation rule is meant for and that SOPS has not touched.
///
/// Many rules match far more than what is to be encrypted. A file is meant if its name says so, or if all
/// other files of its rule, two at least, are encrypted; and if it has a value that the rule selects.
fn not_encrypted_at_all(repo: &Repo, configs: &Configs, encrypted: &[&str]) -> Vec<Finding> {
    let tree = &repo.head.tree;
    let judged: Vec<(&str, FileId, &CreationRule)> = tree
        .files()
        .filter(|(path, _)| !is_large_or_binary(path) && can_be_told(path))
        .filter(|(path, _)| !is_set_aside(path) && !is_template(tree, path))
        .filter_map(|(path, file)| match configs.nearest(path)? {
            Match::Rule(rule) => Some((path, file, rule)),
            Match::None | Match::Unknown(_) => None,
        })
        .collect();
    let is_encrypted = |path: &str| encrypted.binary_search(&path).is_ok();
    judged
        .iter()
        .filter(|(path, _, _)| !is_encrypted(path))
        .filter(|(path, _, rule)| {
            let mut others = judged
                .iter()
                .filter(|(other, _, of)| other != path && of.place == rule.place)
                .map(|(other, ..)| is_encrypted(other));
            says_encrypted(path)
                || rule.path_regex.is_some()
                    && others.clone().count() >= 2
                    && others.all(|encrypted| encrypted)
        })
        .filter_map(|(path, file, rule)| {
            let place = first_selected(repo, *file, rule)?;
            Some(
                Finding::new(
                    RULE.name,
                    Severity::Error,
                    place,
                    format!("`{path}` is not encrypted, although a creation rule of `.sops.yaml` selects it"),
                )
                .help(format!(
                    "run `sops encrypt --in-place {path}`; change the values, since they stay in git's history"
                ))
                .related(rule.place, "the creation rule"),
            )
        })
        .collect()
}

/// The formats whose values can be told from their keys.
fn can_be_told(path: &str) -> bool {
    split(path).1 != sops::CONFIG_NAME && sops::format_of_path(path) != Format::Binary
}

/// True if the name of a file says that it is encrypted.
fn says_encrypted(path: &str) -> bool {
    split(path)
        .1
        .split(['.', '-', '_'])
        .any(|word| ["sops", "enc", "encrypted"].contains(&word.to_ascii_lowercase().as_str()))
}

/// The first value that a rule selects. The values of a Secret are another rule's, and a document that
/// is a Flux or kustomize object of its own is no secret.
fn first_selected(repo: &Repo, file: FileId, rule: &CreationRule) -> Option<Place> {
    if !rule.selector.is_valid() {
        return None;
    }
    let yaml = repo.files.yaml(file);
    let is_yaml = is_yaml(repo.files.path(file));
    if is_yaml && yaml.error.is_some() {
        return None;
    }
    let others = |root: &Node| {
        root.str_at(&["kind"]) == Some("Secret")
            || root
                .str_at(&["apiVersion"])
                .is_some_and(|version| version.contains("kustomize"))
    };
    if is_yaml && yaml.documents.iter().any(|document| others(&document.root)) {
        return None;
    }
    sops::leaves_by_selector(repo.files, file, &rule.selector)
        .into_iter()
        .find(|leaf| leaf.should_be_encrypted() && !leaf.text.contains("${"))
        .map(|leaf| leaf.place)
}
