//! The verdicts of the prune rules, held against a model of the controller.
//!
//! `model` is kustomize-controller as far as ownership goes, written down from its source and
//! explored in every order; it shares no code with wavelint. `repository` makes small random
//! repositories and changes to them, as data for the model and as files for wavelint. For every
//! object, both must agree whether no, some or all orders delete it.

mod harness;

#[path = "controller_model/model.rs"]
mod model;
#[path = "controller_model/repository.rs"]
mod repository;

use std::collections::BTreeMap;

use model::Verdict;
use repository::{Change, Random};
use wavelint::change::Fate;
use wavelint::config::Config;
use wavelint::lint;
use wavelint::snapshot::Snapshot;

const CASES: u64 = 2000;

/// Cases in which the findings are held against the model too.
const LINTED: u64 = 300;

/// What wavelint says of each object that leaves its owner, by name.
fn departures(change: &Change) -> BTreeMap<String, Fate> {
    let snapshot = |files: BTreeMap<String, String>| {
        Snapshot::memory(
            files
                .into_iter()
                .map(|(path, text)| (path, text.into_bytes())),
        )
    };
    let config = Config::default();
    let mut loaded = lint::load(
        snapshot(change.head.files()),
        Some(snapshot(change.base.files())),
    );
    let (head, base) = (std::mem::take(&mut loaded.head), loaded.base.take());
    let repo = lint::understand(&loaded.files, &config, head, base, &[]);
    let base = repo.base.as_ref().expect("there is a base");
    let [cluster] = base.change.clusters.as_slice() else {
        panic!("one cluster, not {}", base.change.clusters.len());
    };
    cluster
        .departures
        .iter()
        .map(|departure| (departure.key.id.name.to_string(), departure.fate))
        .collect()
}

#[test]
fn every_verdict_agrees_with_every_order_of_the_controller() {
    let mut counts = [0_usize; 3];
    let mut too_large = 0;
    for seed in 0..CASES {
        let change = repository::change(&mut Random::new(seed));
        let Some(outcome) = model::explore(&change.base, &change.head) else {
            too_large += 1;
            continue;
        };
        let said = departures(&change);
        for (name, verdict) in &outcome.verdicts {
            let expected = match verdict {
                Verdict::Never => Fate::Safe,
                Verdict::Sometimes => Fate::Race,
                Verdict::Always => Fate::Lost,
            };
            let found = match said.get(name) {
                Some(fate) => *fate,
                // It goes with its Kustomization, which is then what is told.
                None if outcome.owner_may_go(name) => continue,
                None => Fate::Safe,
            };
            assert!(
                found == expected,
                "seed {seed}: {name}: wavelint says {found:?}, the controller {verdict:?}\n{}",
                change.describe()
            );
            counts[found as usize] += 1;
        }
    }
    assert!(too_large < CASES as usize / 20, "{too_large} are too large");
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

#[test]
fn the_prune_rules_name_what_the_controller_may_delete() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..LINTED {
        let change = repository::change(&mut Random::new(seed));
        let Some(outcome) = model::explore(&change.base, &change.head) else {
            continue;
        };
        let said = departures(&change);
        let head = change.head.files();
        let found = harness::lint_trees(&head, Some(&change.base.files()), &["moves"]);
        let stem = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.split('.').next().unwrap_or_default().to_owned()
        };
        let mut named: Vec<String> = Vec::new();
        for finding in &found {
            *counts.entry(finding.rule.clone()).or_default() += 1;
            named.extend(finding.related.iter().map(|place| stem(place)));
            let certainty = match outcome.verdicts.get(&stem(&finding.path)) {
                Some(Verdict::Always) => Some("certain"),
                Some(Verdict::Sometimes) => Some("race"),
                _ => None,
            };
            if ["prune-on-move", "prune-on-unlist"].contains(&finding.rule.as_str()) {
                let context = (seed, finding.line(), change.describe());
                assert_eq!(finding.certainty, certainty, "{context:?}");
            }
        }
        for (name, verdict) in &outcome.verdicts {
            let in_tree = head.keys().any(|path| stem(path) == *name);
            assert!(
                *verdict == Verdict::Never
                    || !said.contains_key(name)
                    || !in_tree
                    || named.contains(name)
                    || outcome
                        .owners(name)
                        .iter()
                        .any(|owner| named.contains(owner)),
                "seed {seed}: {name} may be deleted, and nothing says so\n{}{}",
                change.describe(),
                harness::lines(&found)
            );
        }
    }
    for rule in [
        "prune-on-move",
        "prune-on-rename",
        "prune-on-unlist",
        "prune-on-empty",
    ] {
        assert!(
            counts.get(rule).is_some_and(|count| *count > 5),
            "{counts:?}"
        );
    }
}
