//! `unknown-app`: a manifest in a wave that no service of the catalog claims.

use super::{Group, Rule, unplaced_service};
use crate::finding::{Finding, Severity};
use crate::near;
use crate::repo::Repo;
use crate::waves::{Placement, last_name};

pub(super) static RULE: Rule = Rule {
    name: "unknown-app",
    group: Group::Waves,
    summary: "a manifest in a wave belongs to no service of the catalog",
    page: include_str!("../../rules/unknown-app.md"),
    off_by_default: false,
    compares: false,
    check,
};

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

fn check(repo: &Repo) -> Vec<Finding> {
    let catalog = &repo.head.waves.catalog;
    unclaimed(repo)
        .into_iter()
        .map(|unclaimed| {
            let name = last_name(&unclaimed.placement.path);
            let finding = Finding::new(
                RULE.name,
                Severity::Warning,
                unclaimed.placement.place,
                format!("`{name}` in wave {} belongs to no service of the catalog", unclaimed.number),
            );
            match unclaimed.near {
                Some(near) => {
                    let service = &catalog.services[near];
                    finding
                        .help(format!("name it after `{}`, which has no manifest in any wave", service.name))
                        .related(service.place, format!("`{}` is defined here", service.name))
                }
                None => finding.help(
                    "add a ServiceDefinition for it, or label its objects with the `app.kubernetes.io/name` of the service that it belongs to",
                ),
            }
        })
        .collect()
}

/// A placement that no service claims.
pub(super) struct Unclaimed<'a> {
    placement: &'a Placement,
    number: u64,
    /// The unplaced service that has nearly its name.
    pub(super) near: Option<usize>,
}

/// All of them, in sets where services claim most of what lies in the waves.
pub(super) fn unclaimed<'a>(repo: &'a Repo) -> Vec<Unclaimed<'a>> {
    let waves = &repo.head.waves;
    let unplaced = unplaced_service::unplaced(repo);
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
