//! The end of a build, at its root only: names, local objects, order, what must hold of every object.
//!
//! Upstream: api `target.KustTarget.makeCustomizedResMap`, `builtins.SortOrderTransformer`.

use std::collections::HashMap;

use super::file::KustomizationFile;
use super::level::Level;
use super::printed::fill_empty_values;
use super::{GapEffect, Object, ObjectId, Problem, ProblemKind, accumulate, identity};
use crate::tree::Files;
use crate::yaml::{Entry, Node, Typed, Value};

/// Kinds that come first, in this order.
const ORDER_FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that come last, in this order.
const ORDER_LAST: [&str; 2] = [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Does what kustomize does last.
pub(super) fn finish(level: &mut Level, file: &KustomizationFile, files: &Files) {
    accumulate::fix_names(level);
    for object in &level.objects {
        let id = object.id();
        if id.kind.is_empty() || id.name.is_empty() {
            level.problems.push(refusal(
                object,
                "an object has lost its kind or its metadata.name",
            ));
        }
    }
    level.objects.retain(|object| !is_local(object));
    for object in &mut level.objects {
        drop_build_annotations(&mut object.node);
        annotations_as_text(&mut object.node);
        fill_empty_values(&mut object.node, files);
    }
    sort(level, file);
    if let Some(metadata) = file
        .field("buildMetadata")
        .filter(|_| !level.objects.is_empty())
        .cloned()
    {
        for item in metadata.items() {
            let option = item.as_str().unwrap_or_default();
            level.gap(
                item.place,
                GapEffect::Content,
                format!("buildMetadata {option}"),
            );
        }
    }
}

fn refusal(object: &Object, message: &str) -> Problem {
    Problem {
        kind: ProblemKind::NotAManifest,
        place: object.origin,
        message: message.to_owned(),
        related: Vec::new(),
        help: None,
    }
}

/// Annotations that kustomize keeps for itself while it builds, and takes out at the end, whoever wrote them.
const BUILD_ANNOTATIONS: [&str; 9] = [
    "config.kubernetes.io/index",
    "config.kubernetes.io/path",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/previousKinds",
];

fn drop_build_annotations(node: &mut Node) {
    let written = |node: &Node, name: &str| {
        node.at(&["metadata", "annotations"])
            .is_some_and(|annotations| annotations.get(name).is_some())
    };
    for name in BUILD_ANNOTATIONS {
        if written(node, name)
            && let Some(annotations) = node
                .get_mut("metadata")
                .and_then(|metadata| metadata.get_mut("annotations"))
        {
            annotations.remove(name);
        }
    }
}

/// kustomize writes all annotations as strings, and none if there is none.
fn annotations_as_text(node: &mut Node) {
    let Some(annotations) = node.at(&["metadata", "annotations"]) else {
        return;
    };
    let pairs = annotations.pairs();
    let is_text = |node: &Node| {
        node.as_scalar()
            .is_some_and(|scalar| scalar.typed() == Typed::String)
    };
    if !pairs.is_empty() && pairs.iter().all(|entry| is_text(&entry.value)) {
        return;
    }
    let place = annotations.place;
    let entries: Vec<Entry> = pairs
        .into_iter()
        .map(|entry| {
            let text = entry.value.as_scalar().map(|scalar| scalar.text.clone());
            Entry {
                key: entry.key.clone(),
                value: Node::string(entry.value.place, text.unwrap_or_default()),
            }
        })
        .collect();
    let Some(metadata) = node.get_mut("metadata") else {
        return;
    };
    if entries.is_empty() {
        metadata.remove("annotations");
    } else {
        metadata.set("annotations", place, Node::mapping(place, entries));
    }
}

/// True for an object that is there for kustomize alone.
fn is_local(object: &Object) -> bool {
    let annotation = object.node.at(&[
        "metadata",
        "annotations",
        "config.kubernetes.io/local-config",
    ]);
    annotation.is_some_and(|value| {
        value
            .as_scalar()
            .is_none_or(|scalar| scalar.text != "false")
    })
}

fn sort(level: &mut Level, file: &KustomizationFile) {
    let options = file.field("sortOptions");
    let order = options.and_then(|options| options.get("order"));
    let legacy = options.and_then(|options| options.get("legacySortOptions"));
    match (options, order.and_then(Node::as_str).unwrap_or_default()) {
        (None, _) | (Some(_), "legacy") => {}
        (Some(_), "fifo") if legacy.is_none() => return,
        (Some(options), other) => {
            let place = order.map_or(options.place, |order| order.place);
            level.problems.push(Problem {
                kind: ProblemKind::Other,
                place,
                message: if other == "fifo" {
                    "sortOptions has legacySortOptions, but its order is fifo".to_owned()
                } else {
                    format!("sortOptions.order `{other}` is not fifo or legacy")
                },
                related: Vec::new(),
                help: None,
            });
            return;
        }
    }
    let kinds = |name: &str| -> Vec<String> {
        legacy
            .and_then(|legacy| legacy.get(name))
            .map(|list| {
                list.items()
                    .iter()
                    .filter_map(Node::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default()
    };
    let (first, last) = if legacy.is_some() {
        (kinds("orderFirst"), kinds("orderLast"))
    } else {
        (
            ORDER_FIRST.map(str::to_owned).to_vec(),
            ORDER_LAST.map(str::to_owned).to_vec(),
        )
    };
    let mut ranks: HashMap<&str, i64> = HashMap::new();
    for (rank, kind) in (-(first.len() as i64)..).zip(&first) {
        ranks.insert(kind, rank);
    }
    for (rank, kind) in (1..).zip(&last) {
        ranks.insert(kind, rank);
    }
    // kustomize finds two of one identity only while it sorts.
    level.problems.extend(identity::duplicates(&level.objects));
    level.objects.sort_by_cached_key(|object| {
        let id = object.id();
        let rank = ranks.get(id.kind.as_str()).copied().unwrap_or(0);
        (rank, sort_text(&id))
    });
}

/// What objects of one rank are ordered by.
fn sort_text(id: &ObjectId) -> (String, String) {
    let or = |text: &str, none: &str| {
        if text.is_empty() {
            none.to_owned()
        } else {
            text.to_owned()
        }
    };
    let kind = format!(
        "{}_{}_{}",
        or(&id.group, "~G"),
        or(&id.version, "~V"),
        or(&id.kind, "~K")
    );
    let name = format!("{}|{}", or(&id.namespace, "~X"), or(&id.name, "~N"));
    (kind, name)
}

/// The objects in which a patch has left a key twice.
pub(super) fn duplicate_keys(objects: &[Object]) -> Vec<Problem> {
    objects
        .iter()
        .filter_map(|object| duplicate_key(&object.node))
        .collect()
}

fn duplicate_key(node: &Node) -> Option<Problem> {
    match &node.value {
        Value::Scalar(_) => None,
        Value::Sequence(items) => items.iter().find_map(duplicate_key),
        Value::Mapping(mapping) => {
            let mut seen = HashMap::new();
            mapping.entries.iter().find_map(|entry| {
                let key = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
                match seen.insert(key, entry.key.place) {
                    Some(first) => Some(Problem {
                        kind: ProblemKind::DuplicateKey,
                        place: entry.key.place,
                        message: format!("key `{key}` is there twice"),
                        related: vec![(first, format!("`{key}` is already here"))],
                        help: None,
                    }),
                    None => duplicate_key(&entry.value),
                }
            })
        }
    }
}
