//! One finding a fault: clusters joined, symptoms left out, sorted.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::repo::Repo;
use crate::source::{FileId, Place};

/// Joins what holds in several clusters, leaves out what another finding says, drops excluded files, sorts.
pub(super) fn combine(repo: &Repo, found: Vec<Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = join_clusters(found)
        .into_iter()
        .filter(|finding| {
            !repo
                .config
                .exclude
                .matches(repo.files.path(finding.place.file))
        })
        .collect();
    leave_out_symptoms(&mut findings);
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| {
            (
                repo.files.path(finding.place.file).to_owned(),
                finding.place.span,
                finding.rule,
                finding.message.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    findings
}

/// Findings of one rule, place and message are one, holding in all their clusters.
fn join_clusters(found: Vec<Finding>) -> Vec<Finding> {
    let mut joined: BTreeMap<(Place, &'static str, String), Finding> = BTreeMap::new();
    for finding in found {
        let key = (finding.place, finding.rule, finding.message.clone());
        match joined.entry(key) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(finding);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.severity = known.severity.max(finding.severity);
                known.clusters.extend(finding.clusters);
                for related in finding.related {
                    if !known.related.contains(&related) {
                        known.related.push(related);
                    }
                }
            }
        }
    }
    joined
        .into_values()
        .map(|mut finding| {
            finding.clusters.sort();
            finding.clusters.dedup();
            finding
        })
        .collect()
}

/// Of two rules that say one fault at one place, the one that says it better.
const SAID_BETTER: [(&str, &str); 8] = [
    ("manifest-not-listed", "prune-on-unlist"),
    ("undefined-variable", "substitution-in-script"),
    ("object-owned-twice", "overlapping-paths"),
    ("plaintext-secret", "private-key-committed"),
    ("build-fails", "invalid-yaml"),
    ("build-fails", "duplicate-object"),
    ("build-fails", "resource-not-found"),
    ("build-fails", "flux-object-in-kustomization-file"),
];

/// The same of two rules that speak of one file: bytes that changed in a move are one fault, whatever else they break.
const SAID_BETTER_OF_FILE: [(&str, &str); 1] = [("stale-mac", "moved-file-changed")];

fn leave_out_symptoms(findings: &mut Vec<Finding>) {
    let places: BTreeSet<(&'static str, Place)> = findings
        .iter()
        .map(|finding| (finding.rule, finding.place))
        .collect();
    let files: BTreeSet<(&'static str, FileId)> = findings
        .iter()
        .map(|finding| (finding.rule, finding.place.file))
        .collect();
    findings.retain(|finding| {
        !SAID_BETTER.iter().any(|(symptom, cause)| {
            finding.rule == *symptom && places.contains(&(*cause, finding.place))
        }) && !SAID_BETTER_OF_FILE.iter().any(|(symptom, cause)| {
            finding.rule == *symptom && files.contains(&(*cause, finding.place.file))
        })
    });
}
