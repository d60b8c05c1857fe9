//! `--fix` and `--diff` in a work tree.

use crate::repository::Repository;

/// A repository with three ignores that suppress nothing, one in a file with CRLF.
fn stale_ignores() -> Repository {
    let repository = Repository::of("homelab/waves");
    repository.replace(
        "apps/wave-0/plex.yaml",
        "  replicas: 1\n",
        "  replicas: 1 # wavelint: ignore[wrong-wave] once\n",
    );
    repository.replace(
        "apps/wave-0/jackett.yaml",
        "  replicas: 1\n",
        "  # wavelint: ignore[wrong-wave] once\n  replicas: 1\n",
    );
    let gitea = repository.read("apps/wave-0/gitea.yaml").replace(
        "  replicas: 1\n",
        "  replicas: 1 # wavelint: ignore[wrong-wave] once\n",
    );
    repository.write("apps/wave-0/gitea.yaml", gitea.replace('\n', "\r\n"));
    repository.commit("stale");
    repository
}

#[test]
fn fixes_are_made_byte_for_byte_and_once() {
    let repository = stale_ignores();
    assert_eq!(repository.findings(&[]).len(), 3);
    let before = repository.git(&["status", "--porcelain"]);
    // Not safe, so not without being asked for.
    repository.run(&["--fix"]).expect(1);
    assert_eq!(repository.git(&["status", "--porcelain"]), before);

    let ran = repository.run(&["--fix", "--unsafe-fixes"]).expect(0);
    assert!(ran.stderr.contains("fixed 3:"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("apps/wave-0/plex.yaml:"),
        "{}",
        ran.stderr
    );
    let original = Repository::of("homelab/waves");
    for name in ["plex", "jackett"] {
        let path = format!("apps/wave-0/{name}.yaml");
        assert_eq!(repository.read(&path), original.read(&path));
    }
    assert_eq!(
        repository.read("apps/wave-0/gitea.yaml"),
        original
            .read("apps/wave-0/gitea.yaml")
            .replace('\n', "\r\n")
    );
    let status = repository.git(&["status", "--porcelain"]);
    assert_eq!(status.lines().count(), 3, "{status}");
    let ran = repository.run(&["--fix", "--unsafe-fixes"]).expect(0);
    assert!(!ran.stderr.contains("fixed"), "{}", ran.stderr);
    assert_eq!(repository.git(&["status", "--porcelain"]), status);
}

#[test]
fn a_lost_depends_on_is_written_back() {
    let repository = Repository::of("homelab/waves");
    let lost = "  dependsOn:\n    - name: apps-wave-1\n";
    repository.replace("clusters/base/apps-wave-2.yaml", lost, "");
    let ran = repository.run(&["--fix"]).expect(0);
    assert!(
        ran.stderr
            .contains("missing-depends-on: add dependsOn to `apps-wave-2`"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.git(&["diff"]), "");

    // The same with CRLF, and with an indentation of its own.
    let path = "clusters/base/apps-wave-2.yaml";
    let text = repository
        .read(path)
        .replace("\n  ", "\n    ")
        .replace('\n', "\r\n");
    repository.write(
        path,
        text.replace("    dependsOn:\r\n      - name: apps-wave-1\r\n", ""),
    );
    repository.run(&["--fix"]).expect(0);
    assert_eq!(repository.read(path), text);
}

#[test]
fn a_diff_changes_nothing_and_git_can_apply_it() {
    let repository = stale_ignores();
    let ran = repository.run(&["--diff", "--unsafe-fixes"]).expect(1);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(repository.run(&["--diff"]).expect(1).stdout, "");
    let copy = Repository::folder();
    copy.write("fix.patch", &ran.stdout);
    let patch = copy.path().join("fix.patch");
    repository.git(&["apply", patch.to_str().expect("a plain path")]);
    let applied = repository.git(&["stash", "create"]);
    repository.git(&["checkout", "-q", "."]);
    repository.run(&["--fix", "--unsafe-fixes"]).expect(0);
    assert_eq!(repository.git(&["diff", &applied]), "");
}

#[test]
fn what_an_interrupted_run_left_is_undone_first() {
    let repository = stale_ignores();
    repository.write(
        ".wavelint-fix",
        r#"{"steps":[{"path":"apps/wave-0/plex.yaml","before":"0","after":null}],"directories":[]}"#,
    );
    let ran = repository.run(&[]).expect(1);
    assert!(
        ran.stderr.contains("an earlier --fix was interrupted here"),
        "{}",
        ran.stderr
    );
    let ran = repository.run(&["--fix", "--unsafe-fixes"]).expect(0);
    assert!(ran.stderr.contains("was undone first"), "{}", ran.stderr);
    assert!(!repository.path().join(".wavelint-fix").exists());
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_none_is_an_error_and_stays() {
    let repository = stale_ignores();
    repository.write(".wavelint-fix", "junk\n");
    let ran = repository.run(&["--fix", "--unsafe-fixes"]).expect(2);
    assert!(
        ran.stderr.contains(".wavelint-fix is no journal"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read(".wavelint-fix"), "junk\n");
}

#[test]
fn a_read_only_file_keeps_all_files_as_they_are() {
    use std::os::unix::fs::PermissionsExt as _;
    let repository = stale_ignores();
    let path = repository.path().join("apps/wave-0/plex.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("a mode");
    let ran = repository.run(&["--fix", "--unsafe-fixes"]).expect(2);
    assert_eq!(
        ran.stderr,
        "wavelint: error: apps/wave-0/plex.yaml is read-only\n"
    );
    assert_eq!(repository.git(&["diff"]), "");
}
