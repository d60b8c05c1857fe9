//! Each drift, in each form it takes, is found at its line, and nothing else is.

use crate::harness::Tree;
use crate::support::{assert_finds, homelab, message, move_app, rename, replace};

const DEV: &str = "clusters/dev/kustomization.yaml";
const PROD: &str = "clusters/prod/kustomization.yaml";

fn wave(number: usize) -> String {
    format!("clusters/base/apps-wave-{number}.yaml")
}

/// A patch of an overlay, put before all others.
fn add_patch(tree: &mut Tree, overlay: &str, patch: &str) {
    replace(tree, overlay, "patches:\n", &format!("patches:\n{patch}"));
}

// Waves.

#[test]
fn an_app_too_low_is_found() {
    let mut tree = homelab("waves");
    move_app(&mut tree, "seerr.yaml", 2, 1);
    replace(
        &mut tree,
        "apps/wave-2/kustomization.yaml",
        "resources:\n",
        "resources: []\n",
    );
    assert_finds(
        &tree,
        None,
        &[("wrong-wave", "apps/wave-1/seerr.yaml", "1")],
    );
    let message = message(&tree, "wrong-wave");
    assert!(message.contains("seerr → sonarr → jackett"), "{message}");
}

#[test]
fn an_app_too_high_is_found() {
    let mut tree = homelab("waves");
    move_app(&mut tree, "plex.yaml", 0, 1);
    assert_finds(&tree, None, &[("wrong-wave", "apps/wave-1/plex.yaml", "1")]);
}

#[test]
fn a_secret_apart_from_its_app_is_found() {
    let mut tree = homelab("waves");
    move_app(&mut tree, "nextcloud-db.sops.yaml", 0, 1);
    let path = "apps/wave-1/nextcloud-db.sops.yaml";
    assert_finds(&tree, None, &[("wrong-wave", path, "1")]);
}

#[test]
fn a_new_dependency_lifts_a_whole_chain() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        "catalog/services/jackett.yaml",
        "dependencies: []",
        "dependencies: [gitea]",
    );
    tree.remove("DESIGN-waves.md");
    let expected = [
        ("wrong-wave", "apps/wave-0/jackett.yaml", "1"),
        ("wrong-wave", "apps/wave-1/radarr.yaml", "1"),
        ("wrong-wave", "apps/wave-1/sonarr.yaml", "1"),
        ("wrong-wave", "apps/wave-2/seerr.yaml", "1"),
    ];
    assert_finds(&tree, None, &expected);
}

#[test]
fn an_app_in_a_folder_is_one_finding() {
    let mut tree = homelab("waves");
    rename(
        &mut tree,
        "apps/wave-2/seerr.yaml",
        "apps/wave-1/seerr/app.yaml",
    );
    let list = "kind: Kustomization\nresources:\n  - app.yaml\n".to_owned();
    tree.insert("apps/wave-1/seerr/kustomization.yaml".to_owned(), list);
    replace(
        &mut tree,
        "apps/wave-2/kustomization.yaml",
        "resources:\n  - seerr.yaml\n",
        "resources: []\n",
    );
    replace(
        &mut tree,
        "apps/wave-1/kustomization.yaml",
        "  - semaphore.yaml\n",
        "  - seerr\n  - semaphore.yaml\n",
    );
    let path = "apps/wave-1/seerr/kustomization.yaml";
    assert_finds(&tree, None, &[("wrong-wave", path, "1")]);
}

#[test]
fn an_app_in_its_folder_in_its_wave_is_clean() {
    let mut tree = homelab("waves");
    rename(
        &mut tree,
        "apps/wave-2/seerr.yaml",
        "apps/wave-2/seerr/app.yaml",
    );
    let list = "kind: Kustomization\nresources:\n  - app.yaml\n".to_owned();
    tree.insert("apps/wave-2/seerr/kustomization.yaml".to_owned(), list);
    replace(
        &mut tree,
        "apps/wave-2/kustomization.yaml",
        "  - seerr.yaml\n",
        "  - seerr\n",
    );
    assert_finds(&tree, None, &[]);
}

// dependsOn.

