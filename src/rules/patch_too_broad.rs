//! `patch-too-broad`: a patch hits more than the object it names.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{entry_key, list};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::kustomize::{ObjectId, PatchUse};
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "patch-too-broad",
    group: Group::Overlays,
    summary: "a patch with a target hits more than the object that it names",
    page: include_str!("../../rules/patch-too-broad.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// The uses of one patch entry that hit too much.
struct Entry<'a> {
    patch: &'a PatchUse,
    hit: BTreeSet<&'a ObjectId>,
    clusters: Vec<String>,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut entries: BTreeMap<Place, Entry> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for patch in &kustomization.build.patches {
                if !is_too_broad(patch) {
                    continue;
                }
                let entry = entries.entry(patch.entry).or_insert_with(|| Entry {
                    patch,
                    hit: BTreeSet::new(),
                    clusters: Vec::new(),
                });
                entry.hit.extend(&patch.matched);
                entry.clusters.push(cluster.path.clone());
            }
        }
    }
    entries
        .into_values()
        .filter_map(|entry| report(repo, entry))
        .collect()
}

/// A merge patch whose written name is one of several that its target selects. One that
/// is none of them is there because kustomize wants a name.
fn is_too_broad(patch: &PatchUse) -> bool {
    let (Some(target), Some(name)) = (&patch.target, &patch.written_name) else {
        return false;
    };
    let Some(name) = name.as_str().filter(|_| patch.merge) else {
        return false;
    };
    let named = patch.matched.iter().filter(|id| id.name == name).count();
    if named == 0 || patch.matched.len() < 2 {
        return false;
    }
    // Who writes a pattern of names, or the very name for several kinds, means all that it hits.
    let says_which = target
        .get("name")
        .and_then(Node::as_str)
        .is_some_and(|written| !written.is_empty());
    if patch.deletes {
        !(says_which && named == patch.matched.len() && one_kind(&patch.matched))
    } else {
        named < patch.matched.len() && !says_which
    }
}

fn one_kind(ids: &[ObjectId]) -> bool {
    ids.iter()
        .all(|id| Some(&id.kind) == ids.first().map(|first| &first.kind))
}

fn report(repo: &Repo, entry: Entry) -> Option<Finding> {
    let patch = entry.patch;
    let target = patch.target.as_ref()?;
    let written = patch.written_name.as_ref()?;
    let name = written.as_str().unwrap_or_default();
    let others: Vec<String> = entry
        .hit
        .iter()
        .filter(|id| id.name != name || entry.hit.len() == 1 || patch.deletes)
        .map(|id| format!("`{id}`"))
        .collect();
    let shown = if others.len() > 4 {
        let mut shown = others[..3].to_vec();
        shown.push(format!("{} more", others.len() - 3));
        shown
    } else {
        others
    };
    let (severity, message) = if patch.deletes {
        (
            Severity::Error,
            format!(
                "the patch names `{name}` and deletes {}: with a target, the name in a patch does not count",
                list(&shown)
            ),
        )
    } else {
        (
            Severity::Warning,
            format!(
                "the patch names `{name}` and changes {} too: with a target, the name in a patch does not count",
                list(&shown)
            ),
        )
    };
    let place = entry_key(repo, patch.entry, "target").unwrap_or(target.place);
    let mut finding = Finding::new(RULE.name, severity, place, message)
        .help(format!(
            "add `name: {name}` to the target, or, if all are meant, write a name in the patch that is none of them"
        ))
        .related(written.place, "this name does not select anything");
    finding.clusters = entry.clusters;
    Some(finding)
}
