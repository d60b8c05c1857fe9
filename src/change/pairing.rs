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
    pair_by_name(files, base, head, &mut gone, &mut new, &mut moved);
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

/// Files of one name in a wave set: the same below the wave's directory, or below the directory
/// that holds the waves. Not those that hold quite different objects.
fn pair_by_name(
    files: &Files,
    base: &Picture,
    head: &Picture,
    gone: &mut Vec<Loose<'_>>,
    new: &mut Vec<Loose<'_>>,
    moved: &mut Vec<MovedFile>,
) {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, file) in gone.iter().enumerate() {
        for name in names_in_sets(base, head, file.path) {
            by_name.entry(name).or_default().push(index);
        }
    }
    let mut used = BTreeSet::new();
    new.retain(|file| {
        let candidates: BTreeSet<usize> = names_in_sets(head, base, file.path)
            .iter()
            .filter_map(|name| by_name.get(name))
            .flatten()
            .copied()
            .collect();
        let best = candidates
            .iter()
            .filter(|index| !used.contains(*index))
            .filter(|index| in_wave(head, file.path) || in_wave(base, gone[**index].path))
            .filter(|index| may_be_one(files, &gone[**index], file))
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

/// What a path is called in the wave sets of its own picture and of the other: its set's directory,
/// and the path below its wave, or below the directory that holds the waves.
fn names_in_sets(own: &Picture, other: &Picture, path: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if let Some((set, number)) = own.waves.wave_of(path) {
        let set = &own.waves.sets[set];
        let directories = set
            .waves
            .get(&number)
            .map(|wave| wave.directories.as_slice());
        for directory in directories.unwrap_or_default() {
            if let Some(below) = below(directory, path) {
                names.insert(format!("{}: {below}", set.parent));
            }
        }
    }
    for set in own.waves.sets.iter().chain(&other.waves.sets) {
        if let Some(below) = below(&set.parent, path) {
            names.insert(format!("{}: {below}", set.parent));
        }
    }
    names
}

/// The rest of a path below a directory.
fn below<'a>(directory: &str, path: &'a str) -> Option<&'a str> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// False for two files of which each holds objects, none of one with a kind and name of the other,
/// and not even the same kinds.
fn may_be_one(files: &Files, base: &Loose<'_>, head: &Loose<'_>) -> bool {
    let (before, after) = (identities(files, base), identities(files, head));
    let kinds = |of: &BTreeSet<(SmolStr, SmolStr)>| -> BTreeSet<SmolStr> {
        of.iter().map(|(kind, _)| kind.clone()).collect()
    };
    before.is_empty()
        || after.is_empty()
        || !before.is_disjoint(&after)
        || kinds(&before) == kinds(&after)
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
