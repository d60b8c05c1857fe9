//! `encrypted-metadata`: what kustomize needs of an object is encrypted.

use std::collections::BTreeMap;

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::sops;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "encrypted-metadata",
    group: Group::Sops,
    summary: "the kind, apiVersion or name of a listed object is encrypted",
    page: include_str!("../../rules/encrypted-metadata.md"),
    off_by_default: false,
    compares: false,
    check,
};

const FIELDS: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];

fn check(repo: &Repo) -> Vec<Finding> {
    let mut documents: BTreeMap<Place, (&Node, Vec<String>)> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        let files = cluster
            .kustomizations
            .iter()
            .flat_map(|kustomization| &kustomization.build.files);
        for file in files {
            // Only what holds such a value needs to be parsed.
            if !repo.files.text(*file).contains("ENC[") {
                continue;
            }
            for document in repo.files.yaml(*file).seen() {
                let root = &document.root;
                if root.at(&["sops", "mac"]).is_some() && fields(root).next().is_some() {
                    let (_, clusters) = documents
                        .entry(root.place)
                        .or_insert_with(|| (root, Vec::new()));
                    clusters.push(cluster.path.clone());
                }
            }
        }
    }
    documents
        .into_values()
        .filter_map(|(root, clusters)| report(repo, root, clusters))
        .collect()
}

fn fields(root: &Node) -> impl Iterator<Item = (String, &Node)> {
    FIELDS.iter().filter_map(|path| {
        let value = root.at(path)?;
        sops::is_encrypted_value(value.as_str()?).then(|| (path.join("."), value))
    })
}

fn report(repo: &Repo, root: &Node, clusters: Vec<String>) -> Option<Finding> {
    let names: Vec<String> = fields(root).map(|(name, _)| format!("`{name}`")).collect();
    let (_, first) = fields(root).next()?;
    let path = repo.files.path(first.place.file);
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        first.place,
        format!(
            "{} of a listed object {} encrypted: kustomize builds it under that text, and neither patches nor names find it",
            super::support::list(&names),
            if names.len() == 1 { "is" } else { "are" }
        ),
    )
    .help(format!(
        "decrypt `{path}` and encrypt it again with `--encrypted-regex '^(data|stringData)$'`, best by a creation rule"
    ));
    if let Some(sops) = root.entry("sops") {
        finding = finding.related(sops.key.place, "what was selected is said here");
    }
    finding.clusters = clusters;
    Some(finding)
}
