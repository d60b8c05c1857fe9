//! `sops-config-unknown-key`: a key that SOPS ignores.

use super::support::{is_set_aside, scalar_edit};
use super::{Group, Rule};
use crate::finding::{Finding, Fix, Severity};
use crate::near;
use crate::repo::Repo;
use crate::sops::{Configs, SelectorKind, UnknownKey};
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "sops-config-unknown-key",
    group: Group::Sops,
    summary: "a creation rule of `.sops.yaml` has a key that SOPS does not know",
    page: include_str!("../../rules/sops-config-unknown-key.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (directory, file, config) in Configs::read(repo.files, &repo.head.tree).iter() {
        if is_set_aside(directory) {
            continue;
        }
        let Some(document) = repo.files.yaml(file).documents.first() else {
            continue;
        };
        for unknown in &config.unknown_keys {
            let owner = owner(&document.root, unknown.place);
            let at_top = owner.is_some_and(|owner| owner.place == document.root.place);
            let meant = near::nearest(&unknown.key, unknown.known.iter().copied());
            // Anchors are kept under keys of one's own at the top; only a slip matters there.
            if at_top && (meant.is_none() || document.root.get("creation_rules").is_some()) {
                continue;
            }
            findings.push(report(repo, unknown, meant, owner));
        }
    }
    findings
}

fn report(repo: &Repo, unknown: &UnknownKey, meant: Option<&str>, owner: Option<&Node>) -> Finding {
    let finding = Finding::new(
        RULE.name,
        Severity::Warning,
        unknown.place,
        format!(
            "`{}` is no key that SOPS knows here: it is ignored",
            unknown.key
        ),
    );
    let Some(meant) = meant else {
        return finding.help(format!("remove it; known are {}", unknown.known.join(", ")));
    };
    if let Some(conflict) = owner.and_then(|owner| conflict(owner, meant)) {
        let place = conflict.place;
        let conflict = conflict.as_str().unwrap_or_default();
        return finding
            .help(if conflict == meant {
                format!("remove it: `{meant}` is there already")
            } else {
                format!("`{meant}` was meant, but the rule has `{conflict}` already, and SOPS takes one of them only: remove it")
            })
            .related(place, "this one counts");
    }
    finding.help(format!("write `{meant}`")).fix(Fix {
        safe: true,
        title: format!("write `{meant}`"),
        edits: vec![scalar_edit(repo, unknown.place, meant)],
        moves: Vec::new(),
    })
}

/// The key beside which the meant one cannot stand.
fn conflict<'a>(owner: &'a Node, meant: &str) -> Option<&'a Node> {
    let is_selector = |key: &str| SelectorKind::ALL.iter().any(|kind| kind.key() == key);
    owner.pairs().into_iter().map(|pair| &pair.key).find(|key| {
        key.is_key(meant) || is_selector(meant) && key.as_str().is_some_and(is_selector)
    })
}

/// The map that has a key at a place.
fn owner(node: &Node, key: Place) -> Option<&Node> {
    if let Some(mapping) = node.as_mapping() {
        if mapping.entries.iter().any(|entry| entry.key.place == key) {
            return Some(node);
        }
        return mapping
            .entries
            .iter()
            .find_map(|entry| owner(&entry.value, key));
    }
    node.items().iter().find_map(|item| owner(item, key))
}
