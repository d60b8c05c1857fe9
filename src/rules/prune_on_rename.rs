//! `prune-on-rename`: a Kustomization is gone, and its finalizer deletes what others render now.

use std::collections::BTreeMap;

use super::losses::{
    Case, Comparison, Loss, by_weight, certainty, comparisons, names, prune_place, severity,
};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "prune-on-rename",
    group: Group::Moves,
    summary: "a pruning Kustomization is renamed or split up, and its finalizer deletes what it owned",
    page: include_str!("../../rules/prune-on-rename.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comparison in comparisons(repo) {
        let mut vanished: BTreeMap<usize, Vec<Loss<'_>>> = BTreeMap::new();
        for loss in comparison.losses() {
            if let Case::OwnerGone { owner } = loss.case {
                vanished.entry(owner).or_default().push(loss);
            }
        }
        for (owner, losses) in vanished {
            findings.push(report(&comparison, owner, &by_weight(losses)));
        }
    }
    findings
}

fn report(comparison: &Comparison<'_>, owner: usize, losses: &[Loss<'_>]) -> Finding {
    let old = &comparison.before.kustomizations[owner];
    let mut takers: BTreeMap<usize, usize> = BTreeMap::new();
    for loss in losses {
        for to in loss.departure.to.iter().take(1) {
            *takers.entry(*to).or_default() += 1;
        }
    }
    let most = takers
        .iter()
        .max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))
        .map(|(index, _)| &comparison.after.kustomizations[*index]);
    let place = most.map_or(old.place, |new| new.place);
    let heirs: Vec<String> = takers
        .keys()
        .map(|index| format!("`{}`", comparison.after.kustomizations[*index].name))
        .collect();
    let unknown = comparison.after.unknown_kustomizations().is_some();
    let severity = if unknown {
        Severity::Info
    } else {
        severity(losses, Severity::Warning)
    };
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
    let mut finding = Finding::new(
        RULE.name,
        severity,
        place,
        format!(
            "`{}` is gone from this commit on, and its finalizer deletes what {} {} not taken over by then: {}{goes_with}{rest}",
            old.name,
            super::support::list(&heirs),
            if heirs.len() == 1 { "has" } else { "have" },
            first.name(),
        ),
    )
    .help(format!(
        "first commit `prune: false` (or `deletionPolicy: Orphan`) on `{}` alone and let Flux \
         reconcile it; rename it in a later commit",
        old.name
    ))
    .cluster(&comparison.after.path)
    .related(prune_place(old), format!("`{}` prunes", old.name));
    if let Some((guard, text)) = comparison.late_guard(first) {
        finding = finding.related(guard, text);
    }
    for loss in losses {
        finding = finding.related(loss.object.name_place(), loss.name());
    }
    finding.certainty = Some(certainty(losses));
    finding
}
