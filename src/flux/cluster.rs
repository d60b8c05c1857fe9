//! A cluster as its entry point makes it: the Kustomizations it really gets, and what each builds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use smol_str::SmolStr;

use super::artifact::ArtifactRoot;
use super::entry::EntryPoint;
use super::kustomization::{NamespacedName, Spec};
use super::substitution::Substitution;
use super::unknown::Unknowns;
use crate::config::Role;
use crate::graph::{Edge, Graph};
use crate::kustomize::{Build, Gap, GapEffect, Object, ObjectId};
use crate::source::Place;
use crate::tree::{Child, Tree, join, split};
use crate::yaml::Node;

/// One cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name: the directory of its entry point.
    pub path: String,
    /// Whether it runs.
    pub role: Role,
    /// How it was found.
    pub entry: EntryPoint,
    /// All Kustomizations, the root first, each behind its parent.
    pub kustomizations: Vec<Kustomization>,
    /// What cannot be known of the cluster beyond the gaps of its Kustomizations' builds.
    pub gaps: Vec<Gap>,
    /// Kustomizations that a second parent makes too: the index of the one that counts, and the other's object.
    pub repeated: Vec<(usize, usize, Place)>,
    pub(super) names: HashMap<NamespacedName, usize>,
}

/// A Flux Kustomization as a cluster gets it, and what it builds there.
#[derive(Clone, Debug)]
pub struct Kustomization {
    /// Namespace and name.
    pub name: NamespacedName,
    /// The object as built by its parent; of a root that is in no build, as bootstrap makes it.
    pub node: Node,
    /// The place of `metadata.name`; of a root that the tree does not hold, what tells Flux to make it.
    pub place: Place,
    /// The document that it is written in.
    pub origin: Place,
    /// True if it is nowhere in the tree: an entry point's own Kustomization, as `flux bootstrap` makes it.
    pub implied: bool,
    /// The index of the Kustomization whose build makes it; `None` for the root.
    pub parent: Option<usize>,
    /// Its fields.
    pub spec: Spec,
    /// Where its path leads.
    pub location: Location,
    /// What it builds, after substitution; empty if its path leads nowhere known.
    pub build: Arc<Build>,
    /// What its substitution did.
    pub substitution: Substitution,
    /// Values of its objects that cannot be known.
    pub unknowns: Unknowns,
}

/// Where a Kustomization's path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory of the linted tree.
    Directory(String),
    /// Nothing is there; the path in the linted tree.
    Missing(String),
    /// A file is there.
    File(String),
    /// The source is another repository.
    OtherRepository,
    /// The path, the source or its root depend on what is not in the tree.
    Unknown,
}

