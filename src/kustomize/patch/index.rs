//! Objects by name, so that a patch need not look at all of them.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::kustomize::{Object, ObjectId};

/// The objects of a level by every name that they have or had. Positions stay while patches delete.
pub(super) struct Index {
    ids: Vec<ObjectId>,
    deleted: Vec<bool>,
    by_name: HashMap<SmolStr, Vec<usize>>,
}

impl Index {
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut index = Self {
            ids: objects.iter().map(Object::id).collect(),
            deleted: vec![false; objects.len()],
            by_name: HashMap::with_capacity(objects.len()),
        };
        for (at, object) in objects.iter().enumerate() {
            index.add_names(at, object);
        }
        index
    }

    fn add_names(&mut self, at: usize, object: &Object) {
        let names = object.previous.iter().chain([&self.ids[at]]);
        for id in names {
            let places = self.by_name.entry(id.name.clone()).or_default();
            if let Err(position) = places.binary_search(&at) {
                places.insert(position, at);
            }
        }
    }

    /// The identity of the object now.
    pub(super) fn id(&self, at: usize) -> &ObjectId {
        &self.ids[at]
    }

    /// The objects that have or had a name, in their order.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = usize> {
        self.by_name
            .get(name)
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| !self.deleted[*at])
    }

    /// All objects, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.ids.len()).filter(|at| !self.deleted[*at])
    }

    /// Takes note of a changed object.
    pub(super) fn update(&mut self, at: usize, object: &Object) {
        let id = object.id();
        if id != self.ids[at] {
            self.ids[at] = id;
            self.add_names(at, object);
        }
    }

    /// Takes note of a deleted object.
    pub(super) fn delete(&mut self, at: usize) {
        self.deleted[at] = true;
    }

    /// The objects that are not deleted.
    pub(super) fn living(&self, objects: &[Object]) -> Vec<Object> {
        self.all().map(|at| objects[at].clone()).collect()
    }

    /// Removes the deleted objects.
    pub(super) fn drop_deleted(&self, objects: &mut Vec<Object>) {
        let mut deleted = self.deleted.iter();
        objects.retain(|_| !deleted.next().copied().unwrap_or(false));
    }
}
