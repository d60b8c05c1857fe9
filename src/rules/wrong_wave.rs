//! `wrong-wave`: a service's manifest lies in another wave than its longest dependency path gives.

mod mend;
mod slips;

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, NamespacedName};
use crate::repo::Repo;
use crate::source::Place;
use crate::waves::{Placement, PlacementKind, WaveSet, Waves};

pub(super) static RULE: Rule = Rule {
    name: "wrong-wave",
    group: Group::Waves,
    summary: "a manifest lies in another wave than its service's longest dependency path gives",
    page: include_str!("../../rules/wrong-wave.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let waves = &repo.head.waves;
    let mut findings = Vec::new();
    for (set_index, set) in waves.sets.iter().enumerate() {
        if set.claimed {
            findings.extend(misplaced(repo, waves, set));
        } else {
            for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
                findings.extend(depends_upwards(waves, set_index, cluster_index, cluster));
            }
        }
    }
    findings
}

/// Placements of services whose computed wave is another.
fn misplaced(repo: &Repo, waves: &Waves, set: &WaveSet) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, wave) in &set.waves {
        for placement in &wave.placements {
            let Some((computed, mut finding)) = judge(waves, set, *number, placement) else {
                continue;
            };
            finding.fix = mend::mend(repo, set, *number, computed, placement);
            if finding.fix.is_none()
                && let Some(help) = &mut finding.help
            {
                help.push_str("; `wavelint plan` gives the steps in which Flux deletes nothing");
            }
            findings.push(finding);
        }
    }
    findings
}

/// Where a placement belongs, and what to say of it; `None` if it is in its place.
fn judge(
    waves: &Waves,
    set: &WaveSet,
    number: u64,
    placement: &Placement,
) -> Option<(u64, Finding)> {
    let service = placement.service?;
    let depth = set.depths.get(&service)?;
    let computed = set.number_at(depth.depth);
    if computed == number {
        return None;
    }
    let services = &waves.catalog.services;
    let name = &services[service].name;
    let chain: Vec<&str> = depth
        .chain
        .iter()
        .map(|index| services[*index].name.as_str())
        .collect();
    let reason = if chain.len() > 1 {
        chain.join(" → ")
    } else {
        "it depends on no service".to_owned()
    };
    let severity = if number < computed {
        Severity::Error
    } else {
        Severity::Warning
    };
    let mut finding = Finding::new(
        RULE.name,
        severity,
        placement.place,
        format!("`{name}` lies in wave {number} but belongs in wave {computed}: {reason}"),
    )
    .help(help(set, number, computed, placement));
    for pair in depth.chain.windows(2) {
        let below = &services[pair[1]].name;
        if let Some(dependency) = services[pair[0]]
            .dependencies
            .iter()
            .find(|dependency| dependency.name == *below)
        {
            finding = finding.related(
                dependency.place,
                format!("`{}` depends on `{below}`", services[pair[0]].name),
            );
        }
    }
    if chain.len() == 1 {
        finding = finding.related(
            services[service].place,
            format!("`{name}` declares no dependency on another service"),
        );
    }
    Some((computed, finding))
}

fn help(set: &WaveSet, number: u64, computed: u64, placement: &Placement) -> String {
    let (here, there) = (set.directory(number), set.directory(computed));
    let create = if set.waves.contains_key(&computed) {
        String::new()
    } else {
        format!(", which is to be created with a Kustomization that dependsOn the one of {here}")
    };
    match placement.kind {
        PlacementKind::Listed => format!(
            "list it in {there}/kustomization.yaml instead of {here}/kustomization.yaml{create}"
        ),
        PlacementKind::File | PlacementKind::Directory => {
            let target = placement.path.replacen(&here, &there, 1);
            format!(
                "move {} to {target}{create}, byte for byte, and its entry from one \
                 kustomization.yaml to the other",
                placement.path
            )
        }
    }
}

/// Without a catalog: what stands in a wave and depends on something of a higher one.
fn depends_upwards(
    waves: &Waves,
    set_index: usize,
    cluster_index: usize,
    cluster: &Cluster,
) -> Vec<Finding> {
    let set = &waves.sets[set_index];
    let wave_of = |kustomization: usize| {
        set.waves.iter().find_map(|(number, wave)| {
            let in_wave = [&wave.kustomizations, &wave.below]
                .into_iter()
                .filter_map(|members| members.get(&cluster_index))
                .any(|members| members.contains(&kustomization));
            in_wave.then_some(*number)
        })
    };
    let mut findings = Vec::new();
    let mut report =
        |what: &str, place: Place, number: u64, target: &NamespacedName, upper: u64| {
            findings.push(
                Finding::new(
                    RULE.name,
                    Severity::Error,
                    place,
                    format!("{what} of wave {number} depends on `{target}` of wave {upper}"),
                )
                .help(format!(
                    "move it to wave {upper} or above, or move `{target}` down"
                ))
                .cluster(&cluster.path),
            );
        };
    let releases = helm_releases(cluster);
    for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
        let Some(number) = wave_of(index) else {
            continue;
        };
        for dependency in &kustomization.spec.depends_on {
            let upper = cluster.find(&dependency.target).and_then(wave_of);
            if let Some(upper) = upper.filter(|upper| *upper > number) {
                report(
                    &format!("Kustomization `{}`", kustomization.name),
                    dependency.place,
                    number,
                    &dependency.target,
                    upper,
                );
            }
        }
        for (name, owner, dependencies) in &releases {
            if *owner != index {
                continue;
            }
            for (target, place) in dependencies {
                let upper = releases
                    .iter()
                    .find(|(other, ..)| other == target)
                    .and_then(|(_, owner, _)| wave_of(*owner));
                if let Some(upper) = upper.filter(|upper| *upper > number) {
                    report(
                        &format!("HelmRelease `{name}`"),
                        *place,
                        number,
                        target,
                        upper,
                    );
                }
            }
        }
    }
    findings
}

/// A HelmRelease: its name, the Kustomization that applies it, and what it dependsOn.
type Release = (NamespacedName, usize, Vec<(NamespacedName, Place)>);

fn helm_releases(cluster: &Cluster) -> Vec<Release> {
    cluster
        .objects()
        .filter(|(_, object)| object.node.str_at(&["kind"]) == Some("HelmRelease"))
        .map(|(owner, object)| {
            let id = object.id();
            let dependencies = object
                .node
                .at(&["spec", "dependsOn"])
                .map(crate::yaml::Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|entry| {
                    let name = entry.get("name")?;
                    let namespace = entry.str_at(&["namespace"]).unwrap_or(&id.namespace);
                    Some((NamespacedName::new(namespace, name.as_str()?), name.place))
                })
                .collect();
            (
                NamespacedName::new(id.namespace.clone(), id.name),
                owner,
                dependencies,
            )
        })
        .collect()
}
