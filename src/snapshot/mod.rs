//! All files at one moment: work tree, index, revision, plain folder, or memory.

use std::io;

use smol_str::SmolStr;

mod base;
mod environment;
mod folder;
mod overlay;
mod repository;
mod request;
mod take;

pub use environment::Environment;
pub use overlay::Changes;
pub use request::{BaseRequest, Request, Source, TakeError, Taken};
pub use take::take;

/// Where a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The work tree of a git repository: tracked files, and untracked ones that are not ignored.
    Worktree,
    /// The index of a git repository.
    Index,
    /// A revision of a git repository.
    Revision,
    /// A folder outside git.
    Folder,
    /// Files given by the program.
    Memory,
}

/// The hexadecimal id that git gives a file's content as it stores it: equal ids, equal bytes.
pub type BlobId = SmolStr;

/// One path of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the linted directory, with `/`.
    pub path: String,
    /// What is there.
    pub kind: EntryKind,
}

/// What stands at a path. Directories are implied by the paths below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link; never followed (Flux's artifact has none).
    Symlink,
    /// A submodule; its content is not in the repository.
    Submodule,
}

/// All files at one moment. Contents and blob ids are read when asked for.
pub struct Snapshot {
    /// Where it was taken.
    pub kind: Kind,
    /// The full id of the commit, for [`Kind::Revision`].
    pub revision: Option<String>,
    /// Sorted by path, in byte order.
    pub entries: Vec<Entry>,
    reader: Box<dyn Reader>,
}

/// Reads what the entries name; `index` counts in [`Snapshot::entries`].
pub trait Reader: Send + Sync {
    /// The bytes of an entry (of a symbolic link, its target).
    ///
    /// # Errors
    /// When the file is gone or unreadable.
    fn read(&self, index: usize, entry: &Entry) -> io::Result<Vec<u8>>;

    /// The id under which git stores or would store the entry; `None` where that
    /// cannot be known without running an external filter.
    fn blob_id(&self, index: usize, entry: &Entry) -> Option<BlobId>;
}

impl Snapshot {
    /// Assembles a snapshot; sorts nothing: entries must be sorted by path and unique.
    pub fn new(
        kind: Kind,
        revision: Option<String>,
        entries: Vec<Entry>,
        reader: Box<dyn Reader>,
    ) -> Self {
        debug_assert!(entries.is_sorted_by(|a, b| a.path < b.path));
        Self {
            kind,
            revision,
            entries,
            reader,
        }
    }

    /// A snapshot of files in memory.
    pub fn memory(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let files: std::collections::BTreeMap<String, Vec<u8>> = files.into_iter().collect();
        let (entries, contents) = files
            .into_iter()
            .map(|(path, bytes)| {
                (
                    Entry {
                        path,
                        kind: EntryKind::File,
                    },
                    bytes,
                )
            })
            .unzip();
        Self::new(
            Kind::Memory,
            None,
            entries,
            Box::new(MemoryReader(contents)),
        )
    }

    /// The bytes of entry `index`.
    ///
    /// # Errors
    /// When the file is gone or unreadable.
    pub fn read(&self, index: usize) -> io::Result<Vec<u8>> {
        self.reader.read(index, &self.entries[index])
    }

    /// The blob id of entry `index`; `None` where it cannot be known.
    pub fn blob_id(&self, index: usize) -> Option<BlobId> {
        self.reader.blob_id(index, &self.entries[index])
    }
}

struct MemoryReader(Vec<Vec<u8>>);

impl Reader for MemoryReader {
    fn read(&self, index: usize, _: &Entry) -> io::Result<Vec<u8>> {
        Ok(self.0[index].clone())
    }

    fn blob_id(&self, index: usize, _: &Entry) -> Option<BlobId> {
        Some(sha1_blob_id(&self.0[index]))
    }
}

/// The id that a SHA-1 repository without any conversion would give these bytes.
pub fn sha1_blob_id(bytes: &[u8]) -> BlobId {
    crate::git::sha1_blob_id(bytes)
}

/// Why a submodule cannot be read.
fn no_content() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "it is a submodule: its content is in another repository",
    )
}
