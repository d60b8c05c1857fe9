//! Trees from disk and comparison of built objects, for the tests of the kustomize engine.
#![allow(dead_code)]

pub(crate) mod generated;

use std::path::Path;

use wavelint::kustomize::{Build, BuildOptions, Kustomize};
use wavelint::snapshot::{Entry, EntryKind, Kind, Reader, Snapshot};
use wavelint::source::{FileId, Revision};
use wavelint::tree::{Files, Tree};
use wavelint::yaml::{Node, Typed, Value, parse};

struct Disk(Vec<std::path::PathBuf>);

impl Reader for Disk {
    fn read(&self, index: usize, _: &Entry) -> std::io::Result<Vec<u8>> {
        std::fs::read(&self.0[index])
    }

    fn blob_id(&self, _: usize, _: &Entry) -> Option<wavelint::snapshot::BlobId> {
        None
    }
}

/// All files below a directory, read when asked for.
pub(crate) fn load(root: &Path) -> (Files, Tree) {
    let mut entries: Vec<(Entry, std::path::PathBuf)> = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir())
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(root).ok()?.to_str()?.to_owned();
            let kind = if entry.file_type().is_symlink() {
                EntryKind::Symlink
            } else {
                EntryKind::File
            };
            Some((Entry { path, kind }, entry.path().to_owned()))
        })
        .collect();
    entries.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    let (entries, paths) = entries.into_iter().unzip();
    let mut files = Files::default();
    let snapshot = Snapshot::new(Kind::Folder, None, entries, Box::new(Disk(paths)));
    let tree = files.add(snapshot, Revision::Head, None);
    (files, tree)
}

/// Builds one directory of a tree as plain kustomize.
pub(crate) fn build(files: &Files, tree: &Tree, directory: &str) -> Build {
    Kustomize::new(files, tree).build(directory, &BuildOptions::default())
}

/// The documents of kustomize's output, without merge keys.
pub(crate) fn documents(text: &str) -> Vec<Node> {
    let yaml = parse(text, FileId(0));
    assert_eq!(yaml.error, None, "kustomize prints YAML");
    yaml.documents
        .into_iter()
        .map(|document| document.root)
        .filter(|root| !root.is_null())
        .collect()
}

/// The first difference between two values, as a path; `None` if they are equal.
pub(crate) fn difference(expected: &Node, found: &Node) -> Option<String> {
    difference_at("", expected, found)
}

fn difference_at(path: &str, expected: &Node, found: &Node) -> Option<String> {
    match (&expected.value, &found.value) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            let same = match (left.typed(), right.typed()) {
                (Typed::String, Typed::String) => left.text == right.text,
                (Typed::Int(left), Typed::Float(right))
                | (Typed::Float(right), Typed::Int(left)) => left as f64 == right,
                (left, right) => left == right,
            };
            (!same).then(|| format!("{path}: expected {left:?}, found {right:?}"))
        }
        (Value::Sequence(left), Value::Sequence(right)) => {
            if left.len() != right.len() {
                return Some(format!(
                    "{path}: expected {} items, found {}",
                    left.len(),
                    right.len()
                ));
            }
            left.iter()
                .zip(right.iter())
                .enumerate()
                .find_map(|(index, (left, right))| {
                    difference_at(&format!("{path}[{index}]"), left, right)
                })
        }
        (Value::Mapping(left), Value::Mapping(right)) => {
            for entry in right.resolved() {
                let key = entry.key.as_scalar().map_or("", |key| &key.text);
                if left.own(key).is_none() {
                    return Some(format!("{path}/{key}: not expected"));
                }
            }
            left.resolved().iter().find_map(|entry| {
                let key = entry.key.as_scalar().map_or("", |key| &key.text);
                let path = format!("{path}/{key}");
                match right.entry(key) {
                    Some(found) => difference_at(&path, &entry.value, &found.value),
                    None => Some(format!("{path}: missing")),
                }
            })
        }
        _ => Some(format!("{path}: another kind of value")),
    }
}

/// What tells the objects of a build from those that are expected, in order; empty if nothing.
pub(crate) fn differences(expected: &[Node], build: &Build) -> Vec<String> {
    let name = |node: &Node| {
        format!(
            "{} {}/{}",
            node.str_at(&["kind"]).unwrap_or_default(),
            node.str_at(&["metadata", "namespace"]).unwrap_or_default(),
            node.str_at(&["metadata", "name"]).unwrap_or_default()
        )
    };
    let left: Vec<String> = expected.iter().map(name).collect();
    let right: Vec<String> = build
        .objects
        .iter()
        .map(|object| name(&object.node))
        .collect();
    if left != right {
        let missing: Vec<_> = left.iter().filter(|id| !right.contains(id)).collect();
        let extra: Vec<_> = right.iter().filter(|id| !left.contains(id)).collect();
        return vec![format!(
            "missing {missing:?}, not expected {extra:?}, or in another order"
        )];
    }
    expected
        .iter()
        .zip(&build.objects)
        .filter_map(|(expected, found)| {
            let path = difference(expected, &found.node)?;
            Some(format!("{}: {path}", name(expected)))
        })
        .collect()
}
