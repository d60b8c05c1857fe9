//! `custom-resource-before-crd`: a custom resource beside the HelmRelease that installs its definition.

use std::collections::BTreeSet;

use super::support::charts::{
    Provides, any_provides, chart_name, installed_before_flux, is_release, provides,
};
use super::support::gates::applied_before;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::graph::Closure;
use crate::kustomize::Object;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "custom-resource-before-crd",
    group: Group::Order,
    summary: "a custom resource stands beside the HelmRelease that installs its CRD",
    page: include_str!("../../rules/custom-resource-before-crd.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let outside = installed_before_flux(repo);
    for cluster in &repo.head.flux.clusters {
        let releases = Releases::of(cluster, &outside);
        for index in 0..cluster.kustomizations.len() {
            findings.extend(releases.beside(index));
        }
    }
    findings
}

/// A HelmRelease whose chart is known by name.
struct Release<'a> {
    owner: usize,
    object: &'a Object,
    chart: String,
}

/// All HelmReleases of a cluster.
struct Releases<'a> {
    cluster: &'a Cluster,
    all: Vec<Release<'a>>,
    /// Who is applied before whom.
    before: Closure,
    /// Names of what is installed before Flux runs.
    outside: &'a BTreeSet<String>,
}

impl<'a> Releases<'a> {
    fn of(cluster: &'a Cluster, outside: &'a BTreeSet<String>) -> Self {
        let all = cluster
            .objects()
            .filter(|(_, object)| is_release(object))
            .filter_map(|(owner, object)| {
                let chart = chart_name(cluster, &cluster.kustomizations[owner], object)?;
                Some(Release {
                    owner,
                    object,
                    chart,
                })
            })
            .collect();
        Self {
            cluster,
            all,
            before: applied_before(cluster),
            outside,
        }
    }

    /// One finding for each HelmRelease that installs what custom resources beside it need.
    fn beside(&self, index: usize) -> Vec<Finding> {
        let kustomization = &self.cluster.kustomizations[index];
        let own: Vec<&Release> = self
            .all
            .iter()
            .filter(|release| release.owner == index)
            .collect();
        if own.is_empty() || kustomization.fails() || kustomization.unknown_objects() {
            return Vec::new();
        }
        let groups: BTreeSet<_> = kustomization
            .build
            .objects
            .iter()
            .map(|object| object.id().group)
            .filter(|group| group.contains('.'))
            .collect();
        let mut findings = Vec::new();
        for release in own {
            let name = release.object.id().name;
            if self.outside.contains(&release.chart) || self.outside.contains(name.as_str()) {
                continue;
            }
            let mut resources: Vec<&Object> = Vec::new();
            let mut surely = false;
            for group in &groups {
                let certainty = provides(kustomization, release.object, &release.chart, group);
                if certainty == Provides::No
                    || any_provides(self.outside, group)
                    || self.provided_otherwise(index, group)
                {
                    continue;
                }
                surely |= certainty == Provides::Surely;
                resources.extend(
                    kustomization
                        .build
                        .objects
                        .iter()
                        .filter(|object| object.id().group == *group),
                );
            }
            findings.extend(self.report(kustomization, release, &resources, surely));
        }
        findings
    }

    /// True if something other than the HelmReleases beside them brings the definitions of a
    /// group, or might: a definition in this build, or a Kustomization that does not itself come after this one.
    fn provided_otherwise(&self, index: usize, group: &str) -> bool {
        self.cluster
            .kustomizations
            .iter()
            .enumerate()
            .any(|(other, kustomization)| {
                let brings = kustomization
                    .build
                    .objects
                    .iter()
                    .any(|object| defines(object, group));
                if other == index {
                    return brings;
                }
                if self.before.reaches(other, index) {
                    return false;
                }
                let might = kustomization.unknown_objects()
                    && (self.before.reaches(index, other) || speaks_of_definitions(kustomization));
                brings
                    || might
                    || self.all.iter().any(|release| {
                        release.owner == other
                            && provides(kustomization, release.object, &release.chart, group)
                                != Provides::No
                    })
            })
    }

    fn report(
        &self,
        kustomization: &Kustomization,
        release: &Release,
        resources: &[&Object],
        surely: bool,
    ) -> Option<Finding> {
        let first = resources.first()?;
        let place = first
            .node
            .get("kind")
            .map_or(first.name_place(), |kind| kind.place);
        let (severity, installs) = if surely {
            (Severity::Error, "installs")
        } else {
            (Severity::Warning, "probably installs")
        };
        let more = match resources.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let mut finding = Finding::new(
            RULE.name,
            severity,
            place,
            format!(
                "`{}`{more} is applied together with `{}`, whose chart `{}` {installs} its definition: on a new cluster neither ever is",
                first.id(),
                release.object.id(),
                release.chart
            ),
        )
        .help(format!(
            "apply it by a Kustomization of its own that dependsOn `{}`, which has to wait",
            kustomization.name.name
        ))
        .cluster(&self.cluster.path)
        .related(
            release
                .object
                .node
                .at(&["spec", "chart", "spec", "chart"])
                .or_else(|| release.object.node.at(&["spec", "chartRef", "name"]))
                .map_or(release.object.name_place(), |chart| chart.place),
            format!("chart `{}` {installs} the definition", release.chart),
        );
        for resource in resources.iter().skip(1) {
            finding = finding.related(
                resource.name_place(),
                format!("`{}` needs it too", resource.id()),
            );
        }
        Some(finding)
    }
}

/// True for a CustomResourceDefinition of a group.
fn defines(object: &Object, group: &str) -> bool {
    let id = object.id();
    id.kind == "CustomResourceDefinition"
        && id.group == "apiextensions.k8s.io"
        && object.node.str_at(&["spec", "group"]) == Some(group)
}

/// True for a Kustomization that is there to bring definitions, by its name or path.
fn speaks_of_definitions(kustomization: &Kustomization) -> bool {
    kustomization.name.name.to_lowercase().contains("crd")
        || kustomization
            .spec
            .path
            .as_ref()
            .is_some_and(|path| path.to_lowercase().contains("crd"))
}
