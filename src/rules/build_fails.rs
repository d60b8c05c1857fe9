//! `build-fails`: a build fails, for any reason that has no rule of its own.

use super::{Group, Rule, not_a_manifest, problems};
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
    problems::findings(
        repo,
        RULE.name,
        &|problem, kustomization| match problem.kind {
            ProblemKind::Other => true,
            // One that Flux swept in by itself is `not-a-manifest`.
            ProblemKind::NotAManifest => !not_a_manifest::is_swept_in(repo, problem, kustomization),
            _ => false,
        },
    )
}
