//! Where Flux is pointed: the entry points of a tree, each one cluster.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::artifact::clamp;
use super::kustomization::{NamespacedName, SourceReference, Spec};
use super::raw::{RawObjects, is_template, is_yaml, join_name};
use super::unknown::Unknowns;
use crate::kustomize::kustomization_file;
use crate::near;
use crate::source::{FileId, Place};
use crate::tree::{Child, Files, Tree, join, split};
use crate::yaml::Node;

/// One entry point.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The cluster's name: its directory in the linted tree.
    pub path: String,
    /// The folder of the tree that is the root of the synced artifact; `""` is the top.
    pub root: String,
    /// What says that Flux is pointed there; `None` for a directory found by itself or configured.
    pub told: Option<Told>,
}

/// What a `gotk-sync.yaml` or a FluxInstance says.
#[derive(Clone, Debug)]
pub struct Told {
    /// Where the path is written.
    pub place: Place,
    /// The path as written.
    pub written: SmolStr,
    /// True if that directory is not in the tree.
    pub missing: bool,
    /// The Kustomization that is made.
    pub name: NamespacedName,
    /// The source that is synced.
    pub source: Option<SourceReference>,
    /// Its URL, where it is known.
    pub url: Option<String>,
    /// The Kustomization as `flux bootstrap` wrote it; `None` for a FluxInstance.
    pub kustomization: Option<Node>,
    /// What the synced source's `spec.ignore` says, where it is known.
    pub ignore: Option<String>,
    /// `spec.kustomize.patches` of a FluxInstance.
    pub patches: Option<Node>,
}

/// Entry points that Flux is told to sync, whether or not their directory exists.
pub(super) fn told(
    raw: &RawObjects,
    tree: &Tree,
    is_excluded: &dyn Fn(&str) -> bool,
) -> Vec<EntryPoint> {
    let mut found: BTreeMap<String, EntryPoint> = BTreeMap::new();
    let mut add = |directory: &str, told: Told| {
        if told.written.contains("${") {
            return;
        }
        let entry = resolve(tree, directory, told);
        found.entry(entry.path.clone()).or_insert(entry);
    };
    for object in &raw.kustomizations {
        if split(&object.path).1 != "gotk-sync.yaml" || is_excluded(&object.path) {
            continue;
        }
        let namespace = object
            .node
            .str_at(&["metadata", "namespace"])
            .unwrap_or("flux-system");
        let spec = Spec::read(&object.node, namespace, &Unknowns::default());
        if !is_synced_here(raw, object.file, &spec) {
            continue;
        }
        add(
            split(&object.path).0,
            Told {
                place: spec.path_place,
                written: spec.path.clone().unwrap_or_default(),
                missing: false,
                name: NamespacedName::new(
                    namespace,
                    object
                        .node
                        .str_at(&["metadata", "name"])
                        .unwrap_or_default(),
                ),
                url: sibling_field(raw, object.file, "url"),
                ignore: sibling_field(raw, object.file, "ignore"),
                source: spec.source,
                kustomization: Some(object.node.clone()),
                patches: None,
            },
        );
    }
    for instance in &raw.instances {
        let sync = instance.spec.get("sync");
        let field = |key: &str| sync.and_then(|sync| sync.str_at(&[key]));
        let Some(path) = sync.and_then(|sync| sync.get("path")) else {
            continue;
        };
        if is_excluded(&instance.path) {
            continue;
        }
        let name = NamespacedName::new(
            instance.namespace.as_str(),
            field("name").unwrap_or(&instance.namespace),
        );
        add(
            split(&instance.path).0,
            Told {
                place: path.place,
                written: path.as_str().unwrap_or_default().into(),
                missing: false,
                source: field("kind").map(|kind| SourceReference {
                    kind: kind.into(),
                    target: name.clone(),
                }),
                name,
                url: field("url").map(str::to_owned),
                ignore: field("ignore").map(str::to_owned),
                kustomization: None,
                patches: instance.spec.at(&["kustomize", "patches"]).cloned(),
            },
        );
    }
    found.into_values().collect()
}

/// A `gotk-sync.yaml` can hold further Kustomizations (of Flux's own manifests, say):
/// the one that syncs this repository names a source of the same file, a git one if there is one.
fn is_synced_here(raw: &RawObjects, file: FileId, spec: &Spec) -> bool {
    let Some(source) = &spec.source else {
        return true;
    };
    let in_file: Vec<&str> = raw
        .sources
        .iter()
        .filter(|object| object.file == file)
        .filter_map(|object| object.node.str_at(&["kind"]))
        .collect();
    let has_git = in_file.contains(&"GitRepository");
    source.kind == "GitRepository" || !has_git
}

/// A field of the source that stands in the same file.
fn sibling_field(raw: &RawObjects, file: FileId, field: &str) -> Option<String> {
    raw.sources
        .iter()
        .filter(|object| object.file == file)
        .find_map(|object| object.node.str_at(&["spec", field]))
        .map(str::to_owned)
}

