//! Strategic merge: one patch document into one object (upstream: kyaml `merge2` and `walk`).
//!
//! Maps merge, null deletes, lists are replaced unless the schema of a built-in
//! kind names their keys. `$patch: replace|delete` acts on maps and on lists that merge.

use std::collections::HashSet;

use super::merge_schema::{self, ListMerge, Schema, Type};
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
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges `patch` into `object`; `None` if the patch deletes the object.
pub(super) fn merge(object: Node, patch: &Node) -> Result<Option<Node>, MergeError> {
    walk(Some(object), Some(patch.clone()), Schema::Unknown, None)
}

/// What a walked value is: kept though null, gone, or there.
type Walked = Result<Option<Node>, MergeError>;

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
fn walk(
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

fn settle(mut node: Node, schema: Schema, list: Option<ListMerge>) -> Walked {
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
fn take_map_directive(node: &mut Node) -> Result<Directive, MergeError> {
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

/// Two lists whose items are told apart by where they are kept, since the merge changes them in place.
struct Lists {
    items: Vec<Node>,
    dest: Vec<usize>,
    origin: Option<Vec<usize>>,
}

/// The values of an item's keys; empty for one that it does not have.
type KeyValues = Vec<String>;

impl Lists {
    fn new(dest: &Node, origin: Option<&Node>) -> Self {
        let mut items = dest.items().to_vec();
        let dest = (0..items.len()).collect();
        let origin = origin.map(|origin| {
            let start = items.len();
            items.extend(origin.items().iter().cloned());
            (start..items.len()).collect()
        });
        Self {
            items,
            dest,
            origin,
        }
    }

    /// A list that only the patch has: it is both sides.
    fn shared(node: &Node) -> Self {
        let mut lists = Self::new(node, None);
        lists.origin = Some(lists.dest.clone());
        lists
    }

    fn merge(mut self, place: Place, list: ListMerge) -> Walked {
        let keys: Vec<&str> = if list.keys.is_empty() {
            vec![""]
        } else {
            list.keys.to_vec()
        };
        let mut values = self.key_values(&keys);
        if keys.len() > 1 {
            unify(&mut values);
        }
        if values.is_empty() {
            return Ok(self.finish(place));
        }
        let used = used_keys(&values, &keys);
        let mut merged = Vec::new();
        for item in &values {
            if item.is_empty() {
                continue;
            }
            let item = used_values(&values, item, &keys);
            self.merge_item(&used, &item, list.item, &mut merged)?;
        }
        let dest = std::mem::take(&mut self.dest);
        for id in dest {
            self.append(&mut merged, id, &used);
        }
        self.dest = merged;
        Ok(self.finish(place))
    }

    fn finish(self, place: Place) -> Option<Node> {
        let items = self.dest.iter().map(|id| self.items[*id].clone()).collect();
        Some(Node::sequence(place, items))
    }

    /// The key values of all items, those of the patch first, each once.
    fn key_values(&self, keys: &[&str]) -> Vec<KeyValues> {
        let mut seen = HashSet::new();
        let origin = self.origin.iter().flatten();
        origin
            .chain(&self.dest)
            .map(|id| {
                keys.iter()
                    .map(|key| key_value(&self.items[*id], key))
                    .collect::<KeyValues>()
            })
            .filter(|values| seen.insert(values.clone()))
            .collect()
    }

    fn merge_item(
        &mut self,
        keys: &[&str],
        values: &[String],
        item: Type,
        merged: &mut Vec<usize>,
    ) -> Result<(), MergeError> {
        // An item is looked for by the keys that it has; by all if it has none.
        let one = [values.to_vec()];
        let (find_keys, find_values) = (used_keys(&one, keys), used_values(&one, values, keys));
        let dest = self.find(&self.dest, &find_keys, &find_values);
        let origin = self
            .origin
            .as_ref()
            .and_then(|origin| self.find(origin, &find_keys, &find_values));
        let schema = Schema::Known(item);
        let (id, walked) = match (dest, origin) {
            (Some(dest), Some(origin)) if dest == origin => {
                (dest, settle(self.items[dest].clone(), schema, None)?)
            }
            (None, None) => return Ok(()),
            (dest, origin) => {
                let takes_origin = match (dest, origin) {
                    (_, None) => false,
                    (None, Some(_)) => true,
                    (Some(_), Some(origin)) => {
                        self.items[origin].as_mapping().is_none()
                            || take_map_directive(&mut self.items[origin].clone())?
                                == Directive::Replace
                    }
                };
                let walked = walk(
                    dest.map(|id| self.items[id].clone()),
                    origin.map(|id| self.items[id].clone()),
                    schema,
                    None,
                )?;
                let id = if takes_origin { origin } else { dest };
                (id.unwrap_or_default(), walked)
            }
        };
        let walked = walked.filter(|node| {
            !node.is_null() && node.as_mapping().is_none_or(|map| !map.entries.is_empty())
        });
        let Some(mut node) = walked else {
            let mut list = std::mem::take(&mut self.dest);
            self.set(&mut list, None, keys, values);
            self.dest = list;
            return Ok(());
        };
        for (key, value) in keys.iter().zip(values) {
            if !key.is_empty() && !value.is_empty() && node.get(key).is_none() {
                let place = node.place;
                node.set(key, place, Node::plain(place, value.as_str()));
            }
        }
        self.items[id] = node;
        self.set(merged, Some(id), keys, values);
        Ok(())
    }

    /// The first item of a list whose keys have these values.
    fn find(&self, list: &[usize], keys: &[&str], values: &[String]) -> Option<usize> {
        list.iter().copied().find(|id| {
            let item = &self.items[*id];
            if keys[0].is_empty() {
                return item
                    .as_scalar()
                    .is_some_and(|scalar| scalar.text == values[0]);
            }
            item.as_mapping().is_some()
                && keys
                    .iter()
                    .zip(values)
                    .all(|(key, value)| has_value(item, key, value))
        })
    }

    /// Puts an item in the place of the one with the same keys, or at the end; without an item, removes.
    fn set(&self, list: &mut Vec<usize>, item: Option<usize>, keys: &[&str], values: &[String]) {
        let by_field = keys.first().is_some_and(|key| !key.is_empty())
            && values.first().is_some_and(|value| !value.is_empty());
        let mut replaced = false;
        let mut result = Vec::with_capacity(list.len() + 1);
        for id in list.iter().copied() {
            let node = &self.items[id];
            let empty = node.as_mapping().is_some_and(|map| map.entries.is_empty());
            if node.is_null() || empty {
                continue;
            }
            if by_field && node.as_mapping().is_none() {
                result.push(id);
                continue;
            }
            let found = !values.is_empty()
                && keys
                    .iter()
                    .zip(values)
                    .all(|(key, value)| has_value(node, key, value));
            if !found {
                if !values.is_empty() {
                    result.push(id);
                }
                continue;
            }
            replaced = true;
            result.extend(item);
        }
        if !replaced {
            result.extend(item);
        }
        *list = result;
    }

    /// Appends an item of the object's list behind those that were merged.
    fn append(&self, list: &mut Vec<usize>, id: usize, keys: &[&str]) {
        if keys.first().is_none_or(|key| key.is_empty()) {
            let value = self.items[id]
                .as_scalar()
                .map_or_else(String::new, |scalar| scalar.text.to_string());
            self.set(list, Some(id), &[""], &[value]);
            return;
        }
        let mut values = Vec::new();
        for key in keys {
            match self.items[id].get(key) {
                Some(value) if !value.is_null() => values.push(key_value(&self.items[id], key)),
                _ => list.push(id),
            }
        }
        if keys.len() > 1 {
            self.set(list, None, keys, &values);
        }
        self.set(list, Some(id), keys, &values);
    }
}

fn key_value(item: &Node, key: &str) -> String {
    let value = if key.is_empty() {
        Some(item)
    } else {
        item.get(key)
    };
    value
        .filter(|value| !value.is_null())
        .and_then(Node::as_scalar)
        .map_or_else(String::new, |scalar| scalar.text.to_string())
}

/// True if the field is there and, if a value is asked for, has it.
fn has_value(item: &Node, key: &str, value: &str) -> bool {
    if key.is_empty() {
        return item.as_scalar().is_some_and(|scalar| scalar.text == value);
    }
    item.get(key).is_some_and(|found| {
        value.is_empty() || found.as_scalar().is_some_and(|scalar| scalar.text == value)
    })
}

/// Items that agree where both have a key are one item.
fn unify(values: &mut [KeyValues]) {
    for left in 0..values.len() {
        for right in 0..values.len() {
            if let Some(both) = combined(&values[left], &values[right]) {
                values[left] = both.clone();
                values[right] = both;
            }
        }
    }
}

fn combined(left: &[String], right: &[String]) -> Option<KeyValues> {
    let mut common = false;
    let mut result = Vec::with_capacity(left.len());
    for (left, right) in left.iter().zip(right) {
        if left == right {
            common = true;
        } else if !left.is_empty() && !right.is_empty() {
            return None;
        }
        result.push(if left.is_empty() { right } else { left }.clone());
    }
    common.then_some(result)
}

/// The keys that any item has; all if none has one.
fn used_keys<'k>(values: &[KeyValues], keys: &[&'k str]) -> Vec<&'k str> {
    let used: Vec<&str> = keys
        .iter()
        .enumerate()
        .filter(|(index, _)| values.iter().any(|values| !values[*index].is_empty()))
        .map(|(_, key)| *key)
        .collect();
    if used.is_empty() { keys.to_vec() } else { used }
}

fn used_values(all: &[KeyValues], values: &[String], keys: &[&str]) -> KeyValues {
    let used: Vec<bool> = (0..keys.len())
        .map(|index| all.iter().any(|values| !values[index].is_empty()))
        .collect();
    if !used.contains(&true) {
        return values.to_vec();
    }
    values
        .iter()
        .zip(used)
        .filter(|(_, used)| *used)
        .map(|(value, _)| value.clone())
        .collect()
}

/// True if a patch asks for the whole object to be deleted.
pub(super) fn deletes_object(patch: &Node) -> bool {
    patch
        .as_mapping()
        .and_then(|mapping: &Mapping| mapping.own(DIRECTIVE))
        .is_some_and(|value| value.as_str() == Some("delete"))
}
