//! Which objects leave the Kustomization that owned them, for where, and whether they survive it.

use std::collections::BTreeMap;

use super::controller::{Applied, Fate, Outcome, World};
use super::guards::Marks;
use super::scene::{self, Key, Scene, Side};
use crate::config::{Config, Role};
use crate::flux::{Cluster, Kustomization, Tri};
use crate::kustomize::Object;
use crate::picture::Picture;
use crate::tree::Files;

/// A cluster that is there in both revisions.
#[derive(Clone, Debug)]
pub struct ClusterChange {
    /// Its index at the base.
    pub base: usize,
    /// Its index at the head.
    pub head: usize,
    /// The objects that leave a Kustomization, or may do so for a while, by key.
    pub departures: Vec<Departure>,
}

/// An object that some Kustomization applied at the base and at some moment no longer does.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The object.
    pub key: Key,
    /// The Kustomizations that own it at the base, by index; never empty.
    pub from: Vec<usize>,
    /// Those that own it at the head.
    pub to: Vec<usize>,
    /// It at the base: Kustomization and number among what that builds.
    pub before: (usize, usize),
    /// It at the head, where it is.
    pub after: Option<(usize, usize)>,
    /// Whether it survives.
    pub fate: Fate,
    /// True if something that is not in the tree could make it turn out otherwise.
    pub doubtful: bool,
}

impl Departure {
    /// The object at the base, and its owner.
    pub fn object_before<'a>(
        &self,
        cluster: &'a Cluster,
    ) -> Option<(&'a Kustomization, &'a Object)> {
        object_at(cluster, self.before)
    }

    /// The object at the head, and its owner.
    pub fn object_after<'a>(
        &self,
        cluster: &'a Cluster,
    ) -> Option<(&'a Kustomization, &'a Object)> {
        object_at(cluster, self.after?)
    }
}

fn object_at(cluster: &Cluster, at: (usize, usize)) -> Option<(&Kustomization, &Object)> {
    let kustomization = cluster.kustomizations.get(at.0)?;
    Some((kustomization, kustomization.build.objects.get(at.1)?))
}

/// True if Flux is told a path that is not there: the root fails, and so applies and prunes nothing.
/// What is linted in its place is a guess of the directory that was meant.
fn syncs_nothing(cluster: &Cluster) -> bool {
    let told = cluster.entry.told.as_ref();
    told.is_some_and(|told| told.missing)
}

/// Compares the clusters that both pictures have; design-only ones are left out, and those that
/// sync a missing path.
pub(super) fn compare(
    files: &Files,
    config: &Config,
    base: &Picture,
    head: &Picture,
) -> Vec<ClusterChange> {
    use rayon::prelude::*;
    let pairs: Vec<(usize, usize)> = head
        .flux
        .clusters
        .iter()
        .enumerate()
        .filter(|(_, cluster)| cluster.role != Role::DesignOnly && !syncs_nothing(cluster))
        .filter_map(|(index, cluster)| {
            let before = base
                .flux
                .clusters
                .iter()
                .position(|other| other.path == cluster.path)?;
            (!syncs_nothing(&base.flux.clusters[before])).then_some((before, index))
        })
        .collect();
    pairs
        .into_par_iter()
        .map(|(before, after)| ClusterChange {
            base: before,
            head: after,
            departures: departures(
                files,
                config,
                Side {
                    picture: base,
                    cluster: &base.flux.clusters[before],
                },
                Side {
                    picture: head,
                    cluster: &head.flux.clusters[after],
                },
            ),
        })
        .collect()
}

/// For each object its owners, each with the number of the object in its build. Of a build
/// that fails, what could be built all the same, if `failing` are wanted.
fn owners(cluster: &Cluster, failing: bool) -> BTreeMap<Key, Vec<(usize, usize)>> {
    let mut owners: BTreeMap<Key, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, kustomization) in cluster.kustomizations.iter().enumerate() {
        if kustomization.fails() && !failing {
            continue;
        }
        for (number, object) in kustomization.build.objects.iter().enumerate() {
            owners
                .entry(Key::of(object, kustomization))
                .or_default()
                .push((index, number));
        }
    }
    owners
}

