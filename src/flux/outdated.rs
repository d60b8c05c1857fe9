//! A Kustomization whose spec and whose tree are of two revisions: what a cluster has between
//! the moment when a source is new and the moment when the parent has applied the new spec.

use std::sync::Arc;

use super::artifact::{ArtifactRoot, clamp};
use super::cluster::{Kustomization, Location, locate};
use super::kustomization::Spec;
use super::reconcile::build_options;
use super::substitution;
use crate::config::Config;
use crate::kustomize::Kustomize;
use crate::tree::{Files, Tree};
use crate::yaml::Node;

/// What a Kustomization builds of a tree with the spec of `node`. `like` is the Kustomization
/// as its own revision has it: it gives the root of the artifact and the variables.
pub fn build_with_spec(
    files: &Files,
    tree: &Tree,
    config: &Config,
    like: &Kustomization,
    node: &Node,
) -> Kustomization {
    let spec = Spec::read(node, &like.name.namespace, &like.unknowns);
    let root = artifact_root(like);
    let location = match (&root, &spec.path) {
        (Some(root), Some(path)) => locate(tree, &ArtifactRoot::Folder(root.clone()), path),
        _ => Location::Unknown,
    };
    let mut kustomization = Kustomization {
        node: node.clone(),
        spec,
        location,
        build: Arc::default(),
        substitution: Default::default(),
        unknowns: Default::default(),
        ..like.clone()
    };
    if let (Some(directory), Some(root)) = (kustomization.directory(), root) {
        let below = directory
            .strip_prefix(root.as_str())
            .unwrap_or(directory)
            .trim_start_matches('/');
        let subtree = tree.subtree(&root);
        let options = build_options(node, &kustomization.spec);
        kustomization.build = Arc::new(Kustomize::new(files, &subtree).build(below, &options));
    }
    let done = substitution::run(
        &kustomization.node,
        &kustomization.spec,
        Arc::unwrap_or_clone(kustomization.build),
        like.substitution.variables.clone(),
        config.flux_version.strict_substitution(),
        &|name| config.external.variables.matches(name),
    );
    kustomization.build = Arc::new(done.build);
    kustomization.substitution = done.substitution;
    kustomization.unknowns = done.unknowns;
    kustomization
}

/// The root of the artifact: the location without the path.
fn artifact_root(like: &Kustomization) -> Option<String> {
    let full = match &like.location {
        Location::Directory(path) | Location::Missing(path) | Location::File(path) => path,
        Location::OtherRepository | Location::Unknown => return None,
    };
    let path = clamp(like.spec.path.as_ref()?);
    let root = full.strip_suffix(path.as_str())?;
    Some(root.trim_end_matches('/').to_owned())
}
