//! Waves in other shapes than homelab's.

use crate::harness::{Tree, lines, lint_trees, serious};
use crate::support::{assert_finds, tree};

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: apps\n")
}

fn kustomization(name: &str, path: &str, depends_on: Option<&str>) -> String {
    let depends_on = depends_on.map_or_else(String::new, |name| {
        format!("  dependsOn:\n    - name: {name}\n")
    });
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n{depends_on}  interval: 10m\n  path: ./{path}\n  prune: true\n  wait: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    )
}

/// A cluster that applies these directories one after the other.
fn cluster(directories: &[&str]) -> Tree {
    let mut waves = String::new();
    let mut before: Option<String> = None;
    for directory in directories {
        let name = directory.replace('/', "-");
        waves.push_str(&kustomization(&name, directory, before.as_deref()));
        before = Some(name);
    }
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 1m\n  url: ssh://git@git.example.dev/home.git\n";
    tree(&[
        (
            "clusters/lab/kustomization.yaml",
            "resources:\n  - source.yaml\n  - waves.yaml\n",
        ),
        ("clusters/lab/source.yaml", source),
        ("clusters/lab/waves.yaml", &waves),
    ])
}

fn with_files(mut tree: Tree, files: &[&str]) -> Tree {
    for path in files {
        let name = path
            .rsplit('/')
            .find(|name| !["app.yaml", "release.yaml"].contains(name));
        let name = name.unwrap_or_default().trim_end_matches(".yaml");
        tree.insert((*path).to_owned(), config_map(name));
    }
    tree
}

/// Three services in a chain, in one file.
const CATALOG: &str = "kind: ServiceDefinition\nmetadata: {name: jackett}\ndependencies: []\n---\nkind: ServiceDefinition\nmetadata: {name: sonarr}\nspec:\n  dependencies:\n    - name: jackett\n---\nkind: ServiceDefinition\nname: seerr\ndependencies: [sonarr]\n";

fn with_catalog(mut tree: Tree) -> Tree {
    tree.insert("catalog.yaml".to_owned(), CATALOG.to_owned());
    tree
}

#[test]
fn sets_are_known_by_any_word_and_any_way_of_counting() {
    for [first, second, third] in [
        ["apps/wave-0", "apps/wave-1", "apps/wave-2"],
        ["apps/wave-00", "apps/wave-01", "apps/wave-02"],
        ["infra/tier-0", "infra/tier-1", "infra/tier-2"],
        [
            "tier-0-foundation",
            "tier-1-infrastructure",
            "tier-2-applications",
        ],
        ["infra/layer1", "infra/layer2", "infra/layer3"],
        ["apps/10-core", "apps/20-arr", "apps/30-ask"],
        ["apps/stage-1", "apps/stage-5", "apps/stage-7"],
        ["phase_1", "phase_2", "phase_3"],
    ] {
        let place = |directory: &str, name: &str| format!("{directory}/{name}.yaml");
        let right = with_catalog(with_files(
            cluster(&[first, second, third]),
            &[
                &place(first, "jackett"),
                &place(second, "sonarr"),
                &place(third, "seerr"),
            ],
        ));
        assert_finds(&right, None, &[]);
        let (low, high) = (place(first, "sonarr"), place(third, "jackett"));
        let wrong = with_catalog(with_files(
            cluster(&[first, second, third]),
            &[
                &high,
                &low,
                &place(second, "radarr"),
                &place(third, "seerr"),
            ],
        ));
        let expected = [
            ("wrong-wave", low.as_str(), "1"),
            ("wrong-wave", high.as_str(), "1"),
        ];
        let found = lint_trees(&wrong, None, &["wrong-wave"]);
        let places: Vec<_> = found
            .iter()
            .map(|found| ("wrong-wave", found.path.as_str(), "1"))
            .collect();
        assert_eq!(places, expected, "{}", lines(&found));
    }
}

