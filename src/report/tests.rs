use std::time::Duration;

use serde_json::Value;

use super::*;
use crate::finding::{Certainty, Edit, Fix, Move};
use crate::rules::Group;
use crate::snapshot::Snapshot;
use crate::source::{Place, Revision, Span};
use crate::tree::Tree;

static WRONG_WAVE: Rule = Rule {
    name: "wrong-wave",
    group: Group::Waves,
    summary: "a service lies in another wave than its dependencies give",
    page: "# wrong-wave\n\nWhat it is.\n",
    off_by_default: false,
    compares: false,
    check: |_| Vec::new(),
};
static MOVED: Rule = Rule {
    name: "moved-file-changed",
    group: Group::Moves,
    summary: "a moved file differs",
    page: "",
    off_by_default: false,
    compares: true,
    check: |_| Vec::new(),
};
static RULES: &[&Rule] = &[&WRONG_WAVE, &MOVED];

const STYLE: Style = Style {
    colour: false,
    unicode: true,
    width: 80,
    quiet: false,
};

/// A head and a base, to point into.
struct Case {
    files: Files,
    head: Tree,
    base: Tree,
}

impl Case {
    fn new(head: &[(&str, &str)], base: &[(&str, &str)]) -> Self {
        let snapshot = |files: &[(&str, &str)]| {
            Snapshot::memory(
                files
                    .iter()
                    .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
            )
        };
        let mut files = Files::default();
        let head = files.add(snapshot(head), Revision::Head, None);
        let base = files.add(snapshot(base), Revision::Base, Some(&head));
        Self { files, head, base }
    }

    /// The place of the first occurrence of `needle`.
    fn at(&self, tree: &Tree, path: &str, needle: &str) -> Place {
        let file = tree.file(path).unwrap();
        let start = self.files.text(file).find(needle).unwrap();
        Place {
            file,
            span: Span::new(start, start + needle.len()),
        }
    }

