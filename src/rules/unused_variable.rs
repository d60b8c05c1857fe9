//! `unused-variable`: a variable that nothing uses.

use std::collections::{BTreeMap, BTreeSet};

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "unused-variable",
    group: Group::Variables,
    summary: "a variable that nothing uses",
    page: include_str!("../../rules/unused-variable.md"),
    off_by_default: true,
    compares: false,
    check,
};

/// A variable where it is set.
#[derive(Default)]
struct Definition {
    name: String,
    used: bool,
    /// True if a Kustomization that has it builds objects that cannot be known.
    doubtful: bool,
    clusters: BTreeSet<String>,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut definitions: BTreeMap<Place, Definition> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            let substitution = &kustomization.substitution;
            if !substitution.ran {
                continue;
            }
            let used: BTreeSet<&str> = substitution
                .uses
                .iter()
                .map(|(_, used)| used.name.as_str())
                .collect();
            for (name, variable) in substitution.variables.iter() {
                let definition = definitions.entry(variable.place).or_default();
                name.as_str().clone_into(&mut definition.name);
                definition.used |= used.contains(name.as_str());
                definition.doubtful |= kustomization.unknown_objects() || kustomization.fails();
                definition.clusters.insert(cluster.path.clone());
            }
        }
    }
    definitions
        .into_iter()
        .filter(|(_, definition)| !definition.used && !definition.doubtful)
        .map(|(place, definition)| {
            let mut finding = Finding::new(
                RULE.name,
                Severity::Info,
                place,
                format!("variable `{}` is used nowhere", definition.name),
            )
            .help("remove it");
            finding.clusters = definition.clusters.into_iter().collect();
            finding
        })
        .collect()
}