#[test]
fn apps_in_folders_with_kustomizations_of_their_own() {
    // Each tier is applied by one Kustomization, which makes one for each app.
    let tiers = ["apps/tier-0-foundation", "apps/tier-1-infrastructure"];
    let mut tree = cluster(&tiers);
    for (tier, app, depends_on) in [
        (tiers[0], "jackett", None),
        (tiers[1], "sonarr", Some("jackett")),
    ] {
        let list = format!("{tier}/kustomization.yaml");
        tree.insert(list, format!("resources:\n  - {app}/ks.yaml\n"));
        let path = format!("{tier}/{app}");
        tree.insert(
            format!("{path}/ks.yaml"),
            kustomization(app, &format!("{path}/app"), depends_on),
        );
        tree.insert(format!("{path}/app/app.yaml"), config_map(app));
    }
    assert_finds(&tree, None, &[]);
    let mut without = tree.clone();
    let waves = without["clusters/lab/waves.yaml"]
        .replace("  dependsOn:\n    - name: apps-tier-0-foundation\n", "");
    without.insert("clusters/lab/waves.yaml".to_owned(), waves);
    assert_finds(
        &without,
        None,
        &[("missing-depends-on", "clusters/lab/waves.yaml", "spec:#2")],
    );
    // Without a catalog: an app of the lower tier that dependsOn one of the higher.
    let mut upwards = tree;
    upwards.insert(
        "apps/tier-0-foundation/jackett/ks.yaml".to_owned(),
        kustomization(
            "jackett",
            "apps/tier-0-foundation/jackett/app",
            Some("sonarr"),
        ),
    );
    upwards.insert(
        "apps/tier-1-infrastructure/sonarr/ks.yaml".to_owned(),
        kustomization("sonarr", "apps/tier-1-infrastructure/sonarr/app", None),
    );
    let found = lint_trees(&upwards, None, &["waves", "missing-depends-on"]);
    let path = "apps/tier-0-foundation/jackett/ks.yaml";
    assert_eq!(found.len(), 1, "{}", lines(&found));
    assert_eq!(
        (
            found[0].rule.as_str(),
            found[0].path.as_str(),
            found[0].line
        ),
        ("wrong-wave", path, 9)
    );
}

#[test]
fn services_with_kustomizations_of_their_own_must_be_ordered() {
    let tiers = ["apps/tier-0/jackett", "apps/tier-1/sonarr"];
    let ordered = with_files(
        cluster(&tiers),
        &[
            "apps/tier-0/jackett/app.yaml",
            "apps/tier-1/sonarr/app.yaml",
        ],
    );
    let mut tree = with_catalog(ordered);
    let catalog = tree["catalog.yaml"]
        .split("---\nkind: ServiceDefinition\nname: seerr")
        .next()
        .map(str::to_owned);
    tree.insert("catalog.yaml".to_owned(), catalog.unwrap_or_default());
    assert_finds(&tree, None, &[]);
    let waves = tree["clusters/lab/waves.yaml"]
        .replace("  dependsOn:\n    - name: apps-tier-0-jackett\n", "");
    tree.insert("clusters/lab/waves.yaml".to_owned(), waves);
    assert_finds(
        &tree,
        None,
        &[("missing-depends-on", "clusters/lab/waves.yaml", "spec:#2")],
    );
}

#[test]
fn two_sets_share_one_catalog() {
    let mut tree = cluster(&[
        "infra/layer-0",
        "infra/layer-1",
        "apps/wave-0",
        "apps/wave-1",
    ]);
    tree = with_files(
        tree,
        &[
            "infra/layer-0/longhorn.yaml",
            "infra/layer-1/postgres.yaml",
            "apps/wave-0/gitea.yaml",
            "apps/wave-1/runner.yaml",
        ],
    );
    let catalog = "kind: ServiceDefinition\nmetadata: {name: longhorn}\n---\nkind: ServiceDefinition\nmetadata: {name: postgres}\ndependencies: [longhorn]\n---\nkind: ServiceDefinition\nmetadata: {name: gitea}\ndependencies: [postgres]\n---\nkind: ServiceDefinition\nmetadata: {name: runner}\ndependencies: [gitea]\n";
    tree.insert("catalog.yaml".to_owned(), catalog.to_owned());
    assert_finds(&tree, None, &[]);
    let text = tree.remove("apps/wave-1/runner.yaml").unwrap_or_default();
    tree.insert("apps/wave-0/runner.yaml".to_owned(), text);
    tree.insert("apps/wave-1/other.yaml".to_owned(), config_map("other"));
    let found = serious(lint_trees(&tree, None, &["wrong-wave"]));
    assert_eq!(found.len(), 1, "{}", lines(&found));
    assert_eq!(found[0].path, "apps/wave-0/runner.yaml");
}

