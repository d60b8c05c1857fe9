//! `build-fails`: a build fails, for any reason that has no rule of its own.

use super::{Group, Rule, problems};
use crate::finding::Finding;
use crate::kustomize::ProblemKind;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "build-fails",
    group: Group::Build,
    summary: "a build fails, for any reason that has no rule of its own",
    page: include_str!("../../rules/build-fails.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    problems::findings(repo, RULE.name, &|kind| kind == ProblemKind::Other)
}
