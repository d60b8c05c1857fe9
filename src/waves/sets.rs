//! Which numbered directories are wave sets, and what each wave holds.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::Catalog;
use super::numbered::Numbered;
use super::placement::{Placement, placements};
use crate::config::Config;
use crate::flux::{Cluster, join_name};
use crate::tree::{Files, Tree, split};

/// Numbered sibling directories that are applied one after the other.
#[derive(Clone, Debug)]
pub struct WaveSet {
    /// Directory and stem: `apps/wave-`.
    pub name: String,
    /// The directory that holds the waves; `""` for the top.
    pub parent: String,
    /// What the names of the waves begin with: `wave-`.
    pub stem: String,
    /// The waves, by number.
    pub waves: BTreeMap<u64, Wave>,
    /// True if services of the catalog claim something in it.
    pub claimed: bool,
    /// The configured `after:` of the set; empty if none.
    pub after: Vec<String>,
    /// The computed depth of each service of the catalog that counts in this set.
    pub depths: BTreeMap<usize, ServiceDepth>,
}

/// One wave: usually one directory.
#[derive(Clone, Debug, Default)]
pub struct Wave {
    /// Its directories, sorted.
    pub directories: Vec<String>,
    /// What lies in them.
    pub placements: Vec<Placement>,
    /// By index of the cluster, the indices of the Kustomizations whose path is one of the directories.
    pub kustomizations: BTreeMap<usize, Vec<usize>>,
    /// By index of the cluster, the indices of the Kustomizations whose path lies below one of them.
    pub below: BTreeMap<usize, Vec<usize>>,
    /// Those of `below` that are not made, directly or through others, by one of `kustomizations`.
    pub beside: BTreeMap<usize, Vec<usize>>,
}

/// How deep a service stands on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceDepth {
    /// The number of edges on its longest dependency path.
    pub depth: usize,
    /// The services on that path, itself first.
    pub chain: Vec<usize>,
}

impl WaveSet {
    /// The number of the wave at a depth: lowest number plus depth times the constant
    /// step; an irregular set goes by rank, and past its end counts on by one.
    pub fn number_at(&self, depth: usize) -> u64 {
        let numbers: Vec<u64> = self.waves.keys().copied().collect();
        let (Some(lowest), Some(highest)) = (numbers.first(), numbers.last()) else {
            return depth as u64;
        };
        let step = match numbers.as_slice() {
            [first, second, ..] => second - first,
            _ => 1,
        };
        if numbers.windows(2).all(|pair| pair[1] - pair[0] == step) {
            return lowest.saturating_add(step.saturating_mul(depth as u64));
        }
        match numbers.get(depth) {
            Some(number) => *number,
            None => highest.saturating_add((depth - numbers.len() + 1) as u64),
        }
    }

    /// The wave in which a service belongs; `None` for one in or above a cycle, or of another set.
    pub fn computed(&self, service: usize) -> Option<u64> {
        Some(self.number_at(self.depths.get(&service)?.depth))
    }

    /// The numbers of the waves in which a service is placed.
    pub fn placed(&self, service: usize) -> BTreeSet<u64> {
        self.waves
            .iter()
            .filter(|(_, wave)| {
                wave.placements
                    .iter()
                    .any(|placement| placement.service == Some(service))
            })
            .map(|(number, _)| *number)
            .collect()
    }

    /// All services that are placed in it.
    pub fn services(&self) -> BTreeSet<usize> {
        self.waves
            .values()
            .flat_map(|wave| &wave.placements)
            .filter_map(|placement| placement.service)
            .collect()
    }

    /// The directory of a wave; for one that does not exist yet, what it would be called.
    pub fn directory(&self, number: u64) -> String {
        self.waves
            .get(&number)
            .and_then(|wave| wave.directories.first().cloned())
            .unwrap_or_else(|| join_name(&self.parent, &format!("{}{number}", self.stem)))
    }

    /// True if every wave that a cluster applies is applied by exactly one Kustomization, pointed at its
    /// directory. What that one makes itself, for single apps of the wave, does not count.
    pub fn one_kustomization_a_wave(&self, cluster: usize) -> bool {
        let mut any = false;
        for wave in self.waves.values() {
            let direct = wave.kustomizations.get(&cluster).map_or(0, Vec::len);
            let beside = wave.beside.get(&cluster).map_or(0, Vec::len);
            if direct > 1 || beside > 0 {
                return false;
            }
            any |= direct == 1;
        }
        any
    }

    /// The number and the Kustomization of each wave that a cluster applies, where each wave has one.
    pub fn applied(&self, cluster: usize) -> Vec<(u64, usize)> {
        self.waves
            .iter()
            .filter_map(|(number, wave)| {
                Some((*number, *wave.kustomizations.get(&cluster)?.first()?))
            })
            .collect()
    }
}

