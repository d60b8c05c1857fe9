//! Two revisions of a cluster as the [`World`] that the controller's machine explores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::controller::{Actor, Applied, Dependency, Outcome, Spec, Standing, World};
use super::guards::marks;
use crate::config::Config;
use crate::flux::{
    Cluster, InventoryId, Kustomization, Location, NamespacedName, Spec as FluxSpec, Tri,
    build_with_spec, is_flux_kustomization, name_of,
};
use crate::kustomize::Object;
use crate::picture::Picture;
use crate::tree::Files;
use crate::yaml::{Node, emit_node};

/// A parent that changes with its own spec could give a child this many specs at most.
const MAX_SPECS: usize = 6;

/// What names an object in a cluster and in those that its Kustomizations reach by kubeConfig.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The kubeConfig of the owner, where it has one.
    pub remote: Option<SmolStr>,
    /// The object.
    pub id: InventoryId,
}

impl Key {
    /// The key of an object that a Kustomization applies.
    pub fn of(object: &Object, owner: &Kustomization) -> Self {
        let mut id = InventoryId::of(&object.id());
        if is_flux_kustomization(&object.node) {
            id.namespace = name_of(&object.node).namespace;
        }
        Self {
            remote: remote(&owner.node),
            id,
        }
    }

    fn of_kustomization(name: &NamespacedName) -> Self {
        Self {
            remote: None,
            id: InventoryId {
                group: crate::flux::KUSTOMIZE_GROUP.into(),
                kind: "Kustomization".into(),
                namespace: name.namespace.clone(),
                name: name.name.clone(),
            },
        }
    }
}

fn remote(node: &Node) -> Option<SmolStr> {
    let config = node.at(&["spec", "kubeConfig"])?;
    (!config.is_null()).then(|| emit_node(config).into())
}

/// A cluster of both revisions, in the machine's numbers.
pub(super) struct Scene {
    pub(super) world: World,
    /// For each name the number of its actor.
    pub(super) names: BTreeMap<NamespacedName, usize>,
    /// For each object its number.
    pub(super) objects: BTreeMap<Key, usize>,
    /// For each actor, true if the head does not have it.
    pub(super) gone: Vec<bool>,
}

/// One revision of the cluster.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) picture: &'a Picture,
    pub(super) cluster: &'a Cluster,
}

impl<'a> Side<'a> {
    fn find(&self, name: &NamespacedName) -> Option<&'a Kustomization> {
        let index = self.cluster.find(name)?;
        self.cluster.kustomizations.get(index)
    }
}

/// Builds the scene of a cluster.
pub(super) fn scene(files: &Files, config: &Config, base: Side<'_>, head: Side<'_>) -> Scene {
    let names: BTreeSet<&NamespacedName> = base
        .cluster
        .kustomizations
        .iter()
        .chain(&head.cluster.kustomizations)
        .map(|kustomization| &kustomization.name)
        .collect();
    let names: BTreeMap<NamespacedName, usize> = names
        .into_iter()
        .enumerate()
        .map(|(number, name)| (name.clone(), number))
        .collect();
    let sources: BTreeSet<String> = [base, head]
        .into_iter()
        .flat_map(|side| &side.cluster.kustomizations)
        .filter(|kustomization| moves(kustomization))
        .filter_map(|kustomization| Some(kustomization.spec.source.as_ref()?.to_string()))
        .collect();
    let builder = Builder {
        one_source: sources.len() < 2,
        files,
        config,
        sides: [base, head],
        nodes: vec![Vec::new(); names.len()],
        names,
        objects: BTreeMap::new(),
        sources: BTreeMap::new(),
        moving: Vec::new(),
        pending: Vec::new(),
    };
    builder.build()
}

/// True if what a Kustomization builds changes with the commit.
fn moves(kustomization: &Kustomization) -> bool {
    !matches!(
        kustomization.location,
        Location::OtherRepository | Location::Unknown
    )
}

