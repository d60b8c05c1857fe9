//! `patch-matches-nothing`: a patch whose target selects no object.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::support::scalar_edit;
use super::{Group, Rule};
use crate::finding::{Finding, Fix, Severity};
use crate::flux::{Cluster, join_name};
use crate::kustomize::{ObjectId, PatchUse};
use crate::near;
use crate::picture::Picture;
use crate::repo::Repo;
use crate::source::{FileId, Place};
use crate::tree::split;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "patch-matches-nothing",
    group: Group::Overlays,
    summary: "a patch's target selects no object, so the patch is dropped silently",
    page: include_str!("../../rules/patch-matches-nothing.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// What the uses of one patch entry, in all builds of all clusters, say together.
struct Entry<'a> {
    patch: &'a PatchUse,
    clusters: Vec<String>,
    matched: bool,
    uncertain: bool,
    candidates: Vec<&'a (ObjectId, Place)>,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut entries: BTreeMap<Place, Entry> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            let fails = !kustomization.build.problems.is_empty();
            for patch in &kustomization.build.patches {
                let entry = entries.entry(patch.entry).or_insert_with(|| Entry {
                    patch,
                    clusters: Vec::new(),
                    matched: false,
                    uncertain: false,
                    candidates: Vec::new(),
                });
                entry.clusters.push(cluster.path.clone());
                entry.matched |= !patch.matched.is_empty();
                entry.uncertain |= patch.uncertain || fails;
                entry.candidates.extend(&patch.candidates);
            }
        }
    }
    let mut patched: BTreeMap<FileId, BTreeSet<&str>> = BTreeMap::new();
    for patch in all_patches(&repo.head) {
        let names = patch.matched.iter().map(|id| id.name.as_str());
        patched.entry(patch.entry.file).or_default().extend(names);
    }
    entries
        .into_values()
        .filter(|entry| !entry.matched && !entry.uncertain)
        .filter_map(|entry| {
            let patched = patched.get(&entry.patch.entry.file);
            judge(repo, entry, &|name| {
                patched.is_some_and(|names| names.contains(name))
            })
        })
        .collect()
}

fn all_patches(picture: &Picture) -> impl Iterator<Item = &PatchUse> {
    picture
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.kustomizations)
        .flat_map(|kustomization| &kustomization.build.patches)
}

/// An entry that hits nothing in any build that has it. A base's or component's patch that
/// hits in one cluster and not in another does what it is there for. `is_patched` tells which
/// names other entries of the same file hit.
fn judge(repo: &Repo, entry: Entry, is_patched: &dyn Fn(&str) -> bool) -> Option<Finding> {
    let target = entry.patch.target.as_ref()?;
    let name = target.get("name").filter(|name| !name.is_null());
    let literal = name.and_then(Node::as_str).filter(|name| is_literal(name));
    if entry.patch.in_component && literal.is_none() {
        return None;
    }
    if is_spent_guard(repo, entry.patch) || awaits_bootstrap(repo, entry.patch) {
        return None;
    }
    let severity = if literal.is_some() {
        Severity::Error
    } else {
        Severity::Warning
    };
    let Explanation {
        place,
        help,
        meant,
        related,
    } = explain(repo, target, literal, &entry.candidates, is_patched);
    let mut finding = Finding::new(
        RULE.name,
        severity,
        place,
        format!(
            "patch target {} selects no object: kustomize drops the patch silently",
            describe(target)
        ),
    )
    .help(help);
    if let Some(word) = meant {
        finding = finding.fix(Fix {
            safe: false,
            title: format!("write `{word}`"),
            edits: vec![scalar_edit(repo, place, &word)],
            moves: Vec::new(),
        });
    }
    if let Some((id, place)) = related {
        finding = finding.related(*place, format!("{id} is there"));
    }
    finding.clusters = entry.clusters;
    Some(finding)
}

/// True if the text, as a regular expression, can only match itself.
fn is_literal(text: &str) -> bool {
    !text.is_empty()
        && !text.contains([
            '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$', '\\',
        ])
}

/// `Kustomization apps-wave-0`, as far as the target says.
fn describe(target: &Node) -> String {
    let parts: Vec<String> = target
        .pairs()
        .iter()
        .filter_map(|pair| {
            let key = pair.key.as_str()?;
            let value = pair.value.as_str()?;
            Some(format!("{key} `{value}`"))
        })
        .collect();
    if parts.is_empty() {
        "(empty)".to_owned()
    } else {
        parts.join(", ")
    }
}

/// What is wrong with a target.
struct Explanation<'a> {
    /// The value that is wrong.
    place: Place,
    help: String,
    /// What to write instead, if that is known.
    meant: Option<String>,
    /// The object that was probably meant.
    related: Option<&'a (ObjectId, Place)>,
}

