//! `path-not-found`: a Kustomization's path leads nowhere.

use super::{Group, Rule};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::flux::{Cluster, Kustomization, Location, Tri, clamp};
use crate::near;
use crate::repo::Repo;
use crate::tree::{Tree, split};

pub(super) static RULE: Rule = Rule {
    name: "path-not-found",
    group: Group::Build,
    summary: "a Kustomization's path is missing, or no directory",
    page: include_str!("../../rules/path-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            if kustomization.spec.suspend == Tri::Unknown {
                continue;
            }
            findings.extend(judge(repo, cluster, kustomization));
        }
    }
    findings
}

fn judge(repo: &Repo, cluster: &Cluster, kustomization: &Kustomization) -> Option<Finding> {
    let tree = &repo.head.tree;
    let written = kustomization.spec.path.as_deref().unwrap_or_default();
    let place = match (&cluster.entry.told, kustomization.parent) {
        (Some(told), None) => told.place,
        _ => kustomization.spec.path_place,
    };
    let told_elsewhere = match (&cluster.entry.told, kustomization.parent) {
        (Some(told), None) if told.missing => Some(Location::Missing(clamp(&told.written))),
        _ => None,
    };
    let location = told_elsewhere.as_ref().unwrap_or(&kustomization.location);
    let (message, help) = match location {
        Location::File(_) => (
            format!("path `{written}` of `{}` is a file", kustomization.name),
            format!("name its directory: `path: ./{}`", split(&clamp(written)).0),
        ),
        Location::Missing(_) if written.contains('\\') => (
            format!(
                "path `{written}` of `{}` has backslashes, which are no separators for Flux",
                kustomization.name
            ),
            format!("write `path: {}`", written.replace('\\', "/")),
        ),
        Location::Missing(path) if tree.is_directory(path) => (
            format!(
                "path `{written}` of `{}` is in this repository, and not in what Flux packs of it",
                kustomization.name
            ),
            "bring it back in `.sourceignore` or in the source's `spec.ignore`".to_owned(),
        ),
        Location::Missing(path) => (
            format!(
                "path `{written}` of `{}` is not in this repository",
                kustomization.name
            ),
            match nearest_directory(tree, path, root_of(path, written)) {
                Some(near) => format!("write `path: ./{near}`"),
                None => "correct the path; until then nothing of it is applied, and nothing pruned"
                    .to_owned(),
            },
        ),
        _ => return None,
    };
    let finding = Finding::new(RULE.name, Severity::Error, place, message)
        .help(help)
        .cluster(&cluster.path);
    let corrected = match location {
        Location::Missing(path) => respelt(tree, path, written),
        _ => None,
    };
    Some(match corrected {
        Some(text) if repo.files.slice(place) == written => finding.fix(Fix {
            safe: true,
            title: format!("write `{text}`"),
            edits: vec![Edit { place, text }],
            moves: Vec::new(),
        }),
        _ => finding,
    })
}

/// The path as it is spelt, where only its separators or the case of its letters are wrong.
fn respelt(tree: &Tree, path: &str, written: &str) -> Option<String> {
    let root = root_of(path, written);
    let wanted = clamp(&written.replace('\\', "/"));
    let mut same = tree
        .directories()
        .into_iter()
        .filter_map(|directory| directory.strip_prefix(root))
        .filter(|directory| directory.eq_ignore_ascii_case(&wanted));
    let only = same.next()?;
    (same.next().is_none() && only != clamp(written)).then(|| format!("./{only}"))
}

/// The root of the artifact in the linted tree: what stands before the written path.
fn root_of<'p>(path: &'p str, written: &str) -> &'p str {
    path.strip_suffix(clamp(written).as_str())
        .unwrap_or_default()
}

/// The existing directory that was probably meant, as seen from the artifact's root: the same but for
/// case, one name misspelt, or moved.
fn nearest_directory(tree: &Tree, path: &str, root: &str) -> Option<String> {
    let path = path.strip_prefix(root).unwrap_or(path);
    let directories: Vec<&str> = tree
        .directories()
        .into_iter()
        .filter_map(|directory| directory.strip_prefix(root))
        .collect();
    if let Some(same) = directories
        .iter()
        .find(|directory| directory.eq_ignore_ascii_case(path))
    {
        return Some((*same).to_owned());
    }
    let found = near::nearest(path, directories.iter().copied());
    if let Some(found) = found {
        return Some(found.to_owned());
    }
    let mut ending = directories
        .iter()
        .filter(|directory| split(directory).1 == split(path).1)
        .peekable();
    let only = ending.next()?;
    ending.next().is_none().then(|| (*only).to_owned())
}
