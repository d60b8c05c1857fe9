//! `replacements` (upstream: `filters/replacement`).

mod path;
mod value;

use regex::Regex;

use crate::go_regex;

use crate::kustomize::fieldspec::{FieldError, fits};
use crate::kustomize::scope::{all_ids, effective_namespace};
use crate::kustomize::{Gap, GapEffect, Object, ObjectId, Problem};
use crate::source::Place;
use crate::yaml::{Node, Typed, Value};

use super::{field_refusal, refusal, written, written_bool, written_text};
use path::Stop;

/// Applies the entries of `replacements`, inline or from the files that `path` names; `load`
/// gives the content of such a file. Replaced values have the place of their source.
///
/// Writing into YAML or JSON inside a string (from kustomize 5.7 on), and targets with label or
/// annotation selectors, are gaps.
///
/// # Errors
/// When a source selects not exactly one object or field, or a target has no such field.
pub fn apply(
    objects: &mut [Object],
    field: &Node,
    load: &mut dyn FnMut(&Node) -> Result<Node, Problem>,
    gaps: &mut Vec<Gap>,
) -> Result<(), Problem> {
    for entry in field.items() {
        match written(entry, "path").filter(|path| path.as_str().is_some_and(|p| !p.is_empty())) {
            None => replace(objects, entry, gaps)?,
            Some(path) => {
                if written(entry, "source").is_some() || written(entry, "targets").is_some() {
                    return Err(refusal(
                        path.place,
                        "replacements: an entry has both a path and a source or targets",
                    ));
                }
                let content = load(path)?;
                match &content.value {
                    Value::Sequence(entries) => {
                        for entry in entries.iter() {
                            replace(objects, entry, gaps)?;
                        }
                    }
                    Value::Mapping(_) => replace(objects, &content, gaps)?,
                    Value::Scalar(_) => {
                        return Err(refusal(
                            path.place,
                            "replacements: the file is neither a list nor a map",
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

fn replace(objects: &mut [Object], entry: &Node, gaps: &mut Vec<Gap>) -> Result<(), Problem> {
    let source = written(entry, "source").filter(|node| !node.is_null());
    let constant = written(entry, "sourceValue").filter(|node| !node.is_null());
    let targets = written(entry, "targets").and_then(Node::as_sequence);
    let value = match (source, constant) {
        (Some(source), None) => source_value(objects, source)?,
        (None, Some(constant)) => {
            Node::plain(constant.place, constant.as_str().unwrap_or_default())
        }
        (Some(_), Some(constant)) => {
            return Err(refusal(
                constant.place,
                "replacements: an entry has both source and sourceValue",
            ));
        }
        (None, None) => {
            return Err(refusal(entry.place, "replacements: an entry has no source"));
        }
    };
    let Some(targets) = targets else {
        return Err(refusal(
            entry.place,
            "replacements: an entry has no targets",
        ));
    };
    for target in targets {
        replace_in(objects, target, &value, gaps)?;
    }
    Ok(())
}

/// Delimiter, index and create of `options`.
#[derive(Default)]
struct Options<'a> {
    delimiter: &'a str,
    index: i64,
    create: bool,
}

impl<'a> Options<'a> {
    fn of(node: &'a Node) -> Self {
        let Some(options) = written(node, "options") else {
            return Self::default();
        };
        let index = match written(options, "index").and_then(Node::as_scalar) {
            Some(scalar) => match scalar.typed() {
                Typed::Int(index) => index,
                _ => 0,
            },
            None => 0,
        };
        Self {
            delimiter: written_text(options, "delimiter"),
            index,
            create: written_bool(options, "create"),
        }
    }
}

/// The value that a source names: the field of the one object that it selects by an identity it has or had.
fn source_value(objects: &[Object], source: &Node) -> Result<Node, Problem> {
    let wanted = |key| written_text(source, key);
    let selects = |id: &ObjectId| {
        fits(wanted("group"), wanted("version"), wanted("kind"), id)
            && (wanted("name").is_empty() || id.name == wanted("name"))
            && (wanted("namespace").is_empty() || id.effective_namespace() == wanted("namespace"))
    };
    let mut selected = objects
        .iter()
        .filter(|object| all_ids(object).iter().any(selects));
    let Some(object) = selected.next() else {
        return Err(refusal(
            source.place,
            "replacements: the source selects no object of this build",
        ));
    };
    if let Some(second) = selected.next() {
        return Err(Problem {
            related: [object, second]
                .map(|object| (object.name_place(), format!("{} is one", object.id())))
                .into(),
            ..refusal(
                source.place,
                "replacements: the source selects several objects",
            )
        });
    }
    let field_path = match wanted("fieldPath") {
        "" => "metadata.name",
        path => path,
    };
    let place = written(source, "fieldPath").map_or(source.place, |node| node.place);
    let related = vec![(object.name_place(), "the source is this object".to_owned())];
    let found = path::lookup(&object.node, &path::split(field_path)).map_err(|error| Problem {
        related: related.clone(),
        ..refusal(
            place,
            format!(
                "replacements: {field_path} of the source cannot be read: {}",
                error.message
            ),
        )
    })?;
    let empty = |node: &&Node| match &node.value {
        Value::Scalar(_) => node.is_null(),
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(mapping) => mapping.entries.is_empty(),
    };
    let Some(found) = found.filter(|node| !empty(node)) else {
        return Err(Problem {
            related,
            ..refusal(
                place,
                format!("replacements: {} has no {field_path}", object.id()),
            )
        });
    };
    let options = Options::of(source);
    value::part_of(found, options.delimiter, options.index)
        .map_err(|error| refusal(place, format!("replacements: {}", error.message)))
}

/// Which objects a `select` or an entry of `reject` fits; the fields are anchored regular expressions.
struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
}

impl Selector {
    fn new(node: &Node) -> Result<Self, Problem> {
        let pattern = |key| {
            let text = written_text(node, key);
            if text.is_empty() {
                return Ok(None);
            }
            go_regex::compile_anchored(text).map(Some).map_err(|_| {
                let place = written(node, key).map_or(node.place, |node| node.place);
                refusal(
                    place,
                    format!("replacements: {key} {text} is no regular expression"),
                )
            })
        };
        Ok(Self {
            group: pattern("group")?,
            version: pattern("version")?,
            kind: pattern("kind")?,
            name: pattern("name")?,
            namespace: pattern("namespace")?,
        })
    }

    fn is_empty(&self) -> bool {
        [
            &self.group,
            &self.version,
            &self.kind,
            &self.name,
            &self.namespace,
        ]
        .iter()
        .all(|pattern| pattern.is_none())
    }

    /// An earlier id has its namespace as kustomize noted it (`default` for none), the present one as written.
    fn fits(&self, id: &ObjectId, is_present: bool) -> bool {
        let namespace = if is_present {
            &id.namespace
        } else {
            effective_namespace(id)
        };
        [
            (&self.group, id.group.as_str()),
            (&self.version, &id.version),
            (&self.kind, &id.kind),
            (&self.name, &id.name),
            (&self.namespace, namespace),
        ]
        .iter()
        .all(|(pattern, text)| pattern.as_ref().is_none_or(|regex| regex.is_match(text)))
    }

    fn fits_any(&self, ids: &[ObjectId]) -> bool {
        ids.iter()
            .enumerate()
            .any(|(index, id)| self.fits(id, index + 1 == ids.len()))
    }
}

fn replace_in(
    objects: &mut [Object],
    target: &Node,
    value: &Node,
    gaps: &mut Vec<Gap>,
) -> Result<(), Problem> {
    let Some(select) = written(target, "select").filter(|node| !node.is_null()) else {
        return Err(refusal(
            target.place,
            "replacements: a target does not say what it selects",
        ));
    };
    let rejects = written(target, "reject")
        .map(Node::items)
        .unwrap_or_default();
    for node in std::iter::once(select).chain(rejects) {
        for key in ["labelSelector", "annotationSelector"] {
            if !written_text(node, key).is_empty() {
                gaps.push(Gap {
                    place: node.place,
                    cause: format!("replacement target with {key}"),
                    effect: GapEffect::Content,
                });
                return Ok(());
            }
        }
    }
    let select = Selector::new(select)?;
    let rejects = rejects
        .iter()
        .map(Selector::new)
        .collect::<Result<Vec<_>, _>>()?;
    let paths = field_paths(target);
    let options = Options::of(target);
    for object in objects {
        let ids = all_ids(object);
        let rejected = rejects
            .iter()
            .any(|reject| !reject.is_empty() && reject.fits_any(&ids));
        if rejected || !select.fits_any(&ids) {
            continue;
        }
        for (path, place) in &paths {
            write(object, path, *place, value, &options, gaps)?;
        }
    }
    Ok(())
}

/// `fieldPaths` with their places; `metadata.name` if there is none.
fn field_paths(target: &Node) -> Vec<(&str, Place)> {
    let written = written(target, "fieldPaths")
        .map(Node::items)
        .unwrap_or_default();
    if written.is_empty() {
        return vec![("metadata.name", target.place)];
    }
    written
        .iter()
        .map(|path| (path.as_str().unwrap_or_default(), path.place))
        .collect()
}

fn write(
    object: &mut Object,
    field_path: &str,
    place: Place,
    new: &Node,
    options: &Options<'_>,
    gaps: &mut Vec<Gap>,
) -> Result<(), Problem> {
    let parts = path::split(field_path);
    let create = options.create.then_some(new);
    let outcome = path::visit(&mut object.node, &parts, create, &mut |field, created| {
        value::set(field, new, options.delimiter, options.index, created)
    });
    match outcome {
        Ok(0) => Err(Problem {
            related: vec![(object.name_place(), "the target is this object".to_owned())],
            help: (!options.create)
                .then(|| "set options.create to true to have it made".to_owned()),
            ..refusal(
                place,
                format!("replacements: {} has no {field_path}", object.id()),
            )
        }),
        Ok(_) => Ok(()),
        Err(Stop::InsideScalar(field)) => {
            gaps.push(Gap {
                place: field,
                cause: format!("replacement inside the text of {field_path}"),
                effect: if object.needs_hash {
                    GapEffect::Identities
                } else {
                    GapEffect::Content
                },
            });
            Ok(())
        }
        Err(Stop::Error(error)) => {
            let error = FieldError {
                message: format!("{field_path}: {}", error.message),
                ..error
            };
            Err(field_refusal("replacements", place, object, error))
        }
    }
}

#[cfg(test)]
mod tests;
