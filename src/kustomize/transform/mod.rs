//! The transformers of a kustomization file, each on a list of objects.

pub mod annotations;
pub mod images;
pub mod labels;
pub mod namespace;
pub mod names;
pub mod replacements;
pub mod replicas;

use super::{Object, Problem, ProblemKind};
use crate::source::Place;
use crate::yaml::{Node, Typed, typed_yaml_1_1};

use super::fieldspec::FieldError;

/// A reason to refuse the build that has no kind of its own.
pub(in crate::kustomize) fn refusal(place: Place, message: impl Into<String>) -> Problem {
    Problem {
        kind: ProblemKind::Other,
        place,
        message: message.into(),
        related: Vec::new(),
        help: None,
    }
}

/// A transformer that meets a field of the wrong shape in an object.
pub(in crate::kustomize) fn field_refusal(
    transformer: &str,
    written: Place,
    object: &Object,
    error: FieldError,
) -> Problem {
    Problem {
        related: vec![(written, format!("{transformer} is asked for here"))],
        ..refusal(
            error.place,
            format!("{transformer} fails on {}: {}", object.id(), error.message),
        )
    }
}

/// A scalar as a string of the same text, as kustomize makes one when it reads labels, annotations
/// or data as a map of strings: `null` becomes the text `null`.
pub(in crate::kustomize) fn as_text(node: &Node) -> Node {
    match node.as_scalar() {
        Some(scalar) if scalar.typed() != Typed::String => {
            Node::string(node.place, scalar.text.clone())
        }
        _ => node.clone(),
    }
}

/// A field of a kustomization file; names fit whatever their case, as in Go's JSON decoder.
pub(in crate::kustomize) fn written<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let mapping = node.as_mapping()?;
    if let Some(entry) = mapping.entry(key) {
        return Some(&entry.value);
    }
    mapping
        .resolved()
        .into_iter()
        .rev()
        .find(|entry| {
            entry
                .key
                .as_str()
                .is_some_and(|name| name.eq_ignore_ascii_case(key))
        })
        .map(|entry| &entry.value)
}

/// The text of a scalar field; empty if it is missing.
pub(in crate::kustomize) fn written_text<'a>(node: &'a Node, key: &str) -> &'a str {
    written(node, key)
        .and_then(Node::as_str)
        .unwrap_or_default()
}

/// A boolean field, typed as in YAML 1.1; false if it is missing.
pub(in crate::kustomize) fn written_bool(node: &Node, key: &str) -> bool {
    written(node, key)
        .and_then(Node::as_scalar)
        .is_some_and(|scalar| typed_yaml_1_1(scalar) == Typed::Bool(true))
}

#[cfg(test)]
pub(in crate::kustomize) mod testing {
    //! Objects from text and back, for the tests of the transformers.

    use crate::kustomize::Object;
    use crate::source::FileId;
    use crate::yaml::{Node, emit_documents, parse};

    /// The first document of a text.
    pub(in crate::kustomize) fn node(text: &str) -> Node {
        let file = parse(text, FileId(1));
        assert_eq!(file.error, None);
        file.documents[0].root.clone()
    }

    /// An object for each document.
    pub(in crate::kustomize) fn objects(text: &str) -> Vec<Object> {
        let file = parse(text, FileId(0));
        assert_eq!(file.error, None);
        file.seen()
            .map(|document| Object::new(document.root.clone(), document.root.place))
            .collect()
    }

    /// The objects as text.
    pub(in crate::kustomize) fn text(objects: &[Object]) -> String {
        emit_documents(objects.iter().map(|object| &object.node))
    }
}
