//! The tree: scalars as written, sequences, mappings, each with its place.

use std::sync::Arc;

use smol_str::SmolStr;

use super::scalar::{Scalar, Style, Typed};
use crate::source::Place;

/// A value and the place where it is written.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where the value is written; of an alias, where the alias is.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// The three kinds of YAML node; aliases are already followed (sharing what they name).
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar as written, not yet typed.
    Scalar(Scalar),
    /// A list.
    Sequence(Arc<Vec<Node>>),
    /// A map.
    Mapping(Arc<Mapping>),
}

/// A map in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// The pairs as written; a merge key `<<` is among them.
    pub entries: Vec<Entry>,
}

/// One pair of a map.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key; nearly always a scalar.
    pub key: Node,
    /// The value.
    pub value: Node,
}

impl Mapping {
    /// The value of `key` among the written pairs, the last one if there are several; merge keys are not followed.
    pub fn own(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.key.is_key(key))
            .map(|entry| &entry.value)
    }

    /// The pair of `key`, merge keys followed: own pairs win over merged ones, earlier merged maps over later.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        if let Some(entry) = self
            .entries
            .iter()
            .rev()
            .find(|entry| entry.key.is_key(key))
        {
            return Some(entry);
        }
        self.merged().find_map(|mapping| mapping.entry(key))
    }

    /// The maps that merge keys bring in, in order of precedence.
    fn merged(&self) -> impl Iterator<Item = &Mapping> {
        self.entries
            .iter()
            .filter(|entry| entry.key.is_merge_key())
            .flat_map(|entry| match &entry.value.value {
                Value::Sequence(items) => items.as_slice(),
                _ => std::slice::from_ref(&entry.value),
            })
            .filter_map(Node::as_mapping)
    }

    /// All pairs with merge keys resolved: own pairs first in written order, then merged ones not yet there.
    pub fn resolved(&self) -> Vec<&Entry> {
        if !self.entries.iter().any(|entry| entry.key.is_merge_key()) {
            return self.entries.iter().collect();
        }
        let mut seen = std::collections::HashSet::new();
        let mut pairs = Vec::new();
        self.collect_resolved(&mut seen, &mut pairs);
        pairs
    }

    fn collect_resolved<'a>(
        &'a self,
        seen: &mut std::collections::HashSet<&'a str>,
        pairs: &mut Vec<&'a Entry>,
    ) {
        for entry in &self.entries {
            if entry.key.is_merge_key() {
                continue;
            }
            if seen.insert(entry.key.as_str().unwrap_or_default()) {
                pairs.push(entry);
            }
        }
        for mapping in self.merged() {
            mapping.collect_resolved(seen, pairs);
        }
    }
}

impl Node {
    /// A string at a place.
    pub fn string(place: Place, text: impl Into<SmolStr>) -> Self {
        Self {
            place,
            value: Value::Scalar(Scalar::string(text)),
        }
    }

    /// A plain scalar at a place, typed by its text.
    pub fn plain(place: Place, text: impl Into<SmolStr>) -> Self {
        Self {
            place,
            value: Value::Scalar(Scalar::plain(text)),
        }
    }

    /// A map at a place.
    pub fn mapping(place: Place, entries: Vec<Entry>) -> Self {
        Self {
            place,
            value: Value::Mapping(Arc::new(Mapping { entries })),
        }
    }

    /// A list at a place.
    pub fn sequence(place: Place, items: Vec<Node>) -> Self {
        Self {
            place,
            value: Value::Sequence(Arc::new(items)),
        }
    }

    /// The scalar, if this is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The text of a scalar whatever its type; `None` for collections and null.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if !self.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text, only if the scalar is typed as a string.
    pub fn as_string(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if matches!(scalar.typed(), Typed::String) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The boolean, if the scalar is typed as one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_scalar()?.typed() {
            Typed::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// True for an empty plain scalar, `~` and `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.is_null())
    }

    /// The map, if this is one.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The items of a list, nothing for any other node.
    pub fn items(&self) -> &[Node] {
        self.as_sequence().unwrap_or_default()
    }

    /// The value of `key`, merge keys followed.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_mapping()?.entry(key).map(|entry| &entry.value)
    }

