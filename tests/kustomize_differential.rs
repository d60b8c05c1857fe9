//! The engine against kustomize itself, directory by directory, where kubectl or kustomize is installed.
//!
//! Trees: the cases in testdata, the real repositories in `../shared/corpus` beside the crate if they are
//! there, and those that `WAVELINT_KUSTOMIZE_TREES` names (separated by `:`).
#![allow(clippy::print_stdout)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rayon::prelude::*;
use wavelint::kustomize::{Build, BuildOptions, GapEffect, KUSTOMIZATION_FILE_NAMES, Kustomize};
use wavelint::tree::{Files, Tree};

/// How one directory compares.
enum Outcome {
    /// The same objects, or both refuse.
    Equal,
    /// Not evaluated, or only in part; what was evaluated agrees.
    Unknown,
    /// They disagree.
    Different(String),
}

/// The command that builds a directory as Flux allows it.
fn oracle() -> Option<Vec<&'static str>> {
    let commands: [&[&str]; 2] = [&["kubectl", "kustomize"], &["kustomize", "build"]];
    commands
        .into_iter()
        .find(|command| {
            Command::new(command[0])
                .arg("version")
                .arg("--client")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        })
        .map(<[&str]>::to_vec)
}

fn run(oracle: &[&str], directory: &Path) -> Result<String, String> {
    let output = Command::new(oracle[0])
        .args(&oracle[1..])
        .args(["--load-restrictor", "LoadRestrictionsNone"])
        .arg(directory)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn compare(oracle: &[&str], root: &Path, directory: &str, build: &Build) -> Outcome {
    let unknown = |effect| build.gaps.iter().any(|gap| gap.effect == effect);
    // What is fetched at build time is not fetched here.
    let fetches = build.gaps.iter().any(|gap| gap.cause.starts_with("remote"));
    if fetches || unknown(GapEffect::Identities) {
        return Outcome::Unknown;
    }
    let answer = run(oracle, &root.join(directory));
    let problems: Vec<&str> = build
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    match answer {
        Err(_) if !problems.is_empty() => Outcome::Equal,
        // Before 5.7 a patch of nothing but comments was an error.
        Err(error) if error.contains("illegally qualifies as both") => Outcome::Equal,
        Err(error) => Outcome::Different(format!("only kustomize refuses: {}", error.trim())),
        Ok(_) if !problems.is_empty() => {
            Outcome::Different(format!("only wavelint refuses: {problems:?}"))
        }
        Ok(text) => {
            let differences = support::differences(&support::documents(&text), build);
            let names_differ = differences.iter().any(|text| text.starts_with("missing"));
            if differences.is_empty() {
                Outcome::Equal
            } else if unknown(GapEffect::Content) && !names_differ {
                Outcome::Unknown
            } else {
                Outcome::Different(differences.join("; "))
            }
        }
    }
}

fn directories(tree: &Tree) -> Vec<String> {
    let mut found: Vec<String> = tree
        .files()
        .filter_map(|(path, _)| {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            KUSTOMIZATION_FILE_NAMES
                .contains(&name)
                .then(|| directory.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

fn compare_tree(oracle: &[&str], root: &Path, counts: &mut BTreeMap<&str, usize>) -> Vec<String> {
    let (files, tree): (Files, Tree) = support::load(root);
    let kustomize = Kustomize::new(&files, &tree);
    let outcomes: Vec<(String, Outcome)> = directories(&tree)
        .into_par_iter()
        .map(|directory| {
            let build = kustomize.build(&directory, &BuildOptions::default());
            let outcome = compare(oracle, root, &directory, &build);
            (directory, outcome)
        })
        .collect();
    let mut different = Vec::new();
    for (directory, outcome) in outcomes {
        let word = match outcome {
            Outcome::Equal => "equal",
            Outcome::Unknown => "unknown",
            Outcome::Different(why) => {
                different.push(format!("{}/{directory}: {why}", root.display()));
                "different"
            }
        };
        *counts.entry(word).or_default() += 1;
    }
    different
}

/// Unpacks the repositories of the corpus, each into its own folder.
fn unpack_corpus(into: &Path) -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let Ok(entries) = std::fs::read_dir(corpus) else {
        println!("no ../shared/corpus beside the crate: only testdata is compared");
        return Vec::new();
    };
    let mut archives: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".tar.xz"))
        .collect();
    archives.sort();
    archives
        .into_iter()
        .enumerate()
        .map(|(index, archive)| {
            let folder = into.join(index.to_string());
            std::fs::create_dir(&folder).expect("a folder can be made");
            let status = Command::new("tar")
                .arg("xf")
                .arg(&archive)
                .arg("-C")
                .arg(&folder)
                .status();
            assert!(status.is_ok_and(|status| status.success()), "{archive:?}");
            folder
        })
        .collect()
}

#[test]
fn every_directory_builds_as_kustomize_builds_it() {
    let Some(oracle) = oracle() else {
        println!("neither kubectl nor kustomize is installed: nothing is compared");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kustomize-cases");
    let mut roots: Vec<PathBuf> = std::fs::read_dir(cases)
        .expect("the cases are there")
        .filter_map(|entry| Some(entry.ok()?.path().join("in")))
        .filter(|path| path.is_dir())
        .collect();
    roots.sort();
    roots.extend(unpack_corpus(folder.path()));
    if let Some(more) = std::env::var_os("WAVELINT_KUSTOMIZE_TREES") {
        roots.extend(std::env::split_paths(&more));
    }
    let mut counts = BTreeMap::new();
    let different: Vec<String> = roots
        .iter()
        .flat_map(|root| compare_tree(&oracle, root, &mut counts))
        .collect();
    println!("{counts:?}");
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}