#[test]
fn numbered_siblings_that_are_no_waves() {
    let mut tree = cluster(&["apps/minecraft-1", "apps/minecraft-2"]);
    let waves =
        tree["clusters/lab/waves.yaml"].replace("  dependsOn:\n    - name: apps-minecraft-1\n", "");
    tree.insert("clusters/lab/waves.yaml".to_owned(), waves);
    let mut tree = with_files(tree, &["apps/minecraft-1/minecraft.yaml"]);
    tree.insert(
        "apps/minecraft-2/minecraft.yaml".to_owned(),
        config_map("minecraft-2"),
    );
    assert_finds(&tree, None, &[]);
    let catalog = "kind: ServiceDefinition\nmetadata: {name: jackett}\n---\nkind: ServiceDefinition\nmetadata: {name: minecraft}\ndependencies: [jackett]\n";
    tree.insert("catalog.yaml".to_owned(), catalog.to_owned());
    assert_finds(&tree, None, &[]);
}

#[test]
fn a_wave_that_lists_services_kept_elsewhere() {
    let mut tree = with_catalog(cluster(&["apps/wave-0", "apps/wave-1", "apps/wave-2"]));
    for (wave, app) in [(0, "jackett"), (1, "sonarr"), (2, "seerr")] {
        tree.insert(
            format!("apps/wave-{wave}/kustomization.yaml"),
            format!("resources:\n  - ../../services/{app}\n"),
        );
        tree.insert(
            format!("services/{app}/kustomization.yaml"),
            "resources:\n  - app.yaml\n".to_owned(),
        );
        tree.insert(format!("services/{app}/app.yaml"), config_map(app));
    }
    assert_finds(&tree, None, &[]);
    for (wave, entries) in [
        (1, "resources: []\n"),
        (
            2,
            "resources:\n  - ../../services/sonarr\n  - ../../services/seerr\n",
        ),
    ] {
        tree.insert(
            format!("apps/wave-{wave}/kustomization.yaml"),
            entries.to_owned(),
        );
    }
    assert_finds(
        &tree,
        None,
        &[("wrong-wave", "apps/wave-2/kustomization.yaml", "sonarr")],
    );
}

#[test]
fn a_path_that_leads_to_another_wave_is_one_finding() {
    let directories = ["apps/wave-0", "apps/wave-1", "apps/wave-2"];
    let mut tree = with_files(
        cluster(&directories),
        &[
            "apps/wave-0/a.yaml",
            "apps/wave-1/b.yaml",
            "apps/wave-2/c.yaml",
        ],
    );
    let waves =
        tree["clusters/lab/waves.yaml"].replace("path: ./apps/wave-2", "path: ./apps/wave-1");
    tree.insert("clusters/lab/waves.yaml".to_owned(), waves);
    let found = serious(lint_trees(&tree, None, &["waves", "missing-depends-on"]));
    assert_eq!(found.len(), 1, "{}", lines(&found));
    assert_eq!(found[0].rule, "wave-settings-differ");
    let waves =
        tree["clusters/lab/waves.yaml"].replacen("path: ./apps/wave-1", "path: ./apps/wave-l", 1);
    let waves = waves.replace("path: ./apps/wave-1", "path: ./apps/wave-2");
    tree.insert("clusters/lab/waves.yaml".to_owned(), waves);
    assert_finds(
        &tree,
        None,
        &[("path-not-found", "clusters/lab/waves.yaml", "wave-l")],
    );
}

#[test]
fn a_cluster_that_picks_single_apps_out_of_waves_applies_no_set() {
    let tiers = ["apps/tier-0", "apps/tier-1"];
    let mut tree = with_files(
        cluster(&tiers),
        &[
            "apps/tier-0/jackett/app.yaml",
            "apps/tier-1/sonarr/app.yaml",
        ],
    );
    for (path, text) in cluster(&["apps/tier-0/jackett"]) {
        tree.insert(path.replace("clusters/lab", "clusters/edge"), text);
    }
    assert_finds(&tree, None, &[]);
}

#[test]
fn numbers_of_any_size_are_counted_with() {
    for [first, second] in [
        [
            "apps/wave-18446744073709551614",
            "apps/wave-18446744073709551615",
        ],
        ["apps/wave-0", "apps/wave-18446744073709551615"],
    ] {
        let files = [
            format!("{first}/jackett.yaml"),
            format!("{second}/sonarr.yaml"),
            format!("{second}/seerr.yaml"),
        ];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let tree = with_catalog(with_files(cluster(&[first, second]), &files));
        let found = lint_trees(&tree, None, &["wrong-wave"]);
        assert!(found.len() <= 1, "{}", lines(&found));
    }
}