/// Finds the wave sets of a tree.
pub(super) fn wave_sets(
    files: &Files,
    tree: &Tree,
    clusters: &[Cluster],
    catalog: &Catalog,
    config: &Config,
) -> Vec<WaveSet> {
    let mut siblings: BTreeMap<(String, String), BTreeMap<u64, Vec<String>>> = BTreeMap::new();
    for directory in tree.directories() {
        if config.exclude.matches(directory) {
            continue;
        }
        let (parent, name) = split(directory);
        if let Some(numbered) = Numbered::parse(name) {
            siblings
                .entry((parent.to_owned(), numbered.stem.to_owned()))
                .or_default()
                .entry(numbered.number)
                .or_default()
                .push(directory.to_owned());
        }
    }
    let mut sets = Vec::new();
    for ((parent, stem), directories) in siblings {
        let configured = config.waves.iter().find(|waves| {
            let (before, _) = waves.around_number();
            before.trim_start_matches("./") == join_name(&parent, &stem)
        });
        if directories.len() < 2 && configured.is_none() {
            continue;
        }
        let mut set = WaveSet {
            name: join_name(&parent, &stem),
            waves: directories
                .into_iter()
                .map(|(number, directories)| {
                    let mut wave = Wave {
                        directories,
                        ..Wave::default()
                    };
                    wave.find_kustomizations(clusters);
                    (number, wave)
                })
                .collect(),
            parent,
            stem,
            claimed: false,
            after: configured
                .map(|waves| waves.after.clone())
                .unwrap_or_default(),
            depths: BTreeMap::new(),
        };
        if !catalog.is_empty() {
            for wave in set.waves.values_mut() {
                wave.placements = wave
                    .directories
                    .iter()
                    .flat_map(|directory| placements(files, tree, catalog, directory))
                    .collect();
                set.claimed |= wave
                    .placements
                    .iter()
                    .any(|placement| placement.service.is_some());
            }
        }
        if configured.is_some() || is_wave_set(&set, clusters, catalog) {
            sets.push(set);
        }
    }
    sets
}

/// The stem says so, or a catalog claims its files, or most neighbours are ordered by dependsOn.
fn is_wave_set(set: &WaveSet, clusters: &[Cluster], catalog: &Catalog) -> bool {
    let applied: Vec<usize> = (0..clusters.len())
        .map(|cluster| {
            set.waves
                .values()
                .filter(|wave| {
                    wave.kustomizations.contains_key(&cluster) || wave.below.contains_key(&cluster)
                })
                .count()
        })
        .collect();
    let says_wave = set.waves.values().any(|wave| {
        wave.directories.iter().any(|directory| {
            Numbered::parse(split(directory).1).is_some_and(|numbered| numbered.says_wave())
        })
    });
    if set.claimed && (says_wave || holds_services(set, catalog)) {
        return true;
    }
    if says_wave && applied.iter().any(|count| *count >= 2) {
        return true;
    }
    (0..clusters.len())
        .any(|cluster| applied[cluster] >= 2 && mostly_ordered(set, clusters, cluster))
}

/// True if numbered siblings of any name hold services: several of them, and are none themselves
/// (`minecraft-1` beside `minecraft-2` of a service `minecraft`).
fn holds_services(set: &WaveSet, catalog: &Catalog) -> bool {
    let are_services = set
        .waves
        .values()
        .flat_map(|wave| &wave.directories)
        .any(|directory| catalog.claim(split(directory).1).is_some());
    !are_services && set.services().len() >= 2
}

fn mostly_ordered(set: &WaveSet, clusters: &[Cluster], cluster: usize) -> bool {
    let closure = clusters[cluster].graph().closure();
    let members: Vec<Vec<usize>> = set
        .waves
        .values()
        .map(|wave| {
            [&wave.kustomizations, &wave.below]
                .into_iter()
                .filter_map(|kustomizations| kustomizations.get(&cluster))
                .flatten()
                .copied()
                .collect::<Vec<_>>()
        })
        .filter(|members| !members.is_empty())
        .collect();
    let pairs = members.len().saturating_sub(1);
    let ordered = members
        .windows(2)
        .filter(|pair| {
            pair[1]
                .iter()
                .any(|upper| pair[0].iter().any(|lower| closure.reaches(*upper, *lower)))
        })
        .count();
    pairs > 0 && ordered * 2 > pairs
}

impl Wave {
    fn find_kustomizations(&mut self, clusters: &[Cluster]) {
        for (cluster_index, cluster) in clusters.iter().enumerate() {
            for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
                let Some(path) = kustomization.directory() else {
                    continue;
                };
                for directory in &self.directories {
                    if path == directory {
                        self.kustomizations
                            .entry(cluster_index)
                            .or_default()
                            .push(index);
                    } else if path
                        .strip_prefix(directory.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
                    {
                        self.below.entry(cluster_index).or_default().push(index);
                    }
                }
            }
            let direct = self.kustomizations.get(&cluster_index);
            let beside: Vec<usize> = self
                .below
                .get(&cluster_index)
                .into_iter()
                .flatten()
                .copied()
                .filter(|index| {
                    !cluster
                        .ancestors(*index)
                        .any(|above| direct.is_some_and(|direct| direct.contains(&above)))
                })
                .collect();
            if !beside.is_empty() {
                self.beside.insert(cluster_index, beside);
            }
        }
    }
}
