//! `wave-without-kustomization`: a cluster applies other waves of a set, and not this one.

use super::{Group, Rule, wave_settings_differ};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Location, is_yaml};
use crate::kustomize::kustomization_file;
use crate::near;
use crate::repo::Repo;
use crate::source::Place;
use crate::waves::{Wave, WaveSet};

pub(super) static RULE: Rule = Rule {
    name: "wave-without-kustomization",
    group: Group::Waves,
    summary: "a cluster applies other waves of the set and not this one",
    page: include_str!("../../rules/wave-without-kustomization.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for set in &repo.head.waves.sets {
        for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
            if cluster.unknown_kustomizations().is_some() {
                continue;
            }
            let is_applied = |wave: &Wave| {
                wave.kustomizations.contains_key(&cluster_index)
                    || wave.below.contains_key(&cluster_index)
            };
            let applies_set = applies_set(set, cluster_index);
            for (number, wave) in &set.waves {
                // One that picks single apps out of waves may leave out a wave that another cluster applies.
                let missing = applies_set == Applies::Waves
                    || applies_set == Applies::Apps && is_applied_nowhere(wave);
                if !missing
                    || is_applied(wave)
                    || is_built_otherwise(cluster, wave)
                    || is_meant_elsewhere(cluster, set, *number, wave)
                {
                    continue;
                }
                if let Some(place) = first_manifest(repo, wave) {
                    findings.push(report(cluster_index, cluster, set, *number, place));
                }
            }
        }
    }
    findings
}

/// How a cluster applies a set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applies {
    /// A Kustomization is pointed at a wave.
    Waves,
    /// Kustomizations are pointed at what lies in several waves.
    Apps,
    /// Not, or single apps of one wave only.
    Nothing,
}

fn applies_set(set: &WaveSet, cluster: usize) -> Applies {
    let mut waves = set.waves.values();
    if waves.any(|wave| wave.kustomizations.contains_key(&cluster)) {
        return Applies::Waves;
    }
    let below = set
        .waves
        .values()
        .filter(|wave| wave.below.contains_key(&cluster))
        .count();
    if below > 1 {
        Applies::Apps
    } else {
        Applies::Nothing
    }
}

fn is_applied_nowhere(wave: &Wave) -> bool {
    wave.kustomizations.is_empty() && wave.below.is_empty()
}

/// True if a Kustomization has this wave's number or nearly its path, and leads elsewhere: that is said of its path.
fn is_meant_elsewhere(cluster: &Cluster, set: &WaveSet, number: u64, wave: &Wave) -> bool {
    let directories = || wave.directories.iter().map(String::as_str);
    cluster
        .kustomizations
        .iter()
        .any(|kustomization| match &kustomization.location {
            Location::Missing(path) | Location::File(path) => {
                near::nearest(path, directories()).is_some()
                    || wave_settings_differ::number_in_name(kustomization) == Some(number)
            }
            Location::Directory(path) => {
                wave_settings_differ::number_in_name(kustomization) == Some(number)
                    && set
                        .waves
                        .values()
                        .any(|other| other.directories.contains(path))
            }
            _ => false,
        })
}

fn report(
    cluster_index: usize,
    cluster: &Cluster,
    set: &WaveSet,
    number: u64,
    place: Place,
) -> Finding {
    let directory = set.directory(number);
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        place,
        format!(
            "no Kustomization applies {directory}, while other waves of {}{{n}} are applied",
            set.name
        ),
    )
    .cluster(&cluster.path);
    let neighbour = set
        .applied(cluster_index)
        .into_iter()
        .rev()
        .find(|(other, _)| *other < number)
        .or_else(|| set.applied(cluster_index).into_iter().next());
    if let Some((other, index)) = neighbour {
        let sibling = &cluster.kustomizations[index];
        finding = finding
            .related(
                sibling.place,
                format!("`{}` applies wave {other}", sibling.name),
            )
            .help(format!(
                "add a Flux Kustomization like `{}` with `path: ./{directory}`{}",
                sibling.name,
                if other < number {
                    format!(" and `dependsOn: [{{name: {}}}]`", sibling.name.name)
                } else {
                    String::new()
                }
            ));
    }
    finding
}

/// True if another Kustomization's build takes the wave in.
fn is_built_otherwise(cluster: &Cluster, wave: &Wave) -> bool {
    cluster.kustomizations.iter().any(|kustomization| {
        kustomization.build.directories.iter().any(|entered| {
            wave.directories.iter().any(|directory| {
                entered.path == *directory || entered.path.starts_with(&format!("{directory}/"))
            })
        }) || wave.placements.iter().any(|placement| {
            placement
                .files
                .iter()
                .any(|file| kustomization.build.files.contains(file))
        })
    })
}

/// The kustomization file of a wave, else its first manifest; `None` if it holds none.
fn first_manifest(repo: &Repo, wave: &Wave) -> Option<Place> {
    let tree = &repo.head.tree;
    wave.directories.iter().find_map(|directory| {
        let manifest = tree
            .files_below(directory)
            .filter(|(path, _)| is_yaml(path))
            .find(|(_, file)| {
                repo.files.yaml(*file).seen().any(|document| {
                    document.root.get("kind").is_some() && document.root.get("metadata").is_some()
                })
            });
        let (_, file) = manifest?;
        Some(Place::file_start(
            kustomization_file(tree, directory).unwrap_or(file),
        ))
    })
}
