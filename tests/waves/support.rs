//! Trees to change, and what is found in them.

use std::collections::BTreeSet;

use wavelint::config::{Config, FILE_NAME};
use wavelint::finding::Finding;
use wavelint::levels::Selection;
use wavelint::lint;
use wavelint::repo::Repo;
use wavelint::snapshot::Snapshot;

use crate::harness::{Tree, lines, lint_trees, read_tree, testdata};

/// The repository at one of its moments.
pub(crate) fn homelab(moment: &str) -> Tree {
    read_tree(&testdata("homelab").join(moment))
}

/// A tree of some files.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

/// Replaces the one place where a text stands in a file.
pub(crate) fn replace(tree: &mut Tree, path: &str, from: &str, to: &str) {
    let text = tree.get_mut(path).unwrap_or_else(|| panic!("{path}"));
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {path}:\n{text}");
    *text = text.replace(from, to);
}

/// Moves a file, as it is.
pub(crate) fn rename(tree: &mut Tree, from: &str, to: &str) {
    let text = tree.remove(from).unwrap_or_else(|| panic!("{from}"));
    tree.insert(to.to_owned(), text);
}

/// Moves a file of one wave of homelab to another, with its entry in both lists.
pub(crate) fn move_app(tree: &mut Tree, name: &str, from: usize, to: usize) {
    let path = |wave: usize| format!("apps/wave-{wave}/{name}");
    let list = |wave: usize| format!("apps/wave-{wave}/kustomization.yaml");
    rename(tree, &path(from), &path(to));
    replace(tree, &list(from), &format!("  - {name}\n"), "");
    let entries = tree.get_mut(&list(to)).expect("a wave has a list");
    entries.push_str(&format!("  - {name}\n"));
}

/// The line (from 1) of the one line that holds a text; of the nth one with `#n` behind it.
pub(crate) fn line_of(tree: &Tree, path: &str, text: &str) -> usize {
    let (text, nth) = match text.rsplit_once('#') {
        Some((text, nth)) if nth.parse::<usize>().is_ok() => {
            (text, nth.parse().expect("it is a number"))
        }
        _ => (text, 0),
    };
    let found: Vec<usize> = tree[path]
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(text))
        .map(|(index, _)| index + 1)
        .collect();
    assert!(nth > 0 || found.len() == 1, "`{text}` in {path}: {found:?}");
    found[nth.max(1) - 1]
}

/// A finding that is expected: rule, path, and the line or a text on it.
pub(crate) type Expected<'a> = (&'a str, &'a str, &'a str);

/// Exactly these findings, at these lines, are found.
pub(crate) fn assert_finds(head: &Tree, base: Option<&Tree>, expected: &[Expected<'_>]) {
    let found = lint_trees(head, base, &[]);
    let places: BTreeSet<(String, String, usize)> = found
        .iter()
        .map(|found| (found.rule.clone(), found.path.clone(), found.line))
        .collect();
    let expected: BTreeSet<(String, String, usize)> = expected
        .iter()
        .map(|(rule, path, text)| {
            let line = text.parse().unwrap_or_else(|_| line_of(head, path, text));
            ((*rule).to_owned(), (*path).to_owned(), line)
        })
        .collect();
    assert_eq!(places, expected, "found:\n{}", lines(&found));
    assert_eq!(found.len(), expected.len(), "found:\n{}", lines(&found));
}

/// The message of the one finding of a rule.
pub(crate) fn message(head: &Tree, rule: &str) -> String {
    let found = lint_trees(head, None, &[rule]);
    assert_eq!(found.len(), 1, "{}", lines(&found));
    found[0].message.clone()
}

/// A repository understood, for a test that needs more than lines.
pub(crate) fn with_repo<T>(
    head: &Tree,
    base: Option<&Tree>,
    look: impl FnOnce(&Repo<'_>) -> T,
) -> T {
    let snapshot = |tree: &Tree| {
        Snapshot::memory(
            tree.iter()
                .map(|(path, text)| (path.clone(), text.clone().into_bytes())),
        )
    };
    let config = head.get(FILE_NAME).map_or_else(Config::default, |text| {
        Config::parse(text, FILE_NAME).unwrap_or_else(|error| panic!("{error}"))
    });
    let mut loaded = lint::load(snapshot(head), base.map(snapshot));
    let (head, base) = (std::mem::take(&mut loaded.head), loaded.base.take());
    look(&lint::understand(&loaded.files, &config, head, base, &[]))
}

/// The tree after the mends of a rule's findings, one after the other; `None` if one has no safe mend.
pub(crate) fn mended(head: &Tree, base: Option<&Tree>, rule: &str) -> Option<Tree> {
    let mut tree = head.clone();
    for _ in 0..20 {
        let next = with_repo(&tree, base, |repo| {
            let selection = Selection {
                select: vec![rule.to_owned()],
                ignore: Vec::new(),
            };
            let outcome =
                lint::lint(repo, &selection, &[]).unwrap_or_else(|error| panic!("{error}"));
            let finding = outcome.findings.first()?.clone();
            Some(apply(repo, &tree, &finding))
        });
        match next {
            None => return Some(tree),
            Some(next) => tree = next?,
        }
    }
    panic!("mending does not end");
}

fn apply(repo: &Repo<'_>, tree: &Tree, finding: &Finding) -> Option<Tree> {
    let fix = finding.fix.as_ref().filter(|fix| fix.safe)?;
    let mut tree = tree.clone();
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.place.file, edit.place.span)));
    for edit in edits {
        let path = repo.files.path(edit.place.file);
        tree.get_mut(path)
            .expect("an edit is of a file of the head")
            .replace_range(edit.place.span.range(), &edit.text);
    }
    for one in &fix.moves {
        rename(&mut tree, &one.from, &one.to);
    }
    Some(tree)
}
