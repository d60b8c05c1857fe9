//! `prune-on-unlist`: a file is still there, and no build reads it any more.

use std::collections::BTreeMap;

use super::losses::{
    Case, Comparison, Loss, by_weight, certainty, comparisons, prune_place, severity,
};
use super::{Group, Rule};
use crate::finding::{Certainty, Finding, Severity};
use crate::flux::{is_flux_kustomization, name_of};
use crate::repo::Repo;
use crate::source::{FileId, Place};

pub(super) static RULE: Rule = Rule {
    name: "prune-on-unlist",
    group: Group::Moves,
    summary: "a manifest is still in the tree and no build reads it any more, so Flux deletes its objects",
    page: include_str!("../../rules/prune-on-unlist.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comparison in comparisons(repo) {
        let mut groups: BTreeMap<FileId, Vec<Loss<'_>>> = BTreeMap::new();
        let dropped = dropped(&comparison);
        for loss in &dropped {
            if said_elsewhere(&comparison, loss, &dropped) {
                continue;
            }
            if let Some(file) = unread(&comparison, loss) {
                groups.entry(file).or_default().push(*loss);
            }
        }
        for (file, losses) in groups {
            findings.push(report(&comparison, file, &by_weight(losses)));
        }
    }
    findings
}

fn dropped<'a>(comparison: &Comparison<'a>) -> Vec<Loss<'a>> {
    comparison
        .losses()
        .into_iter()
        .filter(|loss| loss.case == Case::Dropped)
        .collect()
}

/// True if the owner of an object builds nothing at all now, or goes with its own file.
fn said_elsewhere(comparison: &Comparison<'_>, loss: &Loss<'_>, dropped: &[Loss<'_>]) -> bool {
    match comparison.after.find(&loss.owner.name) {
        Some(index) => super::prune_on_empty::is_emptied(comparison, index),
        None => dropped.iter().any(|other| {
            is_flux_kustomization(&other.object.node)
                && name_of(&other.object.node) == loss.owner.name
                && unread(comparison, other).is_some()
        }),
    }
}

/// The file that an object came from, where it is still in the tree and no build reads it.
fn unread(comparison: &Comparison<'_>, loss: &Loss<'_>) -> Option<FileId> {
    let repo = comparison.repo;
    let base = repo.base.as_ref()?;
    let file = loss.object.origin.file;
    let path = repo.files.path(file);
    let now = repo.head.tree.file(path).or_else(|| {
        let moved = base.change.moved.iter().find(|moved| moved.base == file)?;
        Some(moved.head)
    })?;
    (!repo.head.live.files.contains(&now) && !loss.object.generated).then_some(now)
}

fn report(comparison: &Comparison<'_>, file: FileId, losses: &[Loss<'_>]) -> Finding {
    let repo = comparison.repo;
    let first = &losses[0];
    let certainty = certainty(losses);
    let more = match losses.len() {
        1 => String::new(),
        2 => " and 1 more object".to_owned(),
        count => format!(" and {} more objects", count - 1),
    };
    let goes_with = comparison
        .goes_with(first)
        .map(|what| format!(" (with {what})"))
        .unwrap_or_default();
    let verb = match certainty {
        Certainty::Certain => "prunes",
        Certainty::Race => "may prune",
    };
    let mut finding = Finding::new(
        RULE.name,
        severity(losses, Severity::Warning),
        Place::file_start(file),
        format!(
            "`{}` is in no build any more, so `{}` {verb} {}{goes_with}{more}",
            repo.files.path(file),
            loss_owner(first),
            first.name(),
        ),
    )
    .help(
        "list the file where it belongs now; if the objects are to go, delete the file too; if \
         they are to stay unmanaged, first commit `kustomize.toolkit.fluxcd.io/prune: disabled` \
         on them and let Flux reconcile",
    )
    .cluster(&comparison.after.path)
    .related(
        prune_place(first.owner),
        format!("`{}` prunes", first.owner.name),
    );
    for entry in first.object.route.iter().rev().take(1) {
        finding = finding.related(*entry, "listed here before");
    }
    for loss in losses {
        finding = finding.related(loss.object.name_place(), loss.name());
    }
    finding.certainty = Some(certainty);
    finding
}

fn loss_owner(loss: &Loss<'_>) -> String {
    loss.owner.name.to_string()
}
