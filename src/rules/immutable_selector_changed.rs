//! `immutable-selector-changed`: a workload's selector differs from the base, and the API server refuses that.

use std::collections::BTreeMap;

use super::{Group, Rule};
use crate::change::Key;
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::source::Place;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "immutable-selector-changed",
    group: Group::Moves,
    summary: "a workload's selector changes, which the API server refuses",
    page: include_str!("../../rules/immutable-selector-changed.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (before, cluster) in repo.compared_clusters() {
        let old = selectors(before);
        for (key, (owner, object, selector)) in selectors(cluster) {
            let Some((old_owner, _, old_selector)) = old.get(&key) else {
                continue;
            };
            let unknown =
                owner.unknowns.contains(selector) || old_owner.unknowns.contains(old_selector);
            if !unknown && !selector.same_content(old_selector) {
                findings.push(report(
                    repo,
                    cluster,
                    (owner, object),
                    old_selector,
                    selector,
                ));
            }
        }
    }
    findings
}

/// The selectors of all workloads whose selector cannot be changed.
fn selectors(cluster: &Cluster) -> BTreeMap<Key, (&Kustomization, &Object, &Node)> {
    let mut found = BTreeMap::new();
    for (index, object) in cluster.objects() {
        let owner = &cluster.kustomizations[index];
        let id = object.id();
        let fixed = matches!(
            (id.group.as_str(), id.kind.as_str()),
            (
                "apps",
                "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"
            ) | ("batch", "Job")
        );
        if let Some(selector) = object.node.at(&["spec", "selector"]).filter(|_| fixed)
            && !owner.fails()
        {
            found
                .entry(Key::of(object, owner))
                .or_insert((owner, object, selector));
        }
    }
    found
}

/// A label that a kustomization file puts everywhere: the field that does so, else the place itself.
fn label_field(repo: &Repo, place: Place) -> Place {
    repo.files
        .yaml(place.file)
        .documents
        .first()
        .and_then(|document| {
            let entry = document.root.entry("commonLabels")?;
            let inside = entry.value.place.span.contains(place.span);
            inside.then_some(entry.key.place)
        })
        .unwrap_or(place)
}

fn report(
    repo: &Repo,
    cluster: &Cluster,
    (owner, object): (&Kustomization, &Object),
    old: &Node,
    new: &Node,
) -> Finding {
    let mut place = None;
    let mut words = Vec::new();
    changes("", old, new, &mut words, &mut place);
    let force = owner.node.at(&["spec", "force"]).and_then(Node::as_bool) == Some(true);
    let follows = if force {
        "with `force` the workload is deleted and created again"
    } else {
        "the API server refuses it, and nothing more of this Kustomization is applied"
    };
    Finding::new(
        RULE.name,
        Severity::Error,
        place.map_or(new.place, |place| label_field(repo, place)),
        format!(
            "{} gets another selector ({}), which is immutable: {follows}",
            object.id(),
            words.join(", ")
        ),
    )
    .help(
        "keep the selector: use `labels` with `includeSelectors: false` (and `includeTemplates: \
         true` for the pods) in place of `commonLabels`; or delete the workload on purpose first",
    )
    .related(old.place, "the selector before")
    .related(object.name_place(), format!("`{}` applies it", owner.name))
    .cluster(&cluster.path)
}

/// What differs between two selectors, label by label, and where the first new value is written.
fn changes(key: &str, old: &Node, new: &Node, words: &mut Vec<String>, place: &mut Option<Place>) {
    if old.as_mapping().is_none() || new.as_mapping().is_none() {
        if !old.same_content(new) {
            let text = |node: &Node| node.as_str().unwrap_or("…").to_owned();
            words.push(format!("`{key}: {}` → `{}`", text(old), text(new)));
            place.get_or_insert(new.place);
        }
        return;
    }
    for pair in new.pairs() {
        let name = pair.key.as_str().unwrap_or_default();
        match old.get(name) {
            Some(old) => changes(name, old, &pair.value, words, place),
            None => {
                words.push(match pair.value.as_str() {
                    Some(value) => format!("`{name}: {value}` is new"),
                    None => format!("`{name}` is new"),
                });
                place.get_or_insert(pair.value.place);
            }
        }
    }
    for pair in old.pairs() {
        let name = pair.key.as_str().unwrap_or_default();
        if new.get(name).is_none() {
            words.push(format!("`{name}` is gone"));
        }
    }
}
