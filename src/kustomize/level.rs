//! What is gathered while a directory is built, and what the building of it needs to know.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::references::NameReference;
use super::{
    Directory, EncryptedInput, Gap, GapEffect, Kustomize, Object, PatchUse, Problem,
    RenamedNamespace,
};
use crate::source::{FileId, Place};
use crate::tree::{Files, Tree};
use crate::yaml::Node;

/// The objects of a directory and what became known on the way; of a Component, those of its parent too.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) objects: Vec<Object>,
    pub(super) problems: Vec<Problem>,
    pub(super) gaps: Vec<Gap>,
    pub(super) files: BTreeSet<FileId>,
    pub(super) directories: Vec<Directory>,
    pub(super) patches: Vec<PatchUse>,
    pub(super) renamed_namespaces: Vec<RenamedNamespace>,
    pub(super) encrypted_inputs: Vec<EncryptedInput>,
    /// From `configurations`; they act at the root.
    pub(super) name_references: Vec<NameReference>,
    /// True if a cycle was met, so that the result depends on where the build started.
    pub(super) cyclic: bool,
}

impl Scope<'_> {
    /// The entries that lead to what an entry brings.
    pub(super) fn route_to(&self, entry: &Node) -> Vec<Place> {
        let mut route = self.route.to_vec();
        route.push(entry.place);
        route
    }
}

impl Level {
    /// True if objects may be missing: for a gap, or because something could not be read.
    pub(super) fn is_uncertain(&self) -> bool {
        !self.problems.is_empty()
            || self
                .gaps
                .iter()
                .any(|gap| gap.effect == GapEffect::Identities)
    }

    /// Notes something that cannot be known.
    pub(super) fn gap(&mut self, place: Place, effect: GapEffect, cause: impl Into<String>) {
        self.gaps.push(Gap {
            place,
            cause: cause.into(),
            effect,
        });
    }

    /// How much a copy holds: its objects with their former identities, and its notes.
    pub(super) fn weight(&self) -> usize {
        let objects: usize = self
            .objects
            .iter()
            .map(|object| {
                let names = object.prefixes.len() + object.suffixes.len() + object.route.len();
                1 + object.previous.len() + names / 4
            })
            .sum();
        objects
            + self.problems.len()
            + self.gaps.len()
            + self.files.len()
            + self.directories.len()
            + self.patches.len()
            + self.renamed_namespaces.len()
            + self.encrypted_inputs.len()
            + self.name_references.len()
    }

    /// Takes over everything but the objects of a base, entered from an entry.
    pub(super) fn take_notes(&mut self, base: &Self, entry: Place) {
        self.problems.extend(base.problems.iter().cloned());
        self.gaps.extend(base.gaps.iter().cloned());
        self.files.extend(&base.files);
        let first = self.directories.len();
        self.directories.extend(base.directories.iter().cloned());
        if let Some(directory) = self.directories.get_mut(first) {
            directory.entered_from = Some(entry);
        }
        self.patches.extend(base.patches.iter().cloned());
        self.renamed_namespaces
            .extend(base.renamed_namespaces.iter().cloned());
        self.encrypted_inputs
            .extend(base.encrypted_inputs.iter().cloned());
        self.name_references
            .extend(base.name_references.iter().cloned());
        self.cyclic |= base.cyclic;
    }
}

/// Where a build stands.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) kustomize: &'s Kustomize<'s>,
    pub(super) files: &'s Files,
    pub(super) tree: &'s Tree,
    /// The directory of the kustomization file at work.
    pub(super) directory: &'s str,
    /// True if that file is a Component.
    pub(super) component: bool,
    /// The entries that led here from the directory of its own (of a Component, from its parent's).
    pub(super) route: &'s [Place],
    /// What led here.
    pub(super) parent: Option<&'s Scope<'s>>,
    /// How many objects this build may still take over from bases and components.
    pub(super) budget: &'s Cell<usize>,
}

impl Scope<'_> {
    /// The directories that led here, this one first.
    pub(super) fn chain(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self), |scope| scope.parent).map(|scope| scope.directory)
    }

    /// The directory on the way here that `candidate` is or contains: entering it is a cycle for kustomize.
    pub(super) fn cycle_with(&self, candidate: &str) -> Option<&str> {
        self.chain().find(|visited| is_within(visited, candidate))
    }
}

/// True if `path` is `directory` or lies below it.
fn is_within(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
