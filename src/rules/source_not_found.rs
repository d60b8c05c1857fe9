//! `source-not-found`: a sourceRef names no source of the cluster.

use std::collections::BTreeMap;

use super::support::{absence_is_sure, field_place};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, NamespacedName, SourceReference};
use crate::kustomize::{Object, ObjectId};
use crate::near;
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "source-not-found",
    group: Group::Build,
    summary: "a sourceRef names no source of the cluster",
    page: include_str!("../../rules/source-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// The sources of a cluster, and where each is written.
type Sources = BTreeMap<SourceReference, Place>;

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        if !absence_is_sure(cluster) {
            continue;
        }
        let sources = sources(cluster);
        let implied = implied_sources(cluster);
        let is_there =
            |source: &SourceReference| sources.contains_key(source) || implied.contains(source);
        for kustomization in &cluster.kustomizations {
            if let Some(source) = &kustomization.spec.source
                && !is_there(source)
                && !may_be_made(cluster, source)
            {
                let place = match kustomization.node.at(&["spec", "sourceRef", "name"]) {
                    Some(name) => name.place,
                    None => field_place(repo, cluster, kustomization, "sourceRef"),
                };
                let who = format!("Kustomization `{}`", kustomization.name);
                let finding = report(cluster, &sources, &who, source, place);
                // What Flux was installed with where nothing tells it, is not known: only a source that was
                // probably meant makes it sure.
                if cluster.entry.told.is_some() || !finding.related.is_empty() {
                    findings.push(finding);
                }
            }
            if kustomization.spec.remote_cluster {
                continue;
            }
            for object in &kustomization.build.objects {
                for (source, place) in references(kustomization, object) {
                    if !is_there(&source) && !may_be_made(cluster, &source) {
                        let who = format!("`{}`", object.id());
                        findings.push(report(cluster, &sources, &who, &source, place));
                    }
                }
            }
        }
    }
    findings
}

/// The sources that the cluster's builds make.
fn sources(cluster: &Cluster) -> Sources {
    cluster
        .objects()
        .filter(|(index, _)| !cluster.kustomizations[*index].spec.remote_cluster)
        .filter_map(|(_, object)| {
            let id = object.id();
            let is_source =
                id.group == "source.toolkit.fluxcd.io" || id.group == "source.extensions.fluxcd.io";
            is_source.then(|| (reference(&id), object.name_place()))
        })
        .collect()
}

fn reference(id: &ObjectId) -> SourceReference {
    SourceReference {
        kind: id.kind.clone(),
        target: NamespacedName::new(id.effective_namespace(), id.name.clone()),
    }
}

/// Sources that Flux is installed with: the one that an entry point syncs. Where nothing tells which that
/// is, the one that most Kustomizations name without any build making it.
fn implied_sources(cluster: &Cluster) -> Vec<SourceReference> {
    let mut implied: Vec<SourceReference> = cluster
        .kustomizations
        .iter()
        .filter(|kustomization| kustomization.parent.is_none())
        .filter_map(|root| root.spec.source.clone())
        .collect();
    match &cluster.entry.told {
        Some(told) => implied.extend(told.source.clone()),
        None => {
            let mut counts: BTreeMap<&SourceReference, usize> = BTreeMap::new();
            for source in cluster
                .kustomizations
                .iter()
                .filter_map(|kustomization| kustomization.spec.source.as_ref())
            {
                *counts.entry(source).or_default() += 1;
            }
            let most = counts
                .into_iter()
                .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
            implied.extend(most.map(|(source, _)| source.clone()));
        }
    }
    implied
}

/// True if an object of the cluster may make the source, in a way that the tree does not show.
fn may_be_made(cluster: &Cluster, source: &SourceReference) -> bool {
    cluster.objects().any(|(_, object)| {
        match object.node.str_at(&["kind"]).unwrap_or_default() {
            "ArtifactGenerator" => source.kind == "ExternalArtifact",
            "ResourceSet" => true,
            // The instance brings its own source.
            "FluxInstance" => object.node.at(&["spec", "sync"]).is_some(),
            _ => false,
        }
    })
}

/// The sources that an object of helm-controller or source-controller names.
fn references(kustomization: &Kustomization, object: &Object) -> Vec<(SourceReference, Place)> {
    let id = object.id();
    let fields: &[&[&str]] = match (id.group.as_str(), id.kind.as_str()) {
        ("helm.toolkit.fluxcd.io", "HelmRelease") => &[
            &["spec", "chart", "spec", "sourceRef"],
            &["spec", "chartRef"],
        ],
        ("source.toolkit.fluxcd.io", "HelmChart") => &[&["spec", "sourceRef"]],
        _ => &[],
    };
    fields
        .iter()
        .filter_map(|field| {
            let node = object.node.at(field)?;
            let known = |node: &Node| !kustomization.unknowns.contains(node);
            let metadata = object.node.at(&["metadata", "namespace"]);
            if !known(node) || !metadata.is_none_or(known) {
                return None;
            }
            let name = node.get("name")?;
            let source = SourceReference {
                kind: node.str_at(&["kind"])?.into(),
                target: NamespacedName::new(
                    node.str_at(&["namespace"])
                        .filter(|namespace| !namespace.is_empty())
                        .unwrap_or(id.effective_namespace()),
                    name.as_str()?,
                ),
            };
            Some((source, name.place))
        })
        .collect()
}

fn report(
    cluster: &Cluster,
    sources: &Sources,
    who: &str,
    source: &SourceReference,
    place: Place,
) -> Finding {
    let finding = Finding::new(
        RULE.name,
        Severity::Error,
        place,
        format!("{who} takes its files from `{source}`, which is no source of this cluster"),
    )
    .cluster(&cluster.path);
    let same_kind = || {
        sources
            .iter()
            .filter(|(other, _)| other.kind == source.kind)
    };
    if let Some((other, at)) =
        same_kind().find(|(other, _)| other.target.name == source.target.name)
    {
        return finding
            .help(format!("add `namespace: {}`", other.target.namespace))
            .related(*at, format!("`{}` is in another namespace", other.target));
    }
    if let Some((other, at)) = sources
        .iter()
        .find(|(other, _)| other.target == source.target)
    {
        return finding
            .help(format!("write `kind: {}`", other.kind))
            .related(*at, format!("`{}` is a {}", other.target, other.kind));
    }
    let candidates = same_kind()
        .filter(|(other, _)| other.target.namespace == source.target.namespace)
        .map(|(other, _)| other.target.name.as_str());
    let near = near::nearest(&source.target.name, candidates).and_then(|near| {
        same_kind().find(|(other, _)| {
            other.target.name == near && other.target.namespace == source.target.namespace
        })
    });
    match near {
        Some((other, at)) => finding
            .help(format!("write `name: {}`", other.target.name))
            .related(*at, format!("`{}` is defined here", other.target)),
        None => finding.help(format!(
            "add the {} to the cluster, or name one that is there",
            source.kind
        )),
    }
}
