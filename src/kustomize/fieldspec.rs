//! Field specs: which fields of which kinds a transformer touches (upstream: `types.FieldSpec`).

use smol_str::SmolStr;

use super::ObjectId;
use crate::source::Place;
use crate::yaml::{Node, Value};

/// A field of a kind. Empty group, version and kind fit any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSpec {
    /// API group, or empty.
    pub group: SmolStr,
    /// API version, or empty.
    pub version: SmolStr,
    /// Kind, or empty.
    pub kind: SmolStr,
    /// Keys joined with `/`; `\/` is a slash in a key, `[]` behind a key says that a list is expected.
    pub path: SmolStr,
    /// True if missing maps along the path are made.
    pub create: bool,
}

/// What stands at the end of a path that has to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// An empty string.
    Scalar,
    /// An empty map.
    Mapping,
}

/// How missing fields are created: what the last one is, and the place that the new nodes get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// What the field itself is.
    pub leaf: Leaf,
    /// Where the value that asks for the field is written.
    pub place: Place,
}

/// Why a field cannot be set: something on its path has the wrong shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The node of the wrong shape.
    pub place: Place,
    /// What is wrong with it.
    pub message: String,
}

impl FieldError {
    /// An error about a node.
    pub fn new(node: &Node, message: impl Into<String>) -> Self {
        Self {
            place: node.place,
            message: message.into(),
        }
    }
}

impl FieldSpec {
    /// A field of a kind in any group and version, not created if it is missing.
    pub fn of_kind(kind: &str, path: &str) -> Self {
        Self {
            kind: kind.into(),
            path: path.into(),
            ..Self::default()
        }
    }

    /// The same in one group.
    pub fn in_group(self, group: &str) -> Self {
        Self {
            group: group.into(),
            ..self
        }
    }

    /// The same in one version.
    pub fn in_version(self, version: &str) -> Self {
        Self {
            version: version.into(),
            ..self
        }
    }

    /// The same, created where it is missing.
    pub fn created(self) -> Self {
        Self {
            create: true,
            ..self
        }
    }

    /// A field spec as written in `fields` of a `labels` entry or in a `configurations` file.
    pub fn read(node: &Node) -> Self {
        let text = |key| node.str_at(&[key]).unwrap_or_default().into();
        Self {
            group: text("group"),
            version: text("version"),
            kind: text("kind"),
            path: text("path"),
            create: node.get("create").and_then(Node::as_bool) == Some(true),
        }
    }

    /// True if the spec applies to objects of this id's group, version and kind.
    pub fn fits(&self, id: &ObjectId) -> bool {
        fits(&self.group, &self.version, &self.kind, id)
    }

    /// True if this spec already covers `other` (upstream: `FsSlice.MergeOne`).
    fn covers(&self, other: &Self) -> bool {
        let field = |own: &str, other: &str| other.is_empty() || own == other;
        field(&self.group, &other.group)
            && field(&self.version, &other.version)
            && field(&self.kind, &other.kind)
            && self.path == other.path
    }
}

/// True if `id` is of this group, version and kind, where empty fits any (upstream: `Gvk.IsSelected`).
pub fn fits(group: &str, version: &str, kind: &str, id: &ObjectId) -> bool {
    (kind.is_empty() || id.kind == kind)
        && (group.is_empty() || id.group == group)
        && (version.is_empty() || id.version == version)
}

/// Adds `more` to `specs`, leaving out what is there already.
///
/// # Errors
/// The path, if a field is to be created by one spec and not by another.
pub fn merge(specs: &mut Vec<FieldSpec>, more: &[FieldSpec]) -> Result<(), SmolStr> {
    for spec in more {
        match specs.iter().find(|known| known.covers(spec)) {
            Some(known) if known.create != spec.create => return Err(spec.path.clone()),
            Some(_) => {}
            None => specs.push(spec.clone()),
        }
    }
    Ok(())
}