fn departures(files: &Files, config: &Config, base: Side<'_>, head: Side<'_>) -> Vec<Departure> {
    let before = owners(base.cluster, false);
    let after = owners(head.cluster, true);
    let scene = scene::scene(files, config, base, head);
    let unknown_head = head.cluster.unknown_kustomizations().is_some()
        || head
            .cluster
            .kustomizations
            .iter()
            .any(Kustomization::unknown_objects);
    let mut known: BTreeMap<Signature, Fate> = BTreeMap::new();
    let mut departures = Vec::new();
    for (key, from) in before {
        let Some(object) = scene.objects.get(&key).copied() else {
            continue;
        };
        let actors: Vec<usize> = from
            .iter()
            .filter_map(|(index, _)| {
                let name = &base.cluster.kustomizations[*index].name;
                scene.names.get(name).copied()
            })
            .collect();
        let stays_known = from.iter().all(|(index, _)| {
            let name = &base.cluster.kustomizations[*index].name;
            head.cluster
                .find(name)
                .is_none_or(|index| !head.cluster.kustomizations[index].unknown_objects())
        });
        let leaves = stays_known
            && (0..scene.world.actors.len()).any(|actor| may_leave(&scene, actor, object));
        if !leaves {
            continue;
        }
        let signature = signature(&scene.world, object, &actors);
        let is_actor = scene
            .world
            .actors
            .iter()
            .any(|actor| actor.object == object);
        let fate = match known.get(&signature).filter(|_| !is_actor) {
            Some(fate) => *fate,
            None => scene.world.fate(object, &actors),
        };
        if !is_actor {
            known.insert(signature, fate);
        }
        let to = after.get(&key).map(Vec::as_slice).unwrap_or_default();
        let unsure_spec = |cluster: &Cluster, index: usize| {
            let spec = &cluster.kustomizations[index].spec;
            spec.prune == Tri::Unknown
                || spec.suspend == Tri::Unknown
                || spec.depends_on.iter().any(|entry| entry.unknown)
        };
        departures.push(Departure {
            before: from[0],
            after: to.first().copied(),
            fate,
            doubtful: to.is_empty() && unknown_head
                || from
                    .iter()
                    .any(|(index, _)| unsure_spec(base.cluster, *index))
                || to
                    .iter()
                    .any(|(index, _)| unsure_spec(head.cluster, *index)),
            from: from.iter().map(|(index, _)| *index).collect(),
            to: to.iter().map(|(index, _)| *index).collect(),
            key,
        });
    }
    departures
}

/// True if an actor applies an object at some moment and not, or not itself, at another.
fn may_leave(scene: &Scene, actor: usize, object: usize) -> bool {
    let mut has = false;
    let mut lacks = scene.gone[actor];
    for outcome in scene.world.actors[actor]
        .specs
        .iter()
        .flat_map(|spec| &spec.builds)
    {
        match applied(outcome) {
            Some(applied) if applied.objects.contains_key(&object) => has = true,
            Some(_) => lacks = true,
            None => {}
        }
    }
    has && lacks
}

/// Where an object is built and what its metadata says there: objects with one signature share a fate.
type Signature = (Vec<usize>, Vec<(usize, usize, usize, bool, bool, bool)>);

fn signature(world: &World, object: usize, owners: &[usize]) -> Signature {
    let mut built = Vec::new();
    for (actor, specs) in world.actors.iter().enumerate() {
        for (number, spec) in specs.specs.iter().enumerate() {
            for (revision, outcome) in spec.builds.iter().enumerate() {
                if let Some(marks) = applied(outcome).and_then(|one| one.objects.get(&object)) {
                    let Marks {
                        kept,
                        untouched,
                        only_created,
                    } = *marks;
                    built.push((actor, number, revision, kept, untouched, only_created));
                }
            }
        }
    }
    (owners.to_vec(), built)
}

fn applied(outcome: &Outcome) -> Option<&Applied> {
    match outcome {
        Outcome::Applies(applied) => Some(applied),
        Outcome::Fails => None,
    }
}
