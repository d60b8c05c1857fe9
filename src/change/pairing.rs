//! Which file of the base is which file of the head: by content, by name, by the objects inside.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::flux::is_yaml;
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, ObjectId};
use crate::picture::Picture;
use crate::snapshot::BlobId;
use crate::source::FileId;
use crate::tree::{Files, split};

/// A file that is gone at one path and new at another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedFile {
    /// Its path at the base.
    pub from: String,
    /// The file at the base.
    pub base: FileId,
    /// Its path at the head.
    pub to: String,
    /// The file at the head.
    pub head: FileId,
    /// True if git stores the same bytes for both; `None` where that cannot be known.
    pub identical: Option<bool>,
}

/// A file that only one side has.
struct Loose<'a> {
    path: &'a str,
    file: FileId,
    blob: Option<BlobId>,
}

/// Pairs what is gone with what is new. Kustomization files are left out: they belong to
/// their directories. A file whose old path still holds a file is a copy, not a move.
pub(super) fn moved_files(files: &Files, base: &Picture, head: &Picture) -> Vec<MovedFile> {
    let mut gone = loose(files, base, head);
    let mut new = loose(files, head, base);
    let mut moved = Vec::new();
    pair_by_blob(&mut gone, &mut new, &mut moved);
    pair_by_name(base, head, &mut gone, &mut new, &mut moved);
    pair_by_objects(files, &mut gone, &mut new, &mut moved);
    moved.sort_by(|a, b| a.to.cmp(&b.to));
    moved
}

/// The files of one picture whose path the other does not have.
fn loose<'a>(files: &Files, of: &'a Picture, other: &Picture) -> Vec<Loose<'a>> {
    of.tree
        .files()
        .filter(|(path, _)| other.tree.child(path).is_none())
        .filter(|(path, _)| !KUSTOMIZATION_FILE_NAMES.contains(&split(path).1))
        .map(|(path, file)| Loose {
            path,
            file,
            blob: files.blob_id(file),
        })
        .collect()
}

fn pair_by_blob(gone: &mut Vec<Loose<'_>>, new: &mut Vec<Loose<'_>>, moved: &mut Vec<MovedFile>) {
    let mut by_blob: BTreeMap<BlobId, Vec<usize>> = BTreeMap::new();
    for (index, file) in gone.iter().enumerate() {
        if let Some(blob) = &file.blob {
            by_blob.entry(blob.clone()).or_default().push(index);
        }
    }
    let mut used = BTreeSet::new();
    new.retain(|file| {
        let Some(blob) = &file.blob else { return true };
        let candidates = by_blob.get(blob).map(Vec::as_slice).unwrap_or_default();
        let best = candidates
            .iter()
            .filter(|index| !used.contains(*index))
            .max_by_key(|index| {
                (
                    common_suffix(gone[**index].path, file.path),
                    usize::MAX - **index,
                )
            });
        let Some(best) = best else { return true };
        used.insert(*best);
        moved.push(pair(&gone[*best], file, Some(true)));
        false
    });
    remove(gone, &used);
}

/// Files of one name, where at least one side lies in a wave.
fn pair_by_name(
    base: &Picture,
    head: &Picture,
    gone: &mut Vec<Loose<'_>>,
    new: &mut Vec<Loose<'_>>,
    moved: &mut Vec<MovedFile>,
) {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, file) in gone.iter().enumerate() {
        by_name.entry(split(file.path).1).or_default().push(index);
    }
    let mut used = BTreeSet::new();
    new.retain(|file| {
        let candidates = by_name
            .get(split(file.path).1)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let best = candidates
            .iter()
            .filter(|index| !used.contains(*index))
            .filter(|index| in_wave(head, file.path) || in_wave(base, gone[**index].path))
            .max_by_key(|index| {
                (
                    common_suffix(gone[**index].path, file.path),
                    usize::MAX - **index,
                )
            });
        let Some(best) = best else { return true };
        used.insert(*best);
        moved.push(pair(
            &gone[*best],
            file,
            known_difference(&gone[*best], file),
        ));
        false
    });
    remove(gone, &used);
}

/// Files that hold the same objects, by kind and name.
fn pair_by_objects(
    files: &Files,
    gone: &mut Vec<Loose<'_>>,
    new: &mut Vec<Loose<'_>>,
    moved: &mut Vec<MovedFile>,
) {
    let mut by_objects: BTreeMap<BTreeSet<(SmolStr, SmolStr)>, Vec<usize>> = BTreeMap::new();
    for (index, file) in gone.iter().enumerate() {
        by_objects
            .entry(identities(files, file))
            .or_default()
            .push(index);
    }
    let mut used = BTreeSet::new();
    new.retain(|file| {
        let identities = identities(files, file);
        if identities.is_empty() {
            return true;
        }
        // Two that hold the same objects say nothing about which is which.
        let Some([best]) = by_objects.get(&identities).map(Vec::as_slice) else {
            return true;
        };
        if !used.insert(*best) {
            return true;
        }
        moved.push(pair(
            &gone[*best],
            file,
            known_difference(&gone[*best], file),
        ));
        false
    });
    remove(gone, &used);
}

fn pair(base: &Loose<'_>, head: &Loose<'_>, identical: Option<bool>) -> MovedFile {
    MovedFile {
        from: base.path.to_owned(),
        base: base.file,
        to: head.path.to_owned(),
        head: head.file,
        identical,
    }
}

/// What is left after pairing by blob differs, if both blobs are known.
fn known_difference(base: &Loose<'_>, head: &Loose<'_>) -> Option<bool> {
    Some(base.blob.as_ref()? == head.blob.as_ref()?)
}

fn remove(files: &mut Vec<Loose<'_>>, used: &BTreeSet<usize>) {
    let mut index = 0;
    files.retain(|_| {
        index += 1;
        !used.contains(&(index - 1))
    });
}

/// How many names two paths have in common at their end.
fn common_suffix(left: &str, right: &str) -> usize {
    left.rsplit('/')
        .zip(right.rsplit('/'))
        .take_while(|(left, right)| left == right)
        .count()
}

/// True if a path lies in a directory of a wave.
fn in_wave(picture: &Picture, path: &str) -> bool {
    picture.waves.wave_of(path).is_some()
}

fn identities(files: &Files, file: &Loose<'_>) -> BTreeSet<(SmolStr, SmolStr)> {
    if !is_yaml(file.path) {
        return BTreeSet::new();
    }
    files
        .yaml(file.file)
        .seen()
        .map(|document| ObjectId::of(&document.root))
        .filter(|id| !id.kind.is_empty() && !id.name.is_empty())
        .map(|id| (id.kind, id.name))
        .collect()
}
