//! JSON 6902 patches as json-patch v4 applies them (upstream: `gopkg.in/evanphx/json-patch.v4`).
//!
//! Unlike the standard, `replace` of a missing map key adds it, and negative
//! list indexes count from the end.

use crate::source::Place;
use crate::yaml::{Node, Scalar, Style, Typed, Value, typed_yaml_1_1};

/// One operation of a patch.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    place: Place,
    kind: String,
    path: Option<Node>,
    from: Option<Node>,
    value: Option<Node>,
}

/// Why an operation does not apply.
#[derive(Clone, Debug)]
pub(super) struct OperationError {
    /// The operation, or the part of it that is at fault.
    pub(super) place: Place,
    /// What is wrong.
    pub(super) message: String,
}

/// Reads the operations of a patch from the first document of its text.
///
/// # Errors
/// If the document is no list of maps.
pub(super) fn read(document: &Node) -> Result<Vec<Operation>, OperationError> {
    let fail = |node: &Node, message: &str| OperationError {
        place: node.place,
        message: message.to_owned(),
    };
    let Some(items) = document.as_sequence() else {
        return Err(fail(document, "a JSON patch is a list of operations"));
    };
    items
        .iter()
        .map(|item| {
            if item.as_mapping().is_none() && !item.is_null() {
                return Err(fail(item, "an operation of a JSON patch is a map"));
            }
            Ok(Operation {
                place: item.place,
                kind: item.str_at(&["op"]).unwrap_or("unknown").to_owned(),
                path: item.get("path").filter(|path| !path.is_null()).cloned(),
                from: item.get("from").filter(|from| !from.is_null()).cloned(),
                value: item.get("value").map(as_yaml_1_1),
            })
        })
        .collect()
}

/// The value as a YAML 1.1 reader sees it: `yes` and its kin are booleans, dates are strings,
/// merge keys are resolved.
fn as_yaml_1_1(node: &Node) -> Node {
    match &node.value {
        Value::Scalar(scalar) => {
            let value = match (typed_yaml_1_1(scalar), scalar.typed()) {
                (Typed::Bool(value), Typed::String) => {
                    Scalar::plain(if value { "true" } else { "false" })
                }
                (Typed::Null, _) => Scalar::plain("null"),
                (Typed::Int(value), _) => Scalar::plain(value.to_string()),
                (Typed::Float(value), _) => Scalar::plain(value.to_string()),
                (Typed::String, _) if scalar.style == Style::Plain => {
                    Scalar::string(scalar.text.clone())
                }
                _ => scalar.clone(),
            };
            Node {
                place: node.place,
                value: Value::Scalar(value),
            }
        }
        Value::Sequence(items) => {
            Node::sequence(node.place, items.iter().map(as_yaml_1_1).collect())
        }
        Value::Mapping(mapping) => Node::mapping(
            node.place,
            mapping
                .resolved()
                .into_iter()
                .map(|entry| crate::yaml::Entry {
                    key: entry.key.clone(),
                    value: as_yaml_1_1(&entry.value),
                })
                .collect(),
        ),
    }
}

/// Where kustomize keeps the former identities of an object while it builds.
const IDENTITY_NOTES: [&str; 3] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
];

/// Applies all operations to an object that carries kustomize's notes of its identity: they are
/// annotations, so that `/metadata/annotations` is there even if the object is written without
/// (upstream: api `resource.StorePreviousId`).
///
/// # Errors
/// As [`apply`].
pub(super) fn apply_noted(
    object: &mut Node,
    operations: &[Operation],
) -> Result<(), OperationError> {
    let place = object.place;
    let had_annotations = object.at(&["metadata", "annotations"]).is_some();
    if let Some(metadata) = object.get_mut("metadata") {
        if metadata.get("annotations").is_none_or(Node::is_null) {
            metadata.set("annotations", place, Node::mapping(place, Vec::new()));
        }
        if let Some(annotations) = metadata.get_mut("annotations")
            && annotations.as_mapping().is_some()
        {
            for note in IDENTITY_NOTES {
                annotations.set(note, place, Node::string(place, note));
            }
        }
    }
    apply(object, operations)?;
    let Some(metadata) = object.get_mut("metadata") else {
        return Ok(());
    };
    if let Some(annotations) = metadata.get_mut("annotations") {
        for note in IDENTITY_NOTES {
            annotations.remove(note);
        }
    }
    let empty = metadata.get("annotations").is_some_and(|annotations| {
        annotations
            .as_mapping()
            .is_some_and(|mapping| mapping.entries.is_empty())
    });
    if empty && !had_annotations {
        metadata.remove("annotations");
    }
    Ok(())
}

