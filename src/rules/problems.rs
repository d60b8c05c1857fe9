//! The problems of all live builds, each once, for the rules that report them.

use std::collections::BTreeMap;

use crate::finding::{Finding, Severity};
use crate::flux::Kustomization;
use crate::kustomize::Problem;
use crate::repo::Repo;
use crate::source::Place;

/// A problem, and what does not build for it.
struct Stopped<'a> {
    problem: &'a Problem,
    clusters: Vec<String>,
    kustomizations: Vec<String>,
}

/// Findings of a rule for the problems that it wants: one for each place and message, with the
/// clusters and Kustomizations that do not build for it.
pub(super) fn findings(
    repo: &Repo,
    rule: &'static str,
    wanted: &dyn Fn(&Problem, &Kustomization) -> bool,
) -> Vec<Finding> {
    let mut found: BTreeMap<(Place, String), Stopped> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for problem in &kustomization.build.problems {
                if !wanted(problem, kustomization) {
                    continue;
                }
                let stopped = found
                    .entry((problem.place, problem.message.clone()))
                    .or_insert_with(|| Stopped {
                        problem,
                        clusters: Vec::new(),
                        kustomizations: Vec::new(),
                    });
                stopped.clusters.push(cluster.path.clone());
                let name = kustomization.name.to_string();
                if !stopped.kustomizations.contains(&name) {
                    stopped.kustomizations.push(name);
                }
            }
        }
    }
    found
        .into_values()
        .map(|stopped| {
            let Stopped {
                problem,
                clusters,
                kustomizations,
            } = stopped;
            let mut finding = Finding::new(
                rule,
                Severity::Error,
                problem.place,
                problem.message.clone(),
            );
            let stops = format!(
                "until then nothing of Kustomization {} is applied",
                super::support::list(
                    &kustomizations
                        .iter()
                        .take(3)
                        .map(|name| format!("`{name}`"))
                        .chain(
                            (kustomizations.len() > 3)
                                .then(|| format!("{} more", kustomizations.len() - 3))
                        )
                        .collect::<Vec<_>>()
                )
            );
            finding.help = Some(match &problem.help {
                Some(help) => format!("{help}; {stops}"),
                None => stops,
            });
            for (place, message) in &problem.related {
                finding = finding.related(*place, message.clone());
            }
            finding.clusters = clusters;
            finding
        })
        .collect()
}