    /// The pair of `key`, merge keys followed, for the place of the key itself.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_mapping()?.entry(key)
    }

    /// The value below several keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text of the scalar below several keys.
    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// The pairs of a map with merge keys resolved; nothing for any other node.
    pub fn pairs(&self) -> Vec<&Entry> {
        self.as_mapping().map(Mapping::resolved).unwrap_or_default()
    }

    /// True if this node, as a key, is `key`.
    pub fn is_key(&self, key: &str) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.text == key)
    }

    /// True for a plain `<<`.
    pub fn is_merge_key(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.text == "<<" && scalar.style == Style::Plain)
    }

    /// The map for change, copied first if it is shared; `None` if this is no map.
    pub fn mapping_mut(&mut self) -> Option<&mut Mapping> {
        match &mut self.value {
            Value::Mapping(mapping) => Some(Arc::make_mut(mapping)),
            _ => None,
        }
    }

    /// The items for change, copied first if they are shared; `None` if this is no list.
    pub fn items_mut(&mut self) -> Option<&mut Vec<Node>> {
        match &mut self.value {
            Value::Sequence(items) => Some(Arc::make_mut(items)),
            _ => None,
        }
    }

    /// The value of `key` for change (written pairs only).
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.mapping_mut()?
            .entries
            .iter_mut()
            .rev()
            .find(|entry| entry.key.is_key(key))
            .map(|entry| &mut entry.value)
    }

    /// Sets `key` in a map, keeping its position if it is there, else at the end. Nothing happens if this is no map.
    pub fn set(&mut self, key: &str, key_place: Place, value: Node) {
        if let Some(found) = self.get_mut(key) {
            *found = value;
        } else if let Some(mapping) = self.mapping_mut() {
            mapping.entries.push(Entry {
                key: Node::plain(key_place, key),
                value,
            });
        }
    }

    /// Removes `key` from a map; true if it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        let Some(mapping) = self.mapping_mut() else {
            return false;
        };
        let before = mapping.entries.len();
        mapping.entries.retain(|entry| !entry.key.is_key(key));
        mapping.entries.len() != before
    }

    /// A copy in which every merge key is resolved, as kustomize does when it reads a resource.
    pub fn without_merge_keys(&self) -> Node {
        match &self.value {
            Value::Scalar(_) => self.clone(),
            Value::Sequence(items) => Node::sequence(
                self.place,
                items.iter().map(Node::without_merge_keys).collect(),
            ),
            Value::Mapping(mapping) => Node::mapping(
                self.place,
                mapping
                    .resolved()
                    .into_iter()
                    .map(|entry| Entry {
                        key: entry.key.clone(),
                        value: entry.value.without_merge_keys(),
                    })
                    .collect(),
            ),
        }
    }

    /// Equality of typed content: places, notation and the order of keys do not count.
    pub fn same_content(&self, other: &Node) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar(left), Value::Scalar(right)) => {
                let (left_type, right_type) = (left.typed(), right.typed());
                match (&left_type, &right_type) {
                    (Typed::String, Typed::String) => left.text == right.text,
                    _ => left_type == right_type,
                }
            }
            (Value::Sequence(left), Value::Sequence(right)) => {
                Arc::ptr_eq(left, right)
                    || left.len() == right.len()
                        && left
                            .iter()
                            .zip(right.iter())
                            .all(|(l, r)| l.same_content(r))
            }
            (Value::Mapping(left), Value::Mapping(right)) => {
                if Arc::ptr_eq(left, right) {
                    return true;
                }
                let (left, right) = (left.resolved(), right.resolved());
                left.len() == right.len()
                    && left.iter().all(|l| {
                        l.key.as_str().is_some_and(|key| {
                            right
                                .iter()
                                .find(|r| r.key.is_key(key))
                                .is_some_and(|r| l.value.same_content(&r.value))
                        })
                    })
            }
            _ => false,
        }
    }
}
