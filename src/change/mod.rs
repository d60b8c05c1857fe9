//! Base picture and head picture: what moved in between.

mod pairing;

pub use pairing::MovedFile;

use crate::picture::Picture;
use crate::tree::Files;

/// What changed from base to head.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Files that are gone at one path and new at another, by their new path.
    pub moved: Vec<MovedFile>,
}

impl Change {
    /// Compares two pictures.
    pub fn between(files: &Files, base: &Picture, head: &Picture) -> Self {
        Self {
            moved: pairing::moved_files(files, base, head),
        }
    }
}
