//! The straight line: snapshots → files → pictures → rules → what is left after levels and ignores.

use std::sync::Arc;

use rayon::prelude::*;

use crate::config::{Config, ConfigError};
use crate::finding::Finding;
use crate::flux::{self, is_yaml};
use crate::levels::{self, Selection};
use crate::picture::Picture;
use crate::repo::Repo;
use crate::report::Summary;
use crate::rules::{self, RULES};
use crate::snapshot::Snapshot;
use crate::source::{FileId, Revision};
use crate::suppress;
use crate::tree::{Files, Tree};

/// The files of a run, and the trees of its revisions.
pub struct Loaded {
    /// All files.
    pub files: Files,
    /// What is linted.
    pub head: Tree,
    /// What it is compared with.
    pub base: Option<Tree>,
}

/// What a run found.
pub struct Outcome {
    /// The findings that levels and ignores leave, in report order.
    pub findings: Vec<Finding>,
    /// What was looked at; the counts by severity are still to be set.
    pub summary: Summary,
}

/// Reads and parses the YAML files of both snapshots, in parallel.
pub fn load(head: Snapshot, base: Option<Snapshot>) -> Loaded {
    load_shared(Arc::new(head), base.map(Arc::new))
}

/// [`load`] of snapshots that are still needed afterwards.
pub fn load_shared(head: Arc<Snapshot>, base: Option<Arc<Snapshot>>) -> Loaded {
    let mut files = Files::default();
    let head = files.add(head, Revision::Head, None);
    let base = base.map(|base| files.add(base, Revision::Base, Some(&head)));
    let mut wanted: Vec<FileId> = head
        .files()
        .chain(base.iter().flat_map(Tree::files))
        .filter(|(path, _)| is_yaml(path))
        .map(|(_, file)| file)
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.par_iter().for_each(|file| {
        files.yaml(*file);
    });
    Loaded { files, head, base }
}

/// Understands both revisions. `remotes` are the URLs of the checkout's git remotes.
pub fn understand<'a>(
    files: &'a Files,
    config: &'a Config,
    head: Tree,
    base: Option<Tree>,
    remotes: &[String],
) -> Repo<'a> {
    let unchanged = base.as_ref().is_some_and(|base| *base == head);
    let base = base.filter(|_| !unchanged);
    let before = base
        .as_ref()
        .map(|base| flux::found_directories(files, base, config))
        .unwrap_or_default();
    let (head, base) = rayon::join(
        || Arc::new(Picture::new(files, head, config, remotes, &before)),
        || Some(Arc::new(Picture::new(files, base?, config, remotes, &[]))),
    );
    let base = if unchanged { Some(head.clone()) } else { base };
    Repo::new(files, config, head, base)
}

/// Runs the rules and applies levels and inline ignores. With `clusters`, what holds only in others is left out.
///
/// # Errors
/// A name in the configuration or the selection that is no rule's and no group's.
pub fn lint(
    repo: &Repo,
    selection: &Selection,
    clusters: &[String],
) -> Result<Outcome, ConfigError> {
    let levels = levels::resolve(repo.config, selection, RULES)?;
    let found = rules::run(repo, &|rule| levels.runs(rule.name));
    let found = found
        .into_iter()
        .filter(|finding| {
            clusters.is_empty()
                || finding.clusters.is_empty()
                || finding
                    .clusters
                    .iter()
                    .any(|cluster| clusters.contains(cluster))
        })
        .filter_map(|finding| {
            let path = repo.files.path(finding.place.file);
            levels.apply(finding, path)
        })
        .collect();
    let judged: Vec<FileId> = repo
        .head
        .tree
        .files()
        .filter(|(path, _)| !repo.config.exclude.matches(path) && suppress::may_hold_ignores(path))
        .map(|(_, file)| file)
        .collect();
    let mut remaining = suppress::inline(found, repo.files, &judged, RULES, |rule, path| {
        let ran = levels.runs(rule.name) && (!rule.compares || repo.base.is_some());
        ran && clusters.is_empty()
            && levels
                .severity(rule.name, path, crate::finding::Severity::Error)
                .is_some()
    });
    let mut findings = remaining.kept;
    findings.extend(remaining.unused.drain(..).filter_map(|finding| {
        let path = repo.files.path(finding.place.file);
        levels.apply(finding, path)
    }));
    Ok(Outcome {
        findings,
        summary: Summary {
            suppressed: remaining.suppressed,
            ..summary(repo)
        },
    })
}

/// What a repository holds.
pub fn summary(repo: &Repo) -> Summary {
    let head = &repo.head;
    Summary {
        files: head.tree.files().count(),
        objects: head.objects(),
        kustomizations: head
            .flux
            .clusters
            .iter()
            .map(|cluster| cluster.kustomizations.len())
            .sum(),
        clusters: head.flux.clusters.len(),
        services: head.waves.catalog.services.len(),
        waves: head.waves.sets.iter().map(|set| set.waves.len()).sum(),
        ..Summary::default()
    }
}
