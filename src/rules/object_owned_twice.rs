//! `object-owned-twice`: two Kustomizations of a cluster apply one object.

use std::collections::BTreeMap;

use super::overlapping_paths::is_overlap;
use super::support::{list, ranks, same_target};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, InventoryId, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "object-owned-twice",
    group: Group::Build,
    summary: "two Kustomizations of a cluster apply one object",
    page: include_str!("../../rules/object-owned-twice.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// One object, as its owners apply it, the first to apply it first.
struct Shared<'a> {
    id: InventoryId,
    renderings: Vec<&'a Object>,
    severity: Severity,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        let ranks = ranks(cluster);
        // Of each set of owners one finding, at the worst of what they share.
        let mut shared: BTreeMap<Vec<usize>, Vec<Shared<'_>>> = BTreeMap::new();
        for (id, mut owners) in cluster.owners() {
            if owners.len() < 2 {
                continue;
            }
            owners.sort_by_key(|(index, _)| ranks[*index]);
            let in_conflict: Vec<(usize, &Object)> = owners
                .iter()
                .filter(|one| {
                    owners
                        .iter()
                        .any(|other| is_conflict(cluster, **one, *other))
                })
                .copied()
                .collect();
            if in_conflict.is_empty() {
                continue;
            }
            let (indices, renderings): (Vec<usize>, Vec<&Object>) = in_conflict.into_iter().unzip();
            shared.entry(indices).or_default().push(Shared {
                id,
                severity: severity(&renderings),
                renderings,
            });
        }
        for (owners, mut shared) in shared {
            shared.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.id.cmp(&b.id)));
            findings.extend(report(cluster, &owners, &shared));
        }
    }
    findings
}

fn is_conflict(cluster: &Cluster, left: (usize, &Object), right: (usize, &Object)) -> bool {
    let (left_owner, right_owner) = (
        &cluster.kustomizations[left.0],
        &cluster.kustomizations[right.0],
    );
    left.0 != right.0
        && same_target(left_owner, right_owner)
        && is_known(left_owner, left.1)
        && is_known(right_owner, right.1)
        && !is_overlap(cluster, left, right)
}

/// True if the object surely has that identity.
fn is_known(kustomization: &Kustomization, object: &Object) -> bool {
    ["name", "namespace"].iter().all(|field| {
        object
            .node
            .at(&["metadata", field])
            .is_none_or(|value| !kustomization.unknowns.contains(value))
    })
}

fn severity(renderings: &[&Object]) -> Severity {
    if renderings.iter().any(|object| shares_on_purpose(object)) {
        Severity::Info
    } else if renderings
        .windows(2)
        .all(|pair| pair[0].node.same_content(&pair[1].node))
    {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// Annotations with which Flux leaves alone what another owner wrote.
fn shares_on_purpose(object: &Object) -> bool {
    ["annotations", "labels"].iter().any(|field| {
        object
            .metadata(field, "kustomize.toolkit.fluxcd.io/ssa")
            .is_some_and(|value| {
                ["IfNotPresent", "Merge", "Ignore"]
                    .iter()
                    .any(|policy| value.eq_ignore_ascii_case(policy))
            })
    })
}

/// Where an object is named to be the other one: what changed its name or namespace, else its kind.
fn identity_place(object: &Object) -> Place {
    let (before, now) = (object.original_id(), object.id());
    let at = |path: &[&str]| object.node.at(path).map(|node| node.place);
    let place = if before.name != now.name || object.generated {
        None
    } else if before.namespace != now.namespace {
        at(&["metadata", "namespace"])
    } else {
        at(&["kind"])
    };
    place.unwrap_or_else(|| object.name_place())
}

fn report(cluster: &Cluster, owners: &[usize], shared: &[Shared<'_>]) -> Option<Finding> {
    let owners: Vec<&Kustomization> = owners
        .iter()
        .map(|index| &cluster.kustomizations[*index])
        .collect();
    let first = shared.first()?;
    let (last, earlier) = first.renderings.split_last()?;
    let more = match shared.len() - 1 {
        0 => String::new(),
        1 => ", and one more object too".to_owned(),
        more => format!(", and {more} more objects too"),
    };
    let differs = match first.severity {
        Severity::Error => ", with other content",
        _ => "",
    };
    let names: Vec<String> = owners
        .iter()
        .map(|owner| format!("`{}`", owner.name))
        .collect();
    let mut finding = Finding::new(
        RULE.name,
        first.severity,
        identity_place(last),
        format!("{} is applied by {}{differs}{more}", first.id, list(&names)),
    )
    .help("leave it to one of them; each reconciliation overwrites the other's, and when one drops it, it is deleted")
    .cluster(&cluster.path);
    for (owner, object) in owners.iter().zip(earlier) {
        if object.name_place() != last.name_place() {
            finding = finding.related(
                object.name_place(),
                format!("as `{}` applies it", owner.name),
            );
        }
    }
    for owner in &owners {
        finding = finding.related(owner.place, format!("`{}` is defined here", owner.name));
    }
    for other in shared.iter().skip(1).take(5) {
        if let Some(object) = other.renderings.last() {
            finding = finding.related(object.name_place(), format!("{} too", other.id));
        }
    }
    Some(finding)
}
