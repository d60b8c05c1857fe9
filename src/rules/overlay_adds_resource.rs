//! `overlay-adds-resource`: one cluster adds objects to the base that all clusters share.

use std::collections::BTreeSet;

use super::support::overlay::{ClusterOverlays, cluster_overlays, holds_variables};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "overlay-adds-resource",
    group: Group::Overlays,
    summary: "the overlay of one cluster adds objects to the base of all, where none did",
    page: include_str!("../../rules/overlay-adds-resource.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let values_only = repo.config.overlays.values_only;
    // The directories of which, at the base revision, nobody added anything.
    let clean_before: BTreeSet<String> = repo
        .base
        .as_ref()
        .map(|base| {
            cluster_overlays(repo, &base.picture)
                .into_iter()
                .filter(|set| set.added(repo, &base.picture, &|_, _| false).is_empty())
                .flat_map(|set| set.bases)
                .collect()
        })
        .unwrap_or_default();
    cluster_overlays(repo, &repo.head)
        .into_iter()
        .filter(|set| values_only || set.bases.iter().any(|base| clean_before.contains(base)))
        .flat_map(|set| report(repo, &set))
        .collect()
}

/// What holds variables is no addition: that differs by cluster on purpose.
fn report(repo: &Repo, set: &ClusterOverlays) -> Vec<Finding> {
    let bases: Vec<String> = set.bases.iter().map(|base| format!("`{base}`")).collect();
    set.added(repo, &repo.head, &|cluster, object| {
        holds_variables(cluster, &object.id())
    })
        .into_iter()
        .map(|(cluster, entry, object)| {
            let cluster = &repo.head.flux.clusters[cluster];
            Finding::new(
                RULE.name,
                Severity::Warning,
                entry,
                format!(
                    "the overlay of `{}` adds {}, which is not in the base that the clusters share ({})",
                    cluster.path,
                    object.id(),
                    super::support::list(&bases)
                ),
            )
            .help("add it to the base, so that every cluster has it, and keep what differs in variables")
            .cluster(&cluster.path)
            .related(object.name_place(), "the object")
        })
        .collect()
}
