//! Entry point → cluster: builds the root, then every child that a build makes, until nothing is new.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use smol_str::SmolStr;

use super::artifact::{ArtifactRoot, Sources};
use super::cluster::{Cluster, Kustomization, Location, locate};
use super::entry::EntryPoint;
use super::kustomization::{NamespacedName, SourceReference, Spec, SubstituteFrom};
use super::raw::KUSTOMIZE_GROUP;
use super::substitution::{self, Substitution};
use super::unknown::Unknowns;
use super::variables::{Source, Variables, gather};
use crate::config::Role;
use crate::kustomize::{Build, BuildOptions, Gap, GapEffect, Kustomize, Object};
use crate::source::Place;
use crate::tree::Tree;
use crate::yaml::{Entry, Node};

/// No repository has more Kustomizations in one cluster; a parent whose children never end is cut here.
const MAX_KUSTOMIZATIONS: usize = 20_000;

/// Builds clusters from the entry points of one tree.
pub(super) struct Reconciler<'a> {
    pub(super) tree: &'a Tree,
    pub(super) sources: &'a Sources,
    /// An engine for each artifact: by the folder that is its root and the source's `spec.ignore`.
    pub(super) engines: &'a BTreeMap<(String, String), Kustomize<'a>>,
    /// True from Flux 2.9 on.
    pub(super) strict_substitution: bool,
    /// Names of variables that come from outside the tree.
    pub(super) is_external_variable: &'a (dyn Fn(&str) -> bool + Sync),
    /// Names of sources that are other repositories.
    pub(super) is_external_source: &'a (dyn Fn(&str) -> bool + Sync),
    /// Artifact roots found once.
    pub(super) roots: Mutex<BTreeMap<(SourceReference, Option<SourceReference>), ArtifactRoot>>,
}

/// A Kustomization that is found and not yet finished.
struct Pending {
    kustomization: Kustomization,
    /// Its build before substitution.
    build: Arc<Build>,
}

/// What names a ConfigMap or Secret: kind, namespace, name.
type SourceKey = (SmolStr, SmolStr, SmolStr);

/// A cluster being built.
struct State {
    done: Vec<Kustomization>,
    pending: Vec<Pending>,
    /// All Kustomizations found, done or pending.
    found: HashSet<NamespacedName>,
    /// Names that a second parent makes too: that parent, and the place.
    repeated: Vec<(NamespacedName, usize, Place)>,
    /// ConfigMaps and Secrets built so far: the indices of Kustomization and object.
    variables: HashMap<SourceKey, (usize, usize)>,
    /// Those that are waited for in vain.
    absent: HashSet<SourceKey>,
    cluster: Cluster,
}

