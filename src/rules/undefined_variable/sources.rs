//! ConfigMaps and Secrets that `substituteFrom` names and that are surely missing.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::super::support::{absence_is_sure, list};
use super::RULE;
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, SubstituteFrom};
use crate::kustomize::Object;
use crate::near;
use crate::repo::Repo;
use crate::source::Place;

/// More edits than these, and a name that is alike is that of another thing, made outside the tree.
const MOST_EDITS: usize = 2;

/// A source of variables: kind, namespace, name.
type SourceId<'a> = (&'a str, &'a str, &'a str);

/// The missing sources of a cluster, each once, at the first entry that names it. One that is in
/// the tree nowhere may be made outside it, and is not reported.
pub(super) fn missing(repo: &Repo, cluster: &Cluster) -> Vec<Finding> {
    if !absence_is_sure(cluster) || !names_are_known(cluster) {
        return Vec::new();
    }
    let mut wanted: BTreeMap<SourceId, Vec<(&Kustomization, Place)>> = BTreeMap::new();
    for kustomization in &cluster.kustomizations {
        for entry in &kustomization.spec.substitute_from {
            let id = (
                entry.kind.as_str(),
                kustomization.name.namespace.as_str(),
                entry.name.as_str(),
            );
            if is_needed(repo, entry) && find(cluster, id).is_none() {
                wanted
                    .entry(id)
                    .or_default()
                    .push((kustomization, entry.place));
            }
        }
    }
    wanted
        .into_iter()
        .filter_map(|(id, mut users)| {
            users.sort_by_key(|(_, place)| *place);
            report(repo, cluster, id, &users)
        })
        .collect()
}

/// True for an entry without which Flux refuses to go on, and which the configuration does not call external.
fn is_needed(repo: &Repo, entry: &SubstituteFrom) -> bool {
    let external = &repo.config.external;
    !entry.unknown
        && !entry.optional
        && !entry.name.is_empty()
        && matches!(entry.kind.as_str(), "ConfigMap" | "Secret")
        && !external.sources.iter().any(|name| *name == entry.name)
}

/// True unless a ConfigMap or Secret has a name that substitution leaves unknown.
fn names_are_known(cluster: &Cluster) -> bool {
    cluster
        .objects()
        .map(|(_, object)| object.id())
        .filter(|id| id.kind == "ConfigMap" || id.kind == "Secret")
        .all(|id| !id.name.contains('$') && !id.namespace.contains('$'))
}

fn find<'a>(cluster: &'a Cluster, (kind, namespace, name): SourceId) -> Option<&'a Object> {
    cluster.objects().map(|(_, object)| object).find(|object| {
        let id = object.id();
        id.group.is_empty()
            && id.kind == kind
            && id.name == name
            && id.effective_namespace() == namespace
    })
}

fn report(
    repo: &Repo,
    cluster: &Cluster,
    id: SourceId,
    users: &[(&Kustomization, Place)],
) -> Option<Finding> {
    let (kind, namespace, name) = id;
    let (help, related) = explain(repo, cluster, id)?;
    let mut names: Vec<String> = users
        .iter()
        .map(|(user, _)| format!("`{}`", user.name))
        .collect();
    names.dedup();
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        users.first()?.1,
        format!(
            "no Kustomization of this cluster builds {kind} `{namespace}/{name}`, from which {} takes variables: Flux does not go on without it",
            list(&super::super::support::shortened(&names))
        ),
    )
    .help(help)
    .cluster(&cluster.path)
    .related(related.0, related.1);
    for (user, place) in users.iter().skip(1).take(5) {
        finding = finding.related(*place, format!("`{}` names it too", user.name));
    }
    Some(finding)
}

/// What to do, and what proves that the source should be there.
fn explain(repo: &Repo, cluster: &Cluster, id: SourceId) -> Option<(String, (Place, String))> {
    let (kind, namespace, name) = id;
    let alike: Vec<(SmolStr, &Object)> = cluster
        .objects()
        .map(|(_, object)| (object.id(), object))
        .filter(|(id, _)| {
            kind == "ConfigMap"
                && id.group.is_empty()
                && id.kind == kind
                && id.effective_namespace() == namespace
        })
        .map(|(id, object)| (id.name, object))
        .collect();
    let near = near::nearest_within(
        MOST_EDITS,
        name,
        alike.iter().map(|(name, _)| name.as_str()),
    );
    if let Some((near, object)) = near.and_then(|near| alike.iter().find(|(name, _)| name == near))
    {
        let related = (
            object.name_place(),
            format!("{kind} `{near}` is built here"),
        );
        return Some((
            format!("write `{near}`, or call that {kind} `{name}`"),
            related,
        ));
    }
    let others = repo.head.flux.clusters.iter();
    if let Some((other, object)) = others
        .filter(|other| other.path != cluster.path)
        .find_map(|other| Some((other, find(other, id)?)))
    {
        return Some((
            format!("build it for this cluster too, as `{}` does", other.path),
            (object.name_place(), format!("that of `{}`", other.path)),
        ));
    }
    let before = repo.base.as_ref()?.picture.flux.clusters.iter();
    let object = before
        .filter(|before| before.path == cluster.path)
        .find_map(|before| find(before, id))?;
    Some((
        "bring it back, or take the entry out of `substituteFrom`".to_owned(),
        (
            object.name_place(),
            "it was built from here at the base revision".to_owned(),
        ),
    ))
}
