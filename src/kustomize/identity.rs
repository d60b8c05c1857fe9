//! When two objects are one: kustomize's identity (upstream: kyaml `resid.ResId.Equals`).

use std::collections::HashMap;

use smol_str::SmolStr;

use super::scope::effective_namespace;
use crate::source::Place;

use super::{Object, ObjectId, Problem, ProblemKind};

/// An identity that is equal for objects that kustomize takes for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    group: SmolStr,
    version: SmolStr,
    kind: SmolStr,
    namespace: SmolStr,
    name: SmolStr,
}

impl Key {
    pub(super) fn of(id: &ObjectId) -> Self {
        Self {
            group: id.group.clone(),
            version: id.version.clone(),
            kind: id.kind.clone(),
            namespace: effective_namespace(id).into(),
            name: id.name.clone(),
        }
    }
}

/// The objects of a build by their current identity.
#[derive(Default)]
pub(super) struct Ids {
    seen: HashMap<Key, usize>,
}

impl Ids {
    /// The identities of objects as they are now; the second of two that are one is left out.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut ids = Self::default();
        for (index, object) in objects.iter().enumerate() {
            ids.seen.entry(Key::of(&object.id())).or_insert(index);
        }
        ids
    }

    /// Adds an object at `index`, or names the index of the one that is there already.
    pub(super) fn insert(&mut self, object: &Object, index: usize) -> Result<(), usize> {
        match self.seen.entry(Key::of(&object.id())) {
            std::collections::hash_map::Entry::Occupied(entry) => Err(*entry.get()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(index);
                Ok(())
            }
        }
    }
}

/// One identity twice. An object that is there twice by two ways is pointed at by the ways.
pub(super) fn duplicate(first: &Object, second: &Object) -> Problem {
    let id = second.id();
    let ways = first
        .route
        .iter()
        .zip(&second.route)
        .find(|(first, second)| first != second);
    let (place, related) = match ways {
        Some((by, again)) if first.origin == second.origin && same_transformer(first, second) => (
            *again,
            vec![
                (*by, format!("{id} is already brought by this")),
                (first.name_place(), "the object".to_owned()),
            ],
        ),
        _ => (
            identity_place(second),
            vec![(identity_place(first), format!("{id} is already here"))],
        ),
    };
    Problem {
        kind: ProblemKind::DuplicateObject,
        place,
        message: format!("{id} is there twice"),
        related,
        help: None,
    }
}

/// True if no two transformers gave the objects their namespace.
fn same_transformer(first: &Object, second: &Object) -> bool {
    let place = |object: &Object| {
        let namespace = object.node.at(&["metadata", "namespace"]);
        namespace.map(|namespace| namespace.place)
    };
    place(first) == place(second)
}

/// Where an object's identity is decided: what changed its namespace, if that is what made it another; else its name.
fn identity_place(object: &Object) -> Place {
    let own =
        |place: Place| place.file == object.origin.file && object.origin.span.contains(place.span);
    object
        .node
        .at(&["metadata", "namespace"])
        .filter(|namespace| !own(namespace.place))
        .map_or_else(|| object.name_place(), |namespace| namespace.place)
}

/// The problem of each object that is the same as an earlier one; only the earlier one stays.
pub(super) fn remove_duplicates(objects: &mut Vec<Object>) -> Vec<Problem> {
    let mut ids = Ids::default();
    let mut problems = Vec::new();
    let mut kept: Vec<Object> = Vec::with_capacity(objects.len());
    for object in objects.drain(..) {
        match ids.insert(&object, kept.len()) {
            Ok(()) => kept.push(object),
            Err(first) => problems.push(duplicate(&kept[first], &object)),
        }
    }
    *objects = kept;
    problems
}

/// The problem of each object that is the same as an earlier one.
pub(super) fn duplicates(objects: &[Object]) -> Vec<Problem> {
    let mut ids = Ids::default();
    let mut problems = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        if let Err(first) = ids.insert(object, index) {
            problems.push(duplicate(&objects[first], object));
        }
    }
    problems
}
