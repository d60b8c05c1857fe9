//! What lies in a wave directory, and which service claims it.

use super::catalog::Catalog;
use crate::flux::{is_template, is_yaml, join_name};
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, kustomization_file};
use crate::source::{FileId, Place};
use crate::tree::{Child, Files, Tree, join, split};
use crate::yaml::Node;

/// A file or directory in a wave, or an entry of its kustomization file that leads out of it.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Its path in the tree.
    pub path: String,
    /// Line 1 of the file, of the directory's kustomization file, or the list entry.
    pub place: Place,
    /// The files of it, the first one being what `place` points at.
    pub files: Vec<FileId>,
    /// What it is.
    pub kind: PlacementKind,
    /// The index of the service that claims it.
    pub service: Option<usize>,
}

/// How something is in a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// A file in the wave's directory.
    File,
    /// A directory in the wave's directory.
    Directory,
    /// Outside, listed by the wave's kustomization file.
    Listed,
}

/// Everything in a wave's directory.
pub(super) fn placements(
    files: &Files,
    tree: &Tree,
    catalog: &Catalog,
    directory: &str,
) -> Vec<Placement> {
    let mut found = Vec::new();
    collect(files, tree, catalog, directory, &mut found);
    if let Some(file) = kustomization_file(tree, directory) {
        let root = files
            .yaml(file)
            .documents
            .first()
            .map(|document| &document.root);
        let listed = ["resources", "bases", "components"]
            .into_iter()
            .filter_map(|key| root?.get(key))
            .flat_map(Node::items);
        for entry in listed {
            found.extend(listed_outside(tree, catalog, directory, entry));
        }
    }
    found
}

fn collect(
    files: &Files,
    tree: &Tree,
    catalog: &Catalog,
    directory: &str,
    found: &mut Vec<Placement>,
) {
    for (name, child) in tree.children(directory) {
        let path = join_name(directory, name);
        match child {
            Child::File(file) => {
                if is_yaml(name)
                    && !KUSTOMIZATION_FILE_NAMES.contains(&name)
                    && !is_template(tree, &path)
                {
                    found.push(Placement {
                        place: Place::file_start(file),
                        files: vec![file],
                        kind: PlacementKind::File,
                        service: catalog
                            .claim(name)
                            .or_else(|| by_label(files, catalog, file)),
                        path,
                    });
                }
            }
            Child::Directory => collect_directory(files, tree, catalog, name, path, found),
            Child::Symlink | Child::Submodule => {}
        }
    }
}

/// A directory is one placement if a service claims its name, or if it builds and nothing in it is
/// claimed, or only by the labels of one service.
fn collect_directory(
    files: &Files,
    tree: &Tree,
    catalog: &Catalog,
    name: &str,
    path: String,
    found: &mut Vec<Placement>,
) {
    let claimed = catalog.claim(name);
    let mut inside = Vec::new();
    let mut labelled = None;
    if claimed.is_none() {
        collect(files, tree, catalog, &path, &mut inside);
        let builds = kustomization_file(tree, &path).is_some();
        labelled = only_label(catalog, &inside);
        let is_group = inside.iter().any(|placement| placement.service.is_some());
        if !builds || is_group && labelled.is_none() {
            found.extend(inside);
            return;
        }
    }
    let first = kustomization_file(tree, &path);
    let mut all: Vec<FileId> = first.into_iter().collect();
    all.extend(
        tree.files_below(&path)
            .filter(|(path, _)| is_yaml(path))
            .map(|(_, file)| file)
            .filter(|file| Some(*file) != first),
    );
    let Some(first) = all.first() else { return };
    found.push(Placement {
        place: Place::file_start(*first),
        files: all,
        kind: PlacementKind::Directory,
        service: claimed.or(labelled),
        path,
    });
}

/// The one service that labels claim all of it for; `None` if a name claims something.
fn only_label(catalog: &Catalog, inside: &[Placement]) -> Option<usize> {
    let service = inside.iter().find_map(|placement| placement.service)?;
    inside
        .iter()
        .all(|placement| {
            let by_name = catalog.claim(last_name(&placement.path)).is_some();
            !by_name && placement.service.is_none_or(|other| other == service)
        })
        .then_some(service)
}

/// An entry that leads out of the wave, claimed by the last name in its path that a service claims.
fn listed_outside(
    tree: &Tree,
    catalog: &Catalog,
    directory: &str,
    entry: &Node,
) -> Option<Placement> {
    let path = join(directory, entry.as_str()?)?;
    if path.starts_with(&format!("{directory}/")) || tree.child(&path).is_none() {
        return None;
    }
    let service = path.rsplit('/').find_map(|name| catalog.claim(name))?;
    let files = match tree.child(&path) {
        Some(Child::File(file)) => vec![file],
        _ => tree
            .files_below(&path)
            .filter(|(path, _)| is_yaml(path))
            .map(|(_, file)| file)
            .collect(),
    };
    Some(Placement {
        path,
        place: entry.place,
        files,
        kind: PlacementKind::Listed,
        service: Some(service),
    })
}

/// The service that the label `app.kubernetes.io/name` of a file's first labelled object names.
fn by_label(files: &Files, catalog: &Catalog, file: FileId) -> Option<usize> {
    files
        .yaml(file)
        .seen()
        .find_map(|document| {
            document
                .root
                .str_at(&["metadata", "labels", "app.kubernetes.io/name"])
        })
        .and_then(|name| catalog.find(name))
}

/// The last name of a path.
pub fn last_name(path: &str) -> &str {
    split(path).1
}
