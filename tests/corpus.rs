//! Real repositories, with what is known to be wrong in them and what only looks so.
//!
//! They are not part of this repository: where `../shared/corpus` is not beside the crate, the tests say so and pass.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// What a row of `truth/*.tsv` is called here. Rows that say *info* or speak of what no cluster reaches have no rule.
const TRUTHS: [(&str, &[&str]); 12] = [
    ("build-fails:duplicate-id", &["duplicate-object"]),
    ("cyclic-through-parent", &["depends-on-cycle"]),
    ("dangling-dependsOn", &["depends-on-not-found"]),
    ("fluxinstance-path-missing", &["path-not-found"]),
    ("listed-missing", &["resource-not-found"]),
    (
        "object-owned-twice",
        &["object-owned-twice", "overlapping-paths"],
    ),
    ("path-missing", &["path-not-found"]),
    (
        "plaintext-secret",
        &["plaintext-secret", "private-key-committed"],
    ),
    ("sops-recipients-differ", &["recipients-differ"]),
    (
        "undefined-var",
        &[
            "undefined-variable",
            "substitution-in-script",
            "invalid-substitution",
        ],
    ),
    ("ungated-dependency", &["depends-on-not-gated"]),
    ("wrong-wave", &["wrong-wave"]),
];

/// What a row of `traps/*.tsv` must not be taken for, at warning or above.
const TRAPS: [(&str, &[&str]); 7] = [
    ("path-relative-to-OCI-artifact", &["path-not-found"]),
    ("path-with-dotdot", &["path-not-found"]),
    ("secret-with-empty-values", &["plaintext-secret"]),
    ("ungated-but-no-workload", &["depends-on-not-gated"]),
    ("unlisted-commented-out", &["manifest-not-listed"]),
    ("unlisted-on-purpose", &["manifest-not-listed"]),
    ("vars-from-out-of-band-source", &["undefined-variable"]),
];

/// Rows that another rule says: what is wrong there is the cause, or keeps the build from getting so far.
const SAID_OTHERWISE: [(&str, usize); 2] = [
    // The Kustomization's build fails for a missing resource, and one finding a fault is enough.
    (
        "kubernetes/infrastructure/security/networkpolicy/ks.yaml",
        22,
    ),
    // An unclosed brace a few thousand lines above makes Flux refuse the whole object.
    ("dashboard", 5347),
];

struct Repository {
    name: String,
    directory: PathBuf,
}

/// Unpacks the repositories into a directory that goes with the test.
fn repositories(to: &Path) -> Vec<Repository> {
    let corpus = corpus();
    let Ok(entries) = std::fs::read_dir(&corpus) else {
        println!("no ../shared/corpus beside the crate: no real repository is linted");
        return Vec::new();
    };
    let mut archives: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".tar.xz"))
        .collect();
    archives.sort();
    archives
        .into_iter()
        .map(|archive| {
            let file = archive.file_name().unwrap_or_default().to_string_lossy();
            let name = file.trim_end_matches(".tar.xz").to_owned();
            let directory = to.join(&name);
            std::fs::create_dir(&directory).expect("a directory can be made");
            let unpacked = Command::new("tar")
                .arg("-xf")
                .arg(&archive)
                .arg("-C")
                .arg(&directory)
                .status();
            assert!(
                unpacked.is_ok_and(|status| status.success()),
                "{name} cannot be unpacked"
            );
            Repository { name, directory }
        })
        .collect()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus")
}

fn lint(directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavelint"))
        .args(["check", "--no-base", "--format", "json"])
        .arg(directory)
        .output()
        .expect("the program runs")
}

/// Path, line and kind of the rows of a table; nothing if there is no such table.
fn rows(kind: &str, name: &str) -> Vec<(String, usize, String)> {
    let path = corpus().join(kind).join(format!("{name}.tsv"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some((
                fields.next()?.to_owned(),
                fields.next()?.parse().ok()?,
                fields.next()?.to_owned(),
            ))
        })
        .collect()
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn names(table: &[(&str, &'static [&'static str])], kind: &str) -> Option<&'static [&'static str]> {
    table
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, rules)| *rules)
}

#[test]
fn real_repositories_are_judged_as_people_judged_them() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut failures = String::new();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for repository in repositories(directory.path()) {
        let output = lint(&repository.directory);
        let again = lint(&repository.directory);
        let name = &repository.name;
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.stdout, again.stdout, "{name} is not deterministic");
        let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let findings = report["findings"].as_array().expect("a list");
        let places = |finding: &Value| {
            let related = finding["related"].as_array().cloned().unwrap_or_default();
            let related = related
                .into_iter()
                .map(|related| related["location"].clone());
            std::iter::once(finding["location"].clone())
                .chain(related)
                .filter_map(|place| {
                    let line = place["start"]["line"].as_u64()?;
                    Some((place["path"].as_str()?.to_owned(), line as usize))
                })
                .collect::<Vec<(String, usize)>>()
        };
        let is_one_of = |rules: &[&str], finding: &Value| {
            rules.contains(&finding["rule"].as_str().unwrap_or_default())
        };
        for (path, line, kind) in rows("truth", name) {
            let otherwise = SAID_OTHERWISE
                .iter()
                .any(|(part, at)| path.contains(part) && *at == line);
            let Some(rules) = names(&TRUTHS, &kind).filter(|_| !otherwise) else {
                continue;
            };
            // Where a fault has two ends, either may be the finding's own place; of two
            // objects in one directory, either file.
            let meant = |found: &str| match kind.as_str() {
                "build-fails:duplicate-id" => directory_of(found) == directory_of(&path),
                _ => found == path,
            };
            let found = findings.iter().any(|finding| {
                is_one_of(rules, finding) && places(finding).iter().any(|(path, _)| meant(path))
            });
            let count = counts.entry(rules[0]).or_default();
            count.1 += 1;
            if found {
                count.0 += 1;
            } else {
                failures += &format!("{name}: missed {kind} at {path}:{line}\n");
            }
        }
        for (path, line, kind) in rows("traps", name) {
            let Some(rules) = names(&TRAPS, &kind) else {
                continue;
            };
            let fallen = findings.iter().any(|finding| {
                is_one_of(rules, finding)
                    && finding["severity"].as_str() != Some("info")
                    && places(finding).contains(&(path.clone(), line))
            });
            if fallen {
                failures += &format!("{name}: false alarm: {kind} at {path}:{line}\n");
            }
        }
    }
    for (rule, (found, known)) in counts {
        println!("{rule}: {found} of {known}");
    }
    assert!(failures.is_empty(), "\n{failures}");
}
