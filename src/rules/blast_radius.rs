//! `blast-radius`: one gate in front of many apps, and others behind it.

use std::collections::BTreeSet;

use super::support::gates::{children, is_workload};
use super::support::{list, shortened};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Dependency, Kustomization};
use crate::kustomize::ObjectId;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "blast-radius",
    group: Group::Order,
    summary: "one app that is not ready holds up many others",
    page: include_str!("../../rules/blast-radius.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
        let children = children(cluster);
        for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
            let gated = kustomization.spec.wait.is_yes() && !kustomization.fails();
            if gated && !is_claimed_wave(repo, cluster_index, index) {
                findings.extend(report(repo, cluster, &children, index));
            }
        }
    }
    findings
}

/// True for a Kustomization of a wave set whose order a catalog gives: there the wave is the unit.
fn is_claimed_wave(repo: &Repo, cluster: usize, index: usize) -> bool {
    repo.head.waves.sets.iter().any(|set| {
        set.claimed
            && set.waves.values().any(|wave| {
                [&wave.kustomizations, &wave.below]
                    .iter()
                    .filter_map(|members| members.get(&cluster))
                    .any(|members| members.contains(&index))
            })
    })
}

/// The workloads that a waiting Kustomization waits for: its own, and those of children that wait themselves.
fn waited_for(cluster: &Cluster, children: &[Vec<usize>], index: usize) -> Vec<ObjectId> {
    let mut found = Vec::new();
    let mut pending = vec![index];
    while let Some(at) = pending.pop() {
        let kustomization = &cluster.kustomizations[at];
        found.extend(
            kustomization
                .build
                .objects
                .iter()
                .filter(|object| is_workload(object))
                .map(|object| object.id()),
        );
        let waiting = children[at]
            .iter()
            .rev()
            .filter(|child| cluster.kustomizations[**child].spec.wait.is_yes());
        pending.extend(waiting);
    }
    found
}

/// The Kustomizations whose dependsOn names one, with the entry.
fn dependents(cluster: &Cluster, target: usize) -> Vec<(&Kustomization, &Dependency)> {
    cluster
        .kustomizations
        .iter()
        .filter_map(|other| {
            let dependency = other.spec.depends_on.iter().find(|dependency| {
                !dependency.unknown
                    && !dependency.ready_expression
                    && cluster.find(&dependency.target) == Some(target)
            })?;
            Some((other, dependency))
        })
        .collect()
}

fn report(
    repo: &Repo,
    cluster: &Cluster,
    children: &[Vec<usize>],
    index: usize,
) -> Option<Finding> {
    let limits = repo.config.blast_radius;
    let kustomization = &cluster.kustomizations[index];
    let workloads = waited_for(cluster, children, index);
    let namespaces: BTreeSet<&str> = workloads
        .iter()
        .map(ObjectId::effective_namespace)
        .collect();
    let dependents = dependents(cluster, index);
    if workloads.len() < limits.workloads
        || namespaces.len() < limits.namespaces
        || dependents.is_empty()
    {
        return None;
    }
    let apps: Vec<String> = workloads
        .iter()
        .map(|id| format!("`{}`", id.name))
        .collect();
    let stalled: Vec<String> = dependents
        .iter()
        .map(|(other, _)| format!("`{}`", other.name.name))
        .collect();
    let wait = kustomization.node.at(&["spec", "wait"])?;
    let mut finding = Finding::new(
        RULE.name,
        Severity::Warning,
        wait.place,
        format!(
            "`{}` waits for {} workloads in {} namespaces: if one of {} is not ready, {} get no new revision",
            kustomization.name,
            workloads.len(),
            namespaces.len(),
            list(&shortened(&apps)),
            list(&shortened(&stalled))
        ),
    )
    .help("split it into one Kustomization an app, and let each dependent name only those that it needs")
    .cluster(&cluster.path);
    for (other, dependency) in &dependents {
        finding = finding.related(dependency.place, format!("`{}` stands on it", other.name));
    }
    Some(finding)
}
