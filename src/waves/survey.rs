//! Each service of the catalog: where it belongs, where it is, and who waits for it.

use std::collections::{BTreeMap, BTreeSet};

use super::Waves;
use crate::flux::{Cluster, Kustomization};
use crate::source::FileId;

/// What is known of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceView {
    /// Its index in the catalog.
    pub service: usize,
    /// The wave in which it belongs; `None` in or above a cycle.
    pub wave: Option<u64>,
    /// The waves in which it is placed, ascending.
    pub at: Vec<u64>,
    /// The longest dependency path below it, itself first; empty in or above a cycle.
    pub chain: Vec<usize>,
    /// The services that Flux does not bring up to date while this one is not ready, ascending.
    pub blocks: Vec<usize>,
}

/// Looks at every service, in the order of the catalog.
pub fn survey(waves: &Waves, clusters: &[&Cluster]) -> Vec<ServiceView> {
    let places: Vec<BTreeSet<FileId>> = (0..waves.catalog.services.len())
        .map(|service| files_of(waves, service))
        .collect();
    let blocks: Vec<Blocks> = clusters
        .iter()
        .map(|cluster| Blocks::new(cluster, &places))
        .collect();
    (0..waves.catalog.services.len())
        .map(|service| {
            let computed = waves.computed(service);
            let at: BTreeSet<u64> = waves
                .sets
                .iter()
                .flat_map(|set| set.placed(service))
                .collect();
            let blocked: BTreeSet<usize> = blocks
                .iter()
                .flat_map(|blocks| blocks.of(service, &places[service]))
                .collect();
            ServiceView {
                service,
                wave: computed.map(|(number, _)| number),
                at: at.into_iter().collect(),
                chain: computed
                    .map(|(_, depth)| depth.chain.clone())
                    .unwrap_or_default(),
                blocks: blocked.into_iter().collect(),
            }
        })
        .collect()
}

/// The files of a service, in all waves.
fn files_of(waves: &Waves, service: usize) -> BTreeSet<FileId> {
    waves
        .sets
        .iter()
        .flat_map(|set| set.waves.values())
        .flat_map(|wave| &wave.placements)
        .filter(|placement| placement.service == Some(service))
        .flat_map(|placement| placement.files.iter().copied())
        .collect()
}

/// Who waits for whom in one cluster.
struct Blocks<'a> {
    cluster: &'a Cluster,
    /// For each Kustomization, those that cannot become ready while it is not.
    held_by: Vec<Vec<usize>>,
    /// For each service, the Kustomizations that apply it.
    owners: Vec<BTreeSet<usize>>,
    /// For each Kustomization, the services that it applies.
    applies: BTreeMap<usize, BTreeSet<usize>>,
}

impl<'a> Blocks<'a> {
    fn new(cluster: &'a Cluster, places: &[BTreeSet<FileId>]) -> Self {
        let mut by_file: BTreeMap<FileId, BTreeSet<usize>> = BTreeMap::new();
        for (index, object) in cluster.objects() {
            by_file.entry(object.origin.file).or_default().insert(index);
        }
        let owners: Vec<BTreeSet<usize>> = places
            .iter()
            .map(|files| {
                files
                    .iter()
                    .filter_map(|file| by_file.get(file))
                    .flatten()
                    .copied()
                    .collect()
            })
            .collect();
        let mut applies: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (service, owners) in owners.iter().enumerate() {
            for owner in owners {
                applies.entry(*owner).or_default().insert(service);
            }
        }
        let mut held_by = vec![Vec::new(); cluster.kustomizations.len()];
        for edge in cluster.graph().edges() {
            held_by[edge.to].push(edge.from);
        }
        for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
            // A parent that waits is not ready before the Kustomizations that it makes are.
            if let Some(parent) = kustomization.parent
                && cluster.kustomizations[parent].spec.wait.is_yes()
            {
                held_by[index].push(parent);
            }
        }
        Self {
            cluster,
            held_by,
            owners,
            applies,
        }
    }

    /// The services whose Kustomization waits for one that waits for this service.
    fn of(&self, service: usize, files: &BTreeSet<FileId>) -> BTreeSet<usize> {
        let mut held = BTreeSet::new();
        let mut queue: Vec<usize> = self.owners[service]
            .iter()
            .copied()
            .filter(|owner| waits_for(&self.cluster.kustomizations[*owner], files))
            .collect();
        while let Some(index) = queue.pop() {
            for next in &self.held_by[index] {
                if held.insert(*next) {
                    queue.push(*next);
                }
            }
        }
        held.iter()
            .filter_map(|index| self.applies.get(index))
            .flatten()
            .copied()
            .filter(|other| *other != service)
            .collect()
    }
}

/// True if a Kustomization is ready only when what it applies from some files is: it waits for all
/// of it, or its `healthChecks` name one of those objects.
fn waits_for(kustomization: &Kustomization, files: &BTreeSet<FileId>) -> bool {
    if kustomization.spec.wait.is_yes() {
        return true;
    }
    let checked = kustomization
        .node
        .at(&["spec", "healthChecks"])
        .map(crate::yaml::Node::items)
        .unwrap_or_default();
    checked.iter().any(|check| {
        kustomization
            .build
            .objects
            .iter()
            .filter(|object| files.contains(&object.origin.file))
            .map(crate::kustomize::Object::id)
            .any(|id| {
                check.str_at(&["kind"]) == Some(&id.kind)
                    && check.str_at(&["name"]) == Some(&id.name)
                    && check
                        .str_at(&["namespace"])
                        .is_none_or(|namespace| namespace == id.namespace)
            })
    })
}
