//! `variable-not-in-base`: an overlay sets a variable that its base does not have, and most likely means another.

use std::collections::BTreeSet;

use super::support::document_at;
use super::{Group, Rule};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::near;
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "variable-not-in-base",
    group: Group::Variables,
    summary: "an overlay sets a variable that its base does not have, and most likely means another",
    page: include_str!("../../rules/variable-not-in-base.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        let used: BTreeSet<&str> = cluster
            .kustomizations
            .iter()
            .flat_map(|kustomization| &kustomization.substitution.uses)
            .map(|(_, used)| used.name.as_str())
            .collect();
        let unknown = cluster
            .kustomizations
            .iter()
            .any(Kustomization::unknown_objects);
        for (_, object) in cluster.objects() {
            if is_source_of_variables(cluster, object) {
                findings.extend(judge(repo, cluster, object, &used, unknown));
            }
        }
    }
    findings
}

/// True for a ConfigMap that some `substituteFrom` of the cluster names.
fn is_source_of_variables(cluster: &Cluster, object: &Object) -> bool {
    let id = object.id();
    id.kind == "ConfigMap"
        && id.group.is_empty()
        && cluster.kustomizations.iter().any(|kustomization| {
            kustomization.name.namespace == id.effective_namespace()
                && kustomization
                    .spec
                    .substitute_from
                    .iter()
                    .any(|entry| entry.kind == "ConfigMap" && entry.name == id.name)
        })
}

fn judge(
    repo: &Repo,
    cluster: &Cluster,
    object: &Object,
    used: &BTreeSet<&str>,
    unknown: bool,
) -> Vec<Finding> {
    let base = document_at(repo, object.origin).and_then(|document| document.get("data"));
    let (Some(base), Some(built)) = (base, object.node.get("data")) else {
        return Vec::new();
    };
    let base: Vec<(&str, Place)> = keys(base);
    keys(built)
        .into_iter()
        .filter(|(key, place)| {
            !base.iter().any(|(known, _)| known == key)
                && !used.contains(key)
                && (place.file != object.origin.file || !object.origin.span.contains(place.span))
        })
        .filter_map(|(key, place)| {
            let near = near::nearest(key, base.iter().map(|(known, _)| *known))?;
            let (_, base_place) = base.iter().find(|(known, _)| *known == near)?;
            // What cannot be seen may use it.
            if unknown {
                return None;
            }
            let finding = Finding::new(
                RULE.name,
                Severity::Warning,
                place,
                format!("`{key}` is no variable of the base, and nothing uses it"),
            )
            .help(format!("write `{near}`"))
            .cluster(&cluster.path)
            .related(*base_place, format!("the base has `{near}`"));
            // A key in quotes, or that a generator made, is left to its writer.
            Some(if repo.files.slice(place) == key {
                finding.fix(Fix {
                    safe: false,
                    title: format!("write `{near}`"),
                    edits: vec![Edit {
                        place,
                        text: near.to_owned(),
                    }],
                    moves: Vec::new(),
                })
            } else {
                finding
            })
        })
        .collect()
}

fn keys(map: &Node) -> Vec<(&str, Place)> {
    map.pairs()
        .into_iter()
        .filter_map(|pair| Some((pair.key.as_str()?, pair.key.place)))
        .collect()
}