#[test]
fn a_removed_depends_on_is_found() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        &wave(1),
        "  dependsOn:\n    - name: apps-wave-0\n",
        "",
    );
    assert_finds(&tree, None, &[("missing-depends-on", &wave(1), "spec:")]);
}

#[test]
fn a_depends_on_that_skips_a_wave_is_found() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        &wave(2),
        "- name: apps-wave-1",
        "- name: apps-wave-0",
    );
    let expected = [("missing-depends-on", &*wave(2), "- name: apps-wave-0")];
    assert_finds(&tree, None, &expected);
}

#[test]
fn a_depends_on_that_names_nothing_is_found_once() {
    for name in ["apps-wave-9", "app-wave-0", "wave-0"] {
        let mut tree = homelab("waves");
        let written = format!("- name: {name}");
        replace(&mut tree, &wave(1), "- name: apps-wave-0", &written);
        assert_finds(&tree, None, &[("depends-on-not-found", &wave(1), &written)]);
    }
}

#[test]
fn a_depends_on_in_another_namespace_is_found_once() {
    let mut tree = homelab("waves");
    let written = "- name: apps-wave-0\n      namespace: apps";
    replace(&mut tree, &wave(1), "- name: apps-wave-0", written);
    assert_finds(
        &tree,
        None,
        &[("depends-on-not-found", &wave(1), "- name: apps-wave-0")],
    );
}

#[test]
fn a_depends_on_that_one_overlay_removes_is_found_at_its_patch() {
    for (overlay, patch) in [
        (DEV, "      - op: remove\n        path: /spec/dependsOn\n"),
        (PROD, "      - op: remove\n        path: /spec/dependsOn\n"),
        (
            PROD,
            "      kind: Kustomization\n      apiVersion: kustomize.toolkit.fluxcd.io/v1\n      metadata:\n        name: apps-wave-1\n        namespace: flux-system\n      spec:\n        dependsOn: null\n",
        ),
    ] {
        let mut tree = homelab("waves");
        let target =
            "  - target:\n      kind: Kustomization\n      name: apps-wave-1\n    patch: |\n";
        add_patch(&mut tree, overlay, &format!("{target}{patch}"));
        let found = crate::harness::lint_trees(&tree, None, &[]);
        let lines = crate::harness::lines(&found);
        assert_eq!(found.len(), 1, "{lines}");
        assert_eq!(found[0].rule, "missing-depends-on", "{lines}");
        assert_eq!(found[0].path, overlay, "{lines}");
        assert_eq!(
            found[0].clusters,
            [overlay.replace("/kustomization.yaml", "")]
        );
    }
}

#[test]
fn a_footing_that_was_there_at_the_base_is_missed() {
    let base = homelab("waves");
    let mut tree = base.clone();
    replace(
        &mut tree,
        &wave(0),
        "  dependsOn:\n    - name: platform-config\n",
        "",
    );
    assert_finds(
        &tree,
        Some(&base),
        &[("missing-depends-on", &wave(0), "spec:")],
    );
}

#[test]
fn the_footing_of_what_the_waves_replace_is_missed() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        &wave(0),
        "  dependsOn:\n    - name: platform-config\n",
        "",
    );
    let base = homelab("prune-off");
    assert_finds(
        &tree,
        Some(&base),
        &[("missing-depends-on", &wave(0), "spec:")],
    );
}

#[test]
fn a_footing_that_the_other_cluster_has_is_missed() {
    for overlay in [DEV, PROD] {
        let mut tree = homelab("waves");
        add_patch(
            &mut tree,
            overlay,
            "  - target:\n      kind: Kustomization\n      name: apps-wave-0\n    patch: |\n      - op: remove\n        path: /spec/dependsOn\n",
        );
        let line = crate::support::line_of(&tree, overlay, "- target:#1").to_string();
        assert_finds(&tree, None, &[("missing-depends-on", overlay, &line)]);
    }
}

#[test]
fn a_configured_footing_is_missed() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        &wave(0),
        "  dependsOn:\n    - name: platform-config\n",
        "",
    );
    let config = tree.get_mut(".wavelint.yaml").expect("it has one");
    config.push_str("waves:\n  - dir: apps/wave-{n}\n    after: [platform-config]\n");
    assert_finds(&tree, None, &[("missing-depends-on", &wave(0), "spec:")]);
}

