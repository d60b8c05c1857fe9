//! `helm-depends-on-not-found`: a HelmRelease depends on what is no HelmRelease of the cluster.

use super::support::charts::is_release;
use super::support::gates::HELM_GROUP;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, NamespacedName};
use crate::kustomize::Object;
use crate::near;
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "helm-depends-on-not-found",
    group: Group::Order,
    summary: "a HelmRelease depends on what is no HelmRelease of the cluster",
    page: include_str!("../../rules/helm-depends-on-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| Releases::of(repo, cluster).missing())
        .collect()
}

/// The HelmReleases of a cluster.
struct Releases<'a> {
    cluster: &'a Cluster,
    all: Vec<(NamespacedName, &'a Kustomization, &'a Object)>,
    /// True if there may be HelmReleases that are not among them.
    others: bool,
}

impl<'a> Releases<'a> {
    fn of(repo: &Repo, cluster: &'a Cluster) -> Self {
        let all: Vec<_> = cluster
            .objects()
            .filter(|(_, object)| is_release(object))
            .map(|(owner, object)| {
                let kustomization = &cluster.kustomizations[owner];
                (name_of(object), kustomization, object)
            })
            .collect();
        let unknown = cluster.unknown_kustomizations().is_some()
            || cluster.kustomizations.iter().any(|kustomization| {
                kustomization.unknown_objects()
                    || kustomization.fails()
                    || kustomization.build.objects.iter().any(|object| {
                        is_release(object) && kustomization.unknowns.contains(&identity(object))
                    })
            });
        Self {
            others: unknown
                || cluster.objects().any(|(_, object)| makes_releases(object))
                || local_charts_make_releases(repo, &all),
            cluster,
            all,
        }
    }

    fn missing(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, kustomization, object) in &self.all {
            if kustomization.fails() || kustomization.spec.remote_cluster {
                continue;
            }
            let entries = object
                .node
                .at(&["spec", "dependsOn"])
                .map(Node::items)
                .unwrap_or_default();
            for entry in entries {
                if kustomization.unknowns.contains(entry) {
                    continue;
                }
                let Some(written) = entry.get("name") else {
                    continue;
                };
                let target = NamespacedName::new(
                    entry
                        .str_at(&["namespace"])
                        .filter(|namespace| !namespace.is_empty())
                        .unwrap_or(&name.namespace),
                    written.as_str().unwrap_or_default(),
                );
                if !self.all.iter().any(|(known, ..)| *known == target) {
                    findings.extend(self.report(name, &target, written.place));
                }
            }
        }
        findings
    }

    fn report(
        &self,
        name: &NamespacedName,
        target: &NamespacedName,
        place: Place,
    ) -> Option<Finding> {
        let finding = |severity| {
            Finding::new(
                RULE.name,
                if self.others {
                    Severity::Info
                } else {
                    severity
                },
                place,
                format!(
                    "HelmRelease `{name}` depends on `{target}`, which is no HelmRelease of this cluster"
                ),
            )
            .cluster(&self.cluster.path)
        };
        if let Some((known, _, object)) = self
            .all
            .iter()
            .find(|(known, ..)| known.name == target.name)
        {
            return Some(
                finding(Severity::Error)
                    .help(format!("write `namespace: {}`", known.namespace))
                    .related(
                        object.name_place(),
                        format!("`{known}` is in another namespace"),
                    ),
            );
        }
        if let Some(kustomization) = self
            .cluster
            .kustomizations
            .iter()
            .find(|kustomization| kustomization.name.name == target.name)
        {
            return Some(
                finding(Severity::Error)
                    .help("a HelmRelease can only depend on HelmReleases: name one that this Kustomization applies, or let the Kustomizations depend on each other")
                    .related(kustomization.place, "a Kustomization has that name"),
            );
        }
        if self.others {
            return None;
        }
        let near = near::nearest(
            &target.name,
            self.all
                .iter()
                .filter(|(known, ..)| known != name && known.namespace == target.namespace)
                .map(|(known, ..)| known.name.as_str()),
        );
        let help = near.map_or_else(
            || {
                "remove the entry, or add the HelmRelease; until then this one is never installed"
                    .to_owned()
            },
            |near| format!("write `name: {near}`"),
        );
        let found = self.all.iter().find(|(known, ..)| {
            known.namespace == target.namespace && Some(known.name.as_str()) == near
        });
        let finding = finding(Severity::Warning).help(help);
        Some(match found {
            Some((known, _, object)) => {
                finding.related(object.name_place(), format!("`{known}` is defined here"))
            }
            None => finding,
        })
    }
}

/// Namespace and name; without a namespace it is in `default`.
fn name_of(object: &Object) -> NamespacedName {
    let id = object.id();
    NamespacedName::new(id.effective_namespace(), id.name.clone())
}

/// The part of an object that names it.
fn identity(object: &Object) -> Node {
    object
        .node
        .get("metadata")
        .map(|metadata| {
            let named = ["name", "namespace"]
                .iter()
                .filter_map(|key| metadata.get(key).cloned())
                .collect();
            Node::sequence(metadata.place, named)
        })
        .unwrap_or_else(|| Node::sequence(object.origin, Vec::new()))
}

/// True for a ResourceSet whose templates make HelmReleases.
fn makes_releases(object: &Object) -> bool {
    let id = object.id();
    if id.group != "fluxcd.controlplane.io" || id.kind != "ResourceSet" {
        return false;
    }
    let spec = |key: &str| object.node.at(&["spec", key]);
    let in_list = spec("resources")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .any(|resource| {
            resource
                .str_at(&["apiVersion"])
                .is_some_and(|version| version.starts_with(HELM_GROUP))
        });
    let in_text = spec("resourcesTemplate")
        .and_then(Node::as_str)
        .is_some_and(|text| text.contains(HELM_GROUP));
    in_list || in_text
}

/// True if a HelmRelease installs a chart of the tree whose templates make HelmReleases.
fn local_charts_make_releases(
    repo: &Repo,
    releases: &[(NamespacedName, &Kustomization, &Object)],
) -> bool {
    let from_a_path = releases.iter().any(|(_, _, object)| {
        object
            .node
            .str_at(&["spec", "chart", "spec", "sourceRef", "kind"])
            .is_some_and(|kind| kind != "HelmRepository")
    });
    from_a_path
        && repo.head.tree.files().any(|(path, file)| {
            path.contains("templates/") && repo.files.text(file).contains(HELM_GROUP)
        })
}
