//! Values of built objects that depend on what is not in the tree.

use std::collections::BTreeSet;

use crate::source::Place;
use crate::yaml::Node;

/// The places of scalars whose value cannot be known: a variable from outside the tree is in them.
#[derive(Clone, Debug, Default)]
pub struct Unknowns {
    places: BTreeSet<Place>,
}

impl Unknowns {
    /// Marks a scalar as unknown.
    pub fn insert(&mut self, place: Place) {
        self.places.insert(place);
    }

    /// Takes over the marks of another build.
    pub fn extend(&mut self, other: &Self) {
        self.places.extend(other.places.iter().copied());
    }

    /// True if nothing is unknown.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// True if the scalar itself, or any scalar in the collection, is unknown.
    pub fn contains(&self, node: &Node) -> bool {
        if self.places.is_empty() {
            return false;
        }
        if node.as_scalar().is_some() {
            return self.places.contains(&node.place);
        }
        node.items().iter().any(|item| self.contains(item))
            || node
                .pairs()
                .iter()
                .any(|pair| self.contains(&pair.key) || self.contains(&pair.value))
    }
}