// Decryption.

/// The patch of dev that gives a wave its keys.
fn sops_patch(number: usize) -> String {
    format!(
        "  - target:\n      kind: Kustomization\n      name: apps-wave-{number}\n    patch: |\n      - op: add\n        path: /spec/decryption\n        value:\n          provider: sops\n          secretRef:\n            name: sops-age\n"
    )
}

#[test]
fn a_wave_without_its_sops_patch_is_found_at_the_list_of_patches() {
    for number in [0, 1, 2] {
        let mut tree = homelab("waves");
        replace(&mut tree, DEV, &sops_patch(number), "");
        assert_finds(&tree, None, &[("missing-decryption", DEV, "patches:")]);
    }
}

#[test]
fn a_misspelt_sops_patch_is_found_twice() {
    let mut tree = homelab("waves");
    replace(&mut tree, DEV, "name: apps-wave-1", "name: app-wave-1");
    let expected = [
        ("missing-decryption", DEV, "patches:"),
        ("patch-matches-nothing", DEV, "name: app-wave-1"),
    ];
    assert_finds(&tree, None, &expected);
}

/// Dev with one patch for several waves in place of three.
fn with_one_patch(target: &str) -> Tree {
    let mut tree = homelab("waves");
    for number in [1, 2] {
        replace(&mut tree, DEV, &sops_patch(number), "");
    }
    replace(&mut tree, DEV, "      name: apps-wave-0\n", target);
    tree
}

#[test]
fn a_pattern_that_hits_all_waves_is_clean_and_one_that_leaves_a_wave_out_is_not() {
    for target in ["apps-wave-.*", "apps-wave-[0-2]", "apps-.*"] {
        let tree = with_one_patch(&format!("      name: {target}\n"));
        assert_finds(&tree, None, &[]);
    }
    let tree = with_one_patch("      name: apps-wave-[01]\n");
    assert_finds(&tree, None, &[("missing-decryption", DEV, "patches:")]);
}

#[test]
fn a_label_that_one_wave_lacks_leaves_it_without_keys() {
    let mut tree = with_one_patch("      labelSelector: app-wave=true\n");
    for number in [0, 1, 2] {
        let name = format!("name: apps-wave-{number}\n  namespace");
        let labelled =
            format!("name: apps-wave-{number}\n  labels:\n    app-wave: \"true\"\n  namespace");
        replace(&mut tree, &wave(number), &name, &labelled);
    }
    assert_finds(&tree, None, &[]);
    replace(
        &mut tree,
        &wave(1),
        "  labels:\n    app-wave: \"true\"\n",
        "",
    );
    assert_finds(&tree, None, &[("missing-decryption", DEV, "patches:")]);
}

#[test]
fn merge_patches_in_files_count_as_well() {
    let mut tree = homelab("waves");
    for number in [0, 1, 2] {
        let file = format!("decrypt-wave-{number}.yaml");
        replace(
            &mut tree,
            DEV,
            &sops_patch(number),
            &format!("  - path: {file}\n"),
        );
        tree.insert(
            format!("clusters/dev/{file}"),
            format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: apps-wave-{number}\n  namespace: flux-system\nspec:\n  decryption:\n    provider: sops\n"),
        );
    }
    assert_finds(&tree, None, &[]);
    replace(&mut tree, DEV, "  - path: decrypt-wave-1.yaml\n", "");
    tree.remove("clusters/dev/decrypt-wave-1.yaml");
    assert_finds(&tree, None, &[("missing-decryption", DEV, "patches:")]);
}

#[test]
fn patches_in_a_component_count_as_well() {
    let mut tree = homelab("waves");
    let mut component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n".to_owned();
    for number in [0, 1, 2] {
        replace(&mut tree, DEV, &sops_patch(number), "");
        component.push_str(&sops_patch(number));
    }
    replace(
        &mut tree,
        DEV,
        "patches:\n",
        "components:\n  - ../../components/sops\npatches:\n",
    );
    let path = "components/sops/kustomization.yaml";
    tree.insert(path.to_owned(), component);
    assert_finds(&tree, None, &[]);
    replace(&mut tree, path, &sops_patch(1), "");
    assert_finds(&tree, None, &[("missing-decryption", path, "patches:")]);
}

