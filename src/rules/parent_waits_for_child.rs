//! `parent-waits-for-child`: a parent waits for its child, and the child for its parent.

use std::collections::BTreeSet;

use super::support::gates::{checked_kustomization, health_checks};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::Cluster;
use crate::graph::{Edge, Graph};
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "parent-waits-for-child",
    group: Group::Order,
    summary: "a parent waits for a child that dependsOn it",
    page: include_str!("../../rules/parent-waits-for-child.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| Readiness::of(cluster).deadlocks(cluster))
        .collect()
}

/// Why one Kustomization is ready only after another.
struct Reason {
    /// True for `wait` or a health check, false for dependsOn.
    waits: bool,
    place: Place,
    text: String,
}

/// Which Kustomization is ready only after which; an edge's payload is the index of its reason.
struct Readiness {
    edges: Vec<Edge>,
    reasons: Vec<Reason>,
}

impl Readiness {
    fn of(cluster: &Cluster) -> Self {
        let mut readiness = Self {
            edges: Vec::new(),
            reasons: Vec::new(),
        };
        let name = |index: usize| &cluster.kustomizations[index].name;
        for (from, kustomization) in cluster.kustomizations.iter().enumerate() {
            if !kustomization.build.problems.is_empty() {
                continue;
            }
            for dependency in &kustomization.spec.depends_on {
                let known = !dependency.unknown && !dependency.ready_expression;
                if let Some(to) = cluster.find(&dependency.target).filter(|_| known) {
                    let text = format!("`{}` dependsOn `{}`", name(from), name(to));
                    readiness.add(from, to, false, dependency.place, text);
                }
            }
            if kustomization.spec.wait.is_yes() {
                let place = kustomization
                    .node
                    .at(&["spec", "wait"])
                    .map_or(kustomization.place, |wait| wait.place);
                for (to, child) in cluster.kustomizations.iter().enumerate() {
                    if child.parent == Some(from) && to != from && child.spec.suspend.is_no() {
                        let text = format!("`{}` waits for all that it applies", name(from));
                        readiness.add(from, to, true, place, text);
                    }
                }
            } else if kustomization.spec.wait.is_no() {
                for entry in health_checks(kustomization) {
                    let checked = checked_kustomization(entry)
                        .filter(|_| !kustomization.unknowns.contains(entry))
                        .and_then(|checked| cluster.find(&checked));
                    if let Some(to) = checked.filter(|to| *to != from) {
                        let text = format!("`{}` checks the health of `{}`", name(from), name(to));
                        readiness.add(from, to, true, entry.place, text);
                    }
                }
            }
        }
        readiness
    }

    fn add(&mut self, from: usize, to: usize, waits: bool, place: Place, text: String) {
        self.edges.push(Edge {
            from,
            to,
            payload: self.reasons.len(),
        });
        self.reasons.push(Reason { waits, place, text });
    }

    /// One finding for each dependsOn entry that closes a circle through a wait; circles of
    /// dependsOn alone are another rule's.
    fn deadlocks(&self, cluster: &Cluster) -> Vec<Finding> {
        let graph = Graph::new(cluster.kustomizations.len(), self.edges.iter().copied());
        let mut findings = Vec::new();
        let mut reported = BTreeSet::new();
        for edge in self
            .edges
            .iter()
            .filter(|edge| self.reasons[edge.payload].waits)
        {
            let Some(back) = graph.shortest_path(edge.to, edge.from) else {
                continue;
            };
            let back: Vec<&Edge> = back.iter().map(|index| &graph.edges()[*index]).collect();
            // The link by which the waiting one is waited for.
            let Some(link) = back
                .iter()
                .rev()
                .find(|edge| !self.reasons[edge.payload].waits)
            else {
                continue;
            };
            if reported.insert(self.reasons[link.payload].place) {
                findings.push(self.report(cluster, edge, &back, link));
            }
        }
        findings
    }

    fn report(&self, cluster: &Cluster, wait: &Edge, back: &[&Edge], link: &Edge) -> Finding {
        let name = |index: usize| &cluster.kustomizations[index].name;
        let message = if let [only] = back {
            format!(
                "`{}` dependsOn `{}`, which waits for it: neither is ever ready",
                name(only.from),
                name(only.to)
            )
        } else {
            let names: Vec<&str> = std::iter::once(wait.from)
                .chain(std::iter::once(wait.to))
                .chain(back.iter().map(|edge| edge.to))
                .map(|index| name(index).name.as_str())
                .collect();
            format!(
                "each of {} waits for the next: none is ever ready",
                names.join(" → ")
            )
        };
        let mut finding = Finding::new(
            RULE.name,
            Severity::Error,
            self.reasons[link.payload].place,
            message,
        )
        .help(format!(
            "remove this entry (`{}` exists only after `{}` is applied), or the wait of `{}`",
            name(wait.to).name,
            name(wait.from).name,
            name(wait.from).name
        ))
        .cluster(&cluster.path);
        for edge in std::iter::once(wait).chain(back.iter().copied()) {
            let reason = &self.reasons[edge.payload];
            if edge.payload != link.payload {
                finding = finding.related(reason.place, reason.text.clone());
            }
        }
        finding
    }
}
