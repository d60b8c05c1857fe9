//! What the catalog and the waves leave over: services without a manifest, manifests without a service.

use std::collections::BTreeSet;

use crate::near;
use crate::repo::Repo;
use crate::waves::{Placement, last_name};

/// Kinds that serve all apps and belong to none.
const KINDS_WITHOUT_AN_APP: [&str; 12] = [
    "Namespace",
    "CustomResourceDefinition",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "PriorityClass",
    "StorageClass",
    "HelmRepository",
    "GitRepository",
    "OCIRepository",
    "Bucket",
    "ServiceDefinition",
];

/// Services with no manifest in any wave; none if no service is placed at all.
pub(in crate::rules) fn unplaced(repo: &Repo) -> Vec<usize> {
    let waves = &repo.head.waves;
    let placed: BTreeSet<usize> = waves
        .sets
        .iter()
        .flat_map(|set| set.waves.values())
        .flat_map(|wave| &wave.placements)
        .filter_map(|placement| placement.service)
        .collect();
    if placed.is_empty() {
        return Vec::new();
    }
    (0..waves.catalog.services.len())
        .filter(|index| !placed.contains(index))
        .collect()
}

/// A placement that no service claims.
pub(in crate::rules) struct Unclaimed<'a> {
    /// What it is.
    pub(in crate::rules) placement: &'a Placement,
    /// The number of its wave.
    pub(in crate::rules) number: u64,
    /// The unplaced service that has nearly its name.
    pub(in crate::rules) near: Option<usize>,
}

/// All of them, in sets where services claim most of what lies in the waves.
pub(in crate::rules) fn unclaimed<'a>(repo: &'a Repo) -> Vec<Unclaimed<'a>> {
    let waves = &repo.head.waves;
    let unplaced = unplaced(repo);
    let mut found = Vec::new();
    for set in waves.sets.iter().filter(|set| set.claimed) {
        let judged: Vec<(u64, &Placement)> = set
            .waves
            .iter()
            .flat_map(|(number, wave)| {
                wave.placements
                    .iter()
                    .map(move |placement| (*number, placement))
            })
            .filter(|(_, placement)| placement.service.is_some() || has_an_app(repo, placement))
            .collect();
        let claimed = judged
            .iter()
            .filter(|(_, placement)| placement.service.is_some())
            .count();
        if claimed * 2 <= judged.len() {
            continue;
        }
        for (number, placement) in judged {
            if placement.service.is_some() {
                continue;
            }
            let name = last_name(&placement.path)
                .split('.')
                .next()
                .unwrap_or_default();
            let names = unplaced
                .iter()
                .map(|index| waves.catalog.services[*index].name.as_str());
            found.push(Unclaimed {
                placement,
                number,
                near: near::nearest(name, names).and_then(|near| waves.catalog.find(near)),
            });
        }
    }
    found
}

/// True if something in it is of a kind that belongs to an app, and the configuration does not name it.
fn has_an_app(repo: &Repo, placement: &Placement) -> bool {
    let name = last_name(&placement.path);
    let external = &repo.config.external.services;
    let is_external = external.iter().any(|service| {
        name.strip_prefix(service.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_']))
    });
    !is_external
        && placement.files.iter().any(|file| {
            repo.files.yaml(*file).seen().any(|document| {
                document.root.str_at(&["kind"]).is_some_and(|kind| {
                    !KINDS_WITHOUT_AN_APP.contains(&kind) && kind != "Kustomization"
                })
            })
        })
}