impl Reconciler<'_> {
    /// Builds the cluster of an entry point.
    pub(super) fn cluster(&self, entry: EntryPoint, role: Role) -> Cluster {
        let mut state = State {
            done: Vec::new(),
            pending: Vec::new(),
            found: HashSet::new(),
            repeated: Vec::new(),
            variables: HashMap::new(),
            absent: HashSet::new(),
            cluster: Cluster {
                path: entry.path.clone(),
                role,
                entry,
                kustomizations: Vec::new(),
                gaps: Vec::new(),
                repeated: Vec::new(),
                names: HashMap::new(),
            },
        };
        let root = self.root(&state.cluster.entry);
        state.found.insert(root.kustomization.name.clone());
        state.pending.push(root);
        while let Some(missing) = self.advance(&mut state) {
            state.absent.insert(missing);
        }
        let mut cluster = state.cluster;
        cluster.kustomizations = state.done;
        cluster.names = cluster
            .kustomizations
            .iter()
            .enumerate()
            .map(|(index, kustomization)| (kustomization.name.clone(), index))
            .collect();
        cluster.repeated = state
            .repeated
            .into_iter()
            .filter_map(|(name, parent, place)| Some((*cluster.names.get(&name)?, parent, place)))
            .collect();
        self.note_generators(&mut cluster);
        cluster
    }

    /// Finishes pending Kustomizations until none is left (`None`), or until each waits for
    /// a source of variables that nothing has built: then the first of these.
    fn advance(&self, state: &mut State) -> Option<SourceKey> {
        loop {
            let mut waits_for = None;
            let mut progress = false;
            for item in std::mem::take(&mut state.pending) {
                match self.variables(state, &item) {
                    Ok(variables) => {
                        progress = true;
                        self.finish(state, item, variables);
                    }
                    Err(missing) => {
                        waits_for.get_or_insert(missing);
                        state.pending.push(item);
                    }
                }
            }
            if !progress {
                return waits_for;
            }
        }
    }

    /// The variables of a Kustomization from what is built so far; the source that is still to come, if one is.
    fn variables(&self, state: &State, item: &Pending) -> Result<Variables, SourceKey> {
        let kustomization = &item.kustomization;
        let namespace = &kustomization.name.namespace;
        let key =
            |entry: &SubstituteFrom| (entry.kind.clone(), namespace.clone(), entry.name.clone());
        let nothing_unknown = Unknowns::default();
        gather(&kustomization.spec, &kustomization.unknowns, &|entry| {
            let key = key(entry);
            if let Some((owner, object)) = state.variables.get(&key) {
                let owner = &state.done[*owner];
                return Source::Found(&owner.build.objects[*object], &owner.unknowns);
            }
            let own = item
                .build
                .objects
                .iter()
                .find(|object| source_key(&object.node).as_ref() == Some(&key));
            match own {
                Some(object) => Source::Found(object, &nothing_unknown),
                None if state.absent.contains(&key) => Source::Absent,
                None => Source::NotYet,
            }
        })
        .map_err(key)
    }

    /// Substitutes, registers the Kustomization, and finds its children.
    fn finish(&self, state: &mut State, item: Pending, variables: Variables) {
        let Pending {
            mut kustomization,
            build,
        } = item;
        let done = substitution::run(
            &kustomization.node,
            &kustomization.spec,
            Arc::unwrap_or_clone(build),
            variables,
            self.strict_substitution,
            self.is_external_variable,
        );
        kustomization.build = Arc::new(done.build);
        kustomization.substitution = done.substitution;
        kustomization.unknowns = done.unknowns;
        let index = state.done.len();
        if index >= MAX_KUSTOMIZATIONS {
            return;
        }
        let build = kustomization.build.clone();
        let unknowns = kustomization.unknowns.clone();
        let (parent_name, remote) = (
            kustomization.name.clone(),
            kustomization.spec.remote_cluster,
        );
        state.done.push(kustomization);
        if remote {
            return;
        }
        for (at, object) in build.objects.iter().enumerate() {
            if let Some(key) = source_key(&object.node) {
                state.variables.entry(key).or_insert((index, at));
            }
        }
        for object in &build.objects {
            if !is_flux_kustomization(&object.node) {
                continue;
            }
            let name = name_of(&object.node);
            if name == parent_name {
                continue;
            }
            if !state.found.insert(name.clone()) {
                state.repeated.push((name, index, object.name_place()));
                continue;
            }
            let child = self.child(&state.cluster.entry, object, name, index, &unknowns);
            state.pending.push(child);
        }
    }

    /// A child Kustomization as its parent's build makes it, with its own build.
    fn child(
        &self,
        entry: &EntryPoint,
        object: &Object,
        name: NamespacedName,
        parent: usize,
        unknowns: &Unknowns,
    ) -> Pending {
        let spec = Spec::read(&object.node, &name.namespace, unknowns);
        let location = self.location(entry, &spec);
        let build = self.build(&location, entry, &object.node, &spec);
        Pending {
            build: Arc::new(build),
            kustomization: Kustomization {
                place: object.name_place(),
                origin: object.origin,
                node: object.node.clone(),
                name,
                implied: false,
                parent: Some(parent),
                spec,
                location,
                build: Arc::default(),
                substitution: Substitution::default(),
                unknowns: unknowns.clone(),
            },
        }
    }

    /// Where a Kustomization's path leads.
    fn location(&self, entry: &EntryPoint, spec: &Spec) -> Location {
        let (Some(path), Some(source)) = (&spec.path, &spec.source) else {
            return Location::Unknown;
        };
        let root = self.artifact_root(entry, source);
        let ArtifactRoot::Folder(folder) = &root else {
            return locate(self.tree, &root, path);
        };
        let tree = self
            .engine(entry, Some(source), folder)
            .map_or(self.tree, Kustomize::tree);
        match locate(tree, &root, path) {
            Location::Missing(_) if self.sources.is_mixed(source) => Location::Unknown,
            location => location,
        }
    }

    /// The engine for the artifact of a source (without one: of the entry point's) that has that root.
    fn engine(
        &self,
        entry: &EntryPoint,
        source: Option<&SourceReference>,
        root: &str,
    ) -> Option<&Kustomize<'_>> {
        let told = entry.told.as_ref();
        let synced = told.and_then(|told| told.source.as_ref());
        let ignore = match source {
            Some(source) if Some(source) != synced => self.sources.ignore(source),
            _ => told
                .and_then(|told| told.ignore.as_deref())
                .unwrap_or_default(),
        };
        self.engines
            .get(&(root.to_owned(), ignore.to_owned()))
            .or_else(|| self.engines.get(&(root.to_owned(), String::new())))
    }

    fn artifact_root(&self, entry: &EntryPoint, source: &SourceReference) -> ArtifactRoot {
        if (self.is_external_source)(&source.target.name) {
            return ArtifactRoot::OtherRepository;
        }
        let synced = entry.told.as_ref().and_then(|told| told.source.as_ref());
        let key = (source.clone(), synced.cloned());
        if let Some(root) = self
            .roots
            .lock()
            .ok()
            .and_then(|roots| roots.get(&key).cloned())
        {
            return root;
        }
        let root = self.sources.root(self.tree, source, synced, &entry.root);
        if let Ok(mut roots) = self.roots.lock() {
            roots.insert(key, root.clone());
        }
        root
    }

    /// The build of a Kustomization before substitution.
    fn build(&self, location: &Location, entry: &EntryPoint, node: &Node, spec: &Spec) -> Build {
        let Location::Directory(directory) = location else {
            return Build::default();
        };
        let options = build_options(node, spec);
        let found = spec
            .source
            .as_ref()
            .map(|source| self.artifact_root(entry, source));
        let root = match &found {
            Some(ArtifactRoot::Folder(root)) => root.as_str(),
            _ => entry.root.as_str(),
        };
        let Some(engine) = self.engine(entry, spec.source.as_ref(), root) else {
            return Build::default();
        };
        let below = directory
            .strip_prefix(root)
            .unwrap_or(directory)
            .trim_start_matches('/');
        let mut build = engine.build(below, &options);
        if !root.is_empty() {
            for directory in &mut build.directories {
                directory.path = crate::tree::join(root, &directory.path).unwrap_or_default();
            }
        }
        build
    }

    /// The Kustomization of the entry point itself: as its own build makes it, where it
    /// does, else as it is told, else as `flux bootstrap` makes it.
    fn root(&self, entry: &EntryPoint) -> Pending {
        let (mut node, place) = match &entry.told {
            Some(told) => (
                told.kustomization
                    .clone()
                    .unwrap_or_else(|| bootstrap_node(told.place, &told.name, &told.written)),
                told.kustomization
                    .as_ref()
                    .and_then(|node| node.at(&["metadata", "name"]))
                    .map_or(told.place, |name| name.place),
            ),
            None => {
                let place = self.place_in(&entry.path);
                let name = NamespacedName::new("flux-system", "flux-system");
                (
                    bootstrap_node(place, &name, &format!("./{}", entry.path)),
                    place,
                )
            }
        };
        if let Some(patches) = entry.told.as_ref().and_then(|told| told.patches.as_ref())
            && let Some(engine) = self.engines.get(&(String::new(), String::new()))
        {
            node = engine.patch_object(&node, patches);
        }
        let location = if self.tree.is_directory(&entry.path) {
            Location::Directory(entry.path.clone())
        } else {
            Location::Missing(entry.path.clone())
        };
        let mut implied = entry
            .told
            .as_ref()
            .is_none_or(|told| told.kustomization.is_none());
        let (mut place, mut origin) = (place, node.place);
        let mut build = self.build_root(&location, entry, &node);
        // The root's own build may hold the root itself, patched: then that is what reconciles.
        for _ in 0..2 {
            let own = build.objects.iter().find(|object| {
                is_flux_kustomization(&object.node)
                    && (name_of(&object.node) == name_of(&node)
                        || entry.told.is_none() && self.is_self(entry, object))
            });
            let Some(own) = own else { break };
            if own.node.same_content(&node) && !implied {
                break;
            }
            (node, place, origin, implied) =
                (own.node.clone(), own.name_place(), own.origin, false);
            build = self.build_root(&location, entry, &node);
        }
        let name = name_of(&node);
        let spec = Spec::read(&node, &name.namespace, &Unknowns::default());
        Pending {
            build: Arc::new(build),
            kustomization: Kustomization {
                name,
                place,
                origin,
                implied,
                parent: None,
                spec,
                location,
                node,
                build: Arc::default(),
                substitution: Substitution::default(),
                unknowns: Unknowns::default(),
            },
        }
    }

    fn build_root(&self, location: &Location, entry: &EntryPoint, node: &Node) -> Build {
        let spec = Spec::read(node, &name_of(node).namespace, &Unknowns::default());
        self.build(location, entry, node, &spec)
    }

    /// True if a Kustomization in an entry point's own build applies that very directory.
    fn is_self(&self, entry: &EntryPoint, object: &Object) -> bool {
        let spec = Spec::read(
            &object.node,
            &name_of(&object.node).namespace,
            &Unknowns::default(),
        );
        self.location(entry, &spec) == Location::Directory(entry.path.clone())
    }

    /// A place that stands for a directory: its kustomization file, else its first file.
    fn place_in(&self, directory: &str) -> Place {
        let file = crate::kustomize::kustomization_file(self.tree, directory)
            .or_else(|| {
                self.tree
                    .files_below(directory)
                    .next()
                    .map(|(_, file)| file)
            })
            .or_else(|| self.tree.files().next().map(|(_, file)| file));
        Place::file_start(file.unwrap_or(crate::source::FileId(0)))
    }

    /// ResourceSets whose templates make Kustomizations leave unknown which there are.
    fn note_generators(&self, cluster: &mut Cluster) {
        let mut gaps = Vec::new();
        for (_, object) in cluster.objects() {
            let id = object.id();
            if id.group == "fluxcd.controlplane.io"
                && id.kind == "ResourceSet"
                && makes_kustomizations(&object.node)
            {
                gaps.push(Gap {
                    place: object.name_place(),
                    cause: format!("ResourceSet {} makes Kustomizations", id.name),
                    effect: GapEffect::Identities,
                });
            }
        }
        cluster.gaps.extend(gaps);
    }
}

