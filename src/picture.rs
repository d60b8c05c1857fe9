//! Declared, placed and reconciled at one revision.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;
use crate::flux::{self, Flux};
use crate::source::FileId;
use crate::tree::{Files, Tree};
use crate::waves::{self, Waves};

/// One revision, understood.
#[derive(Default)]
pub struct Picture {
    /// Its paths.
    pub tree: Tree,
    /// What Flux makes of it.
    pub flux: Flux,
    /// Its catalog and wave sets.
    pub waves: Waves,
    /// What the clusters' builds reach.
    pub live: Live,
}

/// What the builds of all clusters read.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Every file that some build reads.
    pub files: BTreeSet<FileId>,
    /// Every directory that some build enters, with its kustomization file; `None` where Flux generates one.
    pub directories: BTreeMap<String, Option<FileId>>,
}

impl Picture {
    /// Understands a tree. `remotes` are the URLs of the checkout's git remotes, `before` the
    /// directories that were clusters at the base (see [`flux::reconcile`]).
    pub fn new(
        files: &Files,
        tree: Tree,
        config: &Config,
        remotes: &[String],
        before: &[String],
    ) -> Self {
        let flux = flux::reconcile(files, &tree, config, remotes, before);
        let waves = waves::read(files, &tree, &flux.clusters, config);
        let mut live = Live::default();
        for cluster in &flux.clusters {
            for kustomization in &cluster.kustomizations {
                live.files.extend(&kustomization.build.files);
                for directory in &kustomization.build.directories {
                    live.directories
                        .insert(directory.path.clone(), directory.kustomization_file);
                }
            }
        }
        Self {
            tree,
            flux,
            waves,
            live,
        }
    }

    /// The number of objects that all clusters get, each cluster counted.
    pub fn objects(&self) -> usize {
        self.flux
            .clusters
            .iter()
            .map(|cluster| cluster.objects().count())
            .sum()
    }
}
