//! `readiness-disabled`: a HelmRelease is ready before its workloads, and others depend on it.

use super::support::gates::{HELM_GROUP, checked_release, health_checks};
use super::support::{list, shortened};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "readiness-disabled",
    group: Group::Order,
    summary: "`disableWait` of a HelmRelease takes the meaning from a gate that others stand on",
    page: include_str!("../../rules/readiness-disabled.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
            if kustomization.fails() {
                continue;
            }
            let dependents = dependents(cluster, index);
            if dependents.is_empty() {
                continue;
            }
            for object in &kustomization.build.objects {
                findings.extend(report(cluster, kustomization, object, &dependents));
            }
        }
    }
    findings
}

/// The Kustomizations that dependOn one, by the built-in check.
fn dependents(cluster: &Cluster, target: usize) -> Vec<&Kustomization> {
    cluster
        .kustomizations
        .iter()
        .filter(|other| {
            other.spec.depends_on.iter().any(|dependency| {
                !dependency.unknown
                    && !dependency.ready_expression
                    && cluster.find(&dependency.target) == Some(target)
            })
        })
        .collect()
}

fn report(
    cluster: &Cluster,
    kustomization: &Kustomization,
    object: &Object,
    dependents: &[&Kustomization],
) -> Option<Finding> {
    let id = object.id();
    if id.group != HELM_GROUP || id.kind != "HelmRelease" {
        return None;
    }
    let gated = kustomization.spec.wait.is_yes()
        || kustomization.spec.wait.is_no()
            && health_checks(kustomization)
                .iter()
                .any(|entry| checked_release(entry, &id));
    let disabled: Vec<&Node> = ["install", "upgrade"]
        .iter()
        .filter_map(|action| object.node.at(&["spec", action, "disableWait"]))
        .filter(|value| value.as_bool() == Some(true) && !kustomization.unknowns.contains(value))
        .collect();
    let first = disabled.first().filter(|_| gated)?;
    let names: Vec<String> = dependents
        .iter()
        .map(|other| format!("`{}`", other.name))
        .collect();
    let mut finding = Finding::new(
        RULE.name,
        Severity::Warning,
        first.place,
        format!(
            "`{id}` does not wait for its workloads, so `{}` is ready before they run, and {} with it",
            kustomization.name,
            list(&shortened(&names))
        ),
    )
    .help("remove `disableWait`")
    .cluster(&cluster.path);
    for other in disabled.iter().skip(1) {
        finding = finding.related(other.place, "here too");
    }
    if let Some(gate) = kustomization
        .node
        .at(&["spec", "wait"])
        .or_else(|| kustomization.node.at(&["spec", "healthChecks"]))
    {
        finding = finding.related(
            gate.place,
            format!(
                "`{}` is meant to be ready only when this runs",
                kustomization.name
            ),
        );
    }
    for other in dependents.iter().take(3) {
        finding = finding.related(other.place, format!("`{}` dependsOn it", other.name));
    }
    Some(finding)
}