    fn report(&self, findings: Vec<Finding>, clusters: usize) -> Report<'static> {
        let summary = Summary {
            files: 49,
            objects: 120,
            kustomizations: 6,
            clusters,
            services: 9,
            waves: 3,
            suppressed: 1,
            ..Summary::default()
        };
        let snapshot = SnapshotInfo {
            kind: Kind::Worktree,
            revision: None,
            base: Some("9f3c".to_owned()),
            directory: "cluster a".to_owned(),
        };
        let elapsed = Duration::from_millis(12);
        Report::new(findings, summary, snapshot, elapsed, RULES, &self.files)
    }

    fn text(&self, format: Format, report: &Report, style: Style) -> String {
        let mut bytes = Vec::new();
        render(format, report, &self.files, style, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn human(&self, findings: Vec<Finding>) -> String {
        self.text(Format::Human, &self.report(findings, 2), STYLE)
    }
}

fn two_files() -> (Case, Vec<Finding>) {
    let case = Case::new(
        &[
            (
                "apps/wave-0/seerr.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: seerr\n",
            ),
            (
                "catalog/media.yaml",
                "kind: ServiceDefinition\nmetadata:\n  name: seerr\ndependencies:\n  - sonarr\n---\nkind: ServiceDefinition\nmetadata:\n  name: sonarr\ndependencies: [jackett]\n",
            ),
        ],
        &[("apps/wave-2/seerr.yaml", "kind: Deployment\n")],
    );
    let file = case.head.file("apps/wave-0/seerr.yaml").unwrap();
    let finding = Finding::new(
        "wrong-wave",
        Severity::Error,
        Place::file_start(file),
        "seerr lies in wave 0 and belongs in wave 2, since it depends on seerr → sonarr → jackett",
    )
    .related(
        case.at(&case.head, "catalog/media.yaml", "sonarr"),
        "seerr depends on sonarr",
    )
    .related(
        case.at(&case.head, "catalog/media.yaml", "jackett"),
        "sonarr depends on jackett",
    )
    .related(
        case.at(&case.base, "apps/wave-2/seerr.yaml", "Deployment"),
        "it was here before",
    )
    .cluster("clusters/dev")
    .help("move the file to apps/wave-2 and list it in apps/wave-2/kustomization.yaml:\nresources:\n  - seerr.yaml")
    .fix(Fix {
        safe: false,
        title: "move to apps/wave-2".to_owned(),
        edits: vec![Edit {
            place: case.at(&case.head, "catalog/media.yaml", "sonarr"),
            text: "radarr".to_owned(),
        }],
        moves: vec![Move {
            from: "apps/wave-0/seerr.yaml".to_owned(),
            to: "apps/wave-2/seerr.yaml".to_owned(),
        }],
    });
    (case, vec![finding])
}

#[test]
fn a_finding_in_two_files_and_two_revisions_reads_well() {
    let (case, findings) = two_files();
    insta::assert_snapshot!("two_files", case.human(findings));
}

#[test]
fn without_unicode_it_is_drawn_in_ascii() {
    let (case, findings) = two_files();
    let style = Style {
        unicode: false,
        ..STYLE
    };
    let text = case.text(Format::Human, &case.report(findings, 2), style);
    insta::assert_snapshot!("two_files_ascii", text);
}

#[test]
fn colours_are_written_only_when_asked_for() {
    let (case, findings) = two_files();
    let report = case.report(findings, 2);
    let style = Style {
        colour: true,
        ..STYLE
    };
    let coloured = case.text(Format::Human, &report, style);
    let plain = case.text(Format::Human, &report, STYLE);
    assert!(coloured.contains("\u{1b}[31merror[wrong-wave]:\u{1b}[0m"));
    assert!(!plain.contains('\u{1b}'));
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(stripped, plain);
}

#[test]
fn carriage_returns_tabs_and_wide_characters_keep_the_marks_in_place() {
    let case = Case::new(
        &[("a.yaml", "a: 1\r\n\tgröße: \"日本\" # ü\r\nc: 3\r\n")],
        &[],
    );
    let finding = Finding::new(
        "wrong-wave",
        Severity::Warning,
        case.at(&case.head, "a.yaml", "日本"),
        "größe is wide",
    )
    .related(case.at(&case.head, "a.yaml", "c"), "and this stands below");
    insta::assert_snapshot!("wide_characters", case.human(vec![finding]));
}

#[test]
fn very_long_lines_are_cut_around_the_mark() {
    let line = format!(
        "data:\n  x: {}END{}\n",
        "A".repeat(10_000),
        "B".repeat(10_000)
    );
    let case = Case::new(&[("b.yaml", &line)], &[]);
    let at = |needle: &str| case.at(&case.head, "b.yaml", needle);
    let findings = vec![
        Finding::new("wrong-wave", Severity::Info, at("END"), "x is long")
            .related(at("END"), "this is here"),
        Finding::new(
            "wrong-wave",
            Severity::Info,
            at("data:\n  x"),
            "only the first line of a place is marked",
        )
        .related(
            at("BBB\n"),
            "here at the end of the line a very long label would stand, so it is wrapped at blanks",
        ),
    ];
    let text = case.human(findings);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    insta::assert_snapshot!("long_lines", text);
}

#[test]
fn many_related_places_are_counted() {
    let text = "- a\n\n\n\n".repeat(20);
    let case = Case::new(&[("a.yaml", &text)], &[]);
    let file = case.head.file("a.yaml").unwrap();
    let mut finding = Finding::new(
        "wrong-wave",
        Severity::Error,
        Place::file_start(file),
        "many",
    );
    for index in 1..20 {
        let span = Span::new(index * 7, index * 7 + 3);
        finding = finding.related(Place { file, span }, "one more");
    }
    let text = case.human(vec![finding]);
    assert_eq!(text.matches("one more").count(), 8);
    assert!(text.contains("more: 11 further places"), "{text}");
}

#[test]
fn a_clean_run_says_so_in_one_line() {
    let (case, _) = two_files();
    let report = case.report(Vec::new(), 2);
    assert_eq!(
        case.text(Format::Human, &report, STYLE),
        "no findings, 1 suppressed in 49 files, 2 clusters, 6 Kustomizations (12 ms)\n"
    );
    let quiet = Style {
        quiet: true,
        ..STYLE
    };
    assert_eq!(case.text(Format::Human, &report, quiet), "");
}

#[test]
fn clusters_are_named_only_where_there_are_several() {
    let (case, findings) = two_files();
    let text = |clusters: usize, findings: Vec<Finding>| {
        case.text(Format::Human, &case.report(findings, clusters), STYLE)
    };
    assert!(!text(1, findings.clone()).contains("clusters:"));
    let both = vec![findings[0].clone().cluster("clusters/prod")];
    assert!(text(2, both.clone()).contains("clusters: all 2"));
    assert!(text(3, both).contains("clusters: clusters/dev, clusters/prod"));
}

#[test]
fn places_in_files_that_are_empty_or_no_text_are_drawn() {
    let case = Case::new(&[("empty.yaml", ""), ("end.yaml", "a: 1")], &[]);
    let place = |path: &str, offset: usize| Place {
        file: case.head.file(path).unwrap(),
        span: Span::new(offset, offset),
    };
    let findings = vec![
        Finding::new(
            "wrong-wave",
            Severity::Error,
            place("empty.yaml", 0),
            "empty",
        ),
        Finding::new(
            "wrong-wave",
            Severity::Error,
            place("end.yaml", 4),
            "at the end",
        ),
        Finding::new(
            "wrong-wave",
            Severity::Error,
            place("end.yaml", 99),
            "behind the end",
        ),
    ];
    let text = case.human(findings);
    for part in [
        "[empty.yaml:1:1]",
        "[end.yaml:1:5]",
        "behind the end",
        "3 errors",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_in_a_repository_steers_the_terminal() {
    let case = Case::new(&[("a\u{1b}[2J.yaml", "a: \u{1b}[31m\u{202e}x\n")], &[]);
    let place = Place::file_start(case.head.file("a\u{1b}[2J.yaml").unwrap());
    let finding = Finding::new(
        "wrong-wave",
        Severity::Error,
        place,
        "a\u{1b}[0m\nb\u{202e}",
    )
    .help("c\u{7}")
    .related(place, "d\u{1b}");
    let report = case.report(vec![finding.cluster("e\u{1b}")], 2);
    for format in [Format::Human, Format::Concise] {
        let text = case.text(format, &report, STYLE);
        assert!(
            !text
                .chars()
                .any(|c| c != '\n' && crate::terminal::steers(c)),
            "{text:?}"
        );
    }
}

#[test]
fn concise_is_one_line_a_finding() {
    let (case, mut findings) = two_files();
    let place = case.at(&case.base, "apps/wave-2/seerr.yaml", "Deployment");
    findings.push(Finding::new(
        "moved-file-changed",
        Severity::Warning,
        place,
        "gone",
    ));
    let text = case.text(Format::Concise, &case.report(findings, 2), STYLE);
    assert_eq!(
        text,
        "apps/wave-0/seerr.yaml:1:1 error wrong-wave seerr lies in wave 0 and belongs in wave 2, since it depends on seerr → sonarr → jackett\n\
         apps/wave-2/seerr.yaml:1:7 warning moved-file-changed gone (in the base revision)\n"
    );
}

#[test]
fn findings_are_sorted_by_path_offset_and_rule() {
    let case = Case::new(&[("a.yaml", "1\n2\n"), ("b.yaml", "1\n")], &[]);
    let at = |path: &str, needle: &str| case.at(&case.head, path, needle);
    let findings = vec![
        Finding::new("wrong-wave", Severity::Error, at("b.yaml", "1"), "e"),
        Finding::new("wrong-wave", Severity::Info, at("a.yaml", "2"), "d"),
        Finding::new("wrong-wave", Severity::Info, at("a.yaml", "1"), "c"),
        Finding::new("wrong-wave", Severity::Info, at("a.yaml", "1"), "b"),
        Finding::new(
            "moved-file-changed",
            Severity::Error,
            at("a.yaml", "1"),
            "a",
        ),
    ];
    let report = case.report(findings, 1);
    let order: Vec<_> = report
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(order, ["a", "b", "c", "d", "e"]);
    assert_eq!(
        (
            report.summary.errors,
            report.summary.warnings,
            report.summary.infos
        ),
        (2, 0, 3)
    );
}

#[test]
fn json_has_every_field_in_the_documented_order() {
    let (case, mut findings) = two_files();
    findings[0].certainty = Some(Certainty::Race);
    let place = case.at(&case.base, "apps/wave-2/seerr.yaml", "Deployment");
    findings.push(Finding::new(
        "moved-file-changed",
        Severity::Info,
        place,
        "gone",
    ));
    let text = case.text(Format::Json, &case.report(findings, 2), STYLE);
    insta::assert_snapshot!("json", text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn sarif_has_the_required_structure() {
    let (case, mut findings) = two_files();
    let edit = findings[0].fix.as_ref().unwrap().edits.clone();
    let place = case.at(&case.head, "catalog/media.yaml", "jackett");
    findings.push(
        Finding::new("moved-file-changed", Severity::Info, place, "gone").fix(Fix {
            safe: true,
            title: "mend".to_owned(),
            edits: edit,
            moves: Vec::new(),
        }),
    );
    let text = case.text(Format::Sarif, &case.report(findings, 2), STYLE);
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "wavelint");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules[0]["id"], "wrong-wave");
    assert!(
        rules[0]["help"]["markdown"]
            .as_str()
            .unwrap()
            .contains("What it is")
    );
    assert_eq!(rules[1].get("help"), None);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert_eq!(
            result["partialFingerprints"]["wavelint/v1"]
                .as_str()
                .unwrap()
                .len(),
            24
        );
        let location = &result["locations"][0]["physicalLocation"];
        let uri = location["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.starts_with("cluster%20a/"), "{uri}");
        assert!(location["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(location["region"]["endColumn"].as_u64().unwrap() >= 1);
    }
    assert_eq!(results[0]["level"], "error");
    assert_eq!(results[0]["relatedLocations"].as_array().unwrap().len(), 3);
    assert_eq!(results[0]["relatedLocations"][1]["id"], 1);
    assert_eq!(
        results[0].get("fixes"),
        None,
        "a fix with moves cannot be said in SARIF"
    );
    assert_eq!(results[1]["level"], "note");
    assert_eq!(results[1].get("relatedLocations"), None);
    let change = &results[1]["fixes"][0]["artifactChanges"][0];
    assert_eq!(
        change["artifactLocation"]["uri"],
        "cluster%20a/catalog/media.yaml"
    );
    let replacement = &change["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "radarr");
    assert_eq!(replacement["deletedRegion"]["startLine"], 5);
    assert_eq!(replacement["deletedRegion"]["byteLength"], 6);
}

#[test]
fn annotations_count_paths_from_the_top_of_the_repository() {
    let (case, findings) = two_files();
    let text = case.text(Format::Github, &case.report(findings, 2), STYLE);
    assert_eq!(
        text,
        "::error file=cluster a/apps/wave-0/seerr.yaml,line=1,endLine=1,col=1,endColumn=1,title=wrong-wave::\
         seerr lies in wave 0 and belongs in wave 2, since it depends on seerr → sonarr → jackett\
         %0Acatalog/media.yaml:5: seerr depends on sonarr%0Acatalog/media.yaml:10: sonarr depends on jackett\
         %0Aapps/wave-2/seerr.yaml:1: it was here before\
         %0Ahelp: move the file to apps/wave-2 and list it in apps/wave-2/kustomization.yaml:%0Aresources:%0A  - seerr.yaml\n"
    );
}

#[test]
fn gitlab_and_junit_say_the_same() {
    let (case, findings) = two_files();
    let report = case.report(findings, 2);
    let issues: Value = serde_json::from_str(&case.text(Format::Gitlab, &report, STYLE)).unwrap();
    let issue = &issues[0];
    assert_eq!(issue["check_name"], "wrong-wave");
    assert_eq!(issue["severity"], "major");
    assert_eq!(issue["fingerprint"].as_str().unwrap().len(), 24);
    assert_eq!(
        issue["location"]["path"],
        "cluster a/apps/wave-0/seerr.yaml"
    );
    assert_eq!(issue["location"]["lines"]["begin"], 1);
    insta::assert_snapshot!("junit", case.text(Format::Junit, &report, STYLE));
    insta::assert_snapshot!(
        "junit_clean",
        case.text(Format::Junit, &case.report(Vec::new(), 2), STYLE)
    );
}

/// Checks that tags nest and that nothing stands in the text that XML cannot hold; enough for
/// the XML that wavelint writes, where every `<` and `>` begins or ends a tag.
fn assert_well_formed(xml: &str) {
    let body = xml
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .unwrap();
    let mut open = Vec::new();
    let mut rest = body;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "{xml}");
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{xml}");
    for character in xml.chars() {
        let allowed = matches!(character, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
        assert!(allowed, "{character:?}");
    }
    let mut rest = xml;
    while let Some(start) = rest.find('&') {
        rest = &rest[start + 1..];
        let entity = rest.split(';').next().unwrap();
        assert!(
            matches!(entity, "amp" | "lt" | "gt" | "quot" | "#10" | "#9" | "#13"),
            "{entity}"
        );
    }
}

fn any_text() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    prop_oneof![
        proptest::collection::vec(any::<char>(), 0..20)
            .prop_map(|chars| chars.into_iter().collect()),
        "[a-z:,%<>&\"'\\]\r\n\t\u{0}\u{1b} -]{0,20}",
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_yields_output_that_parses(
        path in any_text(),
        content in any_text(),
        message in any_text(),
        start in 0usize..30,
        length in 0usize..30,
        other in 0usize..30,
    ) {
        let case = Case::new(&[(&path, &content)], &[]);
        let file = case.head.file(&path).unwrap();
        let place = Place { file, span: Span::new(start, start + length) };
        let finding = Finding::new("wrong-wave", Severity::Error, place, message.clone())
            .help(message.clone())
            .related(place, message.clone())
            .related(Place { file, span: Span::new(other, other + length) }, message.clone())
            .related(Place::file_start(file), message.clone())
            .cluster(message.clone());
        let report = case.report(vec![finding.clone(), finding], 2);

        let json: Value = serde_json::from_str(&case.text(Format::Json, &report, STYLE)).unwrap();
        assert_eq!(json["findings"][0]["message"], message.as_str());
        assert_eq!(json["findings"][0]["location"]["path"], path.as_str());
        assert_ne!(json["findings"][0]["fingerprint"], json["findings"][1]["fingerprint"]);
        let sarif: Value = serde_json::from_str(&case.text(Format::Sarif, &report, STYLE)).unwrap();
        let uri = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(uri.as_str().unwrap().is_ascii());
        serde_json::from_str::<Value>(&case.text(Format::Gitlab, &report, STYLE)).unwrap();
        let github = case.text(Format::Github, &report, STYLE);
        assert_eq!(github.matches('\n').count(), 2);
        assert!(github.lines().all(|line| line.starts_with("::error file=") && line.contains(",title=wrong-wave::")));
        assert!(!github.contains('\r'));
        let concise = case.text(Format::Concise, &report, STYLE);
        assert_eq!(concise.lines().count(), 2);
        assert_well_formed(&case.text(Format::Junit, &report, STYLE));
        let human = case.text(Format::Human, &report, STYLE);
        assert!(human.contains("error[wrong-wave]:") && human.contains("2 errors"));
        assert!(!human.chars().any(|c| c != '\n' && crate::terminal::steers(c)));
    }
}
