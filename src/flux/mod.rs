//! Built objects → entry points, clusters, Kustomizations, owners and gaps.

mod artifact;
mod cluster;
mod entry;
mod ignore;
mod kustomization;
mod outdated;
mod raw;
mod reconcile;
mod substitution;
mod unknown;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

pub use artifact::clamp;
pub use cluster::{Cluster, InventoryId, Kustomization, Location};
pub use entry::{EntryPoint, Told};
pub use kustomization::{Dependency, NamespacedName, SourceReference, Spec, SubstituteFrom, Tri};
pub use outdated::build_with_spec;
pub use raw::{KUSTOMIZE_GROUP, RawObject, RawObjects, is_template, is_yaml, join_name};
pub use reconcile::{is_flux_kustomization, makes_kustomizations, name_of};
pub use substitution::Substitution;
pub use unknown::Unknowns;
pub use variables::{Variable, Variables};

use crate::config::{Config, Role};
use crate::kustomize::{BuildOptions, Kustomize};
use crate::tree::{Child, Files, Tree, join, split};

/// What Flux makes of a tree.
#[derive(Default)]
pub struct Flux {
    /// The clusters, by path.
    pub clusters: Vec<Cluster>,
    /// Flux objects as written, live or not.
    pub raw: RawObjects,
}

/// Builds every cluster of a tree. `remotes` are the URLs of the checkout's git remotes.
///
/// `before` are directories that were clusters at the base ([`found_directories`]): where Flux is
/// told nothing, such a directory stays one although it no longer builds what says so, for as
/// long as it is there and nothing else reaches it.
pub fn reconcile(
    files: &Files,
    tree: &Tree,
    config: &Config,
    remotes: &[String],
    before: &[String],
) -> Flux {
    let raw = RawObjects::scan(files, tree);
    let mut sources = artifact::Sources::new(&raw, remotes);
    let is_excluded = |path: &str| config.exclude.matches(path);
    let mut entries = entry::told(&raw, tree, &is_excluded);
    for told in entries.iter().filter_map(|entry| entry.told.as_ref()) {
        if let Some(url) = &told.url {
            sources.add_own_url(url);
        }
        if let Some(source) = &told.source {
            sources.add_own_source(&source.kind, &source.target.name);
        }
    }
    if let Some((kind, name)) = sources.most_likely_own(tree) {
        sources.add_own_source(&kind, &name);
    }
    let top = Kustomize::new(files, tree);
    let told_none = entries
        .iter()
        .all(|entry| entry.told.as_ref().is_some_and(|told| told.missing));
    if told_none {
        let found = found_by_themselves(files, tree, &raw, &top, &is_excluded, before);
        for directory in found {
            add_directory(&mut entries, tree, &raw, directory);
        }
    }
    for cluster in &config.clusters {
        add_directory(&mut entries, tree, &raw, clamp(&cluster.path));
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));

    let roots: BTreeSet<String> = entries
        .iter()
        .map(|entry| entry.root.clone())
        .chain(sources.likely_roots(tree))
        .chain([String::new()])
        .collect();
    let ignores: BTreeSet<String> = entries
        .iter()
        .filter_map(|entry| entry.told.as_ref()?.ignore.clone())
        .chain(sources.own_ignores())
        .chain([String::new()])
        .collect();
    let packed: BTreeMap<(String, String), Tree> = roots
        .iter()
        .flat_map(|root| ignores.iter().map(move |ignore| (root, ignore)))
        .map(|(root, ignore)| {
            let tree = ignore::packed(files, tree, root, Some(ignore));
            ((root.clone(), ignore.clone()), tree)
        })
        .collect();
    let engines: BTreeMap<(String, String), Kustomize<'_>> = packed
        .iter()
        .map(|(key, tree)| (key.clone(), Kustomize::new(files, tree)))
        .collect();

    let reconciler = reconcile::Reconciler {
        tree,
        sources: &sources,
        engines: &engines,
        strict_substitution: config.flux_version.strict_substitution(),
        is_external_variable: &|name| config.external.variables.matches(name),
        is_external_source: &|name| config.external.sources.iter().any(|source| source == name),
        roots: Mutex::default(),
    };
    let clusters = {
        use rayon::prelude::*;
        entries
            .into_par_iter()
            .map(|entry| {
                let role = config
                    .clusters
                    .iter()
                    .find(|cluster| clamp(&cluster.path) == entry.path)
                    .map_or(Role::Active, |cluster| cluster.role);
                reconciler.cluster(entry, role)
            })
            .collect()
    };
    Flux { clusters, raw }
}

