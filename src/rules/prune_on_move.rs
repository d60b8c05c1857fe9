//! `prune-on-move`: an object leaves a Kustomization for another, and Flux may delete it on the way.

use std::collections::BTreeMap;

use super::losses::{
    Case, Comparison, Loss, by_weight, certainty, comparisons, prune_place, severity,
};
use super::{Group, Rule};
use crate::finding::{Certainty, Finding, Severity};
use crate::repo::Repo;
use crate::source::FileId;

pub(super) static RULE: Rule = Rule {
    name: "prune-on-move",
    group: Group::Moves,
    summary: "an object moves to another Kustomization, and Flux deletes it on the way",
    page: include_str!("../../rules/prune-on-move.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comparison in comparisons(repo) {
        let mut groups: BTreeMap<(FileId, Case), Vec<Loss<'_>>> = BTreeMap::new();
        for loss in comparison.losses() {
            let file = comparison.file_after(loss.departure);
            if let (Case::Moved { .. }, Some(file)) = (loss.case, file) {
                groups.entry((file, loss.case)).or_default().push(loss);
            }
        }
        let namespaces: Vec<(Case, String)> = groups
            .values()
            .flatten()
            .filter(|loss| loss.departure.key.id.kind == "Namespace")
            .map(|loss| (loss.case, loss.departure.key.id.name.to_string()))
            .collect();
        for ((_, case), losses) in groups {
            // What lies in a Namespace that takes the same way is told with it.
            let inside = |loss: &Loss<'_>| {
                let namespace = loss.departure.key.id.namespace.as_str();
                namespaces
                    .iter()
                    .any(|(other, name)| *other == case && name == namespace)
            };
            if losses.iter().all(inside) {
                continue;
            }
            let Case::Moved { from, to } = case else {
                continue;
            };
            findings.push(report(&comparison, &by_weight(losses), from, to));
        }
    }
    findings
}

fn report(comparison: &Comparison<'_>, losses: &[Loss<'_>], from: usize, to: usize) -> Finding {
    let first = &losses[0];
    let old = &comparison.before.kustomizations[from];
    let new = &comparison.after.kustomizations[to];
    let certainty = certainty(losses);
    let more = match losses.len() {
        1 => String::new(),
        2 => " (and 1 more object of this file)".to_owned(),
        count => format!(" (and {} more objects of this file)", count - 1),
    };
    let goes_with = comparison
        .goes_with(first)
        .map(|what| format!(", with {what},"))
        .unwrap_or_default();
    let is_deleted = match certainty {
        Certainty::Certain => "is deleted on the way",
        Certainty::Race => "may be deleted on the way",
    };
    let moves = if old.name == new.name {
        format!("{}{more} stays in `{}` but", first.name(), new.name)
    } else {
        format!(
            "{}{more} moves from `{}` to `{}` and",
            first.name(),
            old.name,
            new.name
        )
    };
    let mut finding = Finding::new(
        RULE.name,
        severity(
            losses,
            match certainty {
                Certainty::Certain => Severity::Warning,
                Certainty::Race => Severity::Info,
            },
        ),
        comparison.place(first),
        format!(
            "{moves}{goes_with} {is_deleted}: {}",
            comparison.reason(first, from, to)
        ),
    )
    .help(
        "move it with `wavelint plan`; by hand: commit the annotation \
         `kustomize.toolkit.fluxcd.io/prune: disabled` where it is now, let Flux reconcile, \
         and move it in a later commit",
    )
    .cluster(&comparison.after.path);
    finding.certainty = Some(certainty);
    if let Some((place, text)) = comparison.late_guard(first) {
        finding = finding.related(place, text);
    }
    for loss in losses {
        finding = finding.related(
            loss.object.name_place(),
            format!("{}, applied by `{}` before", loss.name(), loss.owner.name),
        );
    }
    finding
        .related(prune_place(old), format!("`{}` prunes", old.name))
        .related(new.place, format!("`{}`, which applies it now", new.name))
}
