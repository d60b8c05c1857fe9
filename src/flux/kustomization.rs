//! The fields of a Flux Kustomization as a cluster gets it (upstream: kustomize-controller `api/v1/kustomization_types.go`).

use smol_str::SmolStr;

use super::unknown::Unknowns;
use crate::source::Place;
use crate::yaml::Node;

/// Yes, no, or not to be known from the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tri {
    /// Surely so.
    Yes,
    /// Surely not.
    No,
    /// Depends on what is not in the tree.
    Unknown,
}

impl Tri {
    /// True only if it is surely so.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }

    /// True only if it is surely not so.
    pub fn is_no(self) -> bool {
        self == Self::No
    }
}

impl From<bool> for Tri {
    fn from(value: bool) -> Self {
        if value { Self::Yes } else { Self::No }
    }
}

/// Namespace and name of a namespaced Flux object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamespacedName {
    /// `metadata.namespace`.
    pub namespace: SmolStr,
    /// `metadata.name`.
    pub name: SmolStr,
}

impl NamespacedName {
    /// A pair of namespace and name.
    pub fn new(namespace: impl Into<SmolStr>, name: impl Into<SmolStr>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl std::fmt::Display for NamespacedName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// One entry of `spec.dependsOn`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// What it names; the namespace defaults to the Kustomization's own.
    pub target: NamespacedName,
    /// True if the entry gives a namespace itself.
    pub namespace_written: bool,
    /// The entry's `name` value.
    pub place: Place,
    /// The whole entry.
    pub entry: Place,
    /// True if the entry has a `readyExpr`, which replaces the built-in check.
    pub ready_expression: bool,
    /// True if name or namespace depend on what is not in the tree.
    pub unknown: bool,
}

/// `spec.sourceRef`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceReference {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: SmolStr,
    /// What it names; the namespace defaults to the Kustomization's own.
    pub target: NamespacedName,
}

impl std::fmt::Display for SourceReference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.kind, self.target)
    }
}

/// One entry of `spec.postBuild.substituteFrom`.
#[derive(Clone, Debug, PartialEq)]
pub struct SubstituteFrom {
    /// `ConfigMap` or `Secret`.
    pub kind: SmolStr,
    /// In the Kustomization's own namespace.
    pub name: SmolStr,
    /// True if it may be missing.
    pub optional: bool,
    /// The entry's `name` value.
    pub place: Place,
    /// True if kind or name depend on what is not in the tree.
    pub unknown: bool,
}

/// What `spec` says, each field with what makes it unknown already considered.
#[derive(Clone, Debug)]
pub struct Spec {
    /// `spec.path` as written (empty if absent); `None` if unknown.
    pub path: Option<SmolStr>,
    /// Where the path is written; else the key `spec`.
    pub path_place: Place,
    /// `spec.sourceRef`; `None` if it is absent or unknown.
    pub source: Option<SourceReference>,
    /// Where `sourceRef.name` is written; else the key `spec`.
    pub source_place: Place,
    /// `spec.prune`.
    pub prune: Tri,
    /// `spec.wait`.
    pub wait: Tri,
    /// `spec.suspend`.
    pub suspend: Tri,
    /// `spec.deletionPolicy`: `MirrorPrune` if absent; `None` if unknown.
    pub deletion_policy: Option<SmolStr>,
    /// `spec.decryption.provider` is set.
    pub decryption: Tri,
    /// `spec.dependsOn`.
    pub depends_on: Vec<Dependency>,
    /// `spec.targetNamespace`; empty if absent, `None` if unknown.
    pub target_namespace: Option<SmolStr>,
    /// `spec.postBuild` exists.
    pub post_build: bool,
    /// `spec.postBuild.substitute`, as a map.
    pub substitute: Option<Node>,
    /// `spec.postBuild.substituteFrom`.
    pub substitute_from: Vec<SubstituteFrom>,
    /// `spec.postBuild.substituteStrategy` is `Always`: substitution runs without any variable too.
    pub substitute_always: bool,
    /// `spec.kubeConfig` is set: the objects live on another cluster.
    pub remote_cluster: bool,
    /// The place of the key `spec`; of the object if there is none.
    pub key_place: Place,
}

