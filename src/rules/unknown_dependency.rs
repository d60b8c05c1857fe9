//! `unknown-dependency`: `dependencies:` names what is neither a service nor external.

use std::collections::BTreeSet;

use super::support::scalar_edit;
use super::{Group, Rule};
use crate::finding::{Finding, Fix, Severity};
use crate::near;
use crate::repo::Repo;
use crate::waves::Service;

pub(super) static RULE: Rule = Rule {
    name: "unknown-dependency",
    group: Group::Waves,
    summary: "`dependencies:` names neither a service nor an external one",
    page: include_str!("../../rules/unknown-dependency.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let catalog = &repo.head.waves.catalog;
    let external = external_names(repo);
    let mut findings = Vec::new();
    for service in &catalog.services {
        findings.extend(misspelt_key(repo, service));
        for dependency in &service.dependencies {
            let name = dependency.name.as_str();
            if catalog.find(name).is_some() || external.contains(name) {
                continue;
            }
            let known = catalog
                .services
                .iter()
                .filter(|other| other.name != service.name)
                .map(|other| other.name.as_str())
                .chain(external.iter().copied());
            let help = match near::nearest(name, known) {
                Some(near) => format!("write `{near}`"),
                None => format!(
                    "add a ServiceDefinition named `{name}`, or name it under `external: services:` in .wavelint.yaml"
                ),
            };
            findings.push(
                Finding::new(
                    RULE.name,
                    Severity::Error,
                    dependency.place,
                    format!(
                        "`{}` depends on `{name}`, which is no service of the catalog",
                        service.name
                    ),
                )
                .help(help)
                .related(service.place, format!("`{}` is defined here", service.name)),
            );
        }
    }
    findings
}

/// A definition without `dependencies`, in which a list is nearly called so.
fn misspelt_key(repo: &Repo, service: &Service) -> Option<Finding> {
    let key = service.misspelt_dependencies()?;
    let finding = Finding::new(
        RULE.name,
        Severity::Error,
        key.place,
        format!(
            "`{}` has no `dependencies`, and `{}` is read by nobody",
            service.name,
            key.as_str().unwrap_or_default()
        ),
    )
    .help("write `dependencies`")
    .fix(Fix {
        safe: false,
        title: "write `dependencies`".to_owned(),
        edits: vec![scalar_edit(repo, key.place, "dependencies")],
        moves: Vec::new(),
    });
    Some(finding)
}

/// Configured external services, and the Kustomizations that belong to no wave set.
pub(super) fn external_names<'a>(repo: &'a Repo) -> BTreeSet<&'a str> {
    let mut names: BTreeSet<&str> = repo
        .config
        .external
        .services
        .iter()
        .map(String::as_str)
        .collect();
    let waves = &repo.head.waves;
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            let in_set = kustomization.directory().is_some_and(|directory| {
                waves
                    .wave_of(&format!("{directory}/kustomization.yaml"))
                    .is_some()
            });
            if !in_set {
                names.insert(kustomization.name.name.as_str());
            }
        }
    }
    names
}
