//! `missing-decryption`: a Kustomization renders encrypted objects and does not decrypt.

mod mend;

use mend::Mend;

use super::support::gates::is_workload;
use super::support::list;
use super::{Group, Rule};
use crate::config::Role;
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "missing-decryption",
    group: Group::Sops,
    summary: "a Kustomization renders SOPS-encrypted objects and has no decryption",
    page: include_str!("../../rules/missing-decryption.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
        if cluster.role == Role::DesignOnly {
            continue;
        }
        for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
            if !kustomization.spec.decryption.is_no() || kustomization.fails() {
                continue;
            }
            let encrypted = encrypted(repo, kustomization);
            if encrypted.is_empty() {
                findings.extend(unlike_its_siblings(repo, cluster_index, cluster, index));
            } else {
                findings.push(undecrypted(repo, cluster, index, &encrypted));
            }
        }
    }
    findings
}

/// The encrypted things that a Kustomization renders, each with its place and what it is.
fn encrypted(repo: &Repo, kustomization: &Kustomization) -> Vec<(Place, String)> {
    let objects = kustomization.build.objects.iter().filter_map(|object| {
        let mac = object.node.at(&["sops", "mac"])?;
        let skipped = object.metadata("annotations", "kustomize.toolkit.fluxcd.io/decrypt")
            == Some("disabled");
        (!skipped && mac.as_str().is_some_and(|mac| !mac.is_empty()))
            .then(|| (object.name_place(), object.id().to_string()))
    });
    let inputs = kustomization
        .build
        .encrypted_inputs
        .iter()
        .filter(|input| input.decrypted_by_flux)
        .map(|input| (input.listed, repo.files.path(input.file).to_owned()));
    objects.chain(inputs).collect()
}

fn undecrypted(
    repo: &Repo,
    cluster: &Cluster,
    index: usize,
    encrypted: &[(Place, String)],
) -> Finding {
    let kustomization = &cluster.kustomizations[index];
    let what: Vec<String> = encrypted
        .iter()
        .take(3)
        .map(|(_, what)| format!("`{what}`"))
        .chain((encrypted.len() > 3).then(|| format!("{} more", encrypted.len() - 3)))
        .collect();
    let Mend {
        place,
        help,
        related,
    } = mend::mend(repo, cluster, index);
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        place,
        format!(
            "`{}` renders encrypted {} and has no decryption",
            kustomization.name,
            list(&what)
        ),
    )
    .help(help)
    .cluster(&cluster.path);
    for (place, what) in encrypted.iter().take(3) {
        finding = finding.related(*place, format!("`{what}` is encrypted"));
    }
    if place != kustomization.spec.key_place && !kustomization.implied {
        finding = finding.related(
            kustomization.place,
            format!("`{}` is defined here", kustomization.name),
        );
    }
    match related {
        Some((place, what)) => finding.related(place, what),
        None => match parent_decryption(cluster, kustomization) {
            Some(place) => finding.related(
                place,
                "the parent's own decryption is not inherited by its children",
            ),
            None => finding,
        },
    }
}

/// True for what holds secrets or runs what needs them; false for CRDs, Namespaces, RBAC, sources.
fn may_need_secrets(object: &Object) -> bool {
    let id = object.id();
    is_workload(object)
        || matches!(
            (id.group.as_str(), id.kind.as_str()),
            ("", "Secret" | "ConfigMap") | ("batch", "CronJob")
        )
}

/// A wave without decryption where every other wave of its set has it, though secrets may come to it.
fn unlike_its_siblings(
    repo: &Repo,
    cluster_index: usize,
    cluster: &Cluster,
    index: usize,
) -> Option<Finding> {
    let kustomization = &cluster.kustomizations[index];
    let siblings: Vec<usize> = repo
        .head
        .waves
        .sets
        .iter()
        .filter(|set| set.one_kustomization_a_wave(cluster_index))
        .map(|set| set.applied(cluster_index))
        .find(|applied| applied.iter().any(|(_, member)| *member == index))?
        .into_iter()
        .map(|(_, member)| member)
        .filter(|member| *member != index)
        .collect();
    let all_have_it = siblings
        .iter()
        .all(|sibling| cluster.kustomizations[*sibling].spec.decryption.is_yes());
    if siblings.len() < 2
        || !all_have_it
        || kustomization.unknown_objects()
        || !kustomization.build.objects.iter().any(may_need_secrets)
    {
        return None;
    }
    let Mend {
        place,
        help,
        related,
    } = mend::mend(repo, cluster, index);
    let finding = Finding::new(
        RULE.name,
        Severity::Warning,
        place,
        format!(
            "`{}` has no decryption, while every other wave has it; the first encrypted file added to it will fail",
            kustomization.name
        ),
    )
    .help(help)
    .cluster(&cluster.path)
    .related(kustomization.place, format!("`{}` is defined here", kustomization.name));
    Some(match related {
        Some((place, what)) => finding.related(place, what),
        None => finding,
    })
}

/// The decryption that the parent itself has.
fn parent_decryption(cluster: &Cluster, kustomization: &Kustomization) -> Option<Place> {
    let parent = &cluster.kustomizations[kustomization.parent?];
    Some(
        parent
            .node
            .entry("spec")?
            .value
            .entry("decryption")?
            .key
            .place,
    )
}
