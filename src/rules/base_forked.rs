//! `base-forked`: a directory holds copies of a base's objects instead of building on it.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::support::list;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Kustomization, is_template, is_yaml};
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, ObjectId};
use crate::repo::Repo;
use crate::tree::split;
use crate::yaml::{Node, Value};

pub(super) static RULE: Rule = Rule {
    name: "base-forked",
    group: Group::Overlays,
    summary: "a directory beside a base holds changed copies of its objects and does not build on it",
    page: include_str!("../../rules/base-forked.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// From this share of equal values on, objects count as copies, in percent.
const EQUAL_PERCENT: usize = 60;

/// From this many common objects on.
const LEAST_OBJECTS: usize = 2;

/// Kind, namespace and name.
type Identity = (SmolStr, SmolStr, SmolStr);

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known: BTreeMap<&str, BTreeMap<Identity, &Node>> = BTreeMap::new();
    let entered = entered_by(repo);
    let together = |left: &str, right: &str| match (entered.get(left), entered.get(right)) {
        (Some(left), Some(right)) => !left.is_disjoint(right),
        _ => false,
    };
    for base in bases(repo) {
        let (parent, _) = split(base);
        for directory in repo.head.live.directories.keys() {
            if split(directory).0 != parent || directory == base || together(directory, base) {
                continue;
            }
            for directory in [base, directory.as_str()] {
                known
                    .entry(directory)
                    .or_insert_with(|| written_objects(repo, directory));
            }
            let (original, copy) = (&known[base], &known[directory.as_str()]);
            findings.extend(compare(repo, base, directory, original, copy));
        }
    }
    findings
}

fn builds<'a>(repo: &'a Repo<'a>) -> impl Iterator<Item = &'a Kustomization> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.kustomizations)
}

/// Directories that a neighbour builds on: entered from a kustomization file of a directory beside them.
fn bases<'a>(repo: &'a Repo<'a>) -> BTreeSet<&'a str> {
    builds(repo)
        .flat_map(|kustomization| &kustomization.build.directories)
        .filter(|directory| !directory.component)
        .filter(|directory| {
            directory.entered_from.is_some_and(|entry| {
                let from = split(repo.files.path(entry.file)).0;
                from != directory.path && split(from).0 == split(&directory.path).0
            })
        })
        .map(|directory| directory.path.as_str())
        .collect()
}

/// By directory, the builds that enter it. Two that one build enters build on each other, or on a third.
fn entered_by<'a>(repo: &'a Repo<'a>) -> BTreeMap<&'a str, BTreeSet<usize>> {
    let mut entered: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (index, kustomization) in builds(repo).enumerate() {
        for directory in &kustomization.build.directories {
            entered.entry(&directory.path).or_default().insert(index);
        }
    }
    entered
}

/// The objects in the files of a directory itself.
fn written_objects<'a>(repo: &'a Repo, directory: &str) -> BTreeMap<Identity, &'a Node> {
    repo.head
        .tree
        .files_below(directory)
        .filter(|(path, file)| {
            split(path).0 == directory
                && is_yaml(path)
                && !is_template(&repo.head.tree, path)
                && !KUSTOMIZATION_FILE_NAMES.contains(&split(path).1)
                && repo.head.live.files.contains(file)
        })
        .flat_map(|(_, file)| repo.files.yaml(file).seen())
        .filter_map(|document| {
            let id = ObjectId::of(&document.root);
            let named = !id.kind.is_empty() && !id.name.is_empty();
            named.then_some(((id.kind, id.namespace, id.name), &document.root))
        })
        .collect()
}

fn compare(
    repo: &Repo,
    base: &str,
    directory: &str,
    original: &BTreeMap<Identity, &Node>,
    copy: &BTreeMap<Identity, &Node>,
) -> Option<Finding> {
    let common: Vec<(&Node, &Node, &Identity)> = copy
        .iter()
        .filter_map(|(identity, node)| Some((*original.get(identity)?, *node, identity)))
        .collect();
    if common.len() < LEAST_OBJECTS {
        return None;
    }
    let (mut equal, mut all) = (0, 0);
    for (before, after, _) in &common {
        let (before, after) = (leaves(before), leaves(after));
        equal += before.intersection(&after).count();
        all += before.union(&after).count();
    }
    let mut different: Vec<&(&Node, &Node, &Identity)> = common
        .iter()
        .filter(|(before, after, _)| !before.same_content(after))
        .collect();
    different.sort_by_key(|(_, after, _)| (repo.files.path(after.place.file), after.place.span));
    let (before, after, _) = different.first()?;
    if equal * 100 < all * EQUAL_PERCENT {
        return None;
    }
    let names: Vec<String> = different
        .iter()
        .take(3)
        .map(|(_, _, (kind, _, name))| format!("{kind} `{name}`"))
        .collect();
    Some(
        Finding::new(
            RULE.name,
            Severity::Info,
            after.place,
            format!(
                "`{directory}` holds copies of {} objects of `{base}` instead of building on it, and {} {} apart from there by now",
                common.len(),
                list(&names),
                if names.len() == 1 { "has grown" } else { "have grown" }
            ),
        )
        .help(format!(
            "list `../{}` in the kustomization file of `{directory}` and write what differs as patches",
            split(base).1
        ))
        .related(first_difference(before, after).unwrap_or(before).place, "the base differs here"),
    )
}

/// Every value with the keys and indices that lead to it.
fn leaves(node: &Node) -> BTreeSet<String> {
    fn walk(node: &Node, path: &str, leaves: &mut BTreeSet<String>) {
        match &node.value {
            Value::Scalar(scalar) => {
                leaves.insert(format!("{path}={}", scalar.text));
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(item, &format!("{path}/{index}"), leaves);
                }
            }
            Value::Mapping(mapping) => {
                for pair in mapping.resolved() {
                    let key = pair.key.as_str().unwrap_or_default();
                    walk(&pair.value, &format!("{path}/{key}"), leaves);
                }
            }
        }
    }
    let mut leaves = BTreeSet::new();
    walk(node, "", &mut leaves);
    leaves
}

/// The first value of the base, in the order of the text, that the copy does not have alike.
fn first_difference<'a>(base: &'a Node, copy: &Node) -> Option<&'a Node> {
    match (&base.value, &copy.value) {
        (Value::Mapping(left), Value::Mapping(_)) => left.resolved().into_iter().find_map(|pair| {
            let key = pair.key.as_str()?;
            match copy.get(key) {
                Some(other) => first_difference(&pair.value, other),
                None => Some(&pair.key),
            }
        }),
        (Value::Sequence(left), Value::Sequence(right)) => {
            left.iter()
                .enumerate()
                .find_map(|(index, item)| match right.get(index) {
                    Some(other) => first_difference(item, other),
                    None => Some(item),
                })
        }
        _ => (!base.same_content(copy)).then_some(base),
    }
}
