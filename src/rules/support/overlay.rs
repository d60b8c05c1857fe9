//! Overlays that are clusters: each builds one shared base.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Cluster, Kustomization};
use crate::kustomize::{Object, ObjectId};
use crate::picture::Picture;
use crate::repo::Repo;
use crate::source::Place;
use crate::tree::split;

/// Clusters whose own kustomization file builds the same base.
pub(in crate::rules) struct ClusterOverlays {
    /// The shared directories, as paths.
    pub(in crate::rules) bases: BTreeSet<String>,
    /// By index of the cluster, the entries of its kustomization file that lead to a shared directory.
    pub(in crate::rules) clusters: BTreeMap<usize, BTreeSet<Place>>,
}

/// The sets of clusters that share bases, two clusters at least.
pub(in crate::rules) fn cluster_overlays(repo: &Repo, picture: &Picture) -> Vec<ClusterOverlays> {
    // Base, cluster, entries.
    let mut by_base: BTreeMap<&str, BTreeMap<usize, BTreeSet<Place>>> = BTreeMap::new();
    for (index, cluster) in picture.flux.clusters.iter().enumerate() {
        let Some(root) = cluster.kustomizations.first() else {
            continue;
        };
        for (path, entry) in entered_directly(repo, root) {
            by_base
                .entry(path)
                .or_default()
                .entry(index)
                .or_default()
                .insert(entry);
        }
    }
    // Bases that the same clusters share make one set.
    let mut sets: BTreeMap<Vec<usize>, ClusterOverlays> = BTreeMap::new();
    for (base, clusters) in by_base {
        if clusters.len() < 2 {
            continue;
        }
        let set = sets
            .entry(clusters.keys().copied().collect())
            .or_insert_with(|| ClusterOverlays {
                bases: BTreeSet::new(),
                clusters: BTreeMap::new(),
            });
        set.bases.insert(base.to_owned());
        for (cluster, entries) in clusters {
            set.clusters.entry(cluster).or_default().extend(entries);
        }
    }
    sets.into_values().collect()
}

/// The directories that the root's own kustomization file lists, outside of the root, with their entries.
fn entered_directly<'a>(
    repo: &'a Repo,
    root: &'a Kustomization,
) -> impl Iterator<Item = (&'a str, Place)> {
    let own = root.build.directories.first();
    let file = own.and_then(|own| own.kustomization_file);
    let path = own.map_or("", |own| own.path.as_str());
    root.build.directories.iter().filter_map(move |directory| {
        let entry = directory
            .entered_from
            .filter(|entry| Some(entry.file) == file)?;
        let inside = split(repo.files.path(entry.file)).0 == path
            && directory.path.starts_with(&format!("{path}/"));
        (!inside && !directory.component).then_some((directory.path.as_str(), entry))
    })
}

impl ClusterOverlays {
    /// What the clusters' own files add to what comes from the bases: cluster, entry of its kustomization
    /// file, object; one a kustomization entry. What bootstrap puts beside each cluster is not counted, nor
    /// is what `is_apart` sets apart.
    pub(in crate::rules) fn added<'p>(
        &self,
        repo: &Repo,
        picture: &'p Picture,
        is_apart: &dyn Fn(&Cluster, &Object) -> bool,
    ) -> Vec<(usize, Place, &'p Object)> {
        let mut added: BTreeMap<Place, (usize, Place, &Object)> = BTreeMap::new();
        for (cluster, entries) in &self.clusters {
            let Some(of_cluster) = picture.flux.clusters.get(*cluster) else {
                continue;
            };
            let Some(root) = of_cluster.kustomizations.first() else {
                continue;
            };
            for object in &root.build.objects {
                let Some(entry) = object.route.first() else {
                    continue;
                };
                let apart = is_of_flux(object)
                    || is_of_bootstrap(repo, object)
                    || is_apart(of_cluster, object);
                if !entries.contains(entry) && !apart {
                    added.entry(*entry).or_insert((*cluster, *entry, object));
                }
            }
        }
        added.into_values().collect()
    }
}

/// True for a ConfigMap or Secret that the cluster's Kustomizations take variables from.
pub(in crate::rules) fn holds_variables(cluster: &Cluster, id: &ObjectId) -> bool {
    cluster.kustomizations.iter().any(|kustomization| {
        let in_namespace = id.namespace.is_empty() || kustomization.name.namespace == id.namespace;
        in_namespace
            && kustomization
                .spec
                .substitute_from
                .iter()
                .any(|from| from.kind == id.kind && from.name == id.name)
    })
}

/// True for what stands in a file that `flux bootstrap` writes for each cluster.
fn is_of_bootstrap(repo: &Repo, object: &Object) -> bool {
    let name = split(repo.files.path(object.origin.file)).1;
    matches!(name, "gotk-sync.yaml" | "gotk-components.yaml")
}

/// Flux's own installation: its namespace with all in it, and the kinds of its API.
fn is_of_flux(object: &Object) -> bool {
    let label = |key: &str| object.metadata("labels", key);
    object.id().effective_namespace() == "flux-system"
        && matches!(object.id().name.as_str(), "flux-system" | "flux")
        || label("app.kubernetes.io/part-of") == Some("flux")
        || label("app.kubernetes.io/instance") == Some("flux-system")
}
