//! The mend of a misplaced manifest: only where nothing can be deleted by it.

use crate::harness::Tree;
use crate::support::{assert_finds, homelab, mended, move_app, rename, replace};

/// A change that makes a mend unsafe.
type Change = fn(&mut Tree);

/// Homelab with an app of wave 0 in wave 1, where it has been before as well.
fn too_high() -> Tree {
    let mut tree = homelab("waves");
    move_app(&mut tree, "plex.yaml", 0, 1);
    tree
}

#[test]
fn a_move_down_is_done_with_both_lists_in_their_order() {
    let tree = too_high();
    let wanted = homelab("waves");
    assert_eq!(mended(&tree, None, "wrong-wave"), Some(wanted.clone()));
    assert_eq!(mended(&tree, Some(&tree), "wrong-wave"), Some(wanted));
}

#[test]
fn the_secret_and_the_app_move_one_after_the_other() {
    let mut tree = too_high();
    move_app(&mut tree, "pihole.yaml", 0, 1);
    move_app(&mut tree, "pihole.sops.yaml", 0, 1);
    assert_eq!(
        mended(&tree, Some(&tree), "wrong-wave"),
        Some(homelab("waves"))
    );
}

#[test]
fn comments_quotes_and_line_endings_of_a_list_stay() {
    let mut tree = too_high();
    let low = "apps/wave-0/kustomization.yaml";
    let high = "apps/wave-1/kustomization.yaml";
    replace(
        &mut tree,
        high,
        "  - plex.yaml\n",
        "  - plex.yaml  # films\n",
    );
    let list = tree[low].replace(
        "  - pihole.yaml\n",
        "  # pictures\n  - \"pihole.yaml\" # dns\n",
    );
    tree.insert(low.to_owned(), list.replace('\n', "\r\n"));
    let mended = mended(&tree, None, "wrong-wave").expect("it has a safe mend");
    let wanted = tree[low].replace("# dns\r\n", "# dns\r\n  - \"plex.yaml\"  # films\r\n");
    assert_eq!(mended[low], wanted);
    assert!(!mended[high].contains("plex"));
    assert_finds(&mended, None, &[]);
}

#[test]
fn a_folder_moves_with_all_its_files() {
    let mut tree = too_high();
    rename(
        &mut tree,
        "apps/wave-1/plex.yaml",
        "apps/wave-1/plex/app.yaml",
    );
    let list = "resources:\n  - app.yaml\n".to_owned();
    tree.insert("apps/wave-1/plex/kustomization.yaml".to_owned(), list);
    replace(
        &mut tree,
        "apps/wave-1/kustomization.yaml",
        "  - plex.yaml\n",
        "  - ./plex/\n",
    );
    let mended = mended(&tree, None, "wrong-wave").expect("it has a safe mend");
    assert!(mended.contains_key("apps/wave-0/plex/kustomization.yaml"));
    assert!(mended["apps/wave-0/kustomization.yaml"].contains("  - plex\n"));
    assert_finds(&mended, None, &[]);
}

#[test]
fn a_move_up_has_no_mend_unless_nothing_was_there_before() {
    let mut low = homelab("waves");
    move_app(&mut low, "sonarr.yaml", 1, 0);
    assert_eq!(mended(&low, None, "wrong-wave"), None);
    assert_eq!(mended(&low, Some(&low), "wrong-wave"), None);
    let mut base = homelab("waves");
    base.remove("apps/wave-1/sonarr.yaml");
    replace(
        &mut base,
        "apps/wave-1/kustomization.yaml",
        "  - sonarr.yaml\n",
        "",
    );
    let mended = mended(&low, Some(&base), "wrong-wave").expect("it has a safe mend");
    assert!(mended.contains_key("apps/wave-1/sonarr.yaml"));
}

#[test]
fn a_move_down_that_could_delete_has_no_mend() {
    let unsafe_changes: [(&str, Change); 6] = [
        ("the waves are not ordered", |tree| {
            replace(
                tree,
                "clusters/base/apps-wave-1.yaml",
                "  dependsOn:\n    - name: apps-wave-0\n",
                "",
            );
        }),
        ("the link has a condition of its own", |tree| {
            replace(
                tree,
                "clusters/base/apps-wave-1.yaml",
                "- name: apps-wave-0\n",
                "- name: apps-wave-0\n      readyExpr: \"true\"\n",
            );
        }),
        ("the lower wave builds otherwise", |tree| {
            let list = tree
                .get_mut("apps/wave-0/kustomization.yaml")
                .expect("it is there");
            list.push_str("namePrefix: x-\n");
        }),
        ("the lower wave's Kustomization is set otherwise", |tree| {
            replace(
                tree,
                "clusters/base/apps-wave-0.yaml",
                "  wait: true\n",
                "  wait: true\n  targetNamespace: other\n",
            );
        }),
        ("something else names the file", |tree| {
            let list = tree
                .get_mut("apps/wave-1/kustomization.yaml")
                .expect("it is there");
            list.push_str("configMapGenerator:\n  - name: x\n    files: [plex.yaml]\n");
        }),
        ("the list is written in one line", |tree| {
            let list = tree
                .get_mut("apps/wave-0/kustomization.yaml")
                .expect("it is there");
            *list = list
                .replace("resources:\n  - ", "resources: [")
                .replace("\n  - ", ", ")
                .trim_end()
                .to_owned()
                + "]\n";
        }),
    ];
    for (why, change) in unsafe_changes {
        let mut tree = too_high();
        change(&mut tree);
        assert_eq!(mended(&tree, None, "wrong-wave"), None, "{why}");
    }
}

#[test]
fn what_may_be_misplaced_by_a_slip_in_the_catalog_has_no_safe_mend() {
    let plex = "catalog/services/plex.yaml";
    let mut misspelt = too_high();
    replace(
        &mut misspelt,
        plex,
        "dependencies: []",
        "dependancies: [pihole]",
    );
    assert_eq!(mended(&misspelt, None, "wrong-wave"), None);

    let mut before = too_high();
    replace(
        &mut before,
        plex,
        "dependencies: []",
        "dependencies: [pihole]",
    );
    let emptied = too_high();
    assert_eq!(mended(&emptied, Some(&before), "wrong-wave"), None);
    assert!(mended(&emptied, Some(&emptied), "wrong-wave").is_some());
}

#[test]
fn what_comes_from_below_is_not_mended_into_a_deletion() {
    // At the base in wave 0, now in wave 2, and it belongs in wave 1.
    let mut base = homelab("waves");
    move_app(&mut base, "sonarr.yaml", 1, 0);
    let mut tree = base.clone();
    move_app(&mut tree, "sonarr.yaml", 0, 2);
    assert_eq!(mended(&tree, Some(&base), "wrong-wave"), None);
}

#[test]
fn the_last_app_of_a_wave_is_left_there() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        "catalog/services/seerr.yaml",
        "  - sonarr\n  - radarr\n",
        "",
    );
    assert_eq!(mended(&tree, None, "wrong-wave"), None);
}
