//! The repository guards itself: the line of modules, one place for each foreign thing, files of a readable size.

use std::path::{Path, PathBuf};

/// More lines than this, and a file does two things.
const LONGEST_FILE: usize = 700;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a directory: path relative to the repository, and text.
fn rust_files(directory: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = walkdir::WalkDir::new(root().join(directory))
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let name = path.strip_prefix(root()).expect("below the root");
            let text = std::fs::read_to_string(&path).expect("a source file");
            (name.to_string_lossy().replace('\\', "/"), text)
        })
        .collect();
    files.sort();
    files
}

/// The code of a file without its comments and its unit tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|line| *line != "mod tests {" && *line != "mod properties {")
        .filter(|line| !line.trim_start().starts_with("//"))
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The names of modules in the order of the line.
fn line_of_modules() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    text.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

/// The first names of all `crate::…` paths in a line, also of `crate::{a, b}`.
fn modules_named(line: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split(',').map(str::trim).collect(),
            None => vec![rest],
        })
        .filter_map(|rest| rest.split(|c| !is_name(c)).next())
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn a_module_uses_only_modules_above_it() {
    let line = line_of_modules();
    assert!(line.len() > 20, "{line:?}");
    let position = |name: &str| line.iter().position(|module| module == name);
    let mut wrong = Vec::new();
    for (path, text) in rust_files("src") {
        let name = path["src/".len()..]
            .split(['/', '.'])
            .next()
            .expect("a name");
        let Some(own) = position(name) else {
            assert!(
                name == "lib" || name == "main",
                "{path} is no module of src/lib.rs"
            );
            continue;
        };
        if is_test(&path) {
            continue;
        }
        for line in code(&text) {
            for used in modules_named(line) {
                if position(used).is_some_and(|used| used > own) {
                    wrong.push(format!("{path}: {}", line.trim()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "uses a module below itself:\n{}",
        wrong.join("\n")
    );
}

/// Files outside `allowed` whose code names a crate.
fn strangers(name: &str, allowed: &[&str]) -> Vec<String> {
    let path_of_it = format!("{name}::");
    let import = format!("use {name};");
    rust_files("src")
        .into_iter()
        .filter(|(path, _)| {
            !is_test(path) && !allowed.iter().any(|allowed| path.starts_with(allowed))
        })
        .filter(|(_, text)| {
            code(text).any(|line| {
                let named = line.match_indices(&path_of_it).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                });
                named || line.trim() == import
            })
        })
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn each_foreign_thing_has_one_place() {
    for (name, allowed) in [
        ("gix", &["src/git.rs", "src/git/"][..]),
        ("granit_parser", &["src/yaml/"]),
        ("miette", &["src/report/human.rs"]),
        ("clap", &["src/cli.rs", "src/main.rs"]),
        (
            "clap_complete",
            &["src/cli.rs", "src/commands/completions.rs"],
        ),
        ("similar", &["src/fix/"]),
        ("walkdir", &["src/snapshot/"]),
    ] {
        assert_eq!(strangers(name, allowed), [""; 0], "{name}");
        assert_ne!(strangers(name, &[]), [""; 0], "{name} is used at all");
    }
    let parsers: Vec<String> = strangers("granit_parser", &[]);
    assert_eq!(parsers.len(), 1, "{parsers:?}");
}

#[test]
fn no_file_is_too_long() {
    for directory in ["src", "tests", "benches"] {
        for (path, text) in rust_files(directory) {
            let lines = text.lines().count();
            assert!(lines <= LONGEST_FILE, "{path} has {lines} lines");
        }
    }
}

#[test]
fn standard_output_is_reached_through_one_file() {
    for (path, text) in rust_files("src") {
        let direct = code(&text).any(|line| {
            line.contains("println!") || line.contains("print!(") || line.contains("io::stdout()")
        });
        assert!(!direct || path == "src/terminal.rs", "{path}");
    }
}

#[test]
fn every_rule_has_one_file_and_one_page() {
    let names: Vec<String> = wavelint::rules::RULES
        .iter()
        .map(|rule| rule.name.to_owned())
        .collect();
    let mut sorted = names.clone();
    sorted.sort();
    let pages: Vec<String> = stems("rules", "md");
    assert_eq!(sorted, pages, "rules/*.md and RULES");
    let files = stems("src/rules", "rs");
    for name in names {
        assert!(
            files.contains(&name.replace('-', "_")),
            "src/rules/ has no file for {name}"
        );
    }
}

/// The sorted names, without ending, of the files of one kind in a directory.
fn stems(directory: &str, extension: &str) -> Vec<String> {
    let mut stems: Vec<String> = std::fs::read_dir(root().join(directory))
        .expect("a directory")
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let matches = path.extension().is_some_and(|found| found == extension);
            let stem = path.file_stem()?.to_str()?.to_owned();
            (matches && stem != "README").then_some(stem)
        })
        .collect();
    stems.sort();
    stems
}