/// The key of a ConfigMap or Secret; `None` for any other object.
fn source_key(node: &Node) -> Option<SourceKey> {
    let kind = node
        .str_at(&["kind"])
        .filter(|kind| matches!(*kind, "ConfigMap" | "Secret"))?;
    let field = |key: &str| node.str_at(&["metadata", key]);
    (node.str_at(&["apiVersion"]) == Some("v1")).then(|| {
        (
            kind.into(),
            field("namespace").unwrap_or("default").into(),
            field("name").unwrap_or_default().into(),
        )
    })
}

/// What a Kustomization's spec adds to the build of its path.
pub(super) fn build_options(node: &Node, spec: &Spec) -> BuildOptions {
    let field = |key: &str| {
        node.at(&["spec", key])
            .filter(|value| !value.is_null())
            .cloned()
    };
    BuildOptions {
        flux: true,
        asked_from: Some(spec.path_place),
        target_namespace: field("targetNamespace"),
        name_prefix: field("namePrefix"),
        name_suffix: field("nameSuffix"),
        patches: field("patches"),
        components: field("components"),
        ignore_missing_components: node
            .at(&["spec", "ignoreMissingComponents"])
            .and_then(Node::as_bool)
            .unwrap_or(false),
        images: field("images"),
        build_metadata: field("buildMetadata"),
    }
}

