//! `invalid-variable-name`: a source of variables has a key that is no name of a variable.

use std::collections::BTreeMap;

use super::support::list;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "invalid-variable-name",
    group: Group::Variables,
    summary: "a source of variables has a key that is no name of a variable",
    page: include_str!("../../rules/invalid-variable-name.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            let substitution = &kustomization.substitution;
            if !substitution.ran || !substitution.touched {
                continue;
            }
            // Of each source one finding, at the first of its keys.
            let mut sources: BTreeMap<Place, Vec<(Place, &str)>> = BTreeMap::new();
            for (place, name, from) in &substitution.variables.invalid_names {
                let from = if from == place {
                    kustomization.place
                } else {
                    *from
                };
                sources.entry(from).or_default().push((*place, name));
            }
            for (from, mut keys) in sources {
                keys.sort();
                findings.push(report(cluster, kustomization, from, &keys));
            }
        }
    }
    findings
}

fn report(
    cluster: &Cluster,
    kustomization: &Kustomization,
    from: Place,
    keys: &[(Place, &str)],
) -> Finding {
    let (place, first) = keys.first().copied().unwrap_or((from, ""));
    let names: Vec<String> = keys.iter().map(|(_, name)| format!("`{name}`")).collect();
    let verb = match keys.len() {
        1 => "is no name for a variable",
        _ => "are no names for variables",
    };
    let help =
        corrected(first).map_or_else(|| "rename it".to_owned(), |name| format!("write `{name}`"));
    let mut finding = Finding::new(
        RULE.name,
        Severity::Error,
        place,
        format!(
            "{} {verb}: letters, digits and `_` only, no digit first",
            list(&names)
        ),
    )
    .help(format!(
        "{help}, or move the key to where no `substituteFrom` leads; used or not, every Kustomization that takes variables from here fails"
    ))
    .cluster(&cluster.path);
    for (place, name) in keys.iter().skip(1).take(5) {
        finding = finding.related(*place, format!("`{name}` too"));
    }
    finding.related(
        from,
        format!("`{}` takes its variables from it", kustomization.name),
    )
}

/// The name with what is not allowed in it replaced.
fn corrected(name: &str) -> Option<String> {
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    crate::substitute::is_valid_name(&name).then_some(name)
}
