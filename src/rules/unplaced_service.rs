//! `unplaced-service`: a service of the catalog with no manifest in any wave.

use std::collections::BTreeSet;

use super::{Group, Rule, unknown_app};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "unplaced-service",
    group: Group::Waves,
    summary: "a service of the catalog has no manifest in any wave",
    page: include_str!("../../rules/unplaced-service.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let catalog = &repo.head.waves.catalog;
    let named: BTreeSet<usize> = unknown_app::unclaimed(repo)
        .into_iter()
        .filter_map(|unclaimed| unclaimed.near)
        .collect();
    unplaced(repo)
        .into_iter()
        .filter(|index| !named.contains(index))
        .map(|index| {
            let service = &catalog.services[index];
            let set = repo
                .head
                .waves
                .sets
                .iter()
                .find(|set| set.claimed && set.depths.contains_key(&index));
            let help = match set.and_then(|set| Some(set.directory(set.computed(index)?))) {
                Some(directory) => format!(
                    "add its manifest as {directory}/{}.yaml, or remove the definition",
                    service.name
                ),
                None => "add its manifest to a wave, or remove the definition".to_owned(),
            };
            Finding::new(
                RULE.name,
                Severity::Warning,
                service.place,
                format!("`{}` is in the catalog and in no wave", service.name),
            )
            .help(help)
        })
        .collect()
}

/// Services with no manifest in any wave; none if no service is placed at all.
pub(super) fn unplaced(repo: &Repo) -> Vec<usize> {
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
