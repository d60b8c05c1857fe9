//! `missing-decryption`: a Kustomization renders encrypted objects and does not decrypt.

use super::support::{enclosing_list, list};
use super::{Group, Rule};
use crate::config::Role;
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
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
    let (place, help, sibling) = where_to_add(repo, cluster, index);
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
    match sibling {
        Some((place, name)) => finding.related(place, format!("`{name}` gets its decryption here")),
        None => match parent_decryption(cluster, kustomization) {
            Some(place) => finding.related(
                place,
                "the parent's own decryption is not inherited by its children",
            ),
            None => finding,
        },
    }
}

/// A wave without decryption where every other wave of its set has it.
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
    if siblings.len() < 2 || !all_have_it || kustomization.unknown_objects() {
        return None;
    }
    let (place, help, sibling) = where_to_add(repo, cluster, index);
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
    Some(match sibling {
        Some((place, name)) => finding.related(place, format!("`{name}` gets its decryption here")),
        None => finding,
    })
}

/// Where decryption is to be added: the list of patches that brings it to siblings, where one
/// does, with that sibling's; else the Kustomization's own `spec`. With what to write there.
fn where_to_add(
    repo: &Repo,
    cluster: &Cluster,
    index: usize,
) -> (Place, String, Option<(Place, String)>) {
    let kustomization = &cluster.kustomizations[index];
    let patched = cluster
        .kustomizations
        .iter()
        .filter(|sibling| {
            sibling.parent == kustomization.parent && sibling.name != kustomization.name
        })
        .filter_map(|sibling| {
            let decryption = sibling.node.at(&["spec", "decryption"])?;
            let written_itself = decryption.place.file == sibling.origin.file
                && sibling.origin.span.contains(decryption.place.span);
            (!written_itself).then_some((sibling, decryption.place))
        })
        .min_by_key(|(sibling, _)| distance(cluster, index, sibling));
    if let Some((sibling, decryption)) = patched
        && let Some(parent) = kustomization.parent
        && let Some(patch) = cluster.kustomizations[parent]
            .build
            .patches
            .iter()
            .find(|patch| {
                patch.content.file == decryption.file
                    && patch.content.span.contains(decryption.span)
            })
        && let Some(list) = enclosing_list(repo, patch.entry)
    {
        return (
            list,
            format!(
                "add to this list, as it is done for `{}`:\n{}",
                sibling.name.name,
                patch_text(&kustomization.name.name, sibling)
            ),
            Some((decryption, sibling.name.name.to_string())),
        );
    }
    (
        kustomization.spec.key_place,
        "add `decryption: {provider: sops, secretRef: {name: sops-age}}` to its `spec`".to_owned(),
        None,
    )
}

/// A patch that gives a Kustomization the decryption of another, as an entry of a list of patches.
fn patch_text(name: &str, sibling: &Kustomization) -> String {
    let decryption = |path: &[&str]| {
        let node = sibling.node.at(&["spec", "decryption"])?.at(path)?;
        node.as_str()
    };
    let mut lines = vec![
        "- target:".to_owned(),
        "    kind: Kustomization".to_owned(),
        format!("    name: {name}"),
        "  patch: |".to_owned(),
        "    - op: add".to_owned(),
        "      path: /spec/decryption".to_owned(),
        "      value:".to_owned(),
        format!(
            "        provider: {}",
            decryption(&["provider"]).unwrap_or("sops")
        ),
    ];
    if let Some(secret) = decryption(&["secretRef", "name"]) {
        lines.push("        secretRef:".to_owned());
        lines.push(format!("          name: {secret}"));
    }
    lines.join("\n")
}

/// How far a sibling is from a Kustomization in the order of the cluster; the nearest makes the best example.
fn distance(cluster: &Cluster, index: usize, sibling: &Kustomization) -> usize {
    cluster
        .find(&sibling.name)
        .map_or(usize::MAX, |other| other.abs_diff(index))
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
