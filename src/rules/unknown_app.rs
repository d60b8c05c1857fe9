//! `unknown-app`: a manifest in a wave that no service of the catalog claims.

use super::support::leftover::unclaimed;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::waves::last_name;

pub(super) static RULE: Rule = Rule {
    name: "unknown-app",
    group: Group::Waves,
    summary: "a manifest in a wave belongs to no service of the catalog",
    page: include_str!("../../rules/unknown-app.md"),
    off_by_default: false,
    compares: false,
    check,
};

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
