//! The homelab at three moments, and services that change their wave: what Flux would delete.

mod harness;

use harness::{Found, Tree, lines, lint_trees, read_tree, testdata};

fn homelab(moment: &str) -> Tree {
    read_tree(&testdata("homelab").join(moment))
}

fn prune_findings(head: &Tree, base: &Tree) -> Vec<Found> {
    lint_trees(head, Some(base), &["moves"])
        .into_iter()
        .filter(|found| found.rule.starts_with("prune-on-"))
        .collect()
}

/// Takes a file from one wave to another, in the lists too.
fn lift(tree: &mut Tree, name: &str, from: usize, to: usize) {
    let text = tree
        .remove(&format!("apps/wave-{from}/{name}"))
        .expect("it is in that wave");
    tree.insert(format!("apps/wave-{to}/{name}"), text);
    let entry = format!("  - {name}\n");
    let list = |wave: usize| format!("apps/wave-{wave}/kustomization.yaml");
    let old = tree[&list(from)].replace(&entry, "");
    let new = format!("{}{entry}", tree[&list(to)]);
    tree.insert(list(from), old);
    tree.insert(list(to), new);
}

/// Adds a patch that guards all objects of a name, as the wave's kustomization file.
fn guard(tree: &mut Tree, wave: usize, name: &str) {
    let path = format!("apps/wave-{wave}/kustomization.yaml");
    let patch = format!(
        "patches:\n  - target:\n      name: {name}(-.*)?\n    patch: |\n      apiVersion: v1\n      kind: Any\n      metadata:\n        name: any\n        annotations:\n          kustomize.toolkit.fluxcd.io/prune: disabled\n"
    );
    let text = format!("{}{patch}", tree[&path]);
    tree.insert(path, text);
}

#[test]
fn the_cutover_without_a_guard_names_everything_that_goes() {
    let (flat, waves) = (homelab("flat"), homelab("waves"));
    let found = prune_findings(&waves, &flat);
    let [rename] = found.as_slice() else {
        panic!("one finding:\n{}", lines(&found));
    };
    assert_eq!(rename.rule, "prune-on-rename");
    assert_eq!(rename.severity, "error");
    assert_eq!(rename.clusters, ["clusters/dev"]);
    assert!(
        rename.message.contains("flux-system/apps"),
        "{}",
        rename.message
    );
    for path in flat.keys().filter(|path| path.starts_with("apps/")) {
        let is_manifest = !path.ends_with("kustomization.yaml");
        let named = rename
            .related
            .iter()
            .any(|place| place.starts_with(&format!("{path}:")));
        assert_eq!(named, is_manifest, "{path}: {:?}", rename.related);
    }
}

#[test]
fn the_cutover_after_prune_was_switched_off_is_clean() {
    let found = prune_findings(&homelab("waves"), &homelab("prune-off"));
    assert!(found.is_empty(), "{}", lines(&found));
}

#[test]
fn a_service_lifted_a_wave_is_surely_deleted() {
    let base = homelab("waves");
    let mut head = base.clone();
    lift(&mut head, "gitea.yaml", 0, 1);
    let found = prune_findings(&head, &base);
    let [moved] = found.as_slice() else {
        panic!("one finding:\n{}", lines(&found));
    };
    assert_eq!(
        (moved.rule.as_str(), moved.severity, moved.certainty),
        ("prune-on-move", "error", Some("certain"))
    );
    assert_eq!(moved.path, "apps/wave-1/gitea.yaml");
    assert!(
        moved
            .message
            .contains("`flux-system/apps-wave-1` waits for `flux-system/apps-wave-0`"),
        "{}",
        moved.message
    );
}

#[test]
fn a_service_lowered_a_wave_is_safe() {
    let base = homelab("waves");
    let mut head = base.clone();
    lift(&mut head, "sonarr.yaml", 1, 0);
    let found = prune_findings(&head, &base);
    assert!(found.is_empty(), "{}", lines(&found));
}

#[test]
fn a_guard_in_the_base_makes_lifting_safe() {
    let mut base = homelab("waves");
    guard(&mut base, 0, "gitea");
    let mut head = base.clone();
    lift(&mut head, "gitea.yaml", 0, 1);
    let found = prune_findings(&head, &base);
    assert!(found.is_empty(), "{}", lines(&found));
}

#[test]
fn a_guard_in_the_commit_of_the_move_does_not_count() {
    let base = homelab("waves");
    let mut head = base.clone();
    lift(&mut head, "gitea.yaml", 0, 1);
    guard(&mut head, 1, "gitea");
    let found = prune_findings(&head, &base);
    let [moved] = found.as_slice() else {
        panic!("one finding:\n{}", lines(&found));
    };
    assert_eq!(moved.certainty, Some("certain"));
    assert!(
        moved
            .related
            .iter()
            .any(|place| place.starts_with("apps/wave-1/kustomization.yaml:")),
        "the late guard is shown: {:?}",
        moved.related
    );
}

#[test]
fn prune_switched_off_in_the_commit_of_the_move_does_not_count() {
    let base = homelab("waves");
    let mut head = base.clone();
    lift(&mut head, "gitea.yaml", 0, 1);
    let path = "clusters/base/apps-wave-0.yaml";
    let text = head[path].replace("prune: true", "prune: false");
    head.insert(path.to_owned(), text);
    let found = prune_findings(&head, &base);
    assert_eq!(found.len(), 1, "{}", lines(&found));
    assert_eq!(found[0].certainty, Some("race"));
}

/// A cluster as `flux bootstrap` writes it, told a path.
fn bootstrapped(path: &str) -> Tree {
    let root = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 1m\n  url: https://example.com/fleet.git\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: {path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    );
    let config =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bread\n  namespace: default\n";
    [
        ("clusters/staging/flux-system/gotk-sync.yaml", root.as_str()),
        (
            "clusters/staging/flux-system/kustomization.yaml",
            "resources:\n  - gotk-sync.yaml\n",
        ),
        ("clusters/staging/bread.yaml", config),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .collect()
}

#[test]
fn a_cluster_that_syncs_a_missing_path_prunes_nothing() {
    let right = bootstrapped("./clusters/staging");
    let wrong = bootstrapped("./clusters/stagin");
    for (head, base) in [(&wrong, &right), (&right, &wrong)] {
        let found = prune_findings(head, base);
        assert!(found.is_empty(), "{}", lines(&found));
    }
}
