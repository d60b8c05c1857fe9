//! Plans of the homelab with misplaced services: each step keeps every object, whatever the order
//! in which the controller works, and at the end there is nothing left to do.

mod harness;

use std::collections::BTreeMap;

use harness::{Tree, lines, lint_trees, read_tree, testdata};
use wavelint::config::{Config, FILE_NAME};
use wavelint::plan::{Draft, StepKind, plan};

fn homelab() -> Tree {
    read_tree(&testdata("homelab").join("waves"))
}

fn config(tree: &Tree) -> Config {
    Config::parse(&tree[FILE_NAME], FILE_NAME).expect("it is valid")
}

fn draft(tree: &Tree) -> Draft {
    Draft::from_files(
        tree.iter()
            .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
            .collect(),
    )
}

fn tree(draft: &Draft) -> Tree {
    draft
        .files()
        .iter()
        .map(|(path, bytes)| {
            let text = String::from_utf8(bytes.clone()).expect("all files are text");
            (path.clone(), text)
        })
        .collect()
}

/// Puts a file into another wave than its own, in the lists too.
fn misplace(tree: &mut Tree, name: &str, from: usize, to: usize) {
    let text = tree
        .remove(&format!("apps/wave-{from}/{name}"))
        .expect("it is in that wave");
    tree.insert(format!("apps/wave-{to}/{name}"), text);
    let list = |wave: usize| format!("apps/wave-{wave}/kustomization.yaml");
    let entry = format!("  - {name}\n");
    let old = tree[&list(from)].replace(&entry, "");
    tree.insert(list(from), old);
    let new = format!("{}{entry}", tree[&list(to)]);
    tree.insert(list(to), new);
}

/// Follows a plan from commit to commit, judging each; the kinds of its steps, and the tree at the end.
fn follow(start: &Tree) -> (Vec<StepKind>, Tree) {
    let config = config(start);
    let mut kinds = Vec::new();
    let mut now = draft(start);
    let whole = plan(&now, &config, &[]);
    assert!(whole.obstacles.is_empty(), "{:?}", whole.obstacles);
    for number in 0..whole.steps.len() {
        let rest = plan(&now, &config, &[]);
        assert_eq!(rest.steps, whole.steps[number..], "numbers start again");
        let step = &rest.steps[0];
        let next = now.after(step);
        for change in &step.moves {
            assert_eq!(
                now.files()[&change.from],
                next.files()[&change.to],
                "moved byte for byte"
            );
        }
        let found = lint_trees(&tree(&next), Some(&tree(&now)), &[]);
        let wrong: Vec<_> = found
            .into_iter()
            .filter(|found| {
                found.rule.starts_with("prune-on-")
                    || found.severity == "error" && found.rule != "wrong-wave"
            })
            .collect();
        assert!(wrong.is_empty(), "{:?}:\n{}", step.kind, lines(&wrong));
        kinds.push(step.kind);
        now = next;
    }
    assert!(plan(&now, &config, &[]).steps.is_empty());
    (kinds, tree(&now))
}

#[test]
fn the_homelab_as_it_should_be_needs_no_step() {
    let start = homelab();
    let (kinds, end) = follow(&start);
    assert!(kinds.is_empty());
    assert_eq!(start, end);
}

#[test]
fn a_service_too_low_is_guarded_moved_and_released() {
    let good = homelab();
    let mut start = good.clone();
    misplace(&mut start, "nextcloud.yaml", 1, 0);
    let (kinds, end) = follow(&start);
    assert_eq!(kinds, [StepKind::Guard, StepKind::Move, StepKind::Release]);
    assert_eq!(end, good, "the end is the homelab as it was, byte for byte");
}

#[test]
fn a_service_too_high_is_only_moved() {
    let good = homelab();
    let mut start = good.clone();
    misplace(&mut start, "gitea.yaml", 0, 1);
    let (kinds, end) = follow(&start);
    assert_eq!(kinds, [StepKind::Move]);
    assert_eq!(end, good);
}

