//! `namespace-not-found`: nothing in a cluster makes a namespace that another cluster, or the base, makes.

use std::collections::{BTreeMap, BTreeSet};

use super::support::absence_is_sure;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::Cluster;
use crate::kustomize::is_cluster_scoped;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "namespace-not-found",
    group: Group::Build,
    summary: "nothing in a cluster makes a namespace that another cluster, or the base, makes",
    page: include_str!("../../rules/namespace-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// Namespaces that every cluster has.
const ALWAYS_THERE: [&str; 5] = [
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "flux-system",
];

fn check(repo: &Repo) -> Vec<Finding> {
    let head: Vec<(&Cluster, BTreeMap<String, Place>)> = repo
        .head
        .flux
        .clusters
        .iter()
        .map(|cluster| (cluster, namespace_objects(cluster)))
        .collect();
    let mut findings = Vec::new();
    for (cluster, made) in &head {
        if !absence_is_sure(cluster) {
            continue;
        }
        let elsewhere = |namespace: &str| -> Option<(Place, String)> {
            let in_base = repo.base.as_ref().and_then(|base| {
                let before = base
                    .picture
                    .flux
                    .clusters
                    .iter()
                    .find(|before| before.path == cluster.path)?;
                namespace_objects(before).get(namespace).copied()
            });
            if let Some(place) = in_base {
                return Some((place, "this made it at the base revision".to_owned()));
            }
            head.iter()
                .filter(|(other, _)| other.path != cluster.path)
                .find_map(|(other, made)| {
                    let place = made.get(namespace)?;
                    Some((*place, format!("`{}` makes it here", other.path)))
                })
        };
        let by_releases = namespaces_of_releases(cluster);
        let mut said = BTreeSet::new();
        for (index, object) in cluster.objects() {
            let kustomization = &cluster.kustomizations[index];
            let id = object.id();
            let Some(namespace) = object.node.at(&["metadata", "namespace"]) else {
                continue;
            };
            let name = id.namespace.as_str();
            if name.is_empty()
                || is_cluster_scoped(&id.group, &id.kind)
                || kustomization.spec.remote_cluster
                || kustomization.unknowns.contains(namespace)
                || ALWAYS_THERE.contains(&name)
                || made.contains_key(name)
                || by_releases.contains(name)
                || said.contains(name)
            {
                continue;
            }
            let Some((place, what)) = elsewhere(name) else {
                continue;
            };
            said.insert(name.to_owned());
            findings.push(
                Finding::new(
                    RULE.name,
                    Severity::Error,
                    namespace.place,
                    format!("{id} is in a namespace that nothing in this cluster makes"),
                )
                .help(format!(
                    "add the Namespace `{name}` to this cluster, or leave the object out of it; until then `{}` fails",
                    kustomization.name
                ))
                .cluster(&cluster.path)
                .related(place, what)
                .related(kustomization.place, format!("`{}` applies it", kustomization.name)),
            );
        }
    }
    findings
}

/// The Namespace objects that a cluster gets.
fn namespace_objects(cluster: &Cluster) -> BTreeMap<String, Place> {
    cluster
        .objects()
        .filter(|(index, _)| !cluster.kustomizations[*index].spec.remote_cluster)
        .filter_map(|(_, object)| {
            let id = object.id();
            (id.group.is_empty() && id.kind == "Namespace")
                .then(|| (id.name.to_string(), object.name_place()))
        })
        .collect()
}

/// The namespaces that HelmReleases make before they install.
fn namespaces_of_releases(cluster: &Cluster) -> BTreeSet<String> {
    cluster
        .objects()
        .filter(|(_, object)| {
            object.node.str_at(&["kind"]) == Some("HelmRelease")
                && object
                    .node
                    .at(&["spec", "install", "createNamespace"])
                    .and_then(crate::yaml::Node::as_bool)
                    == Some(true)
        })
        .filter_map(|(_, object)| {
            object
                .node
                .str_at(&["spec", "targetNamespace"])
                .or_else(|| object.node.str_at(&["metadata", "namespace"]))
                .map(str::to_owned)
        })
        .collect()
}
