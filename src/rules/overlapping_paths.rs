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
        // What builds the whole repository meets all others for one reason: one finding.
        let mut of_all: BTreeMap<usize, Vec<(usize, Shared)>> = BTreeMap::new();
        for ((earlier, later), shared) in pairs {
            let all = |index: &usize| builds_all(&cluster.kustomizations[*index]);
            if all(&later) {
                of_all.entry(later).or_default().push((earlier, shared));
            } else if all(&earlier) {
                of_all.entry(earlier).or_default().push((later, shared));
            } else {
                findings.push(report(cluster, earlier, later, &shared));
            }
        }
        for (index, others) in of_all {
            findings.extend(report_all(cluster, index, &others));
        }
    }
    findings
}

/// True if a Kustomization that is no entry point sweeps in the whole repository: its path is missing
/// or names the top, and no kustomization file is there.
pub(super) fn builds_all(kustomization: &Kustomization) -> bool {
    kustomization.parent.is_some()
        && kustomization.directory() == Some("")
        && is_swept(kustomization)
}

/// What a Kustomization that builds the whole repository shares with others.
fn report_all(cluster: &Cluster, index: usize, others: &[(usize, Shared)]) -> Option<Finding> {
    let (first, shared) = others.first()?;
    let own = &cluster.kustomizations[index];
    let first = &cluster.kustomizations[*first];
    let why = match own.spec.path.as_deref().unwrap_or_default() {
        "" => "has no `path`, so it".to_owned(),
        path => format!("has the path `{path}`, so it"),
    };
    let whose = match others.len() - 1 {
        0 => format!("`{}` applies too", first.name),
        1 => format!("`{}` and another apply too", first.name),
        more => format!("`{}` and {more} others apply too", first.name),
    };
    let severity = if own.fails() {
        Severity::Error
    } else {
        Severity::Warning
    };
    let mut finding = Finding::new(
        RULE.name,
        severity,
        own.spec.path_place,
        format!(
            "`{}` {why} builds the whole repository, and takes in objects that {whose}",
            own.name
        ),
    )
    .help("name the directory that it is to build in `path`; without one Flux takes the top of the source, with every cluster and every app in it")
    .cluster(&cluster.path);
    for (other, _) in others.iter().take(5) {
        let other = &cluster.kustomizations[*other];
        finding = finding.related(
            other.spec.path_place,
            format!("the path of `{}`", other.name),
        );
    }
    Some(finding.related(shared.first, "an object that both apply"))
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
    let takes_all = builds_all(left_owner) || builds_all(right_owner);
    (takes_all || left.1.origin == right.1.origin)
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
