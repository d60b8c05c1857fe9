//! A snapshot with some of its files replaced in memory: what a fix would leave.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::{BlobId, Entry, EntryKind, Reader, Snapshot, sha1_blob_id};

/// Path → new content; `None` for a file that is gone.
pub type Changes = BTreeMap<String, Option<Vec<u8>>>;

/// Digits of a SHA-1.
const SHA1_DIGITS: usize = 40;

impl Snapshot {
    /// The snapshot as it is after `changes`.
    pub fn with(self: &Arc<Self>, changes: &Changes) -> Self {
        let mut entries = Vec::with_capacity(self.entries.len());
        let mut contents = Vec::with_capacity(self.entries.len());
        for (index, entry) in self.entries.iter().enumerate() {
            if !changes.contains_key(&entry.path) {
                entries.push(entry.clone());
                contents.push(Content::Kept(index));
            }
        }
        for (path, bytes) in changes {
            if let Some(bytes) = bytes {
                let position = entries.partition_point(|entry| entry.path < *path);
                let entry = Entry {
                    path: path.clone(),
                    kind: EntryKind::File,
                };
                entries.insert(position, entry);
                contents.insert(position, Content::New(bytes.clone()));
            }
        }
        let reader = Overlay {
            below: self.clone(),
            contents,
        };
        Self::new(self.kind, self.revision.clone(), entries, Box::new(reader))
    }
}

enum Content {
    /// The entry of the snapshot below.
    Kept(usize),
    New(Vec<u8>),
}

struct Overlay {
    below: Arc<Snapshot>,
    contents: Vec<Content>,
}

impl Reader for Overlay {
    fn read(&self, index: usize, _: &Entry) -> io::Result<Vec<u8>> {
        match &self.contents[index] {
            Content::Kept(below) => self.below.read(*below),
            Content::New(bytes) => Ok(bytes.clone()),
        }
    }

    /// What git would convert has an id that only git knows: with a carriage return, none is given.
    fn blob_id(&self, index: usize, _: &Entry) -> Option<BlobId> {
        match &self.contents[index] {
            Content::Kept(below) => self.below.blob_id(*below),
            Content::New(bytes) => {
                let sha1 = (0..self.below.entries.len())
                    .find_map(|index| self.below.blob_id(index))
                    .is_none_or(|id| id.len() == SHA1_DIGITS);
                (sha1 && !bytes.contains(&b'\r')).then(|| sha1_blob_id(bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_stand_in_for_those_below() {
        let below = Arc::new(Snapshot::memory(
            ["a", "b", "d"].map(|path| (path.to_owned(), path.as_bytes().to_vec())),
        ));
        let changes = Changes::from([
            ("a".to_owned(), None),
            ("b".to_owned(), Some(b"new".to_vec())),
            ("c".to_owned(), Some(b"moved\r\n".to_vec())),
        ]);
        let snapshot = below.with(&changes);
        let read: Vec<(&str, Vec<u8>)> = snapshot
            .entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.path.as_str(), snapshot.read(index).unwrap()))
            .collect();
        assert_eq!(
            read,
            [
                ("b", b"new".to_vec()),
                ("c", b"moved\r\n".to_vec()),
                ("d", b"d".to_vec())
            ]
        );
        assert_eq!(snapshot.blob_id(0), Some(sha1_blob_id(b"new")));
        assert_eq!(snapshot.blob_id(1), None);
        assert_eq!(snapshot.blob_id(2), below.blob_id(2));
    }
}
