//! `duplicate-object`: one build yields an identity twice.

use std::collections::BTreeMap;

use super::overlapping_paths::builds_all;
use super::{Group, Rule, problems};
use crate::finding::Finding;
use crate::kustomize::ProblemKind;
use crate::repo::Repo;
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-object",
    group: Group::Build,
    summary: "one build yields an identity twice",
    page: include_str!("../../rules/duplicate-object.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    // What builds the whole repository for want of a path is `overlapping-paths`, once.
    let found = problems::findings(repo, RULE.name, &|problem, kustomization| {
        problem.kind == ProblemKind::DuplicateObject && !builds_all(kustomization)
    });
    // One transformer or list entry can bring many objects a second time.
    let mut by_place: BTreeMap<Place, Vec<Finding>> = BTreeMap::new();
    for finding in found {
        by_place.entry(finding.place).or_default().push(finding);
    }
    by_place
        .into_values()
        .filter_map(|findings| {
            let more = findings.len() - 1;
            let mut finding = findings.into_iter().next()?;
            if more > 0 {
                finding.message = format!("{}, and {more} more here", finding.message);
            }
            let rest = finding.help.take().unwrap_or_default();
            finding.help = Some(format!("remove one of the two, or rename it; {rest}"));
            Some(finding)
        })
        .collect()
}