/// Applies all operations to an object.
///
/// # Errors
/// At the first operation that does not apply; the object is then half changed and not to be used.
pub(super) fn apply(object: &mut Node, operations: &[Operation]) -> Result<(), OperationError> {
    normalize(object);
    operations
        .iter()
        .try_for_each(|operation| operation.apply(object))
}

/// Writes plain scalars as they are after a way through JSON: `1.50` as `1.5`, an empty value as `null`.
fn normalize(node: &mut Node) {
    if !changes_in_json(node) {
        return;
    }
    match &mut node.value {
        Value::Scalar(scalar) => {
            let text = match scalar.typed() {
                Typed::Null => "null".to_owned(),
                Typed::Bool(value) => value.to_string(),
                Typed::Int(value) => value.to_string(),
                Typed::Float(value) => value.to_string(),
                Typed::String => return,
            };
            *scalar = Scalar::plain(text);
        }
        Value::Sequence(_) => node.items_mut().into_iter().flatten().for_each(normalize),
        Value::Mapping(_) => node
            .mapping_mut()
            .into_iter()
            .flat_map(|mapping| &mut mapping.entries)
            .for_each(|entry| normalize(&mut entry.value)),
    }
}

fn changes_in_json(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => match scalar.typed() {
            Typed::String => false,
            Typed::Null => scalar.text != "null",
            Typed::Bool(value) => scalar.text != if value { "true" } else { "false" },
            Typed::Int(value) => scalar.text != value.to_string().as_str(),
            Typed::Float(value) => scalar.text != value.to_string().as_str(),
        },
        Value::Sequence(items) => items.iter().any(changes_in_json),
        Value::Mapping(mapping) => mapping
            .entries
            .iter()
            .any(|entry| changes_in_json(&entry.value)),
    }
}

impl Operation {
    fn apply(&self, object: &mut Node) -> Result<(), OperationError> {
        match self.kind.as_str() {
            "add" => {
                let (parent, key) = self.target(object)?;
                let value = self.value_or_null();
                self.add(parent, &key, value)
            }
            "remove" => {
                let (parent, key) = self.target(object)?;
                self.remove(parent, &key)
            }
            "replace" if self.path.as_ref().and_then(Node::as_str) == Some("") => {
                let value = self.value_or_null();
                if value.as_mapping().is_none() {
                    return Err(
                        self.error("the patch replaces the whole object with no map".into())
                    );
                }
                *object = value;
                Ok(())
            }
            "replace" => {
                let (parent, key) = self.target(object)?;
                let value = self.value_or_null();
                self.replace(parent, &key, value)
            }
            "move" => {
                let (parent, key) = self.source(object)?;
                let value = self.get(parent, &key)?;
                self.remove(parent, &key)?;
                let (parent, key) = self.target(object)?;
                self.add(parent, &key, value.unwrap_or_else(|| self.null()))
            }
            "copy" => {
                let (parent, key) = self.source(object)?;
                let value = self.get(parent, &key)?;
                let (parent, key) = self.target(object)?;
                self.add(parent, &key, value.unwrap_or_else(|| self.null()))
            }
            "test" => {
                let (parent, key) = self.target(object)?;
                let found = self.get(parent, &key)?.filter(|found| !found.is_null());
                let wanted = self.value.as_ref().filter(|wanted| !wanted.is_null());
                let same = match (&found, wanted) {
                    (None, None) => true,
                    (Some(found), Some(wanted)) => found.same_content(wanted),
                    _ => false,
                };
                if same {
                    Ok(())
                } else {
                    Err(self.error(format!("test of `{}` fails", self.path_text())))
                }
            }
            other => Err(OperationError {
                place: self.place,
                message: format!("`{other}` is no operation of a JSON patch"),
            }),
        }
    }

    fn null(&self) -> Node {
        Node::plain(self.place, "null")
    }

    fn value_or_null(&self) -> Node {
        self.value.clone().unwrap_or_else(|| self.null())
    }

    fn path_text(&self) -> &str {
        self.path.as_ref().and_then(Node::as_str).unwrap_or("")
    }

