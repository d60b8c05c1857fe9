//! `wavelint plan` in a repository: what is committed counts, one step after the other.

use crate::repository::Repository;

/// The homelab with a service in too low a wave.
fn misplaced() -> Repository {
    let repository = Repository::of("homelab/waves");
    let text = repository.read("apps/wave-1/nextcloud.yaml");
    repository.write("apps/wave-0/nextcloud.yaml", text);
    std::fs::remove_file(repository.path().join("apps/wave-1/nextcloud.yaml"))
        .expect("a file to remove");
    repository.replace("apps/wave-1/kustomization.yaml", "  - nextcloud.yaml\n", "");
    let list = repository.read("apps/wave-0/kustomization.yaml");
    repository.write(
        "apps/wave-0/kustomization.yaml",
        list.replace("resources:\n", "resources:\n  - nextcloud.yaml\n"),
    );
    repository.commit("misplaced");
    repository
}

#[test]
fn a_step_that_is_not_the_next_has_to_wait() {
    let repository = misplaced();
    for (number, words) in [
        ("2", "commit step 1 first"),
        ("3", "commit steps 1 and 2 first"),
    ] {
        let ran = repository.run(&["plan", "--apply", number]).expect(2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert_eq!(repository.git(&["status", "--short"]), "");
}

#[test]
fn a_step_that_is_written_has_to_be_committed() {
    let repository = misplaced();
    repository.run(&["plan", "--apply", "1"]).expect(0);
    let ran = repository.run(&["plan", "--apply", "1"]).expect(2);
    assert!(
        ran.stderr.contains("step 1 is written already"),
        "{}",
        ran.stderr
    );
    repository.commit("guard");
    let ran = repository.run(&["plan", "--apply", "1"]).expect(0);
    assert!(ran.stderr.contains("move: "), "{}", ran.stderr);
}

#[test]
fn what_is_not_committed_is_said_not_to_count() {
    let repository = misplaced();
    let ran = repository.run(&["plan"]).expect(0);
    assert_eq!(ran.stderr, "");
    repository.write("README.md", "more\n");
    let ran = repository.run(&["plan"]).expect(0);
    assert!(ran.stderr.contains("differs from HEAD"), "{}", ran.stderr);
    assert_eq!(repository.run(&["plan", "--quiet"]).expect(0).stderr, "");
}

#[test]
fn an_obstacle_names_one_file_and_stands_before_the_steps() {
    let repository = misplaced();
    let list = repository.read("apps/wave-1/kustomization.yaml");
    repository.write(
        "apps/wave-1/kustomization.yaml",
        list.replace("resources:\n", "resources: &all\n"),
    );
    repository.commit("an anchor");
    let ran = repository.run(&["plan"]).expect(0);
    assert!(ran.stdout.starts_with("1. guard: "), "{}", ran.stdout);
    repository.write(
        "apps/wave-1/kustomization.yaml",
        "{resources: [homepage.yaml], kind: Kustomization}\n---\nkind: Other\n",
    );
    repository.commit("two documents");
    let ran = repository.run(&["plan"]).expect(0);
    let first = ran.stdout.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("in the way: apps/wave-1/"),
        "{}",
        ran.stdout
    );
    assert!(!first.contains("wave-0"), "{first}");
}