/// Splits a path at a delimiter; a leading one does not count, one behind a backslash does not split
/// (upstream: kyaml `pathsplitter.go`).
pub fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let path = match path.strip_prefix(delimiter) {
        Some(rest) => rest,
        None => path,
    };
    let mut parts: Vec<String> = Vec::new();
    for piece in path.split(delimiter) {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

/// Calls `set` on every field that `spec` names in an object; lists on the way are entered.
/// Whether the object is of the spec's kind is for the caller to ask ([`FieldSpec::fits`]).
///
/// # Errors
/// When a scalar stands where the path goes on, or `set` fails.
pub fn for_each_field(
    object: &mut Node,
    spec: &FieldSpec,
    creation: Option<Creation>,
    set: &mut dyn FnMut(&mut Node) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    let path = split_path(&spec.path, '/');
    visit(object, &path, creation.filter(|_| spec.create), set)
}

fn visit(
    node: &mut Node,
    path: &[String],
    creation: Option<Creation>,
    set: &mut dyn FnMut(&mut Node) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    let Some((part, rest)) = path.split_first() else {
        return set(node);
    };
    if node.is_null() {
        return Ok(());
    }
    match &node.value {
        Value::Scalar(_) => Err(FieldError::new(
            node,
            "a scalar stands where a map or list is expected",
        )),
        Value::Sequence(items) => {
            if items.is_empty() {
                return Ok(());
            }
            for item in node.items_mut().into_iter().flatten() {
                visit(item, path, creation, set)?;
            }
            Ok(())
        }
        Value::Mapping(_) => {
            let (key, list) = match part.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (part.as_str(), false),
            };
            let creation_here = creation.filter(|_| !list);
            let found = node.get(key).map(Node::is_null);
            match (found, creation_here) {
                (None, None) => return Ok(()),
                (None | Some(true), Some(creation)) => {
                    let value = empty(creation, rest.is_empty());
                    node.set(key, creation.place, value);
                }
                _ => {}
            }
            match node.get_mut(key) {
                Some(field) => visit(field, rest, creation, set),
                None => Ok(()),
            }
        }
    }
}

fn empty(creation: Creation, last: bool) -> Node {
    if last && creation.leaf == Leaf::Scalar {
        Node::string(creation.place, "")
    } else {
        Node::mapping(creation.place, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::{emit_node, parse};

    fn read(text: &str) -> Node {
        parse(text, FileId(0)).documents.remove(0).root
    }

    fn set_x(text: &str, spec: &FieldSpec, leaf: Leaf) -> Result<String, FieldError> {
        let mut node = read(text);
        let place = node.place;
        for_each_field(
            &mut node,
            spec,
            Some(Creation { leaf, place }),
            &mut |field| {
                match leaf {
                    Leaf::Scalar => *field = Node::string(place, "x"),
                    Leaf::Mapping => field.set("x", place, Node::string(place, "x")),
                }
                Ok(())
            },
        )?;
        Ok(emit_node(&node))
    }

    #[test]
    fn lists_on_the_path_are_entered() {
        let spec = FieldSpec::of_kind("", "a/b/c");
        let text = "a:\n- b:\n  - c: 1\n  - d: 2\n- b: {c: 3}\n";
        assert_eq!(
            set_x(text, &spec, Leaf::Scalar).unwrap(),
            "a:\n- b:\n  - c: x\n  - d: 2\n- b:\n    c: x\n"
        );
    }

    #[test]
    fn missing_maps_are_created_only_where_the_spec_says_so() {
        let spec = FieldSpec::of_kind("", "a/b");
        assert_eq!(set_x("k: 1\n", &spec, Leaf::Mapping).unwrap(), "k: 1\n");
        assert_eq!(
            set_x("k: 1\na:\n", &spec.clone().created(), Leaf::Mapping).unwrap(),
            "k: 1\na:\n  b:\n    x: x\n"
        );
        let list = FieldSpec::of_kind("", "a[]/b").created();
        assert_eq!(set_x("k: 1\n", &list, Leaf::Scalar).unwrap(), "k: 1\n");
        assert_eq!(
            set_x("a: [{}]\n", &list, Leaf::Scalar).unwrap(),
            "a:\n- b: x\n"
        );
    }

    #[test]
    fn escaped_slashes_stay_in_the_key() {
        let spec = FieldSpec::of_kind("", r"a/n.io\/k");
        assert_eq!(
            set_x("a: {n.io/k: 1}\n", &spec, Leaf::Scalar).unwrap(),
            "a:\n  n.io/k: x\n"
        );
        assert_eq!(split_path("/a/b", '/'), ["a", "b"]);
    }

    #[test]
    fn a_scalar_on_the_path_is_an_error_and_null_is_not() {
        let spec = FieldSpec::of_kind("", "a/b/c");
        assert!(set_x("a: {b: 1}\n", &spec, Leaf::Scalar).is_err());
        assert_eq!(
            set_x("a: {b: null}\n", &spec, Leaf::Scalar).unwrap(),
            "a:\n  b: null\n"
        );
    }

    #[test]
    fn merged_specs_leave_out_what_is_covered_and_refuse_contradictions() {
        let mut specs = vec![FieldSpec::of_kind("Deployment", "spec/x")];
        merge(&mut specs, &[FieldSpec::of_kind("", "spec/x")]).unwrap();
        assert_eq!(specs.len(), 1);
        merge(&mut specs, &[FieldSpec::of_kind("Job", "spec/x")]).unwrap();
        assert_eq!(specs.len(), 2);
        let conflict = merge(&mut specs, &[FieldSpec::of_kind("Job", "spec/x").created()]);
        assert_eq!(conflict, Err("spec/x".into()));
    }
}