    fn error(&self, message: String) -> OperationError {
        OperationError {
            place: self.path.as_ref().map_or(self.place, |path| path.place),
            message,
        }
    }

    fn target<'o>(&self, object: &'o mut Node) -> Result<(&'o mut Node, String), OperationError> {
        self.parent(object, self.path.as_ref(), "path")
    }

    fn source<'o>(&self, object: &'o mut Node) -> Result<(&'o mut Node, String), OperationError> {
        self.parent(object, self.from.as_ref(), "from")
    }

    /// The collection that a pointer leads to, and the key or index in it.
    fn parent<'o>(
        &self,
        object: &'o mut Node,
        pointer: Option<&Node>,
        field: &str,
    ) -> Result<(&'o mut Node, String), OperationError> {
        let Some(pointer) = pointer.and_then(Node::as_str) else {
            return Err(OperationError {
                place: self.place,
                message: format!("{} without `{field}`", self.kind),
            });
        };
        let missing = |part: &str| {
            self.error(format!(
                "{} of `{pointer}` does not apply: the object has no `{part}`",
                self.kind
            ))
        };
        let parts: Vec<&str> = pointer.split('/').collect();
        let [_, inner @ .., last] = parts.as_slice() else {
            return Err(self.error(format!(
                "{} of `{pointer}` does not apply: a pointer starts with `/`",
                self.kind
            )));
        };
        let mut node = object;
        for (index, part) in inner.iter().enumerate() {
            let shown = || inner[..=index].join("/");
            let next = child_mut(node, &decode(part));
            node = match next {
                Some(next) if !next.is_null() && next.as_scalar().is_none() => next,
                _ => return Err(missing(&format!("/{}", shown()))),
            };
        }
        if node.as_scalar().is_some() {
            return Err(missing(pointer));
        }
        Ok((node, decode(last)))
    }

    fn get(&self, parent: &Node, key: &str) -> Result<Option<Node>, OperationError> {
        match &parent.value {
            Value::Sequence(items) => {
                let index = self.index(key, items.len())?;
                Ok(items.get(index).cloned())
            }
            _ => Ok(parent.get(key).cloned()),
        }
    }

    fn add(&self, parent: &mut Node, key: &str, value: Node) -> Result<(), OperationError> {
        let place = self.path.as_ref().map_or(self.place, |path| path.place);
        let Some(items) = parent.items_mut() else {
            parent.set(key, place, value);
            return Ok(());
        };
        let length = items.len();
        if key == "-" {
            items.push(value);
            return Ok(());
        }
        let index = self.index(key, length + 1)?;
        items.insert(index.min(length), value);
        Ok(())
    }

    fn remove(&self, parent: &mut Node, key: &str) -> Result<(), OperationError> {
        if let Some(items) = parent.items_mut() {
            let index = self.index(key, items.len())?;
            items.remove(index);
            return Ok(());
        }
        if parent.remove(key) {
            Ok(())
        } else {
            Err(self.error(format!(
                "{} of `{}` does not apply: the object has no `{key}` there",
                self.kind,
                self.path_text()
            )))
        }
    }

    fn replace(&self, parent: &mut Node, key: &str, value: Node) -> Result<(), OperationError> {
        let place = self.path.as_ref().map_or(self.place, |path| path.place);
        let Some(items) = parent.items_mut() else {
            parent.set(key, place, value);
            return Ok(());
        };
        let index = self.index(key, items.len())?;
        items[index] = value;
        Ok(())
    }

    /// An index below `length`; a negative one counts from the end.
    fn index(&self, key: &str, length: usize) -> Result<usize, OperationError> {
        let index: Option<i64> = key.parse().ok();
        let found = index.and_then(|index| {
            if index < 0 {
                length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
            } else {
                usize::try_from(index).ok()
            }
        });
        found.filter(|index| *index < length).ok_or_else(|| {
            self.error(format!(
                "{} of `{}` does not apply: `{key}` is no index of a list of {length}",
                self.kind,
                self.path_text()
            ))
        })
    }
}

fn child_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    if node.as_sequence().is_none() {
        return node.get_mut(key);
    }
    let items = node.items_mut()?;
    let index: i64 = key.parse().ok()?;
    let index = if index < 0 {
        items
            .len()
            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    items.get_mut(index)
}

/// `~1` is `/`, `~0` is `~`.
fn decode(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
