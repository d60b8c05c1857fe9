//! `overlay-patches-other`: an overlay changes more than values.

use std::collections::BTreeMap;

use super::support::overlay::{cluster_overlays, holds_variables};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::{BuildOptions, Kustomize, Object, ObjectId};
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::{Node, Value};

pub(super) static RULE: Rule = Rule {
    name: "overlay-patches-other",
    group: Group::Overlays,
    summary: "the overlay of a cluster changes more than variables and what the configuration allows",
    page: include_str!("../../rules/overlay-patches-other.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    if !repo.config.overlays.values_only {
        return Vec::new();
    }
    let engine = Kustomize::new(repo.files, &repo.head.tree);
    let mut findings = Vec::new();
    for set in cluster_overlays(repo, &repo.head) {
        let mut originals: BTreeMap<(Place, ObjectId), Object> = BTreeMap::new();
        for base in &set.bases {
            let build = engine.build(base, &BuildOptions::default());
            for object in build.objects {
                originals.insert((object.origin, object.original_id()), object);
            }
        }
        for (index, entries) in &set.clusters {
            let cluster = &repo.head.flux.clusters[*index];
            let Some(root) = cluster.kustomizations.first() else {
                continue;
            };
            let mut left = originals.clone();
            for object in &root.build.objects {
                if !object
                    .route
                    .first()
                    .is_some_and(|entry| entries.contains(entry))
                {
                    continue;
                }
                if let Some(original) = left.remove(&(object.origin, object.original_id())) {
                    findings.extend(changed(repo, cluster, root, &original, object));
                }
            }
            if root.fails() || root.unknown_objects() {
                continue;
            }
            findings.extend(
                left.into_values()
                    .filter_map(|original| removed(cluster, root, &original)),
            );
        }
    }
    findings
}

/// What an overlay changes of one object and should not; one finding an object.
fn changed(
    repo: &Repo,
    cluster: &Cluster,
    root: &Kustomization,
    original: &Object,
    object: &Object,
) -> Option<Finding> {
    let mut differences = Vec::new();
    compare(&original.node, &object.node, "", &mut differences);
    let of_variables = holds_variables(cluster, &object.id());
    let mut differences = differences.into_iter().filter(|(path, _)| {
        let within = |allowed: &str| {
            path.strip_prefix(allowed)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        !(of_variables && (within("data") || within("stringData"))
            || repo.config.overlays.allow.iter().any(|field| within(field)))
    });
    let (path, place) = differences.next()?;
    let place = place
        .or_else(|| last_patch(root, object))
        .unwrap_or_else(|| original.name_place());
    let mut finding = Finding::new(
        RULE.name,
        Severity::Warning,
        place,
        format!(
            "the overlay of `{}` changes `{path}` of {}, which is neither a variable nor allowed",
            cluster.path,
            original.id()
        ),
    )
    .help("change it in the base, or through a variable; or name the field in `overlays: allow:` of `.wavelint.yaml`")
    .cluster(&cluster.path)
    .related(original.name_place(), "the object in the base");
    for (path, place) in differences.take(5) {
        if let Some(place) = place {
            finding = finding.related(place, format!("`{path}` is changed too"));
        }
    }
    Some(finding)
}

/// An object of the base that a patch of the overlay deletes.
fn removed(cluster: &Cluster, root: &Kustomization, original: &Object) -> Option<Finding> {
    let id = original.id();
    let patch = root.build.patches.iter().find(|patch| {
        patch.deletes
            && patch
                .matched
                .iter()
                .any(|hit| hit.kind == id.kind && hit.name == id.name)
    })?;
    Some(
        Finding::new(
            RULE.name,
            Severity::Warning,
            patch.entry,
            format!("the overlay of `{}` deletes {id} of the base", cluster.path),
        )
        .help("take it out of the base, or leave it in every cluster")
        .cluster(&cluster.path)
        .related(original.name_place(), "the object in the base"),
    )
}

/// The last patch that hit an object: what must have removed a field that is gone.
fn last_patch(root: &Kustomization, object: &Object) -> Option<Place> {
    let id = object.id();
    root.build
        .patches
        .iter()
        .rev()
        .find(|patch| {
            patch
                .matched
                .iter()
                .any(|hit| hit.kind == id.kind && hit.name == id.name)
        })
        .map(|patch| patch.entry)
}

/// Where two contents differ: the field's path, and where the new value is written; `None` if it is gone.
fn compare(before: &Node, after: &Node, path: &str, found: &mut Vec<(String, Option<Place>)>) {
    match (&before.value, &after.value) {
        (Value::Mapping(left), Value::Mapping(right)) => {
            let below = |key: &Node| {
                let key = key.as_str().unwrap_or_default();
                if path.is_empty() {
                    key.to_owned()
                } else {
                    format!("{path}.{key}")
                }
            };
            for pair in left.resolved() {
                match after.get(pair.key.as_str().unwrap_or_default()) {
                    Some(other) => compare(&pair.value, other, &below(&pair.key), found),
                    None => found.push((below(&pair.key), None)),
                }
            }
            for pair in right.resolved() {
                if before.get(pair.key.as_str().unwrap_or_default()).is_none() {
                    found.push((below(&pair.key), Some(pair.value.place)));
                }
            }
        }
        (Value::Sequence(left), Value::Sequence(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right.iter()) {
                compare(left, right, path, found);
            }
        }
        _ if before.same_content(after) => {}
        _ => found.push((path.to_owned(), Some(after.place))),
    }
}
