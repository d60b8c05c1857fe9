//! `undefined-variable`: `${X}` is substituted, and nothing sets X.

mod sources;

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::support::list;
use super::variables::{is_in_comment, is_script};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization, is_flux_kustomization};
use crate::repo::Repo;
use crate::source::{Place, Span};
use crate::substitute::{self, FaultKind, Reference, State, VariableUse};
use crate::yaml::{Node, span_in_scalar};

pub(super) static RULE: Rule = Rule {
    name: "undefined-variable",
    group: Group::Variables,
    summary: "`${X}` is substituted and nothing sets X, or a source of variables is missing",
    page: include_str!("../../rules/undefined-variable.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        findings.extend(sources::missing(repo, cluster));
        let substituted = mostly_substituted(cluster);
        for kustomization in &cluster.kustomizations {
            if kustomization.substitution.ran {
                findings.extend(undefined(repo, cluster, kustomization));
            } else if !substituted.is_empty() {
                findings.extend(left_as_written(repo, cluster, kustomization, &substituted));
            }
        }
    }
    findings
}

/// The variables without value or default, each with all its places; what `substitution-in-script` reports is not among them.
fn undefined(repo: &Repo, cluster: &Cluster, kustomization: &Kustomization) -> Vec<Finding> {
    let mut found: BTreeMap<(&SmolStr, bool), Vec<Place>> = BTreeMap::new();
    for (_, used) in undefined_uses(kustomization) {
        if !is_script(&used.path, &used.scalar) {
            let text = used.scalar.as_str().unwrap_or_default();
            let in_comment = is_in_comment(text, used.range.start);
            let place = used.place(repo.files.text(used.scalar.place.file));
            found
                .entry((&used.name, in_comment))
                .or_default()
                .push(place);
        }
    }
    if !repo.config.flux_version.strict_substitution() {
        found.retain(|(_, in_comment), _| !in_comment);
    }
    found
        .into_iter()
        .map(|((name, in_comment), mut places)| {
            places.sort();
            places.dedup();
            let consequence = if repo.config.flux_version.strict_substitution() {
                "Flux refuses to build it"
            } else {
                "Flux puts nothing in its place"
            };
            let mut finding = Finding::new(
                RULE.name,
                Severity::Error,
                places[0],
                format!(
                    "`${{{name}}}` is set by no variable of `{}` and has no default: {consequence}",
                    kustomization.name
                ),
            )
            .help(help(repo, kustomization, name))
            .cluster(&cluster.path);
            if in_comment {
                finding.severity = Severity::Info;
                finding.message += ", though it stands in a comment of that text";
            }
            for place in places.iter().skip(1).take(5) {
                finding = finding.related(*place, "used here too");
            }
            finding.related(
                kustomization.place,
                format!("`{}` substitutes", kustomization.name),
            )
        })
        .collect()
}

fn help(repo: &Repo, kustomization: &Kustomization, name: &str) -> String {
    let elsewhere: Vec<String> = repo
        .head
        .flux
        .clusters
        .iter()
        .filter(|cluster| {
            cluster.kustomizations.iter().any(|other| {
                other.name == kustomization.name && other.substitution.variables.get(name).is_some()
            })
        })
        .map(|cluster| format!("`{}`", cluster.path))
        .collect();
    if !elsewhere.is_empty() {
        return format!(
            "set it for this cluster too; it is set in {}",
            list(&elsewhere)
        );
    }
    let known = kustomization.substitution.variables.iter();
    match crate::near::nearest(name, known.map(|(name, _)| name.as_str())) {
        Some(near) => format!("write `${{{near}}}`, or set `{name}`"),
        None => format!(
            "set `{name}` in `postBuild`, give a default (`${{{name}:-…}}`), or write `$${{{name}}}` if Flux is to leave it alone"
        ),
    }
}

/// The uses of a Kustomization's substitution for which nothing has a value. One inside another
/// reference counts only where it is really evaluated.
pub(super) fn undefined_uses(
    kustomization: &Kustomization,
) -> impl Iterator<Item = &(usize, VariableUse)> {
    let substitution = &kustomization.substitution;
    let at_fault: BTreeSet<(Place, usize)> = substitution
        .faults
        .iter()
        .filter(|(_, fault)| fault.kind == FaultKind::Undefined)
        .map(|(_, fault)| (fault.scalar.place, fault.range.start))
        .collect();
    substitution.uses.iter().filter(move |(_, used)| {
        used.state == State::Unset
            && !used.has_default
            && (!used.nested || at_fault.contains(&(used.scalar.place, used.range.start)))
    })
}

