//! The pages in `rules/` are tests: every example is linted, and finds exactly what it marks.
//!
//! A page has `## Bad` and `## Good` sections (several of each, told apart by what follows:
//! `## Bad: too high`), and for rules that compare two revisions `### Before` and `### After`
//! in them. Fenced blocks with a title (```` ```yaml title="apps/a.yaml" ````) are the files of a
//! small repository; those in a `## Setup` section belong to every example after it, and a file of the
//! example itself stands in for one of the same name. `# finds: RULE` at the end of a line (in Markdown
//! `<!-- finds: RULE -->`) marks the line of an expected finding, and is no part of the file.

mod harness;

use std::collections::BTreeSet;
use std::path::Path;

use harness::{Tree, lines, lint_trees};
use wavelint::rules::RULES;

/// One example of a page.
#[derive(Debug)]
struct Example {
    title: String,
    bad: bool,
    before: Option<Tree>,
    after: Tree,
    /// Path, line (from 1) and rule of each mark.
    marks: BTreeSet<(String, usize, String)>,
}

fn read_page(page: &str) -> Vec<Example> {
    let mut setup = Tree::new();
    let mut examples: Vec<Example> = Vec::new();
    let mut section = String::new();
    let mut part = "after";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
            part = "after";
            if is_example(title) {
                examples.push(Example {
                    title: title.to_owned(),
                    bad: title.starts_with("Bad"),
                    before: None,
                    after: Tree::new(),
                    marks: BTreeSet::new(),
                });
            }
        } else if let Some(title) = line.strip_prefix("### ") {
            part = match title {
                "Before" => "before",
                _ => "after",
            };
        } else if line.starts_with("```") && line.contains("title=\"") {
            let fence: String = line.chars().take_while(|c| *c == '`').collect();
            let path = line
                .split_once("title=\"")
                .and_then(|(_, rest)| rest.split_once('"'))
                .map(|(path, _)| path.to_owned())
                .expect("a title is quoted");
            let mut text = String::new();
            let mut marks = Vec::new();
            for (index, line) in lines.by_ref().take_while(|line| *line != fence).enumerate() {
                let (line, rules) = without_marks(line);
                marks.extend(
                    rules
                        .into_iter()
                        .map(|rule| (path.clone(), index + 1, rule)),
                );
                text.push_str(&line);
                text.push('\n');
            }
            if section == "Setup" {
                setup.insert(path, text);
            } else if let Some(example) = examples.last_mut().filter(|_| is_example(&section)) {
                let tree = match part {
                    "before" => example.before.get_or_insert_default(),
                    _ => &mut example.after,
                };
                tree.insert(path, text);
                example.marks.extend(marks);
            }
        }
    }
    for example in &mut examples {
        for tree in example.before.iter_mut().chain([&mut example.after]) {
            for (path, text) in &setup {
                tree.entry(path.clone()).or_insert_with(|| text.clone());
            }
            // An empty block says that the example does not have that file of the setup.
            tree.retain(|_, text| !text.is_empty());
        }
    }
    examples
}

fn is_example(title: &str) -> bool {
    ["Bad", "Good"]
        .iter()
        .any(|word| title == *word || title.starts_with(&format!("{word}:")))
}

/// A line without the marks at its end, and the rules that they name.
fn without_marks(line: &str) -> (String, Vec<String>) {
    for (start, end) in [("# finds: ", ""), ("<!-- finds: ", " -->")] {
        if let Some((before, rest)) = line.rsplit_once(start)
            && let Some(rules) = rest.strip_suffix(end)
        {
            let rules = rules.split(", ").map(str::to_owned).collect();
            return (before.trim_end().to_owned(), rules);
        }
    }
    (line.to_owned(), Vec::new())
}

#[test]
fn every_example_finds_what_it_marks_and_nothing_else() {
    let mut failures = String::new();
    for rule in RULES {
        for example in read_page(rule.page) {
            // Whether an ignore is of use shows only when all rules run.
            let select: &[&str] = match rule.name {
                "unused-ignore" => &[],
                name => &[name],
            };
            let found: Vec<_> = lint_trees(&example.after, example.before.as_ref(), select)
                .into_iter()
                .filter(|found| found.rule == rule.name)
                .collect();
            let places: BTreeSet<_> = found
                .iter()
                .map(|found| (found.path.clone(), found.line, found.rule.clone()))
                .collect();
            if example.bad == example.marks.is_empty() {
                failures += &format!(
                    "{}: `{}`: a bad example has marks, a good one has none\n",
                    rule.name, example.title
                );
            }
            if places != example.marks {
                failures += &format!(
                    "{}: `{}` marks {:?}, found:\n{}",
                    rule.name,
                    example.title,
                    example.marks,
                    lines(&found)
                );
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_good_example_has_no_error_of_any_rule() {
    let mut failures = String::new();
    for rule in RULES {
        for example in read_page(rule.page).iter().filter(|example| !example.bad) {
            let found: Vec<_> = lint_trees(&example.after, example.before.as_ref(), &[])
                .into_iter()
                .filter(|found| found.severity == "error")
                .collect();
            if !found.is_empty() {
                failures += &format!("{}: `{}`:\n{}", rule.name, example.title, lines(&found));
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn every_rule_has_a_page_with_a_bad_and_a_good_example() {
    let mut failures = String::new();
    for rule in RULES {
        let examples = read_page(rule.page);
        for bad in [true, false] {
            if !examples.iter().any(|example| example.bad == bad) {
                failures += &format!(
                    "{} has no {} example\n",
                    rule.name,
                    if bad { "bad" } else { "good" }
                );
            }
        }
        if rule.compares && !examples.iter().all(|example| example.before.is_some()) {
            failures += &format!("{}: an example has no `### Before`\n", rule.name);
        }
        if !rule.page.starts_with(&format!("# {}\n", rule.name)) {
            failures += &format!("{}: the page does not begin with its name\n", rule.name);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn pages_rules_and_files_are_the_same_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |directory: &str, ending: &str| -> BTreeSet<String> {
        std::fs::read_dir(root.join(directory))
            .expect("it is part of the package")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(ending)?.replace('_', "-")))
            .collect()
    };
    let listed: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(listed.len(), RULES.len(), "a rule is listed twice");
    assert_eq!(names("rules", ".md"), listed);
    let helpers = ["mod", "combine", "problems", "support", "variables"];
    let sources: BTreeSet<String> = names("src/rules", ".rs")
        .into_iter()
        .filter(|name| !helpers.contains(&name.as_str()))
        .collect();
    assert_eq!(sources, listed);
}
