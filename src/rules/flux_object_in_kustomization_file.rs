//! `flux-object-in-kustomization-file`: a Flux object in a file that kustomize takes for its own.

use super::{Group, Rule, problems};
use crate::finding::Finding;
use crate::kustomize::ProblemKind;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "flux-object-in-kustomization-file",
    group: Group::Build,
    summary: "a Flux Kustomization stands in a file that kustomize takes for its own",
    page: include_str!("../../rules/flux-object-in-kustomization-file.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    problems::findings(repo, RULE.name, &|problem, _| {
        problem.kind == ProblemKind::FluxObjectInKustomizationFile
    })
}
