//! `namespace-object-renamed`: a namespace transformer renames a Namespace object.

use std::collections::{BTreeMap, BTreeSet};

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::kustomize::RenamedNamespace;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "namespace-object-renamed",
    group: Group::Moves,
    summary: "`namespace` or `targetNamespace` renames a Namespace object",
    page: include_str!("../../rules/namespace-object-renamed.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// Namespaces that a cluster has of itself, or that Flux lives in.
const OF_THE_CLUSTER: [&str; 5] = [
    "default",
    "flux-system",
    "kube-node-lease",
    "kube-public",
    "kube-system",
];

fn check(repo: &Repo) -> Vec<Finding> {
    let shared = shared_objects(repo);
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        // By name, the documents that make a Namespace of the cluster.
        let mut made: BTreeMap<&str, BTreeSet<Place>> = BTreeMap::new();
        for (_, object) in cluster.objects() {
            if object.node.str_at(&["kind"]) == Some("Namespace")
                && let Some(name) = object.node.str_at(&["metadata", "name"])
            {
                made.entry(name).or_default().insert(object.origin);
            }
        }
        for kustomization in &cluster.kustomizations {
            for renamed in &kustomization.build.renamed_namespaces {
                let to = renamed.to.as_str();
                let of_the_cluster = OF_THE_CLUSTER.contains(&to);
                let taken = of_the_cluster || made.get(to).is_some_and(|origins| origins.len() > 1);
                // One object for many namespaces is written to be renamed, but not to just any.
                let on_purpose =
                    is_dummy(&renamed.from) || shared.contains(&renamed.object) && !of_the_cluster;
                if !on_purpose {
                    let finding = report(renamed, taken).cluster(&cluster.path);
                    findings.push(finding);
                }
            }
        }
    }
    findings
}

/// The Namespace objects that several transformers rename: written to be renamed.
fn shared_objects(repo: &Repo) -> BTreeSet<Place> {
    let mut names: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    let builds = repo
        .head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.kustomizations);
    for kustomization in builds {
        for renamed in &kustomization.build.renamed_namespaces {
            names.entry(renamed.object).or_default().insert(&renamed.to);
        }
    }
    names
        .into_iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(object, _)| object)
        .collect()
}

/// True for a name that says that it does not stand for a namespace.
fn is_dummy(name: &str) -> bool {
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    [
        "",
        "changeme",
        "dummy",
        "name",
        "namespace",
        "notused",
        "patchme",
        "placeholder",
        "replaced",
        "replaceme",
        "tobereplaced",
        "unused",
    ]
    .contains(&letters.as_str())
}

fn report(renamed: &RenamedNamespace, taken: bool) -> Finding {
    let consequence = if taken {
        format!(
            ", which is there without it: `{}` is never made, and when the manifest goes, namespace `{}` is deleted with all it holds",
            renamed.from, renamed.to
        )
    } else {
        format!(": `{}` is never made", renamed.from)
    };
    Finding::new(
        RULE.name,
        Severity::Error,
        renamed.transformer,
        format!(
            "Namespace `{}` is renamed to `{}` here{consequence}",
            renamed.from, renamed.to
        ),
    )
    .help(format!(
        "name the Namespace object `{}`, or keep it out of what this `namespace` applies to",
        renamed.to
    ))
    .related(renamed.object, "the Namespace object")
}
