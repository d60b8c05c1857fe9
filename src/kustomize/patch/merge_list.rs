//! Two lists merged by the keys of their items (upstream: kyaml `walk/associative_sequence.go`).
//!
//! What the patch has comes first, in its order; the rest of the object's items follow.

use std::collections::HashSet;

use super::merge::{Directive, MergeError, Walked, settle, take_map_directive, walk};
use super::merge_schema::{ListMerge, Schema, Type};
use crate::source::Place;
use crate::yaml::Node;

/// Two lists whose items are told apart by where they are kept, since the merge changes them in place.
pub(super) struct Lists {
    items: Vec<Node>,
    dest: Vec<usize>,
    origin: Option<Vec<usize>>,
}

/// The values of an item's keys; empty for one that it does not have.
type KeyValues = Vec<String>;

impl Lists {
    pub(super) fn new(dest: &Node, origin: Option<&Node>) -> Self {
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
    pub(super) fn shared(node: &Node) -> Self {
        let mut lists = Self::new(node, None);
        lists.origin = Some(lists.dest.clone());
        lists
    }

    pub(super) fn merge(mut self, place: Place, list: ListMerge) -> Walked {
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
