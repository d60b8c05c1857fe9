//! Catalog → depth → wave sets → placement.

mod catalog;
mod numbered;
mod placement;
mod sets;
mod survey;
mod table;

use std::collections::{BTreeMap, BTreeSet};

pub use catalog::{Catalog, Service, ServiceDependency};
pub use numbered::{Numbered, says_wave};
pub use placement::{Placement, PlacementKind, last_name};
pub use sets::{ServiceDepth, Wave, WaveSet};
pub use survey::{ServiceView, survey};
pub use table::markdown_table;

use crate::config::Config;
use crate::flux::Cluster;
use crate::graph::{Edge, Graph};
use crate::tree::{Files, Tree};

/// The catalog and the wave sets of one revision.
#[derive(Clone, Debug, Default)]
pub struct Waves {
    /// All services.
    pub catalog: Catalog,
    /// All wave sets, by name.
    pub sets: Vec<WaveSet>,
    /// Cycles of the catalog: indices of the services of each, in order of the dependencies.
    pub cycles: Vec<Vec<usize>>,
    /// The depth of each service in the whole catalog, whichever set it is in.
    pub depths: BTreeMap<usize, ServiceDepth>,
}

impl Waves {
    /// The wave in whose directory a path lies: the index of its set, and its number. The deepest, of nested sets.
    pub fn wave_of(&self, path: &str) -> Option<(usize, u64)> {
        let mut best: Option<(usize, (usize, u64))> = None;
        for (index, set) in self.sets.iter().enumerate() {
            for (number, wave) in &set.waves {
                for directory in &wave.directories {
                    let inside = path
                        .strip_prefix(directory.as_str())
                        .is_some_and(|rest| rest.starts_with('/'));
                    if inside && best.is_none_or(|(length, _)| directory.len() > length) {
                        best = Some((directory.len(), (index, *number)));
                    }
                }
            }
        }
        best.map(|(_, wave)| wave)
    }

    /// The set in which a service counts: where it is placed, else the first that has a place for it.
    pub fn set_of(&self, service: usize) -> Option<usize> {
        let has = |set: &WaveSet| set.claimed && set.depths.contains_key(&service);
        (0..self.sets.len())
            .find(|set| !self.sets[*set].placed(service).is_empty())
            .or_else(|| (0..self.sets.len()).find(|set| has(&self.sets[*set])))
    }

    /// The wave in which a service belongs, and the path that proves it; `None` for one in or above
    /// a cycle. Where there is no wave set yet, waves count from 0.
    pub fn computed(&self, service: usize) -> Option<(u64, &ServiceDepth)> {
        match self.set_of(service) {
            Some(set) => {
                let set = &self.sets[set];
                let depth = set.depths.get(&service)?;
                Some((set.number_at(depth.depth), depth))
            }
            None => {
                let depth = self.depths.get(&service)?;
                Some((depth.depth as u64, depth))
            }
        }
    }
}

/// Reads the catalog, finds the wave sets, and computes in which wave each service belongs.
pub fn read(files: &Files, tree: &Tree, clusters: &[Cluster], config: &Config) -> Waves {
    let catalog = Catalog::read(files, tree, &|path| {
        !config.exclude.matches(path) && is_catalog(config, path)
    });
    let mut sets = sets::wave_sets(files, tree, clusters, &catalog, config);
    let all: BTreeSet<usize> = (0..catalog.services.len()).collect();
    let placed: Vec<BTreeSet<usize>> = sets.iter().map(WaveSet::services).collect();
    for (index, set) in sets.iter_mut().enumerate() {
        if !set.claimed {
            continue;
        }
        // A service of another set is in place before this one, or is not this one's matter; one
        // that is placed nowhere still stands between those that are.
        let elsewhere = placed
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .flat_map(|(_, services)| services);
        let mut members = all.clone();
        for service in elsewhere {
            members.remove(service);
        }
        members.extend(&placed[index]);
        set.depths = depths(&catalog, &members);
    }
    let graph = graph(&catalog, &all);
    let cycles = graph
        .cyclic_components()
        .iter()
        .filter_map(|component| graph.shortest_cycle(component))
        .map(|cycle| {
            cycle
                .into_iter()
                .map(|edge| graph.edges()[edge].from)
                .collect()
        })
        .collect();
    let depths = depths(&catalog, &all);
    Waves {
        catalog,
        sets,
        cycles,
        depths,
    }
}

/// True if ServiceDefinitions in that file count: anywhere, unless the configuration says where.
fn is_catalog(config: &Config, path: &str) -> bool {
    let mut configured = config
        .waves
        .iter()
        .map(|waves| &waves.catalog)
        .filter(|catalog| !catalog.is_empty())
        .peekable();
    configured.peek().is_none() || configured.any(|catalog| catalog.matches(path))
}

/// The dependencies among some services of the catalog; an edge's payload is the
/// index of the entry in the service's `dependencies`.
pub fn graph(catalog: &Catalog, members: &BTreeSet<usize>) -> Graph {
    let edges = members.iter().flat_map(|from| {
        catalog.services[*from]
            .dependencies
            .iter()
            .enumerate()
            .filter_map(|(payload, dependency)| {
                let to = catalog.find(&dependency.name)?;
                members.contains(&to).then_some(Edge {
                    from: *from,
                    to,
                    payload,
                })
            })
    });
    Graph::new(catalog.services.len(), edges)
}

/// The depth of each member by its longest dependency path inside the members. Of several longest
/// paths that one counts which goes along the earlier entry of `dependencies` at each service.
pub fn depths(catalog: &Catalog, members: &BTreeSet<usize>) -> BTreeMap<usize, ServiceDepth> {
    let longest = graph(catalog, members).longest_paths();
    let next = |service: usize| {
        let below = longest.depth(service)?.checked_sub(1)?;
        catalog.services[service]
            .dependencies
            .iter()
            .filter_map(|dependency| catalog.find(&dependency.name))
            .find(|target| members.contains(target) && longest.depth(*target) == Some(below))
    };
    members
        .iter()
        .filter_map(|service| {
            let chain = std::iter::successors(Some(*service), |at| next(*at)).collect();
            Some((
                *service,
                ServiceDepth {
                    depth: longest.depth(*service)?,
                    chain,
                },
            ))
        })
        .collect()
}