#[test]
fn services_that_change_places_are_moved_in_one_commit() {
    let good = homelab();
    let mut start = good.clone();
    misplace(&mut start, "sonarr.yaml", 1, 0);
    misplace(&mut start, "plex.yaml", 0, 2);
    let (kinds, end) = follow(&start);
    assert_eq!(kinds, [StepKind::Guard, StepKind::Move, StepKind::Release]);
    let files: BTreeMap<_, _> = good
        .keys()
        .map(|path| (path, end.contains_key(path)))
        .collect();
    assert!(files.values().all(|there| *there), "{files:?}");
}

#[test]
fn a_wave_that_is_missing_is_made_like_its_sibling() {
    let mut start = homelab();
    let path = "catalog/services/radarr.yaml".to_owned();
    let text = start[&path].clone();
    let deeper = text.replacen("dependencies:", "dependencies:\n  - seerr", 1);
    assert_ne!(deeper, text, "{text}");
    start.insert(path, deeper);
    let seerr = "catalog/services/seerr.yaml".to_owned();
    let text = start[&seerr]
        .lines()
        .filter(|line| line.trim() != "- radarr")
        .map(|line| format!("{line}\n"))
        .collect();
    start.insert(seerr, text);
    let (kinds, end) = follow(&start);
    assert_eq!(
        kinds,
        [
            StepKind::Create,
            StepKind::Guard,
            StepKind::Move,
            StepKind::Release
        ]
    );
    assert!(end.contains_key("apps/wave-3/radarr.yaml"));
    let made = &end["clusters/base/apps-wave-3.yaml"];
    assert!(
        made.contains("name: apps-wave-3\n")
            && made.contains("- name: apps-wave-2\n")
            && made.contains("path: ./apps/wave-3\n"),
        "{made}"
    );
    assert!(end["clusters/dev/kustomization.yaml"].contains("name: apps-wave-3\n"));
}

#[test]
fn a_wave_that_is_left_empty_is_removed() {
    let mut start = homelab();
    let path = "catalog/services/seerr.yaml".to_owned();
    let text: String = start[&path]
        .lines()
        .map(|line| {
            if line.trim_start().starts_with("- ") && !line.contains("jackett") {
                String::new()
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    start.insert(path, text);
    let (kinds, end) = follow(&start);
    assert_eq!(kinds.last(), Some(&StepKind::Remove), "{kinds:?}");
    assert!(!end.keys().any(|path| path.contains("wave-2")));
}

#[test]
fn what_is_written_in_a_way_that_is_not_understood_stops_the_plan() {
    let mut start = homelab();
    misplace(&mut start, "nextcloud.yaml", 1, 0);
    let list = "apps/wave-0/kustomization.yaml".to_owned();
    let text = format!("{}patches: [{{path: x.yaml}}]\n", start[&list]);
    start.insert(list, text);
    start.insert(
        "apps/wave-0/x.yaml".to_owned(),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: gitea, namespace: apps}\n"
            .to_owned(),
    );
    let found = plan(&draft(&start), &config(&start), &[]);
    assert!(found.steps.is_empty(), "{:?}", found.steps);
    assert_eq!(found.obstacles.len(), 1, "{:?}", found.obstacles);
}

#[test]
fn a_list_in_brackets_is_changed_in_brackets() {
    let mut start = homelab();
    misplace(&mut start, "nextcloud.yaml", 1, 0);
    let list = "apps/wave-2/kustomization.yaml".to_owned();
    let text = start[&list].clone();
    let (good, before) = (start.clone(), "apps/wave-1/kustomization.yaml".to_owned());
    let entries: Vec<&str> = good[&before]
        .lines()
        .filter_map(|line| line.strip_prefix("  - "))
        .collect();
    assert!(!entries.is_empty());
    let head: String = good[&before]
        .lines()
        .take_while(|line| *line != "resources:")
        .map(|line| format!("{line}\n"))
        .collect();
    start.insert(
        before.clone(),
        format!("{head}resources: [{}]\n", entries.join(", ")),
    );
    let (kinds, end) = follow(&start);
    assert_eq!(kinds, [StepKind::Guard, StepKind::Move, StepKind::Release]);
    assert!(
        end[&before].contains("nextcloud.yaml") && end[&before].contains("resources: ["),
        "{}",
        end[&before]
    );
    assert_eq!(end[&list], text);
}
