//! `substitution-in-script`: a script's own `${X}` is taken for a variable of Flux.

use std::collections::BTreeMap;

use super::support::list;
use super::undefined_variable::undefined_uses;
use super::variables::{assigns, is_script};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::repo::Repo;
use crate::source::Place;
use crate::substitute::{State, VariableUse};

pub(super) static RULE: Rule = Rule {
    name: "substitution-in-script",
    group: Group::Variables,
    summary: "a script's own `${X}` is taken for a variable of Flux",
    page: include_str!("../../rules/substitution-in-script.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            let lost = undefined_uses(kustomization)
                .filter(|(_, used)| is_script(&used.path, &used.scalar));
            for (object, uses) in by_object(lost) {
                findings.push(report(repo, cluster, kustomization, object, &uses, true));
            }
            let replaced = kustomization.substitution.uses.iter().filter(|(_, used)| {
                matches!(used.state, State::Set | State::Empty)
                    && assigns(used.scalar.as_str().unwrap_or_default(), &used.name)
            });
            for (object, uses) in by_object(replaced) {
                findings.push(report(repo, cluster, kustomization, object, &uses, false));
            }
        }
    }
    findings
}

fn by_object<'a>(
    uses: impl Iterator<Item = &'a (usize, VariableUse)>,
) -> BTreeMap<usize, Vec<&'a VariableUse>> {
    let mut found: BTreeMap<usize, Vec<&VariableUse>> = BTreeMap::new();
    for (object, used) in uses {
        found.entry(*object).or_default().push(used);
    }
    found
}

fn report(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
    object: usize,
    uses: &[&VariableUse],
    lost: bool,
) -> Finding {
    let mut names: Vec<String> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for used in uses {
        let name = format!("`{}`", used.name);
        if !names.contains(&name) {
            names.push(name);
            places.push(used.place(repo.files.text(used.scalar.place.file)));
        }
    }
    let more = names.len().saturating_sub(6);
    names.truncate(6);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let id = kustomization.build.objects[object].id();
    let (severity, consequence) = match (lost, repo.config.flux_version.strict_substitution()) {
        (false, _) => (Severity::Info, "and the script gets the cluster's value"),
        (true, true) => (
            Severity::Error,
            "and refuses to build, since nothing sets them",
        ),
        (true, false) => (Severity::Error, "and puts nothing in their place"),
    };
    let first = uses
        .first()
        .map(|used| used.name.as_str())
        .unwrap_or_default();
    let place = places.iter().min().copied();
    let mut finding = Finding::new(
        RULE.name,
        severity,
        place.unwrap_or(kustomization.place),
        format!(
            "in the script of {id} Flux takes {} for its own variables, {consequence}",
            list(&names)
        ),
    )
    .help(format!(
        "write `$${{{first}}}` or `${first}`, or annotate the object with `kustomize.toolkit.fluxcd.io/substitute: disabled`"
    ))
    .cluster(&cluster.path);
    for other in places.iter().filter(|other| Some(**other) != place).take(5) {
        finding = finding.related(*other, "and here");
    }
    finding.related(
        kustomization.place,
        format!("`{}` substitutes", kustomization.name),
    )
}
