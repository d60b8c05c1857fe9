//! Snapshots of folders outside git.

use std::io;
use std::path::{Path, PathBuf};

use super::{BlobId, Entry, EntryKind, Kind, Reader, Snapshot, sha1_blob_id};
use crate::git;

/// Everything below `root` but `.git`; other git repositories in it are not entered.
/// Notes say what was left out, and why.
///
/// # Errors
/// When `root` itself cannot be read.
pub(super) fn take(root: &Path, notes: &mut Vec<String>) -> io::Result<Snapshot> {
    std::fs::read_dir(root)?;
    let mut entries = Vec::new();
    let mut walk = walkdir::WalkDir::new(root)
        .min_depth(1)
        .sort_by_file_name()
        .into_iter();
    while let Some(found) = walk.next() {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let path = error.path().unwrap_or(root);
                let path = path.strip_prefix(root).unwrap_or(path);
                notes.push(format!("{}: left out, unreadable", path.display()));
                continue;
            }
        };
        let kind = found.file_type();
        if found.file_name() == ".git" {
            if kind.is_dir() {
                walk.skip_current_dir();
            }
            continue;
        }
        let kind = if kind.is_symlink() {
            EntryKind::Symlink
        } else if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() && found.path().join(".git").exists() {
            walk.skip_current_dir();
            EntryKind::Submodule
        } else {
            continue;
        };
        match relative(root, found.path()) {
            Some(path) => entries.push(Entry { path, kind }),
            None => notes.push(format!(
                "{}: left out, its name is not valid UTF-8",
                found.path().strip_prefix(root).unwrap_or(root).display()
            )),
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let reader = FolderReader {
        root: root.to_owned(),
    };
    Ok(Snapshot::new(Kind::Folder, None, entries, Box::new(reader)))
}

/// The path below `root` with `/`; `None` if it is not valid UTF-8.
fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .iter()
        .map(|part| part.to_str())
        .collect();
    Some(parts?.join("/"))
}

struct FolderReader {
    root: PathBuf,
}

impl Reader for FolderReader {
    fn read(&self, _: usize, entry: &Entry) -> io::Result<Vec<u8>> {
        let path = self.root.join(&entry.path);
        match entry.kind {
            EntryKind::File => git::read_file(&path),
            EntryKind::Symlink => git::read_link(&path),
            EntryKind::Submodule => Err(super::no_content()),
        }
    }

    fn blob_id(&self, index: usize, entry: &Entry) -> Option<BlobId> {
        self.read(index, entry)
            .ok()
            .map(|bytes| sha1_blob_id(&bytes))
    }
}
