//! Strategic merge: one patch document into one object (upstream: kyaml `merge2` and `walk`).
//!
//! Maps merge, null deletes, lists are replaced unless the schema of a built-in
//! kind names their keys. `$patch: replace|delete` acts on maps and on lists that merge.

use std::collections::HashSet;

use super::merge_list::Lists;
use super::merge_schema::{self, ListMerge, Schema};
use crate::kustomize::transform::as_text;
use crate::source::Place;
use crate::yaml::{Entry, Mapping, Node, Style, Value};

/// Why a patch does not merge.
#[derive(Clone, Debug)]
pub(super) struct MergeError {
    /// The value in the patch.
    pub(super) place: Place,
    /// What is wrong.
    pub(super) message: String,
}

const DIRECTIVE: &str = "$patch";

/// What `$patch` in a patch says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges `patch` into `object`; `None` if the patch deletes the object.
pub(super) fn merge(object: Node, patch: &Node) -> Result<Option<Node>, MergeError> {
    walk(Some(object), Some(patch.clone()), Schema::Unknown, None)
}

/// What a walked value is: kept though null, gone, or there.
pub(super) type Walked = Result<Option<Node>, MergeError>;

/// The schema by the place in the parent or, failing that, by the value's own kind.
fn resolve_schema(schema: Schema, dest: Option<&Node>, origin: Option<&Node>) -> Schema {
    if schema != Schema::Unknown {
        return schema;
    }
    for node in [dest, origin].into_iter().flatten() {
        if node.as_mapping().is_none() {
            continue;
        }
        let (Some(api_version), Some(kind)) =
            (node.str_at(&["apiVersion"]), node.str_at(&["kind"]))
        else {
            continue;
        };
        let found = merge_schema::of_kind(api_version, kind);
        if found != Schema::Unknown {
            return found;
        }
    }
    Schema::Unknown
}

/// One value: `dest` with `origin` merged into it. `list` says how a list here merges.
/// A null that stays is returned as a null node; what is gone as `None`.
pub(super) fn walk(
    dest: Option<Node>,
    origin: Option<Node>,
    schema: Schema,
    list: Option<ListMerge>,
) -> Walked {
    let first = [dest.as_ref(), origin.as_ref()]
        .into_iter()
        .flatten()
        .find(|node| !node.is_null());
    let Some(first) = first else {
        // An explicit null that the patch does not touch stays; an empty value goes.
        return Ok(dest.filter(|dest| {
            origin.is_none()
                && dest
                    .as_scalar()
                    .is_some_and(|scalar| !scalar.text.is_empty())
        }));
    };
    match &first.value {
        Value::Mapping(_) => {
            check_kind(&dest, &origin, |node| node.as_mapping().is_some())?;
            let schema = resolve_schema(schema, dest.as_ref(), origin.as_ref());
            walk_mapping(dest, origin, schema)
        }
        Value::Sequence(_) => {
            check_kind(&dest, &origin, |node| node.as_sequence().is_some())?;
            match list {
                Some(list) => walk_list(dest, origin, list),
                None => Ok(origin.or(dest).filter(|node| !node.is_null())),
            }
        }
        Value::Scalar(_) => {
            check_kind(&dest, &origin, |node| node.as_scalar().is_some())?;
            Ok(origin.or(dest).filter(|node| !node.is_null()))
        }
    }
}

fn check_kind(
    dest: &Option<Node>,
    origin: &Option<Node>,
    fits: impl Fn(&Node) -> bool,
) -> Result<(), MergeError> {
    for node in [dest, origin].into_iter().flatten() {
        if !node.is_null() && !fits(node) {
            let place = origin.as_ref().unwrap_or(node).place;
            return Err(MergeError {
                place,
                message: format!(
                    "{} in the patch meets {} in the object",
                    kind_of(origin.as_ref()),
                    kind_of(dest.as_ref())
                ),
            });
        }
    }
    Ok(())
}

fn kind_of(node: Option<&Node>) -> &'static str {
    match node.map(|node| &node.value) {
        Some(Value::Mapping(_)) => "a map",
        Some(Value::Sequence(_)) => "a list",
        Some(Value::Scalar(_)) => "a plain value",
        None => "nothing",
    }
}

