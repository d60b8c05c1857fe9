//! A built object: its content, where it came from, and the names it has had.

use smol_str::SmolStr;

use crate::source::Place;
use crate::yaml::Node;

/// What names an object for kustomize (upstream: kyaml `resid.ResId`). An empty
/// namespace is kept empty here; [`ObjectId::effective_namespace`] reads it as `default`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// API group; empty for the core group.
    pub group: SmolStr,
    /// API version.
    pub version: SmolStr,
    /// Kind.
    pub kind: SmolStr,
    /// `metadata.namespace` as it stands, or empty.
    pub namespace: SmolStr,
    /// `metadata.name`.
    pub name: SmolStr,
}

/// An object on its way through a build.
#[derive(Clone, Debug)]
pub struct Object {
    /// The content; every value has the place where it is written, also what a patch brought.
    pub node: Node,
    /// The document (or the generator's list entry) that the object comes from.
    pub origin: Place,
    /// The `resources` entries (or generators) that led from the root of the build to it, outermost first.
    pub route: Vec<Place>,
    /// Its identities before each change of name, namespace or kind, oldest first; empty if there was none.
    pub previous: Vec<ObjectId>,
    /// What `namePrefix` fields put before the name, innermost first.
    pub prefixes: Vec<SmolStr>,
    /// What `nameSuffix` fields put behind the name, innermost first.
    pub suffixes: Vec<SmolStr>,
    /// True if a generator made it.
    pub generated: bool,
    /// True if the name gets a hash of the content at the end of the build.
    pub needs_hash: bool,
}

impl ObjectId {
    /// The identity that an object's content states now.
    pub fn of(node: &Node) -> Self {
        let api_version = node.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: group.into(),
            version: version.into(),
            kind: node.str_at(&["kind"]).unwrap_or_default().into(),
            namespace: node
                .str_at(&["metadata", "namespace"])
                .unwrap_or_default()
                .into(),
            name: node
                .str_at(&["metadata", "name"])
                .unwrap_or_default()
                .into(),
        }
    }

    /// The namespace, with none read as `default`.
    pub fn effective_namespace(&self) -> &str {
        if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

impl std::fmt::Display for ObjectId {
    /// `Kind namespace/name`, for messages.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.namespace.is_empty() {
            write!(formatter, "{} {}", self.kind, self.name)
        } else {
            write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
        }
    }
}

impl Object {
    /// An object as read from a file.
    pub fn new(node: Node, origin: Place) -> Self {
        Self {
            node,
            origin,
            route: Vec::new(),
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            generated: false,
            needs_hash: false,
        }
    }

    /// Its identity now.
    pub fn id(&self) -> ObjectId {
        ObjectId::of(&self.node)
    }

    /// Its identity as first read or generated.
    pub fn original_id(&self) -> ObjectId {
        self.previous.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Remembers the identity as it is now; to be called before it is changed.
    pub fn remember_id(&mut self) {
        let id = self.id();
        if self.previous.last() != Some(&id) {
            self.previous.push(id);
        }
    }

    /// The place of `metadata.name`, or of the object if it has none.
    pub fn name_place(&self) -> Place {
        self.node
            .at(&["metadata", "name"])
            .map_or(self.origin, |name| name.place)
    }

    /// An annotation's or label's value.
    pub fn metadata(&self, field: &str, key: &str) -> Option<&str> {
        self.node.str_at(&["metadata", field, key])
    }
}
