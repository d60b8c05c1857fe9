//! `dependency-cycle`: services of the catalog that depend on each other in a circle.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "dependency-cycle",
    group: Group::Waves,
    summary: "services of the catalog depend on each other in a circle",
    page: include_str!("../../rules/dependency-cycle.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let catalog = &repo.head.waves.catalog;
    let mut findings = Vec::new();
    for cycle in &repo.head.waves.cycles {
        let closed: Vec<usize> = cycle.iter().chain(cycle.first()).copied().collect();
        let names: Vec<&str> = closed
            .iter()
            .map(|index| catalog.services[*index].name.as_str())
            .collect();
        let edges: Vec<_> = closed
            .windows(2)
            .filter_map(|pair| {
                let target = &catalog.services[pair[1]].name;
                catalog.services[pair[0]]
                    .dependencies
                    .iter()
                    .find(|dependency| dependency.name == *target)
                    .map(|dependency| (&catalog.services[pair[0]].name, dependency))
            })
            .collect();
        let Some((_, first)) = edges.first() else {
            continue;
        };
        let message = if cycle.len() == 1 {
            format!("`{}` depends on itself", names[0])
        } else {
            format!(
                "{} is a dependency cycle: none of these services has a wave",
                names.join(" → ")
            )
        };
        let mut finding = Finding::new(RULE.name, Severity::Error, first.place, message)
            .help("remove one of these dependencies, or split what both sides need into a service of its own");
        for (from, dependency) in &edges[1..] {
            finding = finding.related(
                dependency.place,
                format!("`{from}` depends on `{}`", dependency.name),
            );
        }
        findings.push(finding);
    }
    findings
}
