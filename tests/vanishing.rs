//! A cluster that is found only by what it holds must not vanish when that breaks.

mod harness;

use harness::{Found, Tree, lint_trees, read_tree, testdata};

/// The repository of the waves, without anything that tells Flux where to look.
fn healthy() -> Tree {
    read_tree(&testdata("homelab/waves"))
}

fn serious(found: &[Found]) -> Vec<(&str, &str)> {
    found
        .iter()
        .filter(|found| found.severity == "error")
        .map(|found| (found.rule.as_str(), found.path.as_str()))
        .collect()
}

#[test]
fn a_conflict_marker_in_the_clusters_own_file_is_an_error() {
    for base in [None, Some(healthy())] {
        let mut head = healthy();
        let text = head.get_mut("clusters/dev/kustomization.yaml").unwrap();
        *text = text.replacen("resources:", "<<<<<<< HEAD\nresources:", 1);
        // Alone in the tree it has no Flux object that speaks for it, so only the base can.
        let found = lint_trees(&head, base.as_ref(), &[]);
        if base.is_some() {
            assert!(
                serious(&found).contains(&("invalid-yaml", "clusters/dev/kustomization.yaml")),
                "{found:?}"
            );
        }
    }
}

#[test]
fn a_broken_file_of_flux_objects_is_an_error_without_a_base_too() {
    let mut head = Tree::new();
    head.insert(
        "clusters/lab/kustomization.yaml".into(),
        "resources:\n  - apps.yaml\n".into(),
    );
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: apps\n  namespace: flux-system\nspec:\n  interval: 1m\n  path: ./apps\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n";
    head.insert(
        "clusters/lab/apps.yaml".into(),
        format!("<<<<<<< HEAD\n{kustomization}"),
    );
    head.insert(
        "apps/a.yaml".into(),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n".into(),
    );
    let found = lint_trees(&head, None, &[]);
    assert_eq!(
        serious(&found),
        [("invalid-yaml", "clusters/lab/apps.yaml")],
        "{found:?}"
    );
}

#[test]
fn a_listed_file_that_is_gone_is_an_error() {
    let base = healthy();
    let mut head = healthy();
    head.insert(
        "clusters/dev/kustomization.yaml".into(),
        "resources:\n  - nothing.yaml\n".into(),
    );
    let found = lint_trees(&head, Some(&base), &[]);
    assert!(
        serious(&found).contains(&("resource-not-found", "clusters/dev/kustomization.yaml")),
        "{found:?}"
    );
}

#[test]
fn a_cluster_that_is_removed_as_a_whole_is_no_fault() {
    let base = healthy();
    let mut head = healthy();
    head.retain(|path, _| !path.starts_with("clusters/prod/"));
    head.remove(".wavelint.yaml");
    let found = lint_trees(&head, Some(&base), &[]);
    assert!(serious(&found).is_empty(), "{found:?}");
}
