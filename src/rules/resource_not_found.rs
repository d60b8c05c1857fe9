//! `resource-not-found`: a kustomization file lists what is not there.

use super::{Group, Rule, problems};
use crate::finding::Finding;
use crate::kustomize::ProblemKind;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "resource-not-found",
    group: Group::Build,
    summary: "a kustomization file lists what is not there",
    page: include_str!("../../rules/resource-not-found.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    problems::findings(repo, RULE.name, &|problem, _| {
        problem.kind == ProblemKind::ResourceNotFound
    })
}
