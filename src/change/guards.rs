//! What an object's own metadata says to kustomize-controller: do not prune, do not touch, only create.
//!
//! Flux reads these from the live object when it prunes (upstream: kustomize-controller
//! `prune` and `finalize`, pkg `ssa/manager_delete.go`) and from the live and the wanted
//! object when it applies (pkg `ssa/manager_apply.go`). Values are compared without case.

use crate::source::Place;
use crate::yaml::Node;

/// The label or annotation that keeps an object from being pruned.
pub const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
const APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// What the metadata of an object asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks {
    /// Not to be deleted by garbage collection.
    pub kept: bool,
    /// Not to be applied, whether it exists or not; nor may what is live be changed.
    pub untouched: bool,
    /// Not to be applied if it exists.
    pub only_created: bool,
}

/// A guard as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// `key: value`.
    pub written: String,
    /// The value.
    pub place: Place,
}

/// The marks that an object gets: its own, and those of its owner's `commonMetadata`, which win.
pub fn marks(object: &Node, owner: &Node) -> Marks {
    let says = |key: &str, value: &str| find(object, owner, key, value).is_some();
    let untouched = says(RECONCILE, "disabled") || says(APPLY, "Ignore");
    Marks {
        kept: untouched || says(PRUNE, "disabled"),
        untouched,
        only_created: says(APPLY, "IfNotPresent"),
    }
}

/// The label or annotation that keeps an object from being pruned.
pub fn guard(object: &Node, owner: &Node) -> Option<Guard> {
    [
        (PRUNE, "disabled"),
        (RECONCILE, "disabled"),
        (APPLY, "Ignore"),
    ]
    .into_iter()
    .find_map(|(key, value)| {
        let found = find(object, owner, key, value)?;
        Some(Guard {
            written: format!("{key}: {}", found.as_str().unwrap_or_default()),
            place: found.place,
        })
    })
}

fn find<'a>(object: &'a Node, owner: &'a Node, key: &str, value: &str) -> Option<&'a Node> {
    ["annotations", "labels"].into_iter().find_map(|field| {
        let found = owner
            .at(&["spec", "commonMetadata", field, key])
            .or_else(|| object.at(&["metadata", field, key]))?;
        found
            .as_str()
            .is_some_and(|text| text.eq_ignore_ascii_case(value))
            .then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::parse;

    fn node(text: &str) -> Node {
        parse(text, FileId(0)).documents.swap_remove(0).root
    }

    #[test]
    fn values_count_without_case_in_labels_and_annotations() {
        let owner = node("spec: {}");
        for text in [
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}}",
            "metadata: {labels: {kustomize.toolkit.fluxcd.io/prune: disabled}}",
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: ignore}}",
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}",
        ] {
            assert!(marks(&node(text), &owner).kept, "{text}");
        }
        for text in [
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}}",
            "metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}}",
            "metadata: {name: x}",
        ] {
            assert_eq!(marks(&node(text), &owner), Marks::default(), "{text}");
        }
    }

    #[test]
    fn common_metadata_of_the_owner_wins() {
        let object = node("metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}");
        let owner = node(
            "spec: {commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}}}",
        );
        assert!(!marks(&object, &owner).kept);
        assert!(!marks(&object, &owner).only_created);
        let owner = node(
            "spec: {commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}}",
        );
        assert!(guard(&node("metadata: {name: x}"), &owner).is_some());
    }
}
