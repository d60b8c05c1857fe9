//! `ignored-field`: a field of the kustomization file at a Kustomization's path that Flux drops.

use super::{Group, Rule};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::kustomize::top_level_fields;
use crate::near;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "ignored-field",
    group: Group::Build,
    summary: "a field of the kustomization file at a Kustomization's path is unknown, and dropped silently",
    page: include_str!("../../rules/ignored-field.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for (place, field) in &kustomization.build.ignored_fields {
                let is_top_level = kustomization
                    .build
                    .directories
                    .first()
                    .and_then(|root| root.kustomization_file)
                    .and_then(|file| repo.files.yaml(file).documents.first())
                    .is_some_and(|document| {
                        let entry = document.root.entry(field);
                        entry.is_some_and(|entry| entry.key.place == *place)
                    });
                let near = is_top_level
                    .then(|| near::nearest(field, top_level_fields()))
                    .flatten();
                let mut finding = Finding::new(
                    RULE.name,
                    Severity::Error,
                    *place,
                    format!(
                        "`{field}` is no field of a kustomization file, and Flux drops it silently"
                    ),
                )
                .help(match near {
                    Some(near) => format!("write `{near}`"),
                    None => "remove it, or write it where it belongs".to_owned(),
                })
                .cluster(&cluster.path)
                .related(
                    kustomization.place,
                    format!("`{}` builds this directory", kustomization.name),
                );
                if let Some(near) = near
                    && repo.files.slice(*place) == field
                {
                    finding = finding.fix(Fix {
                        safe: false,
                        title: format!("write `{near}`"),
                        edits: vec![Edit {
                            place: *place,
                            text: near.to_owned(),
                        }],
                        moves: Vec::new(),
                    });
                }
                findings.push(finding);
            }
        }
    }
    findings
}