struct Builder<'a> {
    /// True if all that the commit changes comes from one source: a new spec then never meets the old tree.
    one_source: bool,
    files: &'a Files,
    config: &'a Config,
    sides: [Side<'a>; 2],
    names: BTreeMap<NamespacedName, usize>,
    /// The specs of each actor, as nodes.
    nodes: Vec<Vec<Node>>,
    objects: BTreeMap<Key, usize>,
    sources: BTreeMap<String, usize>,
    moving: Vec<bool>,
    /// Actors and specs that are not built yet.
    pending: Vec<(usize, usize)>,
}

impl Builder<'_> {
    fn build(mut self) -> Scene {
        let all: Vec<(NamespacedName, usize)> = self
            .names
            .iter()
            .map(|(name, number)| (name.clone(), *number))
            .collect();
        let mut actors = Vec::new();
        for (name, number) in &all {
            for side in self.sides {
                if let Some(kustomization) = side.find(name) {
                    self.spec_number(*number, &kustomization.node);
                }
            }
            actors.push(Actor {
                object: self.object_number(Key::of_kustomization(name)),
                base: None,
                specs: Vec::new(),
                updated_from_outside: None,
            });
        }
        let mut built: BTreeMap<(usize, usize), Spec> = BTreeMap::new();
        while let Some((actor, spec)) = self.pending.pop() {
            let name = &all[actor].0;
            let node = self.nodes[actor][spec].clone();
            let made = self.spec(name, &node);
            built.insert((actor, spec), made);
        }
        for ((actor, _), spec) in built {
            actors[actor].specs.push(spec);
        }
        for (name, number) in &all {
            self.stand(&mut actors, name, *number);
        }
        Scene {
            world: World {
                actors,
                sources: self.moving,
            },
            gone: self
                .names
                .keys()
                .map(|name| self.sides[1].find(name).is_none())
                .collect(),
            names: self.names,
            objects: self.objects,
        }
    }

    /// Who owns an actor at the base, and who updates it if no Kustomization does.
    fn stand(&self, actors: &mut [Actor], name: &NamespacedName, number: usize) {
        let [base, head] = self.sides;
        let object = actors[number].object;
        let applies = |actors: &[Actor], at: usize, revision: usize| {
            actors[at]
                .specs
                .iter()
                .any(|spec| match &spec.builds[revision] {
                    Outcome::Applies(applied) => applied.objects.contains_key(&object),
                    Outcome::Fails => false,
                })
        };
        let (before, after) = (base.find(name), head.find(name));
        if let Some(before) = before {
            let parent = match before.parent {
                Some(parent) => self
                    .names
                    .get(&base.cluster.kustomizations[parent].name)
                    .copied(),
                None => applies(actors, number, 0).then_some(number),
            };
            let marks = parent
                .and_then(|parent| match &actors[parent].specs.first()?.builds[0] {
                    Outcome::Applies(applied) => applied.objects.get(&object).copied(),
                    Outcome::Fails => None,
                })
                .unwrap_or_default();
            actors[number].base = Some(Standing {
                owner: parent,
                marks,
            });
        }
        // The root, where no build makes it.
        if let Some(after) = after
            && after.parent.is_none()
            && !applies(actors, number, 1)
        {
            if before.is_none() {
                actors[number].base = Some(Standing::default());
            } else {
                let last = actors[number].specs.len() - 1;
                actors[number].updated_from_outside = (last > 0).then_some(last);
            }
        }
    }

    /// The number of an actor's spec; a new one is still to be built.
    fn spec_number(&mut self, actor: usize, node: &Node) -> usize {
        let same = |known: &Node| match (known.get("spec"), node.get("spec")) {
            (Some(known), Some(spec)) => known.same_content(spec),
            (None, None) => true,
            _ => false,
        };
        let known = self.nodes[actor].iter().position(same);
        known.unwrap_or_else(|| {
            let next = self.nodes[actor].len();
            if next >= MAX_SPECS {
                return next - 1;
            }
            self.nodes[actor].push(node.clone());
            self.pending.push((actor, next));
            next
        })
    }

    fn object_number(&mut self, key: Key) -> usize {
        let next = self.objects.len();
        *self.objects.entry(key).or_insert(next)
    }

    /// The number of a source. One that is another repository does not move.
    fn source_number(&mut self, spec: &FluxSpec, moves: bool) -> usize {
        let next = self.sources.len();
        let name = spec
            .source
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let number = *self.sources.entry(name).or_insert(next);
        if number == next {
            self.moving.push(false);
        }
        self.moving[number] |= moves;
        number
    }

    fn spec(&mut self, name: &NamespacedName, node: &Node) -> Spec {
        let [base, head] = self.sides;
        let known = base.find(name).or_else(|| head.find(name));
        let unknowns = known
            .map(|kustomization| kustomization.unknowns.clone())
            .unwrap_or_default();
        let spec = FluxSpec::read(node, &name.namespace, &unknowns);
        let mut moving = false;
        let mut builds = [Outcome::Fails, Outcome::Fails];
        for (revision, build) in builds.iter_mut().enumerate() {
            let made = self.kustomization(name, node, revision);
            moving |= made.as_ref().is_some_and(moves);
            *build = made.map_or(Outcome::Fails, |made| self.outcome(&made, node));
        }
        let deletion = spec.deletion_policy.as_deref();
        Spec {
            source: self.source_number(&spec, moving),
            suspended: spec.suspend.is_yes(),
            prunes: spec.prune != Tri::No,
            deletes: match deletion {
                Some("Orphan") => false,
                Some("Delete" | "WaitForTermination") => true,
                _ => spec.prune != Tri::No,
            },
            depends_on: spec
                .depends_on
                .iter()
                .map(|entry| Dependency {
                    actor: self.names.get(&entry.target).copied(),
                    any_moment: entry.ready_expression,
                })
                .collect(),
            waits: spec.wait.is_yes(),
            health_checks: if spec.wait.is_yes() {
                Vec::new()
            } else {
                health_checks(node)
                    .map(|target| self.names.get(&target).copied())
                    .collect()
            },
            builds,
        }
    }

    /// What a Kustomization with a spec makes of a revision.
    fn kustomization(
        &self,
        name: &NamespacedName,
        node: &Node,
        revision: usize,
    ) -> Option<Kustomization> {
        let side = self.sides[revision];
        let own = side.find(name);
        if let Some(own) = own
            && builds_alike(&own.node, node)
        {
            return Some(own.clone());
        }
        if revision == 0 && self.one_source {
            return None;
        }
        let like = own.or_else(|| self.sides[1 - revision].find(name))?;
        Some(build_with_spec(
            self.files,
            &side.picture.tree,
            self.config,
            like,
            node,
        ))
    }

    fn outcome(&mut self, made: &Kustomization, node: &Node) -> Outcome {
        if made.fails() || matches!(made.location, Location::Missing(_) | Location::File(_)) {
            return Outcome::Fails;
        }
        let mut applied = Applied::default();
        for object in &made.build.objects {
            let number = self.object_number(Key::of(object, made));
            applied.objects.insert(number, marks(&object.node, node));
            if is_flux_kustomization(&object.node)
                && !made.spec.remote_cluster
                && let Some(child) = self.names.get(&name_of(&object.node)).copied()
            {
                let spec = self.spec_number(child, &object.node);
                applied.children.push((child, spec));
            }
        }
        Outcome::Applies(Arc::new(applied))
    }
}

/// True if two specs of a Kustomization build the same: they differ in nothing that the build reads.
fn builds_alike(left: &Node, right: &Node) -> bool {
    const READ: [&str; 11] = [
        "path",
        "sourceRef",
        "targetNamespace",
        "namePrefix",
        "nameSuffix",
        "patches",
        "components",
        "ignoreMissingComponents",
        "images",
        "buildMetadata",
        "postBuild",
    ];
    READ.iter().all(|key| {
        let field = |node: &'_ Node| {
            node.at(&["spec", key])
                .filter(|value| !value.is_null())
                .cloned()
        };
        match (field(left), field(right)) {
            (Some(left), Some(right)) => left.same_content(&right),
            (None, None) => true,
            _ => false,
        }
    })
}

/// The Kustomizations that `healthChecks` names.
fn health_checks(node: &Node) -> impl Iterator<Item = NamespacedName> {
    node.at(&["spec", "healthChecks"])
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter(|entry| entry.str_at(&["kind"]) == Some("Kustomization"))
        .map(|entry| {
            let text = |key: &str| entry.str_at(&[key]).unwrap_or_default();
            NamespacedName::new(text("namespace"), text("name"))
        })
}
