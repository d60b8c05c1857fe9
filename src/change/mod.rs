//! Base picture and head picture: what moved in between, and what Flux deletes on the way.

pub mod controller;
pub mod guards;
mod ownership;
mod pairing;
mod scene;

pub use controller::Fate;
pub use ownership::{ClusterChange, Departure};
pub use pairing::MovedFile;
pub use scene::Key;

use crate::config::Config;
use crate::picture::Picture;
use crate::tree::Files;

/// What changed from base to head.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Files that are gone at one path and new at another, by their new path.
    pub moved: Vec<MovedFile>,
    /// What leaves its owner, for each cluster of both revisions that is not design-only.
    pub clusters: Vec<ClusterChange>,
}

impl Change {
    /// Compares two pictures.
    pub fn between(files: &Files, config: &Config, base: &Picture, head: &Picture) -> Self {
        Self {
            moved: pairing::moved_files(files, base, head),
            clusters: ownership::compare(files, config, base, head),
        }
    }
}
