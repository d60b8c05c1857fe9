//! Every argument, and every exit code.

use crate::repository::Repository;

/// A repository with one error, one warning and no info.
fn faulty() -> Repository {
    let repository = Repository::of("homelab/waves");
    repository.replace(
        "clusters/base/apps-wave-1.yaml",
        "  dependsOn:\n    - name: apps-wave-0\n",
        "",
    );
    repository.write(
        "apps/wave-2/seerr-extra.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: seerr-extra\n  namespace: apps\n",
    );
    repository
}

const ERROR: &str = "missing-depends-on clusters/base/apps-wave-1.yaml:6";
const WARNING: &str = "manifest-not-listed apps/wave-2/seerr-extra.yaml:1";

#[test]
fn fail_on_decides_the_exit_code_and_hides_nothing() {
    let repository = faulty();
    let both = [WARNING, ERROR];
    for (level, code) in [("error", 1), ("warning", 1), ("info", 1), ("never", 0)] {
        let ran = repository
            .run(&["--format", "json", "--fail-on", level])
            .expect(code);
        assert_eq!(ran.findings(), both);
    }
    let only = ["--select", "manifest-not-listed"];
    repository
        .run(&[&only[..], &["--fail-on", "error"]].concat())
        .expect(0);
    repository.run(&only).expect(1);
}

#[test]
fn rules_and_groups_are_selected_and_left_out() {
    let repository = faulty();
    for (arguments, found) in [
        (&["--select", "order"][..], &[ERROR][..]),
        (&["--select", "missing-depends-on,waves"], &[ERROR]),
        (&["--ignore", "order"], &[WARNING]),
        (
            &["--select", "order", "--ignore", "missing-depends-on"],
            &[],
        ),
        (
            &["--ignore", "manifest-not-listed", "--ignore", "order"],
            &[],
        ),
    ] {
        assert_eq!(repository.findings(arguments), found, "{arguments:?}");
    }
}

#[test]
fn a_cluster_is_looked_at_alone() {
    let repository = Repository::of("homelab/waves");
    let dev = "clusters/dev/kustomization.yaml";
    let text = repository.read(dev);
    let start = text
        .find("  - target:\n      kind: Kustomization")
        .expect("patches");
    repository.write(dev, &text[..start]);
    assert_eq!(
        repository.findings(&["--cluster", "clusters/prod"]).len(),
        0
    );
    let found = repository.findings(&["--cluster", "./clusters/dev/"]);
    assert!(!found.is_empty());
    assert!(
        found
            .iter()
            .all(|found| found.starts_with("missing-decryption ")),
        "{found:?}"
    );
    let ran = repository.run(&["--cluster", "clusters/test"]).expect(2);
    assert_eq!(
        ran.stderr,
        "wavelint: error: `clusters/test` is no cluster: there are clusters/dev, clusters/prod\n"
    );
}

