//! `overlapping-paths`: two Kustomizations of a cluster build the objects of one file, and no
//! kustomization file says so.

use std::collections::BTreeMap;

use super::support::{ranks, same_target};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, is_flux_kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "overlapping-paths",
    group: Group::Build,
    summary: "two Kustomizations of a cluster build the objects of one file",
    page: include_str!("../../rules/overlapping-paths.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// What two Kustomizations share.
struct Shared {
    first: Place,
    objects: usize,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        let ranks = ranks(cluster);
        let mut pairs: BTreeMap<(usize, usize), Shared> = BTreeMap::new();
        for mut owners in cluster.owners().into_values() {
            if owners.len() < 2 {
                continue;
            }
            owners.sort_by_key(|(index, _)| ranks[*index]);
            for (position, (left, object)) in owners.iter().enumerate() {
                for (right, other) in &owners[position + 1..] {
                    if left != right && is_overlap(cluster, (*left, object), (*right, other)) {
                        pairs
                            .entry((*left, *right))
                            .and_modify(|shared| shared.objects += 1)
                            .or_insert(Shared {
                                first: object.name_place(),
                                objects: 1,
                            });
                    }
                }
            }
        }
        for ((earlier, later), shared) in pairs {
            findings.push(report(cluster, earlier, later, &shared));
        }
    }
    findings
}

fn report(cluster: &Cluster, earlier: usize, later: usize, shared: &Shared) -> Finding {
    let (earlier, later) = (
        &cluster.kustomizations[earlier],
        &cluster.kustomizations[later],
    );
    let what = match shared.objects {
        1 => "an object".to_owned(),
        count => format!("{count} objects"),
    };
    Finding::new(
        RULE.name,
        Severity::Warning,
        later.spec.path_place,
        format!(
            "the path of `{}` takes in {what} that `{}` applies too",
            later.name, earlier.name
        ),
    )
    .help("give each its own directory, or add a kustomization file that lists only what belongs there; two owners overwrite each other, and either may prune what both apply")
    .cluster(&cluster.path)
    .related(earlier.spec.path_place, format!("the path of `{}`", earlier.name))
    .related(shared.first, "the first object that both apply")
}

/// True if two owners of an object take it from one file, and at least one of them without a list that
/// names it: a generated build sweeps it in, or a Kustomization applies its own definition.
pub(super) fn is_overlap(
    cluster: &Cluster,
    left: (usize, &Object),
    right: (usize, &Object),
) -> bool {
    let (left_owner, right_owner) = (
        &cluster.kustomizations[left.0],
        &cluster.kustomizations[right.0],
    );
    left.1.origin == right.1.origin
        && same_target(left_owner, right_owner)
        && (is_swept(left_owner)
            || is_swept(right_owner)
            || is_itself(left_owner, left.1)
            || is_itself(right_owner, right.1))
}

/// True if Flux generates the kustomization file, so that all below the path is built.
fn is_swept(kustomization: &Kustomization) -> bool {
    kustomization
        .build
        .directories
        .iter()
        .any(|directory| directory.entered_from.is_none() && directory.kustomization_file.is_none())
}

/// True if the object is the Kustomization that applies it.
fn is_itself(kustomization: &Kustomization, object: &Object) -> bool {
    let id = object.id();
    is_flux_kustomization(&object.node)
        && id.name == kustomization.name.name
        && id.effective_namespace() == kustomization.name.namespace
}
