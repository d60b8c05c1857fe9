//! `not-a-manifest`: a file that is no Kubernetes object is swept into a generated build.

use super::{Group, Rule, problems};
use crate::finding::Finding;
use crate::flux::Kustomization;
use crate::kustomize::{Problem, ProblemKind};
use crate::repo::Repo;
use crate::tree::split;

pub(super) static RULE: Rule = Rule {
    name: "not-a-manifest",
    group: Group::Build,
    summary: "a file that is no Kubernetes object is swept into a generated build",
    page: include_str!("../../rules/not-a-manifest.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    problems::findings(repo, RULE.name, &|problem, kustomization| {
        is_swept_in(repo, problem, kustomization)
    })
    .into_iter()
    .map(|mut finding| {
        let rest = finding.help.take().unwrap_or_default();
        finding.message = format!(
            "{}: Flux lists every YAML file of a path without a kustomization file, this one too",
            finding.message
        );
        finding.help = Some(format!(
            "add a kustomization file that lists the manifests, or move this file out of the path; {rest}"
        ));
        finding
    })
    .collect()
}

/// True if the problem is that a file is no manifest, and no kustomization file but Flux listed it.
pub(super) fn is_swept_in(repo: &Repo, problem: &Problem, kustomization: &Kustomization) -> bool {
    if problem.kind != ProblemKind::NotAManifest {
        return false;
    }
    let build = &kustomization.build;
    let generated = build.directories.iter().find(|directory| {
        directory.kustomization_file.is_none() && directory.entered_from.is_none()
    });
    let Some(root) = generated else { return false };
    let mut directory = split(repo.files.path(problem.place.file)).0;
    while directory != root.path {
        let has_its_own = build
            .directories
            .iter()
            .any(|entered| entered.path == directory && entered.kustomization_file.is_some());
        if has_its_own || directory.is_empty() {
            return false;
        }
        directory = split(directory).0;
    }
    true
}
