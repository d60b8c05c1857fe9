//! What a run of `--fix` is about to do, on disk before it does anything: an interrupted run can be undone.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::FileChange;

/// The journal, in the linted directory, while files are being changed.
pub(super) const JOURNAL: &str = ".wavelint-fix";

/// The journal after the last file was changed, while the old copies are being removed.
pub(super) const DONE: &str = ".wavelint-fix-done";

/// Behind the hidden name of the new content that waits beside a file.
const NEW: &str = "wavelint-new";

/// Behind the hidden name of the old content that is kept beside a file until all is done.
const OLD: &str = "wavelint-old";

/// The steps of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Journal {
    /// One for each file.
    pub(super) steps: Vec<Step>,
    /// Directories that are made, outermost first.
    pub(super) directories: Vec<String>,
}

/// One file to be changed. Hashes are those of the content, hexadecimal; none where there is no file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    /// Relative to the linted directory.
    pub(super) path: String,
    /// Of the content before.
    pub(super) before: Option<String>,
    /// Of the content after.
    pub(super) after: Option<String>,
}

impl Step {
    pub(super) fn new(change: &FileChange) -> Self {
        Self {
            path: change.path.clone(),
            before: change.before.as_deref().map(hash),
            after: change.after.as_deref().map(hash),
        }
    }

    /// Where the new content waits.
    pub(super) fn new_path(&self) -> String {
        beside(&self.path, NEW)
    }

    /// Where the old content is kept.
    pub(super) fn old_path(&self) -> String {
        beside(&self.path, OLD)
    }
}

fn beside(path: &str, ending: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, name)) => format!("{directory}/.{name}.{ending}"),
        None => format!(".{path}.{ending}"),
    }
}

/// The SHA-256 of a content, hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
