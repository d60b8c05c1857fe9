//! `prune-on-empty`: a Kustomization's path is still there and now builds to nothing.

use super::losses::{Comparison, Loss, by_weight, certainty, comparisons, names, prune_place};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "prune-on-empty",
    group: Group::Moves,
    summary: "a pruning Kustomization's path still exists and builds to nothing, so Flux deletes all that it owned",
    page: include_str!("../../rules/prune-on-empty.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comparison in comparisons(repo) {
        let all = comparison.losses();
        for index in 0..comparison.after.kustomizations.len() {
            if !is_emptied(&comparison, index) {
                continue;
            }
            let name = &comparison.after.kustomizations[index].name;
            let lost: Vec<Loss<'_>> = all
                .iter()
                .copied()
                .filter(|loss| loss.owner.name == *name)
                .collect();
            if !lost.is_empty() {
                findings.push(report(&comparison, index, &by_weight(lost)));
            }
        }
    }
    findings
}

/// True if a Kustomization built something at the base and, without failing, builds nothing now.
pub(super) fn is_emptied(comparison: &Comparison<'_>, index: usize) -> bool {
    let now = &comparison.after.kustomizations[index];
    let before = comparison
        .before
        .find(&now.name)
        .map(|index| &comparison.before.kustomizations[index]);
    now.directory().is_some()
        && now.build.objects.is_empty()
        && !now.fails()
        && !now.unknown_objects()
        && before.is_some_and(|before| !before.build.objects.is_empty())
}

fn report(comparison: &Comparison<'_>, index: usize, losses: &[Loss<'_>]) -> Finding {
    let now = &comparison.after.kustomizations[index];
    let first = &losses[0];
    let goes_with = comparison
        .goes_with(first)
        .map(|what| format!(" (with {what})"))
        .unwrap_or_default();
    let rest = match &losses[1..] {
        [] => String::new(),
        [one] => format!(" and {}", one.name()),
        rest => format!(", {}", names(rest, 4)),
    };
    let severity = if losses.iter().all(|loss| loss.departure.doubtful) {
        Severity::Info
    } else {
        Severity::Error
    };
    let mut finding = Finding::new(
        RULE.name,
        severity,
        now.spec.path_place,
        format!(
            "`{}` builds to nothing from this commit on, so it prunes all that it applied: {}{goes_with}{rest}",
            now.name,
            first.name(),
        ),
    )
    .help(format!(
        "list in {}/ what is to stay; if the Kustomization is to go, delete its path with it (a path \
         that is missing prunes nothing) and set `prune: false` a commit before",
        now.directory().unwrap_or_default()
    ))
    .cluster(&comparison.after.path)
    .related(prune_place(now), format!("`{}` prunes", now.name));
    for loss in losses {
        finding = finding.related(loss.object.name_place(), loss.name());
    }
    finding.certainty = Some(certainty(losses));
    finding
}