#[test]
fn a_directory_is_the_root_of_the_tree() {
    let repository = Repository::empty();
    repository.copy("homelab/waves");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "-m", "first"]);
    let top = repository.path();
    std::fs::create_dir_all(top.join("moved/here")).expect("a directory");
    for name in ["apps", "catalog", "clusters", "platform", "platform-config"] {
        std::fs::rename(top.join(name), top.join("moved/here").join(name)).expect("a move");
    }
    std::fs::rename(
        top.join(".wavelint.yaml"),
        top.join("moved/here/.wavelint.yaml"),
    )
    .expect("a move");
    std::fs::rename(top.join(".sops.yaml"), top.join("moved/here/.sops.yaml")).expect("a move");
    repository.commit("deeper");
    repository.replace(
        "moved/here/clusters/base/apps-wave-1.yaml",
        "    - name: apps-wave-0\n",
        "    - name: platform\n",
    );
    assert_eq!(
        repository.findings(&["moved/here"]),
        ["missing-depends-on clusters/base/apps-wave-1.yaml:8"]
    );
    // A forge counts paths from the top of the repository.
    let ran = repository
        .run(&["moved/here", "--format", "github"])
        .expect(1);
    assert!(
        ran.stdout
            .contains("file=moved/here/clusters/base/apps-wave-1.yaml,"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_configuration_is_read_replaced_or_left_out() {
    let repository = faulty();
    repository.write(
        ".wavelint.yaml",
        "clusters: [{path: clusters/prod, role: design-only}]\nrules: {missing-depends-on: off}\n",
    );
    assert_eq!(repository.findings(&[]), [WARNING]);
    // Without it, prod is a cluster like dev, and has no decryption.
    let found = repository.findings(&["--no-config"]);
    assert!(found.contains(&ERROR.to_owned()), "{found:?}");
    assert!(found.len() > 2, "{found:?}");
    repository.write(
        "other.yaml.conf",
        "clusters: [{path: clusters/prod, role: design-only}]\nrules: {manifest-not-listed: off}\n",
    );
    assert_eq!(
        repository.findings(&["--config", "other.yaml.conf"]),
        [ERROR]
    );
    // The index has the configuration of the index.
    assert_eq!(repository.findings(&["--staged"]).len(), 0);
}

#[test]
fn a_configuration_that_matches_nothing_is_told_and_changes_no_exit_code() {
    let repository = Repository::of("homelab/waves");
    repository.write(
        ".wavelint.yaml",
        "clusters:\n  - path: clusters/nowhere\nwaves:\n  - dir: app/wave-{n}\n    catalog: nothing/**\n    after: [platfrom]\n",
    );
    let ran = repository.run(&["--fail-on", "never"]).expect(0);
    for place in [
        ".wavelint.yaml:2:11: cluster `clusters/nowhere` is no directory",
        ".wavelint.yaml:4:10: dir `app/wave-{n}` matches no directory",
        ".wavelint.yaml:5:14: catalog `nothing/**` matches no file with a ServiceDefinition",
        ".wavelint.yaml:6:13: after `platfrom` is no Kustomization of any cluster",
    ] {
        assert!(ran.stderr.contains(place), "{place} in {}", ran.stderr);
    }
    let quiet = repository.run(&["--quiet", "--fail-on", "never"]).expect(0);
    assert!(!quiet.stderr.contains("matches no"), "{}", quiet.stderr);
}

#[test]
fn a_broken_configuration_says_where() {
    let repository = faulty();
    for (text, place) in [
        ("clusters: [\n", ".wavelint.yaml:"),
        ("exclude: []\nrulez: {}\n", ".wavelint.yaml:2:1"),
        ("rules:\n  wrong-wav: off\n", ".wavelint.yaml:2"),
        ("rules: {wrong-wave: loud}\n", ".wavelint.yaml:1"),
    ] {
        repository.write(".wavelint.yaml", text);
        let ran = repository.run(&[]).expect(2);
        assert!(ran.stderr.contains(place), "{text:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    repository.write(".wavelint.yaml", b"rules: \xff\n");
    repository.run(&[]).expect(2);
}

#[test]
fn what_cannot_be_run_ends_with_two_and_says_why() {
    let repository = faulty();
    for (arguments, words) in [
        (&["--fromat", "json"][..], "--fromat"),
        (&["--format", "xml"], "xml"),
        (&["nowhere"], "nowhere"),
        (&["--rev", "nowhere"], "nowhere"),
        (&["--base", "nowhere"], "nowhere"),
        (&["--select", "wrong-wav"], "wrong-wave"),
        (&["--ignore", "nothing-like-it"], "nothing-like-it"),
        (&["--config", "missing.yaml"], "missing.yaml"),
        (&["--baseline", "missing.json"], "missing.json"),
        (&["--output", "missing/report.json"], "missing/report.json"),
        (&["--cluster", "clusters/none"], "clusters/none"),
        (&["--staged", "--rev", "HEAD"], "--staged"),
        (&["explain", "wrong-wav"], "wrong-wave"),
    ] {
        let ran = repository.run(arguments).expect(2);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn outside_git_files_are_linted_as_they_are() {
    let folder = Repository::folder();
    folder.copy("homelab/waves");
    assert_eq!(folder.findings(&[]).len(), 0);
    folder.replace(
        "clusters/base/apps-wave-1.yaml",
        "    - name: apps-wave-0\n",
        "    - name: platform\n",
    );
    assert_eq!(folder.findings(&[]).len(), 1);
    for arguments in [&["--staged"][..], &["--rev", "HEAD"], &["--base", "HEAD"]] {
        folder.run(arguments).expect(2);
    }
}

#[test]
fn an_empty_repository_has_nothing_to_find() {
    let repository = Repository::empty();
    repository.run(&[]).expect(0);
    repository.run(&["--staged"]).expect(0);
    repository.run(&["--rev", "HEAD"]).expect(2);
    // Nothing is committed yet, and all is staged.
    repository.copy("homelab/waves");
    repository.git(&["add", "-A"]);
    repository.run(&["--staged"]).expect(0);
}

#[test]
fn a_bare_repository_is_linted_by_revision() {
    let repository = faulty();
    repository.commit("faulty");
    let bare = Repository::folder();
    let from = repository.path();
    bare.git(&[
        "clone",
        "-q",
        "--bare",
        from.to_str().expect("a plain path"),
        ".",
    ]);
    assert_eq!(bare.findings(&["--rev", "HEAD"]), [WARNING, ERROR]);
    assert_eq!(bare.findings(&["--rev", "main~1"]).len(), 0);
    let ran = bare.run(&[]).expect(2);
    assert!(ran.stderr.contains("--rev HEAD"), "{}", ran.stderr);
}

#[test]
fn the_report_goes_to_the_file_asked_for() {
    let repository = faulty();
    let ran = repository
        .run(&["--format", "json", "--output", "report.json"])
        .expect(1);
    assert_eq!(ran.stdout, "");
    let text = repository.read("report.json");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["summary"]["errors"], 1);
    assert_eq!(report["snapshot"]["kind"], "worktree");
}

#[test]
fn a_baseline_leaves_out_what_it_lists_and_nothing_new() {
    let repository = faulty();
    repository
        .run(&["--baseline", "baseline.json", "--write-baseline"])
        .expect(0);
    repository.run(&["--baseline", "baseline.json"]).expect(0);
    repository.replace(
        "clusters/base/apps-wave-2.yaml",
        "    - name: apps-wave-1\n",
        "    - name: platform\n",
    );
    assert_eq!(
        repository.findings(&["--baseline", "baseline.json"]),
        ["missing-depends-on clusters/base/apps-wave-2.yaml:8"]
    );
}

#[test]
fn an_ignore_with_a_reason_is_obeyed() {
    let repository = faulty();
    repository.replace(
        "clusters/base/apps-wave-1.yaml",
        "spec:\n",
        "spec: # wavelint: ignore[missing-depends-on] the waves are merged next week\n",
    );
    assert_eq!(repository.findings(&[]), [WARNING]);
}

#[test]
fn commands_that_only_tell_end_with_zero() {
    let folder = Repository::folder();
    for arguments in [
        &["--version"][..],
        &["--help"],
        &["rules"],
        &["rules", "--format", "json"],
        &["explain", "wrong-wave"],
        &["completions", "bash"],
        &["demo"],
        &["demo", "--format", "sarif"],
    ] {
        let ran = folder.run(arguments).expect(0);
        assert!(!ran.stdout.is_empty(), "{arguments:?}");
        assert_eq!(ran.stderr, "", "{arguments:?}");
    }
    folder.run(&["init"]).expect(0);
    folder.run(&["init"]).expect(2);
}

#[test]
fn a_baseline_written_for_some_rules_keeps_the_entries_of_the_others() {
    let repository = faulty();
    let write = ["--baseline", "baseline.json", "--write-baseline"];
    repository.run(&write).expect(0);
    let whole = repository.read("baseline.json");
    repository
        .run(&[&write[..], &["--select", "sops"]].concat())
        .expect(0);
    assert_eq!(repository.read("baseline.json"), whole);
    repository.run(&["--baseline", "baseline.json"]).expect(0);
    repository
        .run(&[&write[..], &["--ignore", "sops"]].concat())
        .expect(0);
    assert_eq!(repository.read("baseline.json"), whole);
}

#[test]
fn a_plan_without_a_commit_says_what_is_missing() {
    let repository = Repository::empty();
    repository.copy("homelab/waves");
    let ran = repository.run(&["plan"]).expect(2);
    assert!(
        ran.stderr
            .contains("revision `HEAD` is no commit here: HEAD has none yet"),
        "{}",
        ran.stderr
    );
    repository.git(&["add", "-A"]);
    repository.run(&["plan", "--staged"]).expect(0);
}

#[test]
fn a_configuration_under_another_name_is_not_passed_over() {
    let repository = Repository::empty();
    repository.write(".wavelint.yml", "exclude: []\n");
    let ran = repository.run(&[]).expect(0);
    assert!(
        ran.stderr.contains(".wavelint.yml is not read"),
        "{}",
        ran.stderr
    );
    repository.write(".wavelint.yaml/x", "");
    let ran = repository.run(&[]).expect(2);
    assert!(ran.stderr.contains("is a directory"), "{}", ran.stderr);
    repository.run(&["--no-config"]).expect(0);
}
