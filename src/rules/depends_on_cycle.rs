//! `depends-on-cycle`: Kustomizations that wait for each other.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::Cluster;
use crate::graph::{Edge, Graph};
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "depends-on-cycle",
    group: Group::Order,
    summary: "Kustomizations wait for each other in a circle",
    page: include_str!("../../rules/depends-on-cycle.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    repo.head.flux.clusters.iter().flat_map(cycles).collect()
}

/// Why one Kustomization comes after another; the payload of an edge is an index into these.
struct Reason {
    place: Place,
    text: String,
}

/// One finding a strongly connected component of dependsOn, and one for each circle that
/// closes only because a Kustomization that is made by another cannot exist before it is applied.
fn cycles(cluster: &Cluster) -> Vec<Finding> {
    let mut reasons = Vec::new();
    let mut edges = Vec::new();
    let name = |index: usize| &cluster.kustomizations[index].name;
    for (from, kustomization) in cluster.kustomizations.iter().enumerate() {
        if !kustomization.build.problems.is_empty() {
            continue;
        }
        for dependency in &kustomization.spec.depends_on {
            let Some(to) = cluster
                .find(&dependency.target)
                .filter(|_| !dependency.unknown)
            else {
                continue;
            };
            edges.push(Edge {
                from,
                to,
                payload: reasons.len(),
            });
            reasons.push(Reason {
                place: dependency.place,
                text: format!("`{}` dependsOn `{}`", name(from), name(to)),
            });
        }
    }
    let direct = Graph::new(cluster.kustomizations.len(), edges.iter().cloned());
    let mut findings: Vec<Finding> = direct
        .cyclic_components()
        .iter()
        .filter_map(|component| direct.shortest_cycle(component))
        .map(|cycle| report(cluster, &direct, &reasons, &cycle, true))
        .collect();
    let in_cycle: Vec<usize> = direct.cyclic_components().concat();

    // A child exists only after its parent is applied, and the parent only after what it dependsOn is ready.
    for (child, kustomization) in cluster.kustomizations.iter().enumerate() {
        let second_parent = cluster.repeated.iter().any(|(index, ..)| *index == child);
        let Some(parent) = kustomization
            .parent
            .filter(|parent| *parent != child && !second_parent)
        else {
            continue;
        };
        edges.push(Edge {
            from: child,
            to: parent,
            payload: reasons.len(),
        });
        reasons.push(Reason {
            place: kustomization.place,
            text: format!("`{}` is made by `{}`", name(child), name(parent)),
        });
    }
    let with_parents = Graph::new(cluster.kustomizations.len(), edges);
    for component in with_parents.cyclic_components() {
        if component.iter().any(|index| in_cycle.contains(index)) {
            continue;
        }
        if let Some(cycle) = with_parents.shortest_cycle(&component) {
            findings.push(report(cluster, &with_parents, &reasons, &cycle, false));
        }
    }
    findings
}

fn report(
    cluster: &Cluster,
    graph: &Graph,
    reasons: &[Reason],
    cycle: &[usize],
    direct: bool,
) -> Finding {
    let edges: Vec<&Edge> = cycle.iter().map(|edge| &graph.edges()[*edge]).collect();
    let names: Vec<&str> = edges
        .iter()
        .map(|edge| edge.from)
        .chain(edges.first().map(|edge| edge.from))
        .map(|index| cluster.kustomizations[index].name.name.as_str())
        .collect();
    // The finding stands at a dependsOn entry, also where the circle begins with a parent.
    let at = edges
        .iter()
        .position(|edge| reasons[edge.payload].text.contains("dependsOn"))
        .unwrap_or_default();
    let message = if direct && edges.len() == 1 {
        format!(
            "`{}` dependsOn itself: it is never reconciled, and a new commit triggers no Kustomization of its source",
            names[0]
        )
    } else if direct {
        format!(
            "dependsOn cycle {}: none of these is ever reconciled, and a new commit triggers no Kustomization of their source",
            names.join(" → ")
        )
    } else {
        format!(
            "{} is a circle: a Kustomization waits for one that exists only after it is applied",
            names.join(" → ")
        )
    };
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        reasons[edges[at].payload].place,
        message,
    )
    .help("remove one of these links")
    .cluster(&cluster.path);
    for (index, edge) in edges.iter().enumerate() {
        if index != at {
            let reason = &reasons[edge.payload];
            finding = finding.related(reason.place, reason.text.clone());
        }
    }
    finding
}
