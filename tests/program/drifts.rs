//! The four classic drifts of a repository in waves, in the work tree, in the index, and between commits.

use crate::repository::{Repository, without_times};

/// One drift, made in a repository whose last commit lints clean.
struct Drift {
    name: &'static str,
    /// What is committed.
    base: &'static str,
    /// What the work tree then holds, still clean.
    good: &'static str,
    /// Makes the drift.
    make: fn(&Repository),
    /// The one finding: rule, path and line.
    found: &'static str,
}

const DRIFTS: [Drift; 4] = [
    Drift {
        name: "wrong_wave",
        base: "homelab/waves",
        good: "homelab/waves",
        // The catalog and the wave table were updated, the manifest stayed where it was.
        make: |repository| {
            repository.replace(
                "catalog/services/plex.yaml",
                "dependencies: []",
                "dependencies:\n  - qbittorrent",
            );
            repository.replace("DESIGN-waves.md", "jackett, plex,", "jackett,");
            repository.replace("DESIGN-waves.md", "| 1 | sonarr,", "| 1 | plex, sonarr,");
        },
        found: "wrong-wave apps/wave-0/plex.yaml:1",
    },
    Drift {
        name: "lost_depends_on",
        base: "homelab/waves",
        good: "homelab/waves",
        make: |repository| {
            repository.replace(
                "clusters/base/apps-wave-1.yaml",
                "  dependsOn:\n    - name: apps-wave-0\n",
                "",
            );
        },
        found: "missing-depends-on clusters/base/apps-wave-1.yaml:6",
    },
    Drift {
        name: "lost_decryption",
        base: "homelab/waves",
        good: "homelab/waves",
        make: |repository| {
            let path = "clusters/dev/kustomization.yaml";
            let text = repository.read(path);
            let patch = |wave: &str| {
                let name = format!("  - target:\n      kind: Kustomization\n      name: {wave}\n");
                text.find(&name).expect("the patch is there")
            };
            let (start, end) = (patch("apps-wave-1"), patch("apps-wave-2"));
            repository.write(path, format!("{}{}", &text[..start], &text[end..]));
        },
        found: "missing-decryption clusters/dev/kustomization.yaml:6",
    },
    Drift {
        name: "moved_file_changed",
        base: "homelab/prune-off",
        good: "homelab/waves",
        make: |repository| {
            repository.replace("apps/wave-1/sonarr.yaml", "storage: 1Gi", "storage: 2Gi");
        },
        found: "moved-file-changed apps/wave-1/sonarr.yaml:14",
    },
];

impl Drift {
    /// The repository before the drift: the good state in work tree and index, not committed.
    fn repository(&self) -> Repository {
        let repository = Repository::of(self.base);
        repository.copy(self.good);
        repository.git(&["add", "-A"]);
        repository
    }

    fn found(&self) -> Vec<String> {
        vec![self.found.to_owned()]
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn without_a_drift_nothing_is_found() {
    for drift in DRIFTS {
        let repository = drift.repository();
        assert_eq!(repository.findings(&[]), NOTHING, "{}", drift.name);
        assert_eq!(
            repository.findings(&["--staged"]),
            NOTHING,
            "{}",
            drift.name
        );
        repository.run(&[]).expect(0);
    }
}

#[test]
fn a_drift_in_the_work_tree_alone_is_seen_there_alone() {
    for drift in DRIFTS {
        let repository = drift.repository();
        (drift.make)(&repository);
        assert_eq!(repository.findings(&[]), drift.found(), "{}", drift.name);
        assert_eq!(
            repository.findings(&["--staged"]),
            NOTHING,
            "{}",
            drift.name
        );
        repository.run(&[]).expect(1);
        repository.run(&["--staged"]).expect(0);
    }
}

#[test]
fn a_drift_in_the_index_alone_is_seen_there_alone() {
    for drift in DRIFTS {
        let repository = drift.repository();
        (drift.make)(&repository);
        repository.git(&["add", "-A"]);
        repository.copy(drift.good);
        assert_eq!(repository.findings(&[]), NOTHING, "{}", drift.name);
        assert_eq!(
            repository.findings(&["--staged"]),
            drift.found(),
            "{}",
            drift.name
        );
        repository.run(&["--staged"]).expect(1);
    }
}

#[test]
fn a_drift_is_seen_in_its_commit_and_against_an_older_base() {
    for drift in DRIFTS {
        let repository = drift.repository();
        (drift.make)(&repository);
        repository.commit("drift");
        let found = drift.found();
        assert_eq!(
            repository.findings(&["--rev", "HEAD"]),
            found,
            "{}",
            drift.name
        );
        assert_eq!(
            repository.findings(&["--rev", "HEAD~1"]),
            NOTHING,
            "{}",
            drift.name
        );
        assert_eq!(
            repository.findings(&["--base", "HEAD~1"]),
            found,
            "{}",
            drift.name
        );
        // Now the work tree equals its base: only what compares is silent.
        let compares = drift.name == "moved_file_changed";
        let left = if compares { Vec::new() } else { found.clone() };
        assert_eq!(repository.findings(&[]), left, "{}", drift.name);
        assert_eq!(
            repository.findings(&["--no-base", "--rev", "HEAD"]),
            left,
            "{}",
            drift.name
        );
        repository.write("later.txt", "later");
        repository.commit("later");
        assert_eq!(
            repository.findings(&["--rev", "HEAD", "--base", "HEAD~2"]),
            found
        );
    }
}

#[test]
fn each_drift_reads_well() {
    for drift in DRIFTS {
        let repository = drift.repository();
        (drift.make)(&repository);
        let ran = repository.run(&[]).expect(1);
        insta::assert_snapshot!(drift.name, without_times(&ran.stdout));
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn all_drifts_at_once_are_found_one_by_one() {
    let repository = DRIFTS[3].repository();
    for drift in &DRIFTS {
        (drift.make)(&repository);
    }
    let mut expected: Vec<String> = DRIFTS.iter().map(|drift| drift.found.to_owned()).collect();
    expected.sort_by_key(|found| found.split(' ').nth(1).map(str::to_owned));
    // The move also edits what went to another wave.
    assert_eq!(repository.findings(&[]), expected);
}

#[test]
fn the_demonstration_finds_each_drift_once() {
    let repository = Repository::folder();
    let ran = repository.run(&["demo", "--format", "json"]).expect(0);
    assert_eq!(
        ran.findings(),
        [
            "wrong-wave apps/wave-1/grafana.yaml:1",
            "moved-file-changed apps/wave-1/vaultwarden.yaml:17",
            "missing-depends-on clusters/base/apps-wave-1.yaml:6",
            "missing-decryption clusters/dev/kustomization.yaml:5",
        ]
    );
}

#[test]
fn before_its_drifts_the_demonstration_was_clean() {
    let repository = Repository::of("demo/before");
    assert_eq!(repository.findings(&["--fail-on", "info"]), NOTHING);
    repository.copy("demo/after");
    assert_eq!(repository.findings(&[]).len(), 4);
}
