//! `moved-object-changed`: a file moved untouched, and what Flux builds of it differs in its new place.

use std::collections::BTreeMap;

use super::support::list;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::Cluster;
use crate::kustomize::Object;
use crate::repo::{Base, Repo};
use crate::source::{FileId, Place};
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "moved-object-changed",
    group: Group::Moves,
    summary: "a file moved to another Kustomization untouched, and its objects are built differently there",
    page: include_str!("../../rules/moved-object-changed.md"),
    off_by_default: false,
    compares: true,
    check,
};

/// An object that changed owner and content, and where the first difference is.
struct Changed<'a> {
    object: &'a Object,
    from: String,
    to: String,
    paths: Vec<String>,
    place: Place,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let Some(base) = &repo.base else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (before, cluster) in repo.compared_clusters() {
        let mut groups: BTreeMap<(FileId, String, String), Vec<Changed<'_>>> = BTreeMap::new();
        for changed in changed(base, before, cluster) {
            let key = (
                changed.object.origin.file,
                changed.from.clone(),
                changed.to.clone(),
            );
            groups.entry(key).or_default().push(changed);
        }
        for ((file, from, to), objects) in groups {
            findings.push(report(cluster, file, &from, &to, &objects));
        }
    }
    findings
}

fn changed<'a>(base: &Base, before: &'a Cluster, after: &'a Cluster) -> Vec<Changed<'a>> {
    let owners = before.owners();
    let mut found = Vec::new();
    for (id, heirs) in after.owners() {
        let ([(to, object)], Some([(from, old)])) =
            (heirs.as_slice(), owners.get(&id).map(Vec::as_slice))
        else {
            continue;
        };
        let (to, from) = (&after.kustomizations[*to], &before.kustomizations[*from]);
        let differs = to.name != from.name
            && !to.fails()
            && !from.fails()
            && to.spec.remote_cluster == from.spec.remote_cluster
            && is_same_file(base, old.origin.file, object.origin.file)
            && !object.generated;
        if !differs || to.unknowns.contains(&object.node) || from.unknowns.contains(&old.node) {
            continue;
        }
        let mut paths = Vec::new();
        let mut place = None;
        differences("", &old.node, &object.node, &mut paths, &mut place);
        if let Some(place) = place.or((!paths.is_empty()).then(|| object.name_place())) {
            found.push(Changed {
                object,
                from: from.name.to_string(),
                to: to.name.to_string(),
                paths,
                place,
            });
        }
    }
    found
}

/// True if an object comes from one file that is not edited, moved or not.
fn is_same_file(base: &Base, before: FileId, after: FileId) -> bool {
    before == after
        || base.change.moved.iter().any(|moved| {
            moved.base == before && moved.head == after && moved.identical == Some(true)
        })
}

/// The paths at which two objects differ, owner labels and guards left out.
fn differences(
    path: &str,
    old: &Node,
    new: &Node,
    paths: &mut Vec<String>,
    place: &mut Option<Place>,
) {
    let (Some(_), Some(_)) = (old.as_mapping(), new.as_mapping()) else {
        if !old.same_content(new) {
            paths.push(path.to_owned());
            place.get_or_insert(new.place);
        }
        return;
    };
    let at = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    for pair in new.pairs() {
        let key = pair.key.as_str().unwrap_or_default();
        if key.starts_with("kustomize.toolkit.fluxcd.io/") {
            continue;
        }
        match old.get(key) {
            Some(old) => differences(&at(key), old, &pair.value, paths, place),
            None if is_empty_but_for_guards(&pair.value) => {}
            None => {
                paths.push(at(key));
                place.get_or_insert(pair.value.place);
            }
        }
    }
    for pair in old.pairs() {
        let key = pair.key.as_str().unwrap_or_default();
        let is_left_out =
            key.starts_with("kustomize.toolkit.fluxcd.io/") || is_empty_but_for_guards(&pair.value);
        if new.get(key).is_none() && !is_left_out {
            paths.push(at(key));
        }
    }
}

fn is_empty_but_for_guards(node: &Node) -> bool {
    node.as_mapping().is_some_and(|mapping| {
        mapping.resolved().iter().all(|pair| {
            pair.key
                .as_str()
                .is_some_and(|key| key.starts_with("kustomize.toolkit.fluxcd.io/"))
        })
    })
}

/// True for a path inside a pod template.
fn is_in_template(path: &str) -> bool {
    path.starts_with("spec.template") || path.starts_with("spec.jobTemplate")
}

fn report(
    cluster: &Cluster,
    file: FileId,
    from: &str,
    to: &str,
    objects: &[Changed<'_>],
) -> Finding {
    let restarts = |changed: &Changed<'_>| changed.paths.iter().any(|path| is_in_template(path));
    let first = objects
        .iter()
        .find(|changed| restarts(changed))
        .unwrap_or(&objects[0]);
    let is_restart = restarts(first);
    let mut shown: Vec<String> = first
        .paths
        .iter()
        .take(3)
        .map(|path| format!("`{path}`"))
        .collect();
    if first.paths.len() > 3 {
        shown.push(format!("{} more", first.paths.len() - 3));
    }
    let mut finding = Finding::new(
        RULE.name,
        if is_restart {
            Severity::Warning
        } else {
            Severity::Info
        },
        Place::file_start(file),
        format!(
            "{} moves from `{from}` to `{to}` in an unchanged file, but is built differently there: {}{}",
            first.object.id(),
            list(&shown),
            if is_restart {
                ", so its pods restart"
            } else {
                ""
            }
        ),
    )
    .help("give the new place the same labels, prefixes, patches and variables, or make that change in a commit of its own")
    .cluster(&cluster.path);
    for changed in objects {
        finding = finding.related(
            changed.place,
            format!("{} gets its new value here", changed.object.id()),
        );
    }
    finding
}
