//! Small repositories with one fault each (testdata/fault-cases): the fault is found at its
//! line, nothing else is said, and the mended tree is clean.

mod harness;

use std::path::Path;

use harness::{Found, Tree, lines, lint_trees, read_tree, serious, testdata};
use serde_yaml::Value;
use wavelint::rules;

struct Case {
    name: String,
    expected: Value,
    directory: std::path::PathBuf,
}

fn cases() -> Vec<Case> {
    let root = testdata("fault-cases");
    let mut names: Vec<_> = std::fs::read_dir(&root)
        .expect("it is part of the package")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let directory = root.join(&name);
            let text =
                std::fs::read_to_string(directory.join("expected.yaml")).expect("it is there");
            Case {
                expected: serde_yaml::from_str(&text).expect("it is YAML"),
                name,
                directory,
            }
        })
        .collect()
}

impl Case {
    fn two_revisions(&self) -> bool {
        self.expected["revisions"].as_str() == Some("two")
    }

    /// What is linted, and what it is compared with, below a directory of the case.
    fn trees(&self, below: Option<&str>) -> (Tree, Option<Tree>) {
        let at = |name: &str| match below {
            Some(below) => self.directory.join(below).join(name),
            None => self.directory.join(name),
        };
        if self.two_revisions() {
            (read_tree(&at("after")), Some(read_tree(&at("before"))))
        } else {
            let directory = self.directory.join(below.unwrap_or("broken"));
            (read_tree(&directory), None)
        }
    }

    /// Rule, path in its tree, line.
    fn expected_findings(&self) -> Vec<(String, String, usize)> {
        self.expected["findings"]
            .as_sequence()
            .expect("a list")
            .iter()
            .map(|finding| {
                let path = finding["path"].as_str().expect("a path");
                let (_, path) = path.split_once('/').expect("a tree and a path");
                (
                    finding["rule"].as_str().expect("a rule").to_owned(),
                    path.to_owned(),
                    finding["line"].as_u64().expect("a line") as usize,
                )
            })
            .collect()
    }

    /// What may be said besides, in the words of the case.
    fn acceptable(&self) -> String {
        serde_yaml::to_string(&self.expected["also_acceptable"]).unwrap_or_default()
    }
}

/// A cycle may be reported at any of its edges.
fn fits(case: &Case, found: &Found, rule: &str, path: &str, line: usize) -> bool {
    let at_any_edge = rule == "depends-on-cycle"
        && case.expected["findings"][0]["related"]
            .as_sequence()
            .is_some_and(|related| {
                related
                    .iter()
                    .any(|place| place["line"].as_u64() == Some(found.line as u64))
            });
    found.rule == rule && found.path == path && (found.line == line || at_any_edge)
}

#[test]
fn each_fault_is_found_at_its_line_and_nothing_else_is() {
    let mut failures = String::new();
    for case in cases() {
        let (head, base) = case.trees(None);
        let found = lint_trees(&head, base.as_ref(), &[]);
        let expected = case.expected_findings();
        for (rule, path, line) in &expected {
            if rules::find(rule).is_none() {
                failures += &format!("{}: there is no rule {rule}\n", case.name);
            } else if !found
                .iter()
                .any(|found| fits(&case, found, rule, path, *line))
            {
                failures += &format!(
                    "{}: {path}:{line} {rule} is not found, but:\n{}",
                    case.name,
                    lines(&found)
                );
            }
        }
        let acceptable = case.acceptable();
        for found in serious(found) {
            let wanted = expected
                .iter()
                .any(|(rule, path, line)| fits(&case, &found, rule, path, *line));
            if !wanted && !acceptable.contains(&found.rule) {
                failures += &format!("{}: too much: {}\n", case.name, found.line());
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn each_mended_tree_is_clean() {
    let mut failures = String::new();
    for case in cases() {
        assert!(Path::new(&case.directory).join("fixed").is_dir());
        let (head, base) = case.trees(Some("fixed"));
        let found = serious(lint_trees(&head, base.as_ref(), &[]));
        if !found.is_empty() {
            failures += &format!("{}:\n{}", case.name, lines(&found));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