fn walk_mapping(dest: Option<Node>, origin: Option<Node>, schema: Schema) -> Walked {
    let Some(mut dest) = dest.filter(|dest| !dest.is_null()) else {
        let Some(mut origin) = origin else {
            return Ok(None);
        };
        return match take_map_directive(&mut origin) {
            Ok(Directive::Delete) => Ok(None),
            _ => settle_fields(origin, schema).map(Some),
        };
    };
    let Some(mut origin) = origin else {
        walk_untouched_fields(&mut dest, schema)?;
        return Ok(Some(dest));
    };
    if origin.is_null() {
        return Ok(None);
    }
    match take_map_directive(&mut origin)? {
        Directive::Delete => Ok(None),
        Directive::Replace => settle_fields(origin, schema).map(Some),
        Directive::Merge => {
            merge_fields(&mut dest, &origin, schema)?;
            Ok(Some(dest))
        }
    }
}

fn field_schema(schema: Schema, name: &str) -> (Schema, Option<ListMerge>) {
    match schema {
        Schema::Unknown => (Schema::Unknown, None),
        Schema::Known(known) => (Schema::Known(known.field(name)), known.list(name)),
    }
}

fn merge_fields(dest: &mut Node, origin: &Node, schema: Schema) -> Result<(), MergeError> {
    walk_untouched_except(dest, schema, Some(origin))?;
    let Some(patch) = origin.as_mapping() else {
        return Ok(());
    };
    for entry in &patch.entries {
        let Some(name) = entry.key.as_scalar().map(|scalar| scalar.text.clone()) else {
            continue;
        };
        let (field, list) = field_schema(schema, &name);
        let Some(mapping) = dest.mapping_mut() else {
            return Ok(());
        };
        let at = mapping
            .entries
            .iter()
            .position(|entry| entry.key.is_key(&name));
        let old = at.map(|at| {
            std::mem::replace(
                &mut mapping.entries[at].value,
                Node::plain(entry.value.place, ""),
            )
        });
        let quoted = old
            .as_ref()
            .and_then(Node::as_scalar)
            .is_some_and(|scalar| scalar.style != Style::Plain);
        let mut new = walk(old, Some(entry.value.clone()), field, list)?;
        if quoted {
            // The notation of the object's value stays: a number put in place of a quoted text is quoted.
            new = new.as_ref().map(as_text);
        }
        match (at, new) {
            (Some(at), Some(new)) => mapping.entries[at].value = new,
            (Some(at), None) => {
                mapping.entries.remove(at);
            }
            (None, Some(new)) => mapping.entries.push(Entry {
                key: entry.key.clone(),
                value: new,
            }),
            (None, None) => {}
        }
    }
    Ok(())
}

fn walk_untouched_fields(dest: &mut Node, schema: Schema) -> Result<(), MergeError> {
    walk_untouched_except(dest, schema, None)
}

/// The fields of `dest` that `origin` does not name are walked too: an empty value goes,
/// a list that merges loses what it has twice.
fn walk_untouched_except(
    dest: &mut Node,
    schema: Schema,
    origin: Option<&Node>,
) -> Result<(), MergeError> {
    let Value::Mapping(mapping) = &dest.value else {
        return Ok(());
    };
    let patched: HashSet<&str> = origin
        .and_then(Node::as_mapping)
        .into_iter()
        .flat_map(|mapping| &mapping.entries)
        .filter_map(|entry| entry.key.as_scalar())
        .map(|scalar| scalar.text.as_str())
        .collect();
    let mut changes = Vec::new();
    for (index, entry) in mapping.entries.iter().enumerate() {
        let name = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
        if patched.contains(name) {
            continue;
        }
        let (field, list) = field_schema(schema, name);
        if !changes_untouched(&entry.value, field, list) {
            continue;
        }
        changes.push((index, walk(Some(entry.value.clone()), None, field, list)?));
    }
    if changes.is_empty() {
        return Ok(());
    }
    let Some(mapping) = dest.mapping_mut() else {
        return Ok(());
    };
    for (index, change) in changes.into_iter().rev() {
        match change {
            Some(value) => mapping.entries[index].value = value,
            None => {
                mapping.entries.remove(index);
            }
        }
    }
    Ok(())
}

/// True if a walk without a patch may change the value.
fn changes_untouched(node: &Node, schema: Schema, list: Option<ListMerge>) -> bool {
    match &node.value {
        Value::Scalar(scalar) => node.is_null() && scalar.text.is_empty(),
        Value::Sequence(items) => list.is_some() && !items.is_empty(),
        Value::Mapping(mapping) => {
            let schema = resolve_schema(schema, Some(node), None);
            mapping.entries.iter().any(|entry| {
                let name = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
                let (field, list) = field_schema(schema, name);
                changes_untouched(&entry.value, field, list)
            })
        }
    }
}

