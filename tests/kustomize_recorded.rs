//! Random small trees against what kustomize 5.5 answered for them.
//!
//! With `WAVELINT_RECORD=1` the answers are taken anew from kubectl.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use support::generated;
use wavelint::snapshot::Snapshot;
use wavelint::source::Revision;
use wavelint::tree::Files;

/// How many trees are recorded.
const TREES: u64 = 400;

const RECORDED: &str = "testdata/kustomize-recorded/answers.yaml";

/// Starts the answer to one tree.
const MARK: &str = "#### tree ";

#[test]
fn random_trees_build_as_kustomize_built_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
    if std::env::var_os("WAVELINT_RECORD").is_some() {
        record(&path);
    }
    let text = std::fs::read_to_string(path).expect("the answers are there");
    let answers: BTreeMap<u64, &str> = text
        .split(MARK)
        .skip(1)
        .filter_map(|part| {
            let (number, answer) = part.split_once('\n')?;
            Some((number.parse().ok()?, answer))
        })
        .collect();
    assert_eq!(answers.len() as u64, TREES);
    let failures: Vec<String> = answers
        .iter()
        .filter_map(|(seed, answer)| Some(format!("tree {seed}: {}", failure(*seed, answer)?)))
        .collect();
    let refused = answers.values().filter(|answer| is_refusal(answer)).count();
    assert!(
        refused > 20 && refused < TREES as usize / 2,
        "{refused} refused"
    );
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn is_refusal(answer: &str) -> bool {
    answer.starts_with("# refused")
}

fn failure(seed: u64, answer: &str) -> Option<String> {
    let mut files = Files::default();
    let texts = generated::tree(seed).files;
    let snapshot = Snapshot::memory(
        texts
            .into_iter()
            .map(|(path, text)| (path, text.into_bytes())),
    );
    let tree = files.add(snapshot, Revision::Head, None);
    let build = support::build(&files, &tree, "top");
    let messages: Vec<&str> = build
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    if is_refusal(answer) {
        return messages
            .is_empty()
            .then(|| format!("only kustomize refuses: {}", answer.trim()));
    }
    if !build.gaps.is_empty() {
        return Some(format!("unknown: {:?}", build.gaps));
    }
    if !messages.is_empty() {
        return Some(format!("only wavelint refuses: {messages:?}"));
    }
    let differences = support::differences(&support::documents(answer), &build);
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// Asks kubectl for every tree and writes down what it says.
fn record(path: &Path) {
    let answers: Vec<String> = (0..TREES)
        .into_par_iter()
        .map(|seed| format!("{MARK}{seed}\n{}", ask(seed)))
        .collect();
    let folder = path.parent().expect("the file is in a folder");
    std::fs::create_dir_all(folder).expect("the folder can be made");
    std::fs::write(path, answers.concat()).expect("the answers can be written");
}

fn ask(seed: u64) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, text) in generated::tree(seed).files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    let output = Command::new("kubectl")
        .args(["kustomize", "--load-restrictor", "LoadRestrictionsNone"])
        .arg(folder.path().join("top"))
        .output()
        .expect("kubectl is installed");
    if output.status.success() {
        return String::from_utf8_lossy(&output.stdout).into_owned();
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let error = error.replace(&*folder.path().to_string_lossy(), "<in>");
    let line = error
        .lines()
        .find_map(|line| line.split_once("err="))
        .map_or(error.trim(), |(_, message)| message);
    let shown: String = line.chars().take(300).collect();
    format!("# refused: {}\n", shown.replace('\n', " "))
}

/// Further trees, asked of kubectl at once: `WAVELINT_MORE_TREES=400-1400`.
#[test]
fn more_random_trees_build_as_kustomize_builds_them() {
    let range = std::env::var("WAVELINT_MORE_TREES").unwrap_or_default();
    let Some((from, to)) = range
        .split_once('-')
        .and_then(|(from, to)| Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?)))
    else {
        return;
    };
    let failures: Vec<String> = (from..to)
        .into_par_iter()
        .filter_map(|seed| Some(format!("tree {seed}: {}", failure(seed, &ask(seed))?)))
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