/// The variables that more Kustomizations of a cluster substitute with a value than leave as they are.
/// Where most leave one alone, something outside the tree fills it in: a webhook, or another tool.
fn mostly_substituted(cluster: &Cluster) -> BTreeSet<String> {
    let is_set = |used: &VariableUse| matches!(used.state, State::Set | State::Empty);
    let any = cluster.kustomizations.iter().any(|kustomization| {
        let uses = &kustomization.substitution.uses;
        kustomization.substitution.ran && uses.iter().any(|(_, used)| is_set(used))
    });
    // Where nothing is substituted, no walk over all objects can find what is.
    if !any {
        return BTreeSet::new();
    }
    let mut balance: BTreeMap<String, isize> = BTreeMap::new();
    for kustomization in &cluster.kustomizations {
        if kustomization.substitution.ran {
            let names: BTreeSet<&str> = kustomization
                .substitution
                .uses
                .iter()
                .filter(|(_, used)| is_set(used))
                .map(|(_, used)| used.name.as_str())
                .collect();
            for name in names {
                *balance.entry(name.to_owned()).or_default() += 1;
            }
        } else {
            let mut names = BTreeSet::new();
            for object in &kustomization.build.objects {
                for_each_reference(&object.node, &mut |_, _, reference| {
                    names.insert(reference.name.to_string());
                });
            }
            for name in names {
                *balance.entry(name).or_default() -= 1;
            }
        }
    }
    balance
        .into_iter()
        .filter(|(_, balance)| *balance > 0)
        .map(|(name, _)| name)
        .collect()
}

/// Calls `visit` for every reference in an object that substitution would look at.
fn for_each_reference(node: &Node, visit: &mut dyn FnMut(&[SmolStr], &Node, &Reference)) {
    if substitute::is_disabled(node) {
        return;
    }
    let is_kustomization = is_flux_kustomization(node);
    walk(node, &mut Vec::new(), &mut |path, scalar| {
        // A child's own patches and variables are substituted by the child.
        let is_for_the_child = is_kustomization
            && matches!(
                path.get(1).map(SmolStr::as_str),
                Some("patches" | "postBuild")
            );
        let text = scalar.as_str().unwrap_or_default();
        if is_for_the_child || !text.contains("${") {
            return;
        }
        for reference in substitute::references(text).unwrap_or_default() {
            visit(path, scalar, &reference);
        }
    });
}

/// A Kustomization without substitution whose objects hold a variable that is one elsewhere.
fn left_as_written(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
    substituted: &BTreeSet<String>,
) -> Vec<Finding> {
    let mut found: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for object in &kustomization.build.objects {
        for_each_reference(&object.node, &mut |path, scalar, reference| {
            if reference.nested
                || !substituted.contains(reference.name.as_str())
                || is_script(path, scalar)
            {
                return;
            }
            let part = Span::new(reference.range.start, reference.range.end);
            found
                .entry(reference.name.to_string())
                .or_default()
                .push(Place {
                    file: scalar.place.file,
                    span: span_in_scalar(scalar, repo.files.text(scalar.place.file), part),
                });
        });
    }
    found
        .into_iter()
        .map(|(name, places)| {
            let mut finding = Finding::new(
                RULE.name,
                Severity::Warning,
                places[0],
                format!(
                    "`${{{name}}}` stays as it is written: `{}` substitutes nothing, while others of the cluster substitute `{name}`",
                    kustomization.name
                ),
            )
            .help("give it the same `postBuild` as the others, or write the value")
            .cluster(&cluster.path);
            for place in places.iter().skip(1).take(5) {
                finding = finding.related(*place, "and here");
            }
            finding.related(
                kustomization.place,
                format!("`{}` has no `postBuild`", kustomization.name),
            )
        })
        .collect()
}

/// Calls `visit` for every scalar value with the keys that lead to it.
fn walk(node: &Node, path: &mut Vec<SmolStr>, visit: &mut dyn FnMut(&[SmolStr], &Node)) {
    if node.as_scalar().is_some() {
        visit(path, node);
        return;
    }
    for item in node.items() {
        path.push(SmolStr::default());
        walk(item, path, visit);
        path.pop();
    }
    for pair in node.pairs() {
        path.push(pair.key.as_str().unwrap_or_default().into());
        walk(&pair.value, path, visit);
        path.pop();
    }
}
