//! A tree in memory, and what a step makes of it.

use std::collections::BTreeMap;

use super::{Moment, Step};
use crate::config::Config;
use crate::picture::Picture;
use crate::snapshot::Snapshot;
use crate::source::{Content, Revision};
use crate::tree::{Files, Tree};

/// Path → bytes of every regular file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    files: BTreeMap<String, Vec<u8>>,
}

impl Draft {
    /// The files of a tree.
    ///
    /// # Errors
    /// The first file that cannot be read, with the reason.
    pub fn of(files: &Files, tree: &Tree) -> Result<Self, String> {
        let files = tree
            .files()
            .map(|(path, file)| match files.content(file) {
                Content::Unreadable(reason) => Err(format!("{path}: {reason}")),
                content => Ok((path.to_owned(), content.bytes().to_vec())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { files })
    }

    /// Files given by the program.
    pub fn from_files(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files }
    }

    /// All files, by path.
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// The text of a file; `None` if there is none or it is no text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }

    /// The tree after a step.
    #[must_use]
    pub fn after(&self, step: &Step) -> Self {
        let mut files = self.files.clone();
        for change in &step.moves {
            if let Some(bytes) = files.remove(&change.from) {
                files.insert(change.to.clone(), bytes);
            }
        }
        for (path, bytes) in &step.writes {
            match bytes {
                Some(bytes) => files.insert(path.clone(), bytes.clone()),
                None => files.remove(path),
            };
        }
        Self { files }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::memory(self.files.clone())
    }

    pub(super) fn understand(&self, config: &Config, remotes: &[String]) -> Moment {
        let mut files = Files::default();
        let tree = files.add(self.snapshot(), Revision::Head, None);
        let picture = Picture::new(&files, tree, config, remotes, &[]);
        Moment { files, picture }
    }
}