/// True if a template of a ResourceSet holds a Flux Kustomization.
pub fn makes_kustomizations(resource_set: &Node) -> bool {
    let spec = |key: &str| resource_set.at(&["spec", key]);
    let in_list = spec("resources")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .any(is_flux_kustomization);
    let in_text = spec("resourcesTemplate")
        .and_then(Node::as_str)
        .is_some_and(|text| text.contains(KUSTOMIZE_GROUP));
    in_list || in_text
}

/// True for a Flux Kustomization, of any version.
pub fn is_flux_kustomization(node: &Node) -> bool {
    node.str_at(&["kind"]) == Some("Kustomization")
        && node
            .str_at(&["apiVersion"])
            .and_then(|version| version.split_once('/'))
            .is_some_and(|(group, _)| group == KUSTOMIZE_GROUP)
}

/// Namespace and name of a Flux object; none is `default`.
pub fn name_of(node: &Node) -> NamespacedName {
    let field = |key: &str| {
        node.str_at(&["metadata", key])
            .map_or_else(SmolStr::default, SmolStr::new)
    };
    let namespace = field("namespace");
    NamespacedName {
        namespace: if namespace.is_empty() {
            "default".into()
        } else {
            namespace
        },
        name: field("name"),
    }
}

/// The Kustomization that `flux bootstrap` writes (upstream: flux2 `sync.go`).
fn bootstrap_node(place: Place, name: &NamespacedName, path: &str) -> Node {
    let text = |value: &str| Node::string(place, value);
    let map = |pairs: Vec<(&str, Node)>| {
        Node::mapping(
            place,
            pairs
                .into_iter()
                .map(|(key, value)| Entry {
                    key: Node::plain(place, key),
                    value,
                })
                .collect(),
        )
    };
    map(vec![
        ("apiVersion", text("kustomize.toolkit.fluxcd.io/v1")),
        ("kind", text("Kustomization")),
        (
            "metadata",
            map(vec![
                ("name", text(&name.name)),
                ("namespace", text(&name.namespace)),
            ]),
        ),
        (
            "spec",
            map(vec![
                ("interval", text("10m0s")),
                ("path", text(path)),
                ("prune", Node::plain(place, "true")),
                (
                    "sourceRef",
                    map(vec![
                        ("kind", text("GitRepository")),
                        ("name", text(&name.name)),
                    ]),
                ),
            ]),
        ),
    ])
}
