//! `depends-on-not-found`: dependsOn names what is no Kustomization of the cluster.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Dependency, Kustomization, makes_kustomizations};
use crate::near;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "depends-on-not-found",
    group: Group::Order,
    summary: "dependsOn names what is no Kustomization of the cluster",
    page: include_str!("../../rules/depends-on-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        let resource_set = cluster.objects().find(|(_, object)| {
            object.node.str_at(&["kind"]) == Some("ResourceSet")
                && makes_kustomizations(&object.node)
        });
        if resource_set.is_none() && cluster.unknown_kustomizations().is_some() {
            continue;
        }
        for kustomization in &cluster.kustomizations {
            if !kustomization.build.problems.is_empty() {
                continue;
            }
            for dependency in &kustomization.spec.depends_on {
                if dependency.unknown || cluster.find(&dependency.target).is_some() {
                    continue;
                }
                let mut finding = report(cluster, kustomization, dependency);
                if let Some((_, object)) = resource_set {
                    finding.severity = Severity::Info;
                    finding = finding.related(
                        object.name_place(),
                        "this ResourceSet makes Kustomizations, perhaps this one",
                    );
                }
                findings.push(finding);
            }
        }
    }
    findings
}

fn report(cluster: &Cluster, kustomization: &Kustomization, dependency: &Dependency) -> Finding {
    let target = &dependency.target;
    if target.name.is_empty() {
        return Finding::new(
            RULE.name,
            Severity::Error,
            dependency.place,
            format!(
                "`{}` has an entry in dependsOn whose name is empty or no text",
                kustomization.name
            ),
        )
        .cluster(&cluster.path);
    }
    let finding = Finding::new(
        RULE.name,
        Severity::Error,
        dependency.place,
        format!(
            "`{}` dependsOn `{target}`, which is no Kustomization of this cluster",
            kustomization.name
        ),
    )
    .cluster(&cluster.path);
    if let Some(other) = cluster
        .kustomizations
        .iter()
        .find(|other| other.name.name == target.name)
    {
        return finding
            .help(format!(
                "{} `namespace: {}`",
                if dependency.namespace_written {
                    "write"
                } else {
                    "add"
                },
                other.name.namespace
            ))
            .related(
                other.place,
                format!("`{}` is in another namespace", other.name),
            );
    }
    if let Some((_, release)) = cluster.objects().find(|(_, object)| {
        object.node.str_at(&["kind"]) == Some("HelmRelease")
            && object.node.str_at(&["metadata", "name"]) == Some(&target.name)
    }) {
        return finding
            .help("a Kustomization can only dependOn Kustomizations: name the one that applies this HelmRelease, and let it wait")
            .related(release.name_place(), "a HelmRelease has that name");
    }
    let candidates = cluster
        .kustomizations
        .iter()
        .filter(|other| {
            other.name != kustomization.name && other.name.namespace == target.namespace
        })
        .map(|other| other.name.name.as_str());
    match near::nearest(&target.name, candidates) {
        Some(near) => {
            let place = cluster
                .kustomizations
                .iter()
                .find(|other| other.name.name == near && other.name.namespace == target.namespace)
                .map(|other| other.place);
            let finding = finding.help(format!("write `name: {near}`"));
            match place {
                Some(place) => finding.related(place, format!("`{near}` is defined here")),
                None => finding,
            }
        }
        None => finding.help(
            "remove the entry, or add the Kustomization; until then this one is never reconciled",
        ),
    }
}
