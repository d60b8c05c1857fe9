//! What a Kustomization waits for, and so what it means that it is ready.

use crate::flux::{Cluster, Kustomization, NamespacedName, Tri, is_flux_kustomization};
use crate::graph::{Closure, Edge, Graph};
use crate::kustomize::{Object, ObjectId};
use crate::yaml::Node;

/// The API group of HelmReleases.
pub(in crate::rules) const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";

/// True for an object whose readiness says whether something runs.
pub(in crate::rules) fn is_workload(object: &Object) -> bool {
    let id = object.id();
    matches!(
        (id.group.as_str(), id.kind.as_str()),
        (
            "apps",
            "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"
        ) | ("batch", "Job")
            | ("", "Pod" | "ReplicationController")
            | (HELM_GROUP, "HelmRelease")
    )
}

/// The entries of `spec.healthChecks`.
pub(in crate::rules) fn health_checks(kustomization: &Kustomization) -> &[Node] {
    kustomization
        .node
        .at(&["spec", "healthChecks"])
        .map(Node::items)
        .unwrap_or_default()
}

/// The Kustomization that an entry of `spec.healthChecks` names, if it names one.
pub(in crate::rules) fn checked_kustomization(entry: &Node) -> Option<NamespacedName> {
    is_flux_kustomization(entry).then(|| {
        NamespacedName::new(
            entry.str_at(&["namespace"]).unwrap_or_default(),
            entry.str_at(&["name"]).unwrap_or_default(),
        )
    })
}

/// For each Kustomization the children that its build makes, ascending.
pub(in crate::rules) fn children(cluster: &Cluster) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); cluster.kustomizations.len()];
    for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
        if let Some(list) = kustomization
            .parent
            .and_then(|parent| children.get_mut(parent))
        {
            list.push(index);
        }
    }
    children
}

/// For each Kustomization whether its build, or that of a child at any depth, has a workload.
pub(in crate::rules) fn holds_workloads(cluster: &Cluster) -> Vec<bool> {
    let mut holds: Vec<bool> = cluster
        .kustomizations
        .iter()
        .map(|kustomization| kustomization.build.objects.iter().any(is_workload))
        .collect();
    // A parent stands before its children.
    for (index, kustomization) in cluster.kustomizations.iter().enumerate().rev() {
        if let (true, Some(parent)) = (holds[index], kustomization.parent)
            && let Some(flag) = holds.get_mut(parent)
        {
            *flag = true;
        }
    }
    holds
}

/// What stands behind a Kustomization's readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Gate {
    /// It waits for what runs; or nothing of it runs, and what it applies is all there when it is ready.
    Closed,
    /// Neither `wait` nor `healthChecks`, and it has workloads or makes Kustomizations that apply more.
    Open,
    /// It waits, but only for child Kustomizations that are ready before their workloads run.
    Hollow,
    /// Not to be known from the tree.
    Unknown,
}

/// The gate of each Kustomization of a cluster.
pub(in crate::rules) fn gates(cluster: &Cluster) -> Vec<Gate> {
    let holds = holds_workloads(cluster);
    let children = children(cluster);
    let mut gates = vec![Gate::Closed; cluster.kustomizations.len()];
    for (index, kustomization) in cluster.kustomizations.iter().enumerate().rev() {
        if !holds[index] && children[index].is_empty() {
            continue;
        }
        gates[index] = match kustomization.spec.wait {
            Tri::Unknown => Gate::Unknown,
            Tri::No if health_checks(kustomization).is_empty() => Gate::Open,
            Tri::No => Gate::Closed,
            Tri::Yes => {
                let own = kustomization.build.objects.iter().any(is_workload);
                let mut behind = children[index]
                    .iter()
                    .filter(|child| holds[**child])
                    .peekable();
                let open = behind.peek().is_some()
                    && behind.all(|child| matches!(gates[*child], Gate::Open | Gate::Hollow));
                if !own && open && !kustomization.unknown_objects() {
                    Gate::Hollow
                } else {
                    Gate::Closed
                }
            }
        };
    }
    gates
}

/// The Kustomizations above one: its parent, its parent's parent, up to the root.
pub(in crate::rules) fn ancestors(cluster: &Cluster, index: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = index;
    while let Some(parent) = cluster
        .kustomizations
        .get(at)
        .and_then(|kustomization| kustomization.parent)
        .filter(|parent| *parent != at && !found.contains(parent))
    {
        found.push(parent);
        at = parent;
    }
    found
}

/// Who is surely applied before whom: a Kustomization reaches what it, and each Kustomization
/// above it, dependsOn, and so on, and those above it themselves.
pub(in crate::rules) fn applied_before(cluster: &Cluster) -> Closure {
    let depends_on = cluster.graph();
    let parents = cluster
        .kustomizations
        .iter()
        .enumerate()
        .filter_map(|(from, kustomization)| {
            Some(Edge {
                from,
                to: kustomization.parent?,
                payload: usize::MAX,
            })
        });
    let edges = depends_on.edges().iter().cloned().chain(parents);
    Graph::new(cluster.kustomizations.len(), edges).closure()
}

/// True if an entry of `spec.healthChecks` names that HelmRelease.
pub(in crate::rules) fn checked_release(entry: &Node, id: &ObjectId) -> bool {
    let field = |key: &str| entry.str_at(&[key]).unwrap_or_default();
    field("apiVersion")
        .split_once('/')
        .is_some_and(|(group, _)| group == HELM_GROUP)
        && field("kind") == "HelmRelease"
        && field("name") == id.name
        && field("namespace") == id.namespace
}
