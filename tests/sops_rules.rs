//! The rules of SOPS on files that SOPS itself has written (testdata/sops/rules), and on what hands make of them.

mod harness;

use harness::{Found, Tree, lint_trees, read_tree, testdata};

const SOPS: &[&str] = &["sops"];

fn fresh() -> Tree {
    read_tree(&testdata("sops/rules"))
}

/// Rule, path and line of each finding.
fn said(found: &[Found]) -> Vec<(String, String, usize)> {
    found
        .iter()
        .map(|found| (found.rule.clone(), found.path.clone(), found.line))
        .collect()
}

fn one(rule: &str, path: &str, line: usize) -> Vec<(String, String, usize)> {
    vec![(rule.to_owned(), path.to_owned(), line)]
}

/// The tree after a change of one file's text, compared with the tree before.
fn after(path: &str, change: impl Fn(&str) -> String) -> Vec<(String, String, usize)> {
    let base = fresh();
    let mut head = base.clone();
    let text = head.get_mut(path).expect("the file is there");
    let changed = change(text);
    assert_ne!(*text, changed, "the change changes something");
    *text = changed;
    said(&lint_trees(&head, Some(&base), SOPS))
}

#[test]
fn files_as_sops_writes_them_are_in_order() {
    let tree = fresh();
    assert!(tree.len() > 8);
    assert_eq!(said(&lint_trees(&tree, None, SOPS)), []);
    assert_eq!(said(&lint_trees(&tree, Some(&tree), SOPS)), []);
}

#[test]
fn a_value_in_clear_that_is_edited_by_hand_makes_the_mac_stale() {
    let relabel = |text: &str| text.replace("x: \"1\"", "x: \"2\"");
    assert_eq!(
        after("a/one.yaml", relabel),
        one("stale-mac", "a/one.yaml", 7)
    );
    // With `mac_only_encrypted` SOPS decrypts it all the same.
    assert_eq!(after("a/only.yaml", relabel), []);
    let edit = |text: &str| text.replace("\"z\": 1", "\"z\": 2");
    assert_eq!(after("a/x.json", edit).len(), 1);
}

#[test]
fn an_encrypted_value_under_another_key_makes_the_mac_stale() {
    let rename = |text: &str| text.replace("    p: ENC", "    q: ENC");
    for path in ["a/one.yaml", "a/only.yaml"] {
        assert_eq!(after(path, rename), one("stale-mac", path, 10));
    }
}

#[test]
fn comments_and_quotes_do_not_matter() {
    let comment = |text: &str| format!("# by hand\n{}", text.replace("x: \"1\"", "x: '1'"));
    assert_eq!(after("a/one.yaml", comment), []);
}

#[test]
fn a_value_that_is_added_by_hand_is_said_once() {
    let add = |text: &str| text.replace("stringData:\n", "stringData:\n    hand: plain\n");
    for path in ["a/one.yaml", "a/only.yaml"] {
        assert_eq!(after(path, add), one("unencrypted-value", path, 10));
    }
    let add = |text: &str| format!("HAND=plain\n{text}");
    // Its rule selects nothing in a file without nesting: the value is as clear as the others.
    assert_eq!(after("a/x.env", add), one("stale-mac", "a/x.env", 1));
    let add = |text: &str| text.replace("    pw: ENC", "    user: plain\n    pw: ENC");
    assert_eq!(after("a/comment.yaml", add).len(), 1);
}

#[test]
fn the_recipients_are_held_against_the_rule() {
    let first = "age1";
    let rule = |text: &str| {
        // The last rule is for both keys; let it be the first that matches.
        text.replace("path_regex: ^b/.*", "path_regex: ^none/.*")
    };
    let all = after(".sops.yaml", rule);
    assert_eq!(all, [], "no rule is for the file");
    let base = fresh();
    let both: Vec<&str> = base["b/x.yaml"]
        .lines()
        .filter_map(|line| line.split_once("recipient: "))
        .map(|(_, recipient)| recipient)
        .collect();
    let [left, right] = both[..] else {
        panic!("the file has two recipients")
    };
    assert!(left.starts_with(first) && right.starts_with(first));
    // Taken from the rule, a recipient is one too many in the file.
    let found = after(".sops.yaml", |text| {
        text.replace(&format!("{left},{right}"), left)
    });
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str()),
        ("recipients-differ", "b/x.yaml")
    );
    // Added to a rule, it is missing in every file of that rule.
    let found = after(".sops.yaml", |text| {
        text.replace(
            &format!("age: {left}\n  - path_regex: ^b/"),
            &format!("age: {left},{right}\n  - path_regex: ^b/"),
        )
    });
    let paths: Vec<&str> = found.iter().map(|(_, path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "a/mv.yaml",
            "a/one.yaml",
            "a/two.yaml",
            "a/x.env",
            "a/x.ini",
            "a/x.json",
            "a/x.txt"
        ]
    );
}

#[test]
fn a_move_under_another_rule_is_seen() {
    let base = fresh();
    let mut head = base.clone();
    let text = head.remove("a/mv.yaml").expect("the file is there");
    head.insert("b/mv.yaml".to_owned(), text);
    let found = said(&lint_trees(&head, Some(&base), SOPS));
    let rules: Vec<&str> = found.iter().map(|(rule, ..)| rule.as_str()).collect();
    assert_eq!(rules, ["creation-rule-changed", "recipients-differ"]);
}
