//! `duplicate-service`: two definitions of one service.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-service",
    group: Group::Waves,
    summary: "two ServiceDefinitions have one name",
    page: include_str!("../../rules/duplicate-service.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let catalog = &repo.head.waves.catalog;
    catalog
        .duplicates
        .iter()
        .filter(|(first, service)| {
            !catalog.services[*first]
                .document
                .same_content(&service.document)
        })
        .map(|(first, service)| {
            Finding::new(
                RULE.name,
                Severity::Error,
                service.place,
                format!(
                    "`{}` is defined a second time, and differently",
                    service.name
                ),
            )
            .help("rename one of the two, or delete the one that is out of date")
            .related(
                catalog.services[*first].place,
                "the first definition, which counts",
            )
        })
        .collect()
}