impl Cluster {
    /// The index of the Kustomization of that name.
    pub fn find(&self, name: &NamespacedName) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The Kustomizations above one: its parent, the parent's parent, up to the root.
    pub fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        // A parent always stands before its children, so this ends.
        std::iter::successors(self.parent_of(index), |above| self.parent_of(*above))
    }

    fn parent_of(&self, index: usize) -> Option<usize> {
        self.kustomizations
            .get(index)?
            .parent
            .filter(|parent| *parent < index)
    }

    /// Every object of the cluster with the index of its Kustomization.
    pub fn objects(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.kustomizations
            .iter()
            .enumerate()
            .flat_map(|(index, kustomization)| {
                kustomization
                    .build
                    .objects
                    .iter()
                    .map(move |object| (index, object))
            })
    }

    /// The first gap that leaves unknown which Kustomizations there are, if any.
    pub fn unknown_kustomizations(&self) -> Option<&Gap> {
        self.gaps
            .iter()
            .chain(
                self.kustomizations
                    .iter()
                    .flat_map(|kustomization| &kustomization.build.gaps),
            )
            .find(|gap| gap.effect == GapEffect::Identities)
    }

    /// The dependsOn graph: nodes are the indices of the Kustomizations, an edge leads to
    /// what one dependsOn, its payload is the index in `depends_on`. What does not exist has no edge.
    pub fn graph(&self) -> Graph {
        let edges = self
            .kustomizations
            .iter()
            .enumerate()
            .flat_map(|(from, kustomization)| {
                kustomization.spec.depends_on.iter().enumerate().filter_map(
                    move |(payload, dependency)| {
                        let to = self.find(&dependency.target)?;
                        Some(Edge { from, to, payload })
                    },
                )
            });
        Graph::new(self.kustomizations.len(), edges)
    }

    /// The order in which the Kustomizations can be reconciled: the dependsOn graph, and an edge from
    /// each to its parent, which makes it first. The root is no such parent: it stands before all.
    /// An edge to a parent that itself waits for the child is left out. Payloads say nothing.
    pub fn order(&self) -> Graph {
        let depends_on = self.graph();
        let parents: Vec<Edge> = (0..self.kustomizations.len())
            .filter_map(|from| {
                let to = self.parent_of(from)?;
                self.parent_of(to)?;
                Some(Edge {
                    from,
                    to,
                    payload: 0,
                })
            })
            .collect();
        let edges = || depends_on.edges().iter().copied();
        let nodes = self.kustomizations.len();
        let components = Graph::new(nodes, edges().chain(parents.iter().copied())).components();
        let untied = parents
            .iter()
            .filter(|edge| components.of_node[edge.from] != components.of_node[edge.to])
            .copied();
        Graph::new(nodes, edges().chain(untied))
    }

    /// The owners of each object: indices of the Kustomizations that apply it, by Flux's
    /// inventory identity (upstream: cli-utils `object.ObjMetadata`, without the version).
    pub fn owners(&self) -> BTreeMap<InventoryId, Vec<(usize, &Object)>> {
        let mut owners: BTreeMap<InventoryId, Vec<(usize, &Object)>> = BTreeMap::new();
        for (index, object) in self.objects() {
            owners
                .entry(InventoryId::of(&object.id()))
                .or_default()
                .push((index, object));
        }
        owners
    }
}

impl Kustomization {
    /// The directory in the linted tree that it builds.
    pub fn directory(&self) -> Option<&str> {
        match &self.location {
            Location::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    /// True if kustomize or Flux refuses to build it.
    pub fn fails(&self) -> bool {
        !self.build.problems.is_empty() || self.substitution.fails()
    }

    /// The first gap that leaves its objects' identities unknown, or true absence of a known directory.
    pub fn unknown_objects(&self) -> bool {
        matches!(self.location, Location::Unknown | Location::OtherRepository)
            || self
                .build
                .gaps
                .iter()
                .any(|gap| gap.effect == GapEffect::Identities)
    }
}

/// What names an object in Flux's inventory: no version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InventoryId {
    /// API group; empty for the core group.
    pub group: SmolStr,
    /// Kind.
    pub kind: SmolStr,
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: SmolStr,
    /// Name.
    pub name: SmolStr,
}

impl InventoryId {
    /// The inventory's name for an object; the namespace that kustomize gave a cluster-scoped built-in kind does not count.
    pub fn of(id: &ObjectId) -> Self {
        let cluster_scoped = crate::kustomize::is_cluster_scoped(&id.group, &id.kind);
        Self {
            group: id.group.clone(),
            kind: id.kind.clone(),
            namespace: if cluster_scoped {
                SmolStr::default()
            } else {
                id.namespace.clone()
            },
            name: id.name.clone(),
        }
    }
}

impl std::fmt::Display for InventoryId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() {
            write!(formatter, "{} {}", self.kind, self.name)
        } else {
            write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// The location of a path in an artifact whose root is known or not; `packed` is the tree of the artifact.
pub(super) fn locate(packed: &Tree, root: &ArtifactRoot, path: &str) -> Location {
    let root = match root {
        ArtifactRoot::Folder(root) => root,
        ArtifactRoot::OtherRepository => return Location::OtherRepository,
        ArtifactRoot::Unknown => return Location::Unknown,
    };
    let below = super::artifact::clamp(path);
    let Some(full) = join(root, &below) else {
        return Location::Unknown;
    };
    match packed.child(&below) {
        Some(Child::Directory) => Location::Directory(full),
        Some(Child::File(_)) => Location::File(full),
        Some(Child::Submodule) => Location::Unknown,
        Some(Child::Symlink) | None => {
            // Below a submodule nothing is known.
            let mut above = split(&below).0;
            while !above.is_empty() {
                if packed.child(above) == Some(Child::Submodule) {
                    return Location::Unknown;
                }
                above = split(above).0;
            }
            Location::Missing(full)
        }
    }
}
