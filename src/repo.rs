//! What the rules see: the picture at head, the picture at base if there is one, and what changed.

use std::sync::Arc;

use crate::change::Change;
use crate::config::{Config, Role};
use crate::flux::Cluster;
use crate::picture::Picture;
use crate::tree::Files;

/// Everything a rule may ask.
pub struct Repo<'a> {
    /// The files of both revisions.
    pub files: &'a Files,
    /// The configuration.
    pub config: &'a Config,
    /// What is linted.
    pub head: Arc<Picture>,
    /// What it is compared with.
    pub base: Option<Base>,
}

/// The base revision, and what changed since.
pub struct Base {
    /// The picture at the base.
    pub picture: Arc<Picture>,
    /// What moved in between.
    pub change: Change,
}

impl<'a> Repo<'a> {
    /// Compares two pictures.
    pub fn new(
        files: &'a Files,
        config: &'a Config,
        head: Arc<Picture>,
        base: Option<Arc<Picture>>,
    ) -> Self {
        let base = base.map(|picture| {
            let change = Change::between(files, config, &picture, &head);
            Base { picture, change }
        });
        Self {
            files,
            config,
            head,
            base,
        }
    }

    /// The active clusters that both revisions have: as it was, and as it is. None without a base.
    pub fn compared_clusters(&self) -> impl Iterator<Item = (&Cluster, &Cluster)> {
        self.base.iter().flat_map(|base| {
            self.head
                .flux
                .clusters
                .iter()
                .filter(|after| after.role == Role::Active)
                .filter_map(|after| {
                    let mut before = base.picture.flux.clusters.iter();
                    Some((before.find(|before| before.path == after.path)?, after))
                })
        })
    }
}