#[test]
fn patches_of_the_parent_count_as_well() {
    let mut tree = homelab("waves");
    let mut patches = String::new();
    for number in [0, 1, 2] {
        replace(&mut tree, DEV, &sops_patch(number), "");
        patches.push_str(&sops_patch(number));
    }
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./clusters/dev\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n  patches:\n";
    let path = "clusters/dev/flux-system/gotk-sync.yaml";
    tree.insert(path.to_owned(), format!("{sync}{patches}"));
    tree.remove(PROD);
    tree.remove(".wavelint.yaml");
    tree.insert(
        "clusters/dev/flux-system/kustomization.yaml".to_owned(),
        "resources:\n  - gotk-sync.yaml\n".to_owned(),
    );
    replace(
        &mut tree,
        DEV,
        "  - ../base\n",
        "  - flux-system\n  - ../base\n",
    );
    assert_finds(&tree, None, &[]);
    replace(&mut tree, path, &sops_patch(1), "");
    assert_finds(&tree, None, &[("missing-decryption", path, "  patches:")]);
}

// Moves.

/// The cutover, with one file changed on the way: what is found at which line of it.
fn assert_changed(path: &str, change: impl Fn(&str) -> String, line: &str) {
    let mut tree = homelab("waves");
    let text = change(&tree[path]);
    assert_ne!(text, tree[path]);
    tree.insert(path.to_owned(), text);
    let base = homelab("prune-off");
    assert_finds(&tree, Some(&base), &[("moved-file-changed", path, line)]);
}

#[test]
fn one_byte_changed_on_the_way_is_found_at_its_line() {
    assert_changed(
        "apps/wave-1/sonarr.yaml",
        |text| text.replace("sonarr:4.0.15", "sonarr:4.0.16"),
        "image:",
    );
    let lines = homelab("waves")["apps/wave-0/plex.yaml"].lines().count();
    assert_changed(
        "apps/wave-0/plex.yaml",
        |text| format!("{text}\n"),
        &(lines + 1).to_string(),
    );
}

#[test]
fn changed_line_endings_are_found() {
    let change = |text: &str| text.replace('\n', "\r\n");
    assert_changed("apps/wave-1/sonarr.yaml", change, "1");
    assert_changed("apps/wave-0/pihole.sops.yaml", change, "1");
}

#[test]
fn a_file_renamed_and_changed_on_the_way_is_found() {
    let mut tree = homelab("waves");
    rename(
        &mut tree,
        "apps/wave-2/seerr.yaml",
        "apps/wave-2/seerr-app.yaml",
    );
    replace(
        &mut tree,
        "apps/wave-2/kustomization.yaml",
        "seerr.yaml",
        "seerr-app.yaml",
    );
    assert_finds(&tree, Some(&homelab("prune-off")), &[]);
    replace(
        &mut tree,
        "apps/wave-2/seerr-app.yaml",
        "seerr:2.7.3",
        "seerr:2.7.4",
    );
    let expected = [("moved-file-changed", "apps/wave-2/seerr-app.yaml", "image:")];
    assert_finds(&tree, Some(&homelab("prune-off")), &expected);
}

#[test]
fn one_byte_of_ciphertext_changed_on_the_way_is_found() {
    let path = "apps/wave-0/pihole.sops.yaml";
    let tree = homelab("waves");
    let (index, old) = tree[path]
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains("ENC[AES256_GCM,data:"))
        .map(|(index, line)| (index, line.to_owned()))
        .expect("it is encrypted");
    let at = old.find("data:").expect("it is there") + 5;
    let byte = if old[at..].starts_with('A') { "B" } else { "A" };
    let mut new = old.clone();
    new.replace_range(at..at + 1, byte);
    assert_changed(
        path,
        |text| text.replacen(&old, &new, 1),
        &(index + 1).to_string(),
    );
}