/// A map that only the patch has: nulls and directives in it are acted upon all the same.
fn settle_fields(mut node: Node, schema: Schema) -> Result<Node, MergeError> {
    let schema = resolve_schema(schema, Some(&node), None);
    let Some(mapping) = node.mapping_mut() else {
        return Ok(node);
    };
    let entries = std::mem::take(&mut mapping.entries);
    for entry in entries {
        let name = entry.key.as_scalar().map_or("", |scalar| &scalar.text);
        let (field, list) = field_schema(schema, name);
        if let Some(value) = settle(entry.value, field, list)? {
            mapping.entries.push(Entry {
                key: entry.key,
                value,
            });
        }
    }
    Ok(node)
}

pub(super) fn settle(mut node: Node, schema: Schema, list: Option<ListMerge>) -> Walked {
    if node.is_null() {
        return Ok(None);
    }
    match &node.value {
        Value::Mapping(_) => match take_map_directive(&mut node)? {
            Directive::Delete => Ok(None),
            _ => settle_fields(node, schema).map(Some),
        },
        Value::Sequence(_) => match list {
            None => Ok(Some(node)),
            Some(list) => match take_list_directive(&mut node)? {
                Directive::Delete => Ok(None),
                _ => settle_list(node, list),
            },
        },
        Value::Scalar(_) => Ok(Some(node)),
    }
}

/// Reads and removes `$patch` of a map.
pub(super) fn take_map_directive(node: &mut Node) -> Result<Directive, MergeError> {
    let Some(value) = node.as_mapping().and_then(|mapping| mapping.own(DIRECTIVE)) else {
        return Ok(Directive::Merge);
    };
    if value.is_null() {
        return Ok(Directive::Merge);
    }
    let directive = read_directive(value)?;
    node.remove(DIRECTIVE);
    Ok(directive)
}

/// Reads and removes the item `$patch: …` of a list that merges; an item with more fields is none.
fn take_list_directive(node: &mut Node) -> Result<Directive, MergeError> {
    let found = node
        .items()
        .iter()
        .find_map(|item| {
            let mapping = item.as_mapping()?;
            Some((mapping, mapping.own(DIRECTIVE)?))
        })
        .filter(|(mapping, value)| mapping.entries.len() == 1 && !value.is_null());
    let Some((_, value)) = found else {
        return Ok(Directive::Merge);
    };
    let directive = read_directive(value)?;
    let text = value.as_str().unwrap_or_default().to_owned();
    if let Some(items) = node.items_mut() {
        items.retain(|item| {
            item.as_mapping()
                .and_then(|mapping| mapping.own(DIRECTIVE))
                .is_none_or(|value| value.as_str() != Some(&text))
        });
    }
    Ok(directive)
}

fn read_directive(value: &Node) -> Result<Directive, MergeError> {
    match value.as_str() {
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        Some("merge") => Ok(Directive::Merge),
        other => Err(MergeError {
            place: value.place,
            message: format!(
                "$patch `{}` is none of replace, delete and merge",
                other.unwrap_or_default()
            ),
        }),
    }
}

fn walk_list(dest: Option<Node>, origin: Option<Node>, list: ListMerge) -> Walked {
    let Some(dest) = dest.filter(|dest| !dest.is_null()) else {
        return match origin {
            Some(origin) => settle_list(origin, list),
            None => Ok(None),
        };
    };
    let Some(mut origin) = origin else {
        return Lists::new(&dest, None).merge(dest.place, list);
    };
    if origin.is_null() {
        return Ok(None);
    }
    match take_list_directive(&mut origin)? {
        Directive::Delete => Ok(None),
        Directive::Replace => settle_list(origin, list),
        Directive::Merge => Lists::new(&dest, Some(&origin)).merge(dest.place, list),
    }
}

fn settle_list(node: Node, list: ListMerge) -> Walked {
    Lists::shared(&node).merge(node.place, list)
}

/// True if a patch asks for the whole object to be deleted.
pub(super) fn deletes_object(patch: &Node) -> bool {
    patch
        .as_mapping()
        .and_then(|mapping: &Mapping| mapping.own(DIRECTIVE))
        .is_some_and(|value| value.as_str() == Some("delete"))
}