/// Where the target goes wrong and what was probably meant: the value that matches no object
/// even by itself, else the name, else the target.
fn explain<'a>(
    repo: &Repo,
    target: &Node,
    literal: Option<&str>,
    candidates: &[&'a (ObjectId, Place)],
    is_patched: &dyn Fn(&str) -> bool,
) -> Explanation<'a> {
    let value = |key: &str| target.get(key).filter(|value| !value.is_null());
    if let Some(kind) = value("kind")
        && let Some(written) = kind.as_str().filter(|text| is_literal(text))
        && !candidates.iter().any(|(id, _)| id.kind == written)
    {
        let kinds = candidates.iter().map(|(id, _)| id.kind.as_str());
        let same_but_case = candidates
            .iter()
            .find(|(id, _)| id.kind.eq_ignore_ascii_case(written))
            .map(|(id, _)| id.kind.as_str());
        let near = same_but_case
            .or_else(|| near::nearest(written, kinds))
            .map(str::to_owned);
        let related = near
            .as_ref()
            .and_then(|near| candidates.iter().find(|(id, _)| id.kind == *near))
            .copied();
        let help = match &near {
            Some(near) => format!("write `kind: {near}`"),
            None => format!(
                "no object of kind `{written}` is built here: remove the patch, or add the object"
            ),
        };
        return Explanation {
            place: kind.place,
            help,
            meant: near,
            related,
        };
    }
    for key in ["group", "version", "namespace"] {
        if let Some(field) = value(key)
            && let Some(written) = field.as_str().filter(|text| is_literal(text))
        {
            let other = candidates.iter().find(|(id, _)| {
                value("kind")
                    .and_then(Node::as_str)
                    .is_none_or(|kind| id.kind == kind)
                    && literal.is_none_or(|name| id.name == name)
            });
            let Some(other) = other else { continue };
            let actual = match key {
                "group" => &other.0.group,
                "version" => &other.0.version,
                _ => &other.0.namespace,
            };
            let effective = key != "namespace" || other.0.effective_namespace() != written;
            if actual != written && effective {
                let help = if actual.is_empty() {
                    format!(
                        "remove `{key}: {written}`: the object has none when the patch is applied"
                    )
                } else {
                    format!("write `{key}: {actual}`, or leave `{key}` out")
                };
                return Explanation {
                    place: field.place,
                    help,
                    meant: (!actual.is_empty()).then(|| actual.to_string()),
                    related: Some(other),
                };
            }
        }
    }
    if let (Some(field), Some(written)) = (value("name"), literal) {
        let of_kind: Vec<&'a (ObjectId, Place)> = candidates
            .iter()
            .copied()
            .filter(|(id, _)| {
                value("kind")
                    .and_then(Node::as_str)
                    .is_none_or(|kind| id.kind == kind)
            })
            .collect();
        let names = || of_kind.iter().map(|(id, _)| id.name.as_str());
        let renamed = renamed(repo, written, &of_kind);
        let near = renamed
            .map(|(id, _)| id.name.as_str())
            .or_else(|| near::nearest(written, names().filter(|name| !is_patched(name))))
            .or_else(|| near::nearest(written, names()))
            .map(str::to_owned);
        let related = renamed.or_else(|| {
            let near = near.as_ref()?;
            of_kind.iter().find(|(id, _)| id.name == *near).copied()
        });
        let help = match &near {
            Some(near) => format!("write `name: {near}`"),
            None => "remove the patch, or correct its target".to_owned(),
        };
        return Explanation {
            place: field.place,
            help,
            meant: near,
            related,
        };
    }
    let place = value("name")
        .or_else(|| value("labelSelector"))
        .or_else(|| value("annotationSelector"))
        .or_else(|| value("kind"))
        .map_or(target.place, |field| field.place);
    Explanation {
        place,
        help: "remove the patch, or correct its target".to_owned(),
        meant: None,
        related: None,
    }
}

/// The object that has the name's place since the base revision: in the file in which an object had that name,
/// the only one of its kind whose own name is new.
fn renamed<'a>(
    repo: &Repo,
    name: &str,
    candidates: &[&'a (ObjectId, Place)],
) -> Option<&'a (ObjectId, Place)> {
    let base = repo.base.as_ref()?;
    let mut before: BTreeMap<(SmolStr, SmolStr), BTreeSet<&str>> = BTreeMap::new();
    let objects = base.picture.flux.clusters.iter().flat_map(Cluster::objects);
    for (_, object) in objects {
        let id = object.original_id();
        before
            .entry((id.kind, id.name))
            .or_default()
            .insert(repo.files.path(object.origin.file));
    }
    let mut found: Vec<&'a (ObjectId, Place)> = candidates
        .iter()
        .copied()
        .filter(|(id, place)| {
            let key = |name: &str| (id.kind.clone(), SmolStr::new(name));
            !before.contains_key(&key(&id.name))
                && before
                    .get(&key(name))
                    .is_some_and(|files| files.contains(repo.files.path(place.file)))
        })
        .collect();
    found.sort();
    found.dedup();
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// True if the same patch, in the same file of the base, hit objects that are elsewhere now:
/// a guard that the move has made idle, to be removed in a later step.
fn is_spent_guard(repo: &Repo, patch: &PatchUse) -> bool {
    let Some(base) = &repo.base else { return false };
    let content = repo.files.slice(patch.content);
    if !content.contains("prune") {
        return false;
    }
    let path = repo.files.path(patch.entry.file);
    let is_there = |id: &ObjectId| {
        repo.head
            .flux
            .clusters
            .iter()
            .flat_map(Cluster::objects)
            .any(|(_, object)| {
                let now = object.id();
                now.kind == id.kind && now.name == id.name
            })
    };
    all_patches(&base.picture).any(|before| {
        repo.files.path(before.entry.file) == path
            && repo.files.slice(before.content) == content
            && before.matched.iter().any(is_there)
    })
}

/// True for a patch of Flux's own installation, which `flux bootstrap` has still to write.
fn awaits_bootstrap(repo: &Repo, patch: &PatchUse) -> bool {
    let directory = split(repo.files.path(patch.entry.file)).0;
    repo.head
        .tree
        .file(&join_name(directory, "gotk-components.yaml"))
        .is_some_and(|file| repo.files.yaml(file).seen().next().is_none())
}
