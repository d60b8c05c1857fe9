//! `depends-on-not-gated`: a dependency is ready as soon as it is applied, whether or not it runs.

use std::collections::BTreeMap;

use super::support::gates::{Gate, ancestors, gates, holds_workloads, is_workload};
use super::support::{list, shortened};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Dependency};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "depends-on-not-gated",
    group: Group::Order,
    summary: "a dependency is ready before what it applies runs",
    page: include_str!("../../rules/depends-on-not-gated.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| {
            let gates = gates(cluster);
            let holds = holds_workloads(cluster);
            links(cluster, &gates)
                .into_iter()
                .filter_map(|(target, links)| report(cluster, target, &links, &gates, &holds))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The links to each Kustomization whose readiness says nothing, by its index.
fn links<'a>(
    cluster: &'a Cluster,
    gates: &[Gate],
) -> BTreeMap<usize, Vec<(usize, &'a Dependency)>> {
    let mut found: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
        for dependency in &kustomization.spec.depends_on {
            let Some(target) = cluster.find(&dependency.target) else {
                continue;
            };
            // All of a cluster is below its entry point, and Flux itself runs by it.
            let is_root = cluster.kustomizations[target].parent.is_none();
            let says_nothing = !is_root
                && matches!(gates[target], Gate::Open | Gate::Hollow)
                && !cluster.kustomizations[target].fails();
            if says_nothing
                && target != index
                && !dependency.ready_expression
                && !dependency.unknown
            {
                found.entry(target).or_default().push((index, dependency));
            }
        }
    }
    found
}

/// One finding a dependency, at the first of the links to it.
fn report(
    cluster: &Cluster,
    target: usize,
    links: &[(usize, &Dependency)],
    gates: &[Gate],
    holds: &[bool],
) -> Option<Finding> {
    let mut links = links.to_vec();
    links.sort_by_key(|(index, dependency)| (dependency.place, *index));
    let dependency = &cluster.kustomizations[target];
    let (first, link) = links.first()?;
    let dependent = &cluster.kustomizations[*first].name;
    let children: Vec<usize> = (0..cluster.kustomizations.len())
        .filter(|child| cluster.kustomizations[*child].parent == Some(target))
        .filter(|child| holds[*child] || gates[target] == Gate::Open)
        .collect();
    let own: Vec<String> = dependency
        .build
        .objects
        .iter()
        .filter(|object| is_workload(object))
        .map(|object| format!("`{}`", object.id()))
        .collect();
    let (message, help) = if gates[target] == Gate::Hollow {
        let names: Vec<String> = children
            .iter()
            .map(|child| format!("`{}`", cluster.kustomizations[*child].name.name))
            .collect();
        (
            format!(
                "`{dependent}` dependsOn `{}`, which waits only for Kustomizations that do not wait themselves ({})",
                dependency.name,
                list(&shortened(&names))
            ),
            "set `wait: true` in the specs of those Kustomizations".to_owned(),
        )
    } else {
        let (what, verb) = if own.is_empty() {
            let names = children
                .iter()
                .map(|child| format!("`{}`", cluster.kustomizations[*child].name.name))
                .collect();
            (names, "applied")
        } else {
            (own, "running")
        };
        // A parent that waited would wait for its child, and the child for it.
        let help = if ancestors(cluster, *first).contains(&target) {
            format!(
                "`{}` is applied before its child anyway: name instead the Kustomization that `{}` needs",
                dependency.name.name, dependent.name
            )
        } else {
            format!(
                "set `wait: true` in the spec of `{}`, or list in its `healthChecks` what has to run",
                dependency.name.name
            )
        };
        (
            format!(
                "`{dependent}` dependsOn `{}`, which has neither wait nor healthChecks and is ready before {} {} {verb}",
                dependency.name,
                list(&shortened(&what)),
                if what.len() == 1 { "is" } else { "are" }
            ),
            help,
        )
    };
    let mut finding = Finding::new(RULE.name, Severity::Warning, link.place, message)
        .help(help)
        .cluster(&cluster.path)
        .related(
            dependency.place,
            format!("`{}` is defined here", dependency.name),
        );
    for (index, link) in links.iter().skip(1) {
        let name = &cluster.kustomizations[*index].name;
        finding = finding.related(link.place, format!("`{name}` dependsOn it too"));
    }
    Some(finding)
}
