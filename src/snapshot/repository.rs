//! Snapshots of what a git repository holds: work tree, index, commit.

use std::io;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{BlobId, Entry, EntryKind, Kind, Reader, Snapshot};
use crate::git::{Cleaner, Content, GitError, ItemKind, Listing, ObjectId, Repository};

/// The work tree below `directory`.
pub(super) fn work_tree(
    repository: &Arc<Repository>,
    directory: &str,
    notes: &mut Vec<String>,
) -> Result<Snapshot, GitError> {
    let (listing, cleaner) = repository.list_work_tree(directory)?;
    Ok(assemble(
        Kind::Worktree,
        None,
        repository,
        listing,
        Some(cleaner),
        notes,
    ))
}

/// The index below `directory`.
pub(super) fn index(
    repository: &Arc<Repository>,
    directory: &str,
    notes: &mut Vec<String>,
) -> Result<Snapshot, GitError> {
    let listing = repository.list_index(directory)?;
    Ok(assemble(
        Kind::Index,
        None,
        repository,
        listing,
        None,
        notes,
    ))
}

/// A commit's files below `directory`; `None` if it has no such directory.
pub(super) fn commit(
    repository: &Arc<Repository>,
    commit: ObjectId,
    directory: &str,
    notes: &mut Vec<String>,
) -> Result<Option<Snapshot>, GitError> {
    let listing = repository.list_commit(commit, directory)?;
    Ok(listing.map(|listing| {
        let id = Some(commit.to_string());
        assemble(Kind::Revision, id, repository, listing, None, notes)
    }))
}

/// A commit seen from a directory that it does not have.
pub(super) fn empty_commit(repository: &Arc<Repository>, commit: ObjectId) -> Snapshot {
    let id = Some(commit.to_string());
    let listing = Listing::default();
    assemble(
        Kind::Revision,
        id,
        repository,
        listing,
        None,
        &mut Vec::new(),
    )
}

fn assemble(
    kind: Kind,
    revision: Option<String>,
    repository: &Arc<Repository>,
    listing: Listing,
    cleaner: Option<Cleaner>,
    notes: &mut Vec<String>,
) -> Snapshot {
    notes.extend(listing.notes);
    let (entries, contents) = listing
        .items
        .into_iter()
        .map(|item| {
            let kind = match item.kind {
                ItemKind::File => EntryKind::File,
                ItemKind::Symlink => EntryKind::Symlink,
                ItemKind::Submodule => EntryKind::Submodule,
            };
            let path = item.path;
            (Entry { path, kind }, item.content)
        })
        .unzip();
    let reader = RepositoryReader {
        repository: Arc::clone(repository),
        contents,
        cleaner,
    };
    Snapshot::new(kind, revision, entries, Box::new(reader))
}

struct RepositoryReader {
    repository: Arc<Repository>,
    /// One for each entry.
    contents: Vec<Content>,
    /// For a work tree.
    cleaner: Option<Cleaner>,
}

impl Reader for RepositoryReader {
    fn read(&self, index: usize, entry: &Entry) -> io::Result<Vec<u8>> {
        if entry.kind == EntryKind::Submodule {
            return Err(super::no_content());
        }
        match (self.contents[index], &self.cleaner) {
            (Content::Object(id), _) => self.repository.read_blob(id).map_err(io::Error::other),
            (Content::WorkTree(_), Some(cleaner)) => {
                let path = cleaner.absolute(&entry.path);
                match entry.kind {
                    EntryKind::Symlink => crate::git::read_link(&path),
                    _ => crate::git::read_file(&path),
                }
            }
            (Content::WorkTree(_), None) => Err(io::Error::other("there is no work tree")),
        }
    }

    fn blob_id(&self, index: usize, entry: &Entry) -> Option<BlobId> {
        let id = match (self.contents[index], &self.cleaner) {
            (Content::Object(id), _) => id,
            (Content::WorkTree(tracked), Some(cleaner)) => {
                let kind = match entry.kind {
                    EntryKind::File => ItemKind::File,
                    EntryKind::Symlink => ItemKind::Symlink,
                    EntryKind::Submodule => ItemKind::Submodule,
                };
                cleaner.blob_id(&self.repository, &entry.path, kind, tracked)?
            }
            (Content::WorkTree(_), None) => return None,
        };
        Some(SmolStr::new(id.to_string()))
    }
}
