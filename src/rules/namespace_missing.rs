//! `namespace-missing`: a namespaced object gets no namespace from anywhere.

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::kustomize::scope::known_namespaced;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "namespace-missing",
    group: Group::Build,
    summary: "a namespaced object gets no namespace from anywhere",
    page: include_str!("../../rules/namespace-missing.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            if !kustomization.fails() {
                findings.extend(judge(cluster, kustomization));
            }
        }
    }
    findings
}

fn judge(cluster: &Cluster, kustomization: &Kustomization) -> Vec<Finding> {
    let namespaced: Vec<&Object> = kustomization
        .build
        .objects
        .iter()
        .filter(|object| {
            let id = object.id();
            known_namespaced(&id.group, &id.kind)
        })
        .collect();
    let without: Vec<&Object> = namespaced
        .iter()
        .copied()
        .filter(|object| object.id().namespace.is_empty())
        .collect();
    let all = without.len() == namespaced.len() && without.len() > 1;
    without
        .iter()
        .take(if all { 1 } else { without.len() })
        .map(|object| {
            let id = object.id();
            let message = if all {
                format!(
                    "no object of `{}` has a namespace, {id} first, and nothing gives them one",
                    kustomization.name
                )
            } else {
                format!("{id} has no namespace, and nothing gives it one")
            };
            let kind = object.node.get("kind");
            Finding::new(
                RULE.name,
                Severity::Warning,
                kind.map_or(object.origin, |kind| kind.place),
                message,
            )
            .help("write `metadata.namespace`, `namespace` in the kustomization file, or `targetNamespace` in the Kustomization; Flux refuses to apply it without")
            .cluster(&cluster.path)
            .related(
                kustomization.spec.path_place,
                format!("`{}` applies it", kustomization.name),
            )
        })
        .collect()
}
