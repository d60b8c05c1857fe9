use super::*;
use crate::rules::Group;
use crate::snapshot::Snapshot;
use crate::source::Span;

static WRONG_WAVE: Rule = rule("wrong-wave", Group::Waves, false);
static UNKNOWN_APP: Rule = rule("unknown-app", Group::Waves, false);
static PRUNE_ON_MOVE: Rule = rule("prune-on-move", Group::Moves, true);
static UNUSED: Rule = rule(UNUSED_IGNORE, Group::Build, false);
static RULES: &[&Rule] = &[&WRONG_WAVE, &UNKNOWN_APP, &PRUNE_ON_MOVE, &UNUSED];

const fn rule(name: &'static str, group: Group, compares: bool) -> Rule {
    Rule {
        name,
        group,
        summary: "",
        page: "",
        off_by_default: false,
        compares,
        check: |_| Vec::new(),
    }
}

/// Lints one file in which each `line` has a finding of the rule; gives the lines kept, the
/// number suppressed, and what is said about the ignores.
fn run(
    path: &str,
    text: &str,
    found: &[(&'static str, usize)],
) -> (Vec<usize>, usize, Vec<String>) {
    run_with(path, text, found, |_| true)
}

fn run_with(
    path: &str,
    text: &str,
    found: &[(&'static str, usize)],
    ran: impl Fn(&Rule) -> bool,
) -> (Vec<usize>, usize, Vec<String>) {
    let mut files = Files::default();
    let snapshot = Snapshot::memory([(path.to_owned(), text.as_bytes().to_vec())]);
    let tree = files.add(snapshot, Revision::Head, None);
    let file = tree.file(path).unwrap();
    let findings = found
        .iter()
        .map(|(rule, line)| {
            let span = files.line_span(file, *line);
            Finding::new(rule, Severity::Error, Place { file, span }, "wrong")
        })
        .collect();
    let remaining = inline(findings, &files, &[file], RULES, |rule, _| ran(rule));
    (
        remaining
            .kept
            .iter()
            .map(|finding| files.line(finding.place))
            .collect(),
        remaining.suppressed,
        remaining
            .unused
            .iter()
            .map(|finding| finding.message.clone())
            .collect(),
    )
}

const NONE: Vec<String> = Vec::new();

#[test]
fn an_ignore_holds_for_its_line_or_the_next() {
    let text = "a: 1 # wavelint: ignore[wrong-wave] on purpose\n# wavelint: ignore[wrong-wave] why\nb: 2\nc: 3\n";
    let found = [("wrong-wave", 1), ("wrong-wave", 3), ("wrong-wave", 4)];
    assert_eq!(run("a.yaml", text, &found), (vec![4], 2, NONE));
}

#[test]
fn crlf_and_indentation_do_not_matter() {
    let text = "a:\r\n    #  wavelint:ignore[ wrong-wave ]   why\r\n    b: 2\r\n";
    assert_eq!(run("a.yaml", text, &[("wrong-wave", 3)]), (vec![], 1, NONE));
}

#[test]
fn comments_between_are_skipped_and_ignores_stack() {
    let text =
        "# wavelint: ignore[wrong-wave] why\n# wavelint: ignore[unknown-app] why\n# note\na: 1\n";
    let found = [("wrong-wave", 4), ("unknown-app", 4)];
    assert_eq!(run("a.yaml", text, &found), (vec![], 2, NONE));
}

#[test]
fn a_file_may_be_ignored_at_its_top_only() {
    let text = "---\n# about\n\n# wavelint: ignore-file[wrong-wave] why\na: 1\nb: 2\n";
    let found = [("wrong-wave", 1), ("wrong-wave", 6), ("unknown-app", 6)];
    assert_eq!(run("a.yaml", text, &found), (vec![6], 2, NONE));

    let below = "a: 1\n# wavelint: ignore-file[wrong-wave] why\n";
    let (kept, suppressed, said) = run("a.yaml", below, &[("wrong-wave", 1)]);
    assert_eq!((kept, suppressed), (vec![1], 0));
    assert_eq!(
        said,
        ["`ignore-file` stands below the top of the file, where it has no effect"]
    );
}

#[test]
fn a_group_stands_for_its_rules() {
    let text = "a: 1 # wavelint: ignore[waves] why\n";
    let found = [("wrong-wave", 1), ("unknown-app", 1), ("prune-on-move", 1)];
    assert_eq!(run("a.yaml", text, &found), (vec![1], 2, NONE));
}

#[test]
fn a_comment_mark_inside_text_is_no_comment() {
    let text = "a: 'x # wavelint: ignore[wrong-wave] why'\n";
    assert_eq!(
        run("a.yaml", text, &[("wrong-wave", 1)]),
        (vec![1], 0, NONE)
    );
}

#[test]
fn a_finding_in_a_block_scalar_is_ignored_at_its_key() {
    for text in [
        "a:\n  script: | # wavelint: ignore[wrong-wave] why\n    one\n    two\n  b: 1\n",
        "a:\n  # wavelint: ignore[wrong-wave] why\n  script: |\n    two\n  b: 1\n",
    ] {
        let found = [("wrong-wave", 4), ("wrong-wave", 5)];
        assert_eq!(run("a.yaml", text, &found), (vec![5], 1, NONE), "{text}");
    }
}

#[test]
fn markdown_ignores_are_html_comments_outside_code() {
    let text = "# Title\n\n<!-- wavelint: ignore[wrong-wave] kept by hand -->\n\n| a |\n|---|\n";
    assert_eq!(
        run("README.md", text, &[("wrong-wave", 5)]),
        (vec![], 1, NONE)
    );
    let code = "```\n<!-- wavelint: ignore[wrong-wave] x -->\n```\n`<!-- wavelint: ignore[a] x -->`\n<!-- wavelint:waves -->\n";
    assert_eq!(run("README.md", code, &[]), (vec![], 0, NONE));
}

#[test]
fn files_that_are_not_yaml_are_read_line_by_line() {
    let text = "x # wavelint: ignore[wrong-wave] why\ny\n";
    assert_eq!(
        run(".env", text, &[("wrong-wave", 1), ("wrong-wave", 2)]),
        (vec![2], 1, NONE)
    );
    let broken = "a: [ # wavelint: ignore[wrong-wave] why\n";
    assert_eq!(
        run("a.yaml", broken, &[("wrong-wave", 1)]),
        (vec![], 1, NONE)
    );
}

#[test]
fn useless_ignores_are_findings() {
    let said = |text: &str, found: &[(&'static str, usize)]| run("a.yaml", text, found).2;
    assert_eq!(
        said("a: 1 # wavelint: ignore[wrong-wave] why\n", &[]),
        ["`ignore` suppresses nothing: wrong-wave has no finding here"]
    );
    assert_eq!(
        said(
            "a: 1 # wavelint: ignore[wrong-wave, unknown-app] why\n",
            &[("wrong-wave", 1)]
        ),
        ["`ignore` suppresses nothing: unknown-app has no finding here"]
    );
    assert_eq!(
        said("a: 1 # wavelint: ignore\n", &[]),
        ["`ignore` names no rule"]
    );
    assert_eq!(
        said("# wavelint: ignore-file[] why\n", &[]),
        ["`ignore-file` names no rule"]
    );
    assert_eq!(
        said("a: 1 # wavelint: ignore[wrong-wav] why\n", &[]),
        ["`ignore` names `wrong-wav`, which is neither a rule nor a group"]
    );
    assert_eq!(
        said(
            "a: 1 # wavelint: ignore[wrong-wave]\n",
            &[("wrong-wave", 1)]
        ),
        ["`ignore` gives no reason"]
    );
    assert_eq!(said("a: 1 # wavelint: ignored\n", &[]), NONE);
}

#[test]
fn what_was_meant_as_an_ignore_and_is_none_is_a_finding() {
    for written in [
        "WAVELINT: ignore",
        "Wavelint: ignore-file",
        "wavelint: ignored",
        "wavelint: disable",
        "wavelint: ignore-next-line",
    ] {
        let text = format!("a: 1 # {written}[wrong-wave] why\n");
        let (kept, suppressed, said) = run("a.yaml", &text, &[("wrong-wave", 1)]);
        assert_eq!((kept.as_slice(), suppressed), (&[1][..], 0));
        assert_eq!(said.len(), 1, "{written}: {said:?}");
        assert!(
            said[0].contains(&format!("`{written}` is no ignore")),
            "{said:?}"
        );
    }
    let text =
        "a: 1 # wavelint: see [the page]\nb: 1 # wavelint: finds nothing\n# wavelint is [good]\n";
    assert_eq!(run("a.yaml", text, &[]).2, Vec::<String>::new());
}

#[test]
fn ignores_are_not_judged_for_rules_that_compare_or_did_not_run() {
    let text = "a: 1 # wavelint: ignore[prune-on-move] why\n";
    assert_eq!(run("a.yaml", text, &[]), (vec![], 0, NONE));
    let text = "a: 1 # wavelint: ignore[wrong-wave] why\n";
    let did_not_run = run_with("a.yaml", text, &[], |rule| rule.name != "wrong-wave");
    assert_eq!(did_not_run, (vec![], 0, NONE));
    let text = "a: 1 # wavelint: ignore[waves] why\n";
    let half_ran = run_with("a.yaml", text, &[], |rule| rule.name != "wrong-wave");
    assert_eq!(half_ran, (vec![], 0, NONE));
}

#[test]
fn a_useless_ignore_can_be_ignored() {
    let text = "# wavelint: ignore-file[unused-ignore] template\na: 1 # wavelint: ignore[wrong-wave] why\n";
    assert_eq!(run("a.yaml", text, &[]), (vec![], 1, NONE));
}

#[test]
fn the_fix_takes_the_comment_away() {
    for (text, expected) in [
        (
            "a: 1 # wavelint: ignore[wrong-wave] why\nb: 2\n",
            "a: 1\nb: 2\n",
        ),
        (
            "a:\n  # wavelint: ignore[wrong-wave] why\r\n  b: 2\n",
            "a:\n  b: 2\n",
        ),
        ("a: 1\n# wavelint: ignore[wrong-wave] why", "a: 1\n"),
    ] {
        let mut files = Files::default();
        let snapshot = Snapshot::memory([("a.yaml".to_owned(), text.as_bytes().to_vec())]);
        let tree = files.add(snapshot, Revision::Head, None);
        let file = tree.file("a.yaml").unwrap();
        let remaining = inline(Vec::new(), &files, &[file], RULES, |_, _| true);
        let fix = remaining.unused[0].fix.as_ref().unwrap();
        let mut mended = text.to_owned();
        mended.replace_range(fix.edits[0].place.span.range(), &fix.edits[0].text);
        assert_eq!(mended, expected);
    }
}

#[test]
fn a_finding_in_the_base_is_not_ignored() {
    let text = b"a: 1 # wavelint: ignore[wrong-wave] why\n";
    let mut files = Files::default();
    let head = files.add(Snapshot::memory([]), Revision::Head, None);
    let base = Snapshot::memory([("a.yaml".to_owned(), text.to_vec())]);
    let base = files.add(base, Revision::Base, Some(&head));
    let place = Place {
        file: base.file("a.yaml").unwrap(),
        span: Span::default(),
    };
    let finding = Finding::new("wrong-wave", Severity::Error, place, "wrong");
    let remaining = inline(vec![finding], &files, &[place.file], RULES, |_, _| true);
    assert_eq!((remaining.kept.len(), remaining.suppressed), (1, 0));
    assert!(remaining.unused.is_empty());
}

#[test]
fn a_baseline_holds_what_was_written_even_when_lines_shift() {
    let load = |text: &str, lines: &[usize]| {
        let mut files = Files::default();
        let snapshot = Snapshot::memory([("a.yaml".to_owned(), text.as_bytes().to_vec())]);
        let tree = files.add(snapshot, Revision::Head, None);
        let file = tree.file("a.yaml").unwrap();
        let findings: Vec<_> = lines
            .iter()
            .map(|line| {
                let span = files.line_span(file, *line);
                Finding::new("wrong-wave", Severity::Error, Place { file, span }, "wrong")
            })
            .collect();
        (files, findings)
    };
    let (files, findings) = load("a: 1\nb: 2\n", &[1]);
    let written = Baseline::write(&findings, &files, &Baseline::default());
    assert!(written.contains("\"rule\": \"wrong-wave\"") && written.contains("a.yaml"));
    let baseline = Baseline::parse(&written, "b.json").unwrap();
    let (files, findings) = load("# new\na: 1\nb: 2\n", &[2, 3]);
    let (kept, suppressed) = baseline.filter(findings, &files);
    assert_eq!((kept.len(), suppressed), (1, 1));
    assert_eq!(files.line(kept[0].place), 3);
}

#[test]
fn what_is_no_baseline_is_refused() {
    let error = |text: &str| Baseline::parse(text, "b.json").unwrap_err().to_string();
    assert!(error("").starts_with("b.json: not a baseline: "));
    assert!(error("{\"version\": 2, \"findings\": []}").contains("version 2 is not known"));
}

#[test]
fn a_block_scalar_in_a_list_is_ignored_above_its_entry() {
    let text = "a:\n  # wavelint: ignore[wrong-wave] why\n  - |\n    one\n    two\n  - b\n";
    let found = [("wrong-wave", 5), ("wrong-wave", 6)];
    assert_eq!(run("a.yaml", text, &found), (vec![6], 1, NONE));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_searched_for_ignores(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "# wavelint: ignore[wrong-wave] why", "# wavelint: ignore-file[waves]", "#wavelint:ignore", "<!--",
            " wavelint: ignore[", "-->", "]", "\n", "\r\n", "a: 1", " ", "|\n", ">-\n  ", "ü", "\u{feff}",
            "---\n", "```", "`", "\t", "- ", "\"", "#", "{", "\u{2028}", "é: ",
        ]), 0..25,
    ), line in 1usize..8) {
        let text = pieces.concat();
        for path in ["a.yaml", "README.md", ".env"] {
            run(path, &text, &[("wrong-wave", line), ("unknown-app", 1)]);
        }
    }
}
