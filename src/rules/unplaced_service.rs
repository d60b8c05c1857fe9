//! `unplaced-service`: a service of the catalog with no manifest in any wave.

use std::collections::BTreeSet;

use super::support::leftover::{unclaimed, unplaced};
use super::{Group, Rule};
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
    let named: BTreeSet<usize> = unclaimed(repo)
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
