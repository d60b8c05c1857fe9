//! What several rules need.

pub(super) mod charts;
pub(super) mod encrypted;
pub(super) mod gates;
pub(super) mod leftover;
pub(super) mod literal;
pub(super) mod overlay;

use crate::finding::Edit;
use crate::flux::{Cluster, Kustomization, Location};
use crate::kustomize::ProblemKind;
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

/// Where a field of a built Kustomization is decided: its value; if it is absent, the
/// patch of the parent that removed it, else the key `spec`.
pub(super) fn field_place(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
    field: &str,
) -> Place {
    if let Some(value) = kustomization.node.at(&["spec", field]) {
        return value.place;
    }
    removing_patch(repo, cluster, kustomization, field).unwrap_or(kustomization.spec.key_place)
}

/// The patch of the parent's build that hit a Kustomization, names a field of its spec,
/// and after which that field is gone although the object as written has it.
pub(super) fn removing_patch(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
    field: &str,
) -> Option<Place> {
    let written = document_at(repo, kustomization.origin)?;
    written.at(&["spec", field])?;
    let parent = &cluster.kustomizations[kustomization.parent?];
    parent
        .build
        .patches
        .iter()
        .rev()
        .find(|patch| {
            patch
                .matched
                .iter()
                .any(|id| id.kind == "Kustomization" && id.name == kustomization.name.name)
                && repo.files.slice(patch.content).contains(field)
        })
        .map(|patch| patch.entry)
}

/// The document of a file that stands at a place.
pub(super) fn document_at<'a>(repo: &'a Repo, place: Place) -> Option<&'a Node> {
    repo.files
        .yaml(place.file)
        .documents
        .iter()
        .map(|document| &document.root)
        .find(|root| root.place == place)
}

/// `a, b and c`.
pub(super) fn list<T: std::fmt::Display>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

/// At most three of some items, and how many more.
pub(super) fn shortened(items: &[String]) -> Vec<String> {
    items
        .iter()
        .take(3)
        .cloned()
        .chain((items.len() > 3).then(|| format!("{} more", items.len() - 3)))
        .collect()
}

/// The key of the list of which an entry at a place is an item.
pub(super) fn enclosing_list(repo: &Repo, entry: Place) -> Option<Place> {
    repo.files
        .yaml(entry.file)
        .documents
        .iter()
        .find_map(|document| list_key(&document.root, entry))
}

fn list_key(node: &Node, entry: Place) -> Option<Place> {
    if !node.place.span.contains(entry.span) {
        return None;
    }
    if let Some(mapping) = node.as_mapping() {
        return mapping.entries.iter().find_map(|pair| {
            let is_item = pair.value.items().iter().any(|item| item.place == entry);
            if is_item {
                Some(pair.key.place)
            } else {
                list_key(&pair.value, entry)
            }
        });
    }
    node.items().iter().find_map(|item| list_key(item, entry))
}

/// The place of a key of the list entry at a place; `None` if the entry stands in text inside a file.
pub(super) fn entry_key(repo: &Repo, entry: Place, key: &str) -> Option<Place> {
    fn find(node: &Node, entry: Place) -> Option<&Node> {
        if node.place == entry {
            return Some(node);
        }
        if !node.place.span.contains(entry.span) {
            return None;
        }
        match node.as_mapping() {
            Some(mapping) => mapping
                .entries
                .iter()
                .find_map(|pair| find(&pair.value, entry)),
            None => node.items().iter().find_map(|item| find(item, entry)),
        }
    }
    repo.files
        .yaml(entry.file)
        .documents
        .iter()
        .find_map(|document| find(&document.root, entry)?.entry(key))
        .map(|pair| pair.key.place)
}

/// True for a path that no cluster reaches on purpose: archives, examples, tests, templates.
pub(super) fn is_set_aside(path: &str) -> bool {
    const NAMES: [&str; 19] = [
        "archive",
        "archived",
        "archives",
        "attic",
        "deprecated",
        "disabled",
        "docs",
        "example",
        "examples",
        "fixtures",
        "hack",
        "old",
        "sample",
        "samples",
        "template",
        "templates",
        "test",
        "testdata",
        "tests",
    ];
    path.split('/').any(|name| {
        let name = name.trim_start_matches(['.', '_']).to_ascii_lowercase();
        NAMES.contains(&name.as_str())
    })
}

/// True if nothing in the cluster hides objects: no gap in any build, no path that leads nowhere or
/// elsewhere, no file that could not be read. Only then is what is not seen surely absent.
pub(super) fn absence_is_sure(cluster: &Cluster) -> bool {
    cluster.unknown_kustomizations().is_none()
        && cluster.kustomizations.iter().all(|kustomization| {
            kustomization.spec.remote_cluster
                || matches!(kustomization.location, Location::Directory(_))
                    && kustomization.build.problems.iter().all(|problem| {
                        matches!(
                            problem.kind,
                            ProblemKind::DuplicateObject | ProblemKind::DuplicateKey
                        )
                    })
        })
}

/// True if two Kustomizations apply to the same cluster.
pub(super) fn same_target(left: &Kustomization, right: &Kustomization) -> bool {
    let config = |kustomization: &Kustomization| {
        kustomization
            .node
            .at(&["spec", "kubeConfig"])
            .filter(|config| !config.is_null())
            .cloned()
    };
    match (config(left), config(right)) {
        (None, None) => true,
        (Some(left), Some(right)) => left.same_content(&right),
        _ => false,
    }
}

/// For each Kustomization when Flux first applies it: behind its parent and what it dependsOn, else in
/// the order of the cluster. No two are equal.
pub(super) fn ranks(cluster: &Cluster) -> Vec<(usize, usize)> {
    /// Longer chains than this are cycles, or so deep that the order no longer matters.
    const MAX_DEPTH: usize = 100;
    let mut depths = vec![0usize; cluster.kustomizations.len()];
    for _ in 0..MAX_DEPTH {
        let mut changed = false;
        for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
            let before = kustomization
                .spec
                .depends_on
                .iter()
                .filter_map(|dependency| cluster.find(&dependency.target))
                .chain(kustomization.parent)
                .filter(|other| *other != index)
                .map(|other| depths[other] + 1)
                .max()
                .unwrap_or_default();
            if before > depths[index] {
                depths[index] = before;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    depths.into_iter().zip(0..).collect()
}

/// The change that writes another word in place of a scalar, in the quotes that it has.
pub(super) fn scalar_edit(repo: &Repo, place: Place, word: &str) -> Edit {
    let written = repo.files.slice(place);
    let quote = written
        .chars()
        .next()
        .filter(|first| {
            matches!(first, '\'' | '"') && written.len() > 1 && written.ends_with(*first)
        })
        .map(String::from)
        .unwrap_or_default();
    Edit {
        place,
        text: format!("{quote}{word}{quote}"),
    }
}
