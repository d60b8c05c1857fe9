//! `wave-settings-differ`: one wave's Kustomization is set otherwise than all its siblings.

use std::collections::BTreeSet;

use super::support::{field_place, list};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, Tri};
use crate::repo::Repo;
use crate::waves::{Numbered, WaveSet, last_name};

pub(super) static RULE: Rule = Rule {
    name: "wave-settings-differ",
    group: Group::Waves,
    summary: "one wave's Kustomization differs from all its siblings",
    page: include_str!("../../rules/wave-settings-differ.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// The fields that the waves of one set share; everything else may differ on purpose.
const FIELDS: [&str; 4] = ["prune", "wait", "sourceRef", "substituteFrom"];

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for set in &repo.head.waves.sets {
        for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
            findings.extend(odd_number(repo, cluster_index, cluster, set));
            if !set.one_kustomization_a_wave(cluster_index) {
                continue;
            }
            let members: Vec<(u64, &Kustomization)> = set
                .applied(cluster_index)
                .into_iter()
                .map(|(number, index)| (number, &cluster.kustomizations[index]))
                .collect();
            if members.len() < 3 {
                continue;
            }
            for field in FIELDS {
                findings.extend(odd_one_out(repo, cluster, &members, field));
            }
        }
    }
    findings
}

/// The value of a field, for comparison and for the message; `None` if it cannot be known.
fn value(kustomization: &Kustomization, field: &str) -> Option<String> {
    let spec = &kustomization.spec;
    let flag = |value: Tri| match value {
        Tri::Yes => Some("true".to_owned()),
        Tri::No => Some("false".to_owned()),
        Tri::Unknown => None,
    };
    match field {
        "prune" => flag(spec.prune),
        "wait" => flag(spec.wait),
        "sourceRef" => spec.source.as_ref().map(ToString::to_string),
        _ => {
            let entries: Option<Vec<String>> = spec
                .substitute_from
                .iter()
                .map(|entry| (!entry.unknown).then(|| format!("{} {}", entry.kind, entry.name)))
                .collect();
            let entries = entries?;
            Some(if entries.is_empty() {
                "nothing".to_owned()
            } else {
                entries.join(", ")
            })
        }
    }
}

fn odd_one_out(
    repo: &Repo,
    cluster: &Cluster,
    members: &[(u64, &Kustomization)],
    field: &str,
) -> Option<Finding> {
    let values: Vec<String> = members
        .iter()
        .map(|(_, kustomization)| value(kustomization, field))
        .collect::<Option<_>>()?;
    let odd = odd_index(&values)?;
    let (number, kustomization) = members[odd];
    let (sibling_number, sibling) = members[usize::from(odd == 0)];
    let common = &values[usize::from(odd == 0)];
    let is_guard = field == "prune" && values[odd] == "false";
    let (severity, help) = if is_guard {
        (
            Severity::Info,
            "as a guard during a move this is right; set `prune: true` again when the move is done"
                .to_owned(),
        )
    } else if field == "substituteFrom" || field == "sourceRef" {
        (Severity::Error, format!("use {common}, as its siblings do"))
    } else {
        (Severity::Error, format!("set `{field}: {common}`"))
    };
    let place = match field {
        "substituteFrom" => kustomization
            .node
            .at(&["spec", "postBuild", "substituteFrom"])
            .map_or_else(
                || field_place(repo, cluster, kustomization, "postBuild"),
                |value| value.place,
            ),
        _ => field_place(repo, cluster, kustomization, field),
    };
    let others: Vec<String> = members
        .iter()
        .filter(|(other, _)| *other != number)
        .map(|(other, _)| other.to_string())
        .collect();
    Some(
        Finding::new(
            RULE.name,
            severity,
            place,
            format!(
                "`{}` of wave {number} has {field} {}, waves {} have {common}",
                kustomization.name,
                values[odd],
                list(&others)
            ),
        )
        .help(help)
        .related(
            field_place(
                repo,
                cluster,
                sibling,
                if field == "substituteFrom" {
                    "postBuild"
                } else {
                    field
                },
            ),
            format!("`{}` of wave {sibling_number}", sibling.name),
        )
        .cluster(&cluster.path),
    )
}

/// The index of the one value that differs where all others agree.
fn odd_index(values: &[String]) -> Option<usize> {
    (0..values.len()).find(|odd| {
        let mut others = values
            .iter()
            .enumerate()
            .filter(|(index, _)| index != odd)
            .map(|(_, value)| value);
        let first = others.next();
        first.is_some_and(|first| *first != values[*odd] && others.all(|other| other == first))
    })
}

/// The number in the path and the number in the name, where the siblings' agree. Two that apply one
/// wave count here too: one of them was to apply another.
fn odd_number(
    repo: &Repo,
    cluster_index: usize,
    cluster: &Cluster,
    set: &WaveSet,
) -> Option<Finding> {
    let members: Vec<(u64, u64, &Kustomization)> = set
        .waves
        .iter()
        .flat_map(|(number, wave)| {
            let direct = wave
                .kustomizations
                .get(&cluster_index)
                .into_iter()
                .flatten();
            direct.map(|index| (*number, &cluster.kustomizations[*index]))
        })
        .map(|(number, kustomization)| {
            Some((number, number_in_name(kustomization)?, kustomization))
        })
        .collect::<Option<_>>()?;
    let names: BTreeSet<u64> = members.iter().map(|(_, named, _)| *named).collect();
    let (odd, agreeing): (Vec<_>, Vec<_>) = members
        .iter()
        .partition(|(number, named, _)| number != named);
    let ([(number, named, kustomization)], [.., (_, _, sibling)]) =
        (odd.as_slice(), agreeing.as_slice())
    else {
        return None;
    };
    if members.len() < 3 || names.len() < members.len() {
        return None;
    }
    let path = kustomization.directory()?;
    Some(
        Finding::new(
            RULE.name,
            Severity::Error,
            kustomization.spec.path_place,
            format!(
                "`{}` applies {path}, which is wave {number}, not {named}",
                kustomization.name
            ),
        )
        .help(format!("write `path: ./{}`", set.directory(*named)))
        .related(
            field_place(repo, cluster, sibling, "path"),
            "its siblings' names and paths have the same number",
        )
        .cluster(&cluster.path),
    )
}

/// The number in a Kustomization's name: the last part that is one.
pub(super) fn number_in_name(kustomization: &Kustomization) -> Option<u64> {
    let name = last_name(&kustomization.name.name);
    name.rsplit(['-', '_', '.'])
        .find_map(|part| part.parse().ok())
        .or_else(|| Numbered::parse(name).map(|numbered| numbered.number))
}