impl Spec {
    /// Reads the fields of a built Kustomization. `namespace` is its own.
    pub fn read(node: &Node, namespace: &str, unknowns: &Unknowns) -> Self {
        let empty = Node::mapping(node.place, Vec::new());
        let spec = node.get("spec").unwrap_or(&empty);
        let key_place = node
            .entry("spec")
            .map_or(node.place, |entry| entry.key.place);
        let text = |field: &Node| -> Option<SmolStr> {
            (!unknowns.contains(field)).then(|| field.as_str().unwrap_or_default().into())
        };
        let optional_text =
            |key: &str| -> Option<SmolStr> { spec.get(key).map_or(Some(SmolStr::default()), text) };
        let flag = |key: &str| match spec.get(key) {
            None => Tri::No,
            Some(value) if unknowns.contains(value) => Tri::Unknown,
            Some(value) => value.as_bool().unwrap_or(false).into(),
        };
        Self {
            path: optional_text("path"),
            path_place: spec.get("path").map_or(key_place, |path| path.place),
            source: spec
                .get("sourceRef")
                .and_then(|source| read_source(source, namespace, unknowns)),
            source_place: spec
                .at(&["sourceRef", "name"])
                .map_or(key_place, |name| name.place),
            prune: flag("prune"),
            wait: flag("wait"),
            suspend: flag("suspend"),
            deletion_policy: match spec.get("deletionPolicy") {
                None => Some("MirrorPrune".into()),
                Some(policy) => text(policy),
            },
            decryption: match spec.at(&["decryption", "provider"]) {
                None => Tri::No,
                Some(provider) if unknowns.contains(provider) => Tri::Unknown,
                Some(provider) => (!provider.as_str().unwrap_or_default().is_empty()).into(),
            },
            depends_on: spec
                .get("dependsOn")
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|entry| read_dependency(entry, namespace, unknowns))
                .collect(),
            target_namespace: optional_text("targetNamespace"),
            post_build: spec
                .get("postBuild")
                .is_some_and(|post_build| !post_build.is_null()),
            substitute: spec.at(&["postBuild", "substitute"]).cloned(),
            substitute_from: spec
                .at(&["postBuild", "substituteFrom"])
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .map(|entry| read_substitute_from(entry, unknowns))
                .collect(),
            substitute_always: spec.str_at(&["postBuild", "substituteStrategy"]) == Some("Always"),
            remote_cluster: spec
                .get("kubeConfig")
                .is_some_and(|config| !config.is_null()),
            key_place,
        }
    }
}

fn read_source(source: &Node, namespace: &str, unknowns: &Unknowns) -> Option<SourceReference> {
    let field = |key: &str| source.get(key).filter(|value| !unknowns.contains(value));
    if source.get("namespace").is_some() && field("namespace").is_none() {
        return None;
    }
    Some(SourceReference {
        kind: field("kind")?.as_str()?.into(),
        target: NamespacedName::new(
            field("namespace")
                .and_then(Node::as_str)
                .unwrap_or(namespace),
            field("name")?.as_str()?,
        ),
    })
}

fn read_dependency(entry: &Node, namespace: &str, unknowns: &Unknowns) -> Option<Dependency> {
    let name = entry.get("name")?;
    let written = entry.get("namespace").filter(|value| !value.is_null());
    Some(Dependency {
        target: NamespacedName::new(
            written.and_then(Node::as_str).unwrap_or(namespace),
            name.as_str().unwrap_or_default(),
        ),
        namespace_written: written.is_some(),
        place: name.place,
        entry: entry.place,
        ready_expression: entry
            .str_at(&["readyExpr"])
            .is_some_and(|text| !text.is_empty()),
        unknown: unknowns.contains(name) || written.is_some_and(|value| unknowns.contains(value)),
    })
}

fn read_substitute_from(entry: &Node, unknowns: &Unknowns) -> SubstituteFrom {
    let text = |key: &str| SmolStr::new(entry.str_at(&[key]).unwrap_or_default());
    SubstituteFrom {
        kind: text("kind"),
        name: text("name"),
        optional: entry.get("optional").and_then(Node::as_bool) == Some(true),
        place: entry.get("name").map_or(entry.place, |name| name.place),
        unknown: entry
            .pairs()
            .iter()
            .any(|pair| unknowns.contains(&pair.value)),
    }
}