/// The clusters of a tree that are found by their directories, because Flux is told of none.
pub fn found_directories(files: &Files, tree: &Tree, config: &Config) -> Vec<String> {
    let raw = RawObjects::scan(files, tree);
    let is_excluded = |path: &str| config.exclude.matches(path);
    let told = entry::told(&raw, tree, &is_excluded)
        .iter()
        .any(|entry| entry.told.as_ref().is_some_and(|told| !told.missing));
    if told {
        return Vec::new();
    }
    let engine = Kustomize::new(files, tree);
    found_by_themselves(files, tree, &raw, &engine, &is_excluded, &[])
}

/// Directories that nothing reaches and that build Flux Kustomizations (or did so before, or would
/// if their files could be read), the topmost of nested ones.
fn found_by_themselves(
    files: &Files,
    tree: &Tree,
    raw: &RawObjects,
    engine: &Kustomize<'_>,
    is_excluded: &dyn Fn(&str) -> bool,
    before: &[String],
) -> Vec<String> {
    let options = BuildOptions {
        flux: true,
        ..BuildOptions::default()
    };
    let candidates = entry::unreached_directories(files, tree, raw, is_excluded, before)
        .into_iter()
        .filter(|directory| {
            let build = engine.build(directory, &options);
            before.contains(directory)
                || build
                    .objects
                    .iter()
                    .any(|object| is_flux_kustomization(&object.node))
                || !build.problems.is_empty() && speaks_of_kustomizations(files, tree, directory)
        })
        .collect();
    entry::topmost(candidates)
}

/// True if a YAML file in a directory holds Flux Kustomizations, or would if it parsed.
fn speaks_of_kustomizations(files: &Files, tree: &Tree, directory: &str) -> bool {
    tree.children(directory).any(|(name, child)| match child {
        Child::File(file) => {
            is_yaml(name)
                && files.text(file).contains(KUSTOMIZE_GROUP)
                && !is_template(tree, &join_name(directory, name))
        }
        _ => false,
    })
}

/// Adds a directory as an entry point, if none is there yet. The root of its artifact is
/// the folder above it below which most paths of its Kustomizations exist; the top if none is better.
fn add_directory(entries: &mut Vec<EntryPoint>, tree: &Tree, raw: &RawObjects, directory: String) {
    if entries.iter().any(|entry| entry.path == directory) || !tree.is_directory(&directory) {
        return;
    }
    let paths: Vec<String> = raw
        .kustomizations
        .iter()
        .filter(|object| {
            object.path.starts_with(&format!("{directory}/"))
                || split(&directory).0 == split(split(&object.path).0).0
        })
        .filter_map(|object| object.node.str_at(&["spec", "path"]))
        .filter(|path| !path.contains("${"))
        .map(clamp)
        .collect();
    let count = |root: &str| {
        paths
            .iter()
            .filter(|path| join(root, path).is_some_and(|full| tree.is_directory(&full)))
            .count()
    };
    let mut best = (count(""), String::new());
    let mut above = directory.as_str();
    while !above.is_empty() {
        above = split(above).0;
        let found = count(above);
        if found > best.0 {
            best = (found, above.to_owned());
        }
    }
    entries.push(EntryPoint {
        path: directory,
        root: best.1,
        told: None,
    });
}
