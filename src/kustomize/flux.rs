//! What Flux does to the root of a build before kustomize sees it.
//!
//! Upstream: fluxcd/pkg `kustomize/kustomize_generator.go`.

use super::accumulate::resources_field;
use super::file::{self, KustomizationFile};
use super::level::Level;
use super::location::{Location, Wanted, is_repository, locate};
use super::{BuildOptions, Problem, ProblemKind};
use crate::source::Place;
use crate::tree::{Child, Tree};
use crate::yaml::{Entry, Node};

/// The kustomization file that Flux generates for a directory without one.
pub(super) fn generate(tree: &Tree, directory: &str, place: Place) -> KustomizationFile {
    let mut paths = Vec::new();
    scan(tree, directory, "", &mut paths);
    KustomizationFile::generated(place, resources_field(place, paths))
}

/// Lists what is below a directory, in lexical order; one with a kustomization file stands for all below it.
fn scan(tree: &Tree, directory: &str, shown: &str, paths: &mut Vec<String>) {
    // Without recursion, so that no depth of directories matters.
    let mut open = vec![(directory.to_owned(), shown.to_owned())];
    let mut stack: Vec<(String, String, Child)> = Vec::new();
    let push = |stack: &mut Vec<(String, String, Child)>, directory: &str, shown: &str| {
        let children: Vec<_> = tree.children(directory).collect();
        for (name, child) in children.into_iter().rev() {
            stack.push((
                file::inside(directory, name),
                file::inside(shown, name),
                child,
            ));
        }
    };
    if let Some((directory, shown)) = open.pop() {
        push(&mut stack, &directory, &shown);
    }
    while let Some((path, shown, child)) = stack.pop() {
        match child {
            Child::Directory if file::find(tree, &path).is_empty() => {
                push(&mut stack, &path, &shown);
            }
            Child::Directory => paths.push(format!("./{shown}")),
            Child::File(_) if path.ends_with(".yaml") || path.ends_with(".yml") => {
                paths.push(format!("./{shown}"));
            }
            _ => {}
        }
    }
}

/// Puts the fields of a Flux Kustomization's spec into the root kustomization file.
pub(super) fn insert(
    tree: &Tree,
    directory: &str,
    options: &BuildOptions,
    file: &mut KustomizationFile,
    level: &mut Level,
) {
    for (name, value) in [
        ("namespace", &options.target_namespace),
        ("namePrefix", &options.name_prefix),
        ("nameSuffix", &options.name_suffix),
        ("buildMetadata", &options.build_metadata),
    ] {
        if let Some(value) = value {
            file.set(name, value.clone());
        }
    }
    if let Some(patches) = &options.patches {
        file.append("patches", patches.items());
    }
    if let Some(components) = &options.components {
        insert_components(tree, directory, options, components, file, level);
    }
    if let Some(images) = &options.images {
        for image in images.items() {
            insert_image(file, image);
        }
    }
}

fn insert_components(
    tree: &Tree,
    directory: &str,
    options: &BuildOptions,
    components: &Node,
    file: &mut KustomizationFile,
    level: &mut Level,
) {
    let mut kept = Vec::new();
    for component in components.items() {
        let text = component.as_str().unwrap_or_default();
        if text.starts_with('/') || text.contains("://") || is_repository(text) {
            level.problems.push(Problem {
                kind: ProblemKind::Other,
                place: component.place,
                message: format!("component `{text}` is not local and relative"),
                related: Vec::new(),
                help: Some("write a path relative to the Kustomization's path".to_owned()),
            });
            continue;
        }
        let found = locate(tree, directory, component, Wanted::Directory);
        if options.ignore_missing_components && !matches!(found, Ok(Location::Directory(_))) {
            continue;
        }
        kept.push(component.clone());
    }
    file.append("components", &kept);
}

/// An image of the same name is changed field by field, tag and digest together; another is added.
fn insert_image(file: &mut KustomizationFile, image: &Node) {
    let name = image.str_at(&["name"]).unwrap_or_default();
    let mut images = file.items("images").to_vec();
    let old = images
        .iter_mut()
        .find(|old| old.str_at(&["name"]).unwrap_or_default() == name);
    let Some(old) = old else {
        file.append("images", std::slice::from_ref(image));
        return;
    };
    let written = |field: &str| {
        image
            .get(field)
            .filter(|value| value.as_str().is_some_and(|text| !text.is_empty()))
            .cloned()
    };
    if let Some(new_name) = written("newName") {
        set(old, "newName", new_name);
    }
    let (tag, digest) = (written("newTag"), written("digest"));
    if tag.is_some() || digest.is_some() {
        old.remove("newTag");
        old.remove("digest");
        if let Some(tag) = tag {
            set(old, "newTag", tag);
        }
        if let Some(digest) = digest {
            set(old, "digest", digest);
        }
    }
    let place = file
        .field("images")
        .map_or(image.place, |field| field.place);
    file.set("images", Node::sequence(place, images));
}

fn set(node: &mut Node, field: &str, value: Node) {
    let place = value.place;
    if node.as_mapping().is_none() {
        *node = Node::mapping(place, Vec::<Entry>::new());
    }
    node.set(field, place, value);
}