/// Finds the directory that a told path means: below the nearest folder above the
/// telling file that makes the file part of it, else below the top, else below any folder above the file.
fn resolve(tree: &Tree, directory: &str, mut told: Told) -> EntryPoint {
    let path = clamp(&told.written);
    let mut ancestors = vec![directory];
    let mut above = directory;
    while !above.is_empty() {
        above = split(above).0;
        ancestors.push(above);
    }
    let below = |root: &&&str| {
        let full = join(root, &path).unwrap_or_default();
        tree.is_directory(&full).then_some(full)
    };
    let holds_file = |full: &str| {
        full.is_empty() || directory == full || directory.starts_with(&format!("{full}/"))
    };
    let root = ancestors
        .iter()
        .find(|root| !path.is_empty() && below(root).is_some_and(|full| holds_file(&full)))
        .or_else(|| ancestors.last().filter(|root| below(root).is_some()))
        .or_else(|| ancestors.iter().find(|root| below(root).is_some()))
        .copied();
    told.missing = root.is_none();
    let root = root.unwrap_or_default();
    // A misspelt path is an error of its own; the directory that was meant is linted all the same.
    let meant = told
        .missing
        .then(|| near::nearest(&path, tree.directories()))
        .flatten();
    EntryPoint {
        path: meant.map_or_else(|| join(root, &path).unwrap_or_default(), str::to_owned),
        root: root.to_owned(),
        told: Some(told),
    }
}

/// Directories that look like entry points where Flux is told nothing: they hold a
/// kustomization file or Flux objects (or were entry points `before`), and nothing reaches their own
/// files from elsewhere. Whether each builds Flux Kustomizations is for the caller to check.
pub(super) fn unreached_directories(
    files: &Files,
    tree: &Tree,
    raw: &RawObjects,
    is_excluded: &dyn Fn(&str) -> bool,
    before: &[String],
) -> Vec<String> {
    let reached = reached(files, tree, raw);
    let flux_directories: BTreeSet<&str> = raw
        .kustomizations
        .iter()
        .map(|object| split(&object.path).0)
        .collect();
    let mut candidates = Vec::new();
    for directory in std::iter::once("").chain(tree.directories()) {
        let own_kustomization = kustomization_file(tree, directory);
        let holds = own_kustomization.is_some()
            || flux_directories.contains(directory)
            || before.iter().any(|before| before == directory);
        if !holds || reached.contains(directory) || is_excluded(&join_name(directory, "x.yaml")) {
            continue;
        }
        let is_component = own_kustomization.is_some_and(|file| {
            files
                .yaml(file)
                .documents
                .first()
                .is_some_and(|document| document.root.str_at(&["kind"]) == Some("Component"))
        });
        let file_reached = tree
            .children(directory)
            .any(|(name, _)| reached.contains(join_name(directory, name).as_str()));
        if !is_component && !file_reached {
            candidates.push(directory.to_owned());
        }
    }
    candidates
}

/// Paths of files and directories that something outside their own directory reaches.
fn reached(files: &Files, tree: &Tree, raw: &RawObjects) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    for (path, file) in tree.files() {
        let (directory, name) = split(path);
        if !crate::kustomize::KUSTOMIZATION_FILE_NAMES.contains(&name) {
            continue;
        }
        for entry in file_entries(files.yaml(file).documents.first().map(|d| &d.root)) {
            if let Some(target) = join(directory, entry) {
                // An entry beside the file is the directory's own.
                if split(&target).0 != directory || tree.is_directory(&target) {
                    reached.insert(target);
                }
            }
        }
    }
    for object in &raw.kustomizations {
        let Some(path) = object.node.str_at(&["spec", "path"]) else {
            continue;
        };
        let target = clamp(path);
        let from = split(&object.path).0;
        if target == from || from.starts_with(&format!("{target}/")) {
            continue;
        }
        if kustomization_file(tree, &target).is_none() && tree.is_directory(&target) {
            sweep(tree, &target, &mut reached);
        }
        reached.insert(target);
    }
    reached
}

/// Everything that a generated build of a directory takes in.
fn sweep(tree: &Tree, directory: &str, reached: &mut BTreeSet<String>) {
    for (name, child) in tree.children(directory) {
        let path = join_name(directory, name);
        match child {
            Child::File(_) if is_yaml(name) && !is_template(tree, &path) => {
                reached.insert(path);
            }
            Child::Directory => {
                if kustomization_file(tree, &path).is_none() {
                    sweep(tree, &path, reached);
                }
                reached.insert(path);
            }
            _ => {}
        }
    }
}

/// The paths that a kustomization file lists.
fn file_entries(root: Option<&Node>) -> impl Iterator<Item = &str> {
    root.into_iter().flat_map(|root| {
        ["resources", "bases", "components"]
            .into_iter()
            .filter_map(|key| root.get(key))
            .flat_map(Node::items)
            .filter_map(Node::as_str)
    })
}

/// Of nested directories the topmost.
pub(super) fn topmost(mut directories: Vec<String>) -> Vec<String> {
    directories.sort();
    let mut kept: Vec<String> = Vec::new();
    for directory in directories {
        let nested = kept
            .iter()
            .any(|above| above.is_empty() || directory.starts_with(&format!("{above}/")));
        if !nested {
            kept.push(directory);
        }
    }
    kept
}
