//! The grammar against what Flux's own code printed, and the properties of both layers.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::source::FileId;
use crate::yaml::{self, Node, Typed};

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    input: String,
    lax: Expected,
    strict: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Ok(String),
    Error(String),
}

fn example(name: &str) -> Lookup<'static> {
    match name {
        "A" => Lookup::Value("alpha"),
        "E" => Lookup::Value(""),
        "U" => Lookup::Unknown,
        _ => Lookup::Unset,
    }
}

fn text(input: &str) -> String {
    match evaluate(input, false, &example) {
        Outcome::Text(text) => text,
        other => panic!("{input}: {other:?}"),
    }
}

fn reason_of(message: &str) -> Reason {
    match message {
        "unable to parse variable name" => Reason::VariableName,
        "missing closing brace" => Reason::ClosingBrace,
        "bad substitution" => Reason::BadSubstitution,
        "unable to parse substitution within function" => Reason::WithinFunction,
        message if message.starts_with("variable not set") => Reason::NotSet,
        other => panic!("{other}"),
    }
}

#[test]
fn every_recorded_case_evaluates_as_in_flux() {
    let cases: Cases =
        serde_json::from_str(include_str!("../../testdata/envsubst-cases.json")).unwrap();
    assert_eq!(cases.cases.len(), 81);
    for case in &cases.cases {
        for (strict, expected) in [(false, &case.lax), (true, &case.strict)] {
            let outcome = evaluate(&case.input, strict, &example);
            match expected {
                Expected::Ok(text) => {
                    assert_eq!(outcome, Outcome::Text(text.clone()), "{}", case.input);
                }
                Expected::Error(message) => match outcome {
                    Outcome::Error(error) => {
                        assert_eq!(error.reason, reason_of(message), "{}", case.input);
                    }
                    other => panic!("{}: {other:?} instead of {message}", case.input),
                },
            }
        }
    }
}

#[test]
fn operators_work_on_values_with_slashes_and_patterns() {
    let path = |name: &str| match name {
        "p" => Lookup::Value("/path/to/file.tar.gz"),
        "é" => Lookup::Value("école"),
        _ => Lookup::Unset,
    };
    let cases = [
        ("${p#*/}", "path/to/file.tar.gz"),
        ("${p##*/}", "file.tar.gz"),
        ("${p%.*}", "/path/to/file.tar"),
        ("${p%%.*}", "/path/to/file"),
        ("${p#/[a-p]ath}", "/to/file.tar.gz"),
        ("${p#/[^a-p]ath}", "/path/to/file.tar.gz"),
        ("${p#[}", "/path/to/file.tar.gz"),
        ("${p/\\//-}", "-path/to/file.tar.gz"),
        ("${p/#\\/path/}", "/path/to/file.tar.gz"),
        ("${p: -2}", "/path/to/file.tar.gz"),
        ("${p:0:5}", "/path"),
        ("${p:99:-1}", ""),
        ("${p:99:1}", ""),
        ("${#é}", "6"),
        ("${é^}", "École"),
        ("${p:${x:-1}:4}", "path"),
    ];
    for (input, expected) in cases {
        let outcome = evaluate(input, true, &path);
        assert_eq!(outcome, Outcome::Text(expected.into()), "{input}");
    }
    for (input, reason) in [
        ("${é:1}", Reason::CutsCharacter),
        ("${p:1:-7}", Reason::NegativeLength),
        ("${p/#/x}", Reason::WithinFunction),
    ] {
        let Outcome::Error(error) = evaluate(input, true, &path) else {
            panic!("{input} is refused");
        };
        assert_eq!(error.reason, reason, "{input}");
    }
}

#[test]
fn an_unknown_variable_makes_only_what_depends_on_it_unknown() {
    assert_eq!(evaluate("a ${U}", true, &example), Outcome::Unknown);
    assert_eq!(evaluate("${B:-${U}}", true, &example), Outcome::Unknown);
    assert_eq!(evaluate("${A/${U}/x}", true, &example), Outcome::Unknown);
    assert_eq!(text("${A:-${U}}"), "alpha");
    assert!(matches!(
        evaluate("${U}${B}", true, &example),
        Outcome::Error(_)
    ));
}

#[test]
fn a_nested_variable_is_looked_up_even_if_its_default_is_not_needed() {
    let Outcome::Error(error) = evaluate("${A:-${B}}", true, &example) else {
        panic!("an unset variable in a default is refused");
    };
    assert_eq!((error.reason, error.range), (Reason::NotSet, 5..9));
}

#[test]
fn references_are_found_with_their_places_also_in_defaults() {
    let input = "x${A:-${B}}$${C}${#D}";
    let found = references(input).unwrap();
    let summary: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.name.as_str(),
                &input[one.range.clone()],
                one.has_default,
                one.nested,
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            ("A", "${A:-${B}}", true, false),
            ("B", "${B}", false, true),
            ("D", "${#D}", false, false),
        ]
    );
    assert!(!found[0].whole);
    assert!(references("${A}").unwrap()[0].whole);
    let error = references("ab ${A.b}").unwrap_err();
    assert_eq!((error.range, error.reason), (3..7, Reason::ClosingBrace));
}

#[test]
fn names_are_ascii_words() {
    for name in ["A", "_", "a1", "CLUSTER_NAME"] {
        assert!(is_valid_name(name), "{name}");
    }
    for name in ["", "1a", "foo-bar", "a.b", "é", "a\n"] {
        assert!(!is_valid_name(name), "{name}");
    }
}

#[test]
fn nesting_of_any_depth_is_read_in_one_pass() {
    let depth = 100_000;
    let open = "${a:-x".repeat(depth);
    assert!(matches!(
        evaluate(&open, false, &example),
        Outcome::Error(_)
    ));
    let closed = format!("{open}{}", "}".repeat(depth));
    assert_eq!(text(&closed), "x".repeat(depth));
    let set = format!("{}{}", "${A:-".repeat(depth), "}".repeat(depth));
    assert_eq!(text(&set), "alpha");
}

#[test]
fn a_result_beyond_all_measure_is_unknown() {
    let value = "a".repeat(1000);
    let lookup = |_: &str| Lookup::Value(value.as_str());
    let bomb = format!("{}z{}", "${v//a/".repeat(6), "}".repeat(6));
    assert_eq!(evaluate(&bomb, true, &lookup), Outcome::Unknown);
}

proptest! {
    #[test]
    fn text_without_a_dollar_is_unchanged(input in "[^$]*") {
        prop_assert_eq!(text(&input), input);
    }

    #[test]
    fn no_text_makes_evaluation_panic(input in any::<String>(), strict: bool) {
        evaluate(&input, strict, &example);
    }

    #[test]
    fn no_near_valid_text_makes_evaluation_panic(
        input in r"([${}:/#%^,\-+=?*\[\]\\AEUBé1 ]|\$\{A)*",
        strict: bool,
    ) {
        let outcome = evaluate(&input, strict, &example);
        let grammar = references(&input);
        if let Ok(found) = &grammar {
            for one in found {
                let written = &input[one.range.clone()];
                let bounded = written.starts_with("${") && written.ends_with('}');
                prop_assert!(bounded, "wrong range");
            }
        } else {
            prop_assert!(matches!(outcome, Outcome::Error(_)));
        }
        if !contains_substitution(&input) {
            prop_assert_eq!(outcome, Outcome::Text(input));
        }
    }

    #[test]
    fn escaping_is_undone_by_evaluation(input in r"([${}A]|.)*") {
        prop_assert_eq!(text(&escape(&input)), input);
    }

    #[test]
    fn an_escaped_string_survives_the_way_through_yaml(
        input in r#"([ ${}:#\-'"\nA*&|>\t]|\PC)*"#,
    ) {
        let place = crate::source::Place::file_start(FileId(0));
        let object = Node::mapping(place, vec![yaml::Entry {
            key: Node::plain(place, "k"),
            value: Node::string(place, format!("{}$$", escape(&input))),
        }]);
        let done = substitute_object(&object, true, &example);
        prop_assert!(done.faults.is_empty(), "{:?}", done.faults);
        let expected = format!("{input}$");
        prop_assert_eq!(done.node.str_at(&["k"]), Some(expected.as_str()));
    }
}

fn substituted(source: &str, strict: bool) -> Substitution {
    let variables = |name: &str| match name {
        "P" => Lookup::Value("80"),
        "YES" => Lookup::Value("yes"),
        "MAP" => Lookup::Value("a: b"),
        "STAR" => Lookup::Value("*x"),
        "FLOW" => Lookup::Value("[a, 1]"),
        "QUOTE" => Lookup::Value("\""),
        "SINGLE" => Lookup::Value("it's"),
        "DATE" => Lookup::Value("2024-01-01"),
        "HASH" => Lookup::Value("#note"),
        "OCTAL" => Lookup::Value("0755"),
        "SPACE" => Lookup::Value("  "),
        name => example(name),
    };
    let file = yaml::parse(source, FileId(0));
    assert!(file.error.is_none(), "{:?}", file.error);
    substitute_object(&file.documents[0].root, strict, &variables)
}

#[test]
fn a_value_is_retyped_as_when_the_printed_object_is_read_again() {
    let done = substituted(
        "number: \"${P}\"\nempty: \"${E}\"\nyes: '${YES}'\nflow: ${FLOW}\ndate: ${DATE}\n\
         quoted: ${QUOTE}${P}${QUOTE}\ncomment: \"${HASH}\"\nmode: ${OCTAL}\npart: v${P}\n",
        true,
    );
    let typed = |key: &str| done.node.get(key).unwrap().as_scalar().unwrap().typed();
    assert_eq!(typed("number"), Typed::Int(80));
    assert_eq!(typed("empty"), Typed::Null);
    assert_eq!(typed("yes"), Typed::Bool(true));
    assert_eq!(typed("comment"), Typed::Null);
    assert_eq!(typed("mode"), Typed::Int(493));
    assert_eq!(done.node.get("flow").unwrap().items().len(), 2);
    for (key, text) in [("date", "2024-01-01"), ("quoted", "80"), ("part", "v80")] {
        assert_eq!(done.node.get(key).unwrap().as_string(), Some(text));
    }
    let retyped: Vec<_> = done
        .retyped
        .iter()
        .map(|one| (one.path[0].as_str(), one.variable.as_deref()))
        .collect();
    assert_eq!(
        retyped,
        [
            ("number", Some("P")),
            ("empty", Some("E")),
            ("yes", Some("YES")),
            ("flow", Some("FLOW")),
            ("comment", Some("HASH")),
            ("mode", Some("OCTAL")),
        ]
    );
    assert!(done.faults.is_empty());
}

#[test]
fn text_that_breaks_the_printed_yaml_is_a_fault_of_structure() {
    let done = substituted(
        "a: ${MAP}\nb: ${STAR}\nc: \"x: ${SINGLE}\"\nd: \"\\t${QUOTE}\"\ne: |\n  ${SPACE}x\n  y\n",
        true,
    );
    let faults: Vec<_> = done
        .faults
        .iter()
        .map(|fault| (fault.path[0].as_str(), fault.kind))
        .collect();
    assert_eq!(
        faults,
        ["a", "b", "c", "d", "e"].map(|key| (key, FaultKind::Structure))
    );
    assert_eq!(done.node.str_at(&["a"]), Some("${MAP}"));
}

#[test]
fn quotes_that_the_printer_needs_keep_a_string_a_string() {
    let done = substituted(
        "single: \"k: ${P}\"\ntab: \"\\t${P}\"\nblock: |\n  ${P}\n  ${MAP}\nhash: 'a #${P}'\n",
        true,
    );
    assert!(done.faults.is_empty(), "{:?}", done.faults);
    assert_eq!(done.node.str_at(&["single"]), Some("k: 80"));
    assert_eq!(done.node.str_at(&["tab"]), Some("\t80"));
    assert_eq!(done.node.str_at(&["block"]), Some("80\na: b\n"));
    assert_eq!(done.node.str_at(&["hash"]), Some("a #80"));
    assert!(done.retyped.is_empty());
}

#[test]
fn keys_names_and_lists_are_substituted_and_keep_their_places() {
    let source =
        "metadata:\n  name: app-${A}\n  labels: {\"${P}\": x, \"k-${A}\": y}\nlist:\n- \"${A}\"\n";
    let done = substituted(source, true);
    assert_eq!(done.node.str_at(&["metadata", "name"]), Some("app-alpha"));
    assert_eq!(done.node.str_at(&["metadata", "labels", "80"]), Some("x"));
    assert_eq!(
        done.node.str_at(&["metadata", "labels", "k-alpha"]),
        Some("y")
    );
    assert_eq!(
        done.node.get("list").unwrap().items()[0].as_str(),
        Some("alpha")
    );
    assert_eq!(done.uses.len(), 4);
    for used in &done.uses {
        let span = used.place(source).span;
        assert_eq!(&source[span.range()], format!("${{{}}}", used.name));
    }
    assert_eq!(done.uses[3].path, ["list", "0"]);
    let name = done.node.at(&["metadata", "name"]).unwrap();
    assert_eq!(&source[name.place.span.range()], "app-${A}");
}

#[test]
fn a_reference_in_a_script_is_found_at_its_line() {
    let source = "data:\n  run.sh: |\n    echo hi\n    echo ${B} ${A.b}\n";
    let done = substituted(source, true);
    assert_eq!(done.faults[0].kind, FaultKind::Grammar);
    let at = done.faults[0].place(source).span;
    assert_eq!(&source[at.range()], "${A.");

    let source = "data:\n  run.sh: |\n    echo hi\n    echo ${B}\n";
    let done = substituted(source, true);
    assert_eq!(done.faults[0].kind, FaultKind::Undefined);
    assert_eq!(&source[done.faults[0].place(source).span.range()], "${B}");
    assert_eq!(done.uses[0].state, State::Unset);
    let lax = substituted(source, false);
    assert!(lax.faults.is_empty());
    assert_eq!(
        lax.node.str_at(&["data", "run.sh"]),
        Some("echo hi\necho \n")
    );
}

#[test]
fn an_object_can_opt_out_by_label_or_annotation_in_exact_case() {
    for (field, value, disabled) in [
        ("labels", "disabled", true),
        ("annotations", "disabled", true),
        ("labels", "Disabled", false),
    ] {
        let source = format!(
            "metadata:\n  {field}:\n    kustomize.toolkit.fluxcd.io/substitute: {value}\nx: ${{A}}\n"
        );
        let done = substituted(&source, true);
        assert_eq!(done.disabled, disabled, "{field} {value}");
        let expected = if disabled { "${A}" } else { "alpha" };
        assert_eq!(done.node.str_at(&["x"]), Some(expected));
    }
}

#[test]
fn unknown_scalars_stand_as_they_were_and_are_listed() {
    let done = substituted("a: x-${U}\nb: ${A}\n", true);
    assert_eq!(done.node.str_at(&["a"]), Some("x-${U}"));
    assert_eq!(done.node.str_at(&["b"]), Some("alpha"));
    assert_eq!(done.unknown.len(), 1);
    assert_eq!(done.unknown[0].path, ["a"]);
}

#[derive(Deserialize)]
struct ObjectCases {
    variables: std::collections::BTreeMap<String, String>,
    cases: Vec<ObjectCase>,
}

#[derive(Deserialize)]
struct ObjectCase {
    place: String,
    input: String,
    strict: bool,
    json: Option<serde_json::Value>,
    error: Option<String>,
}

fn as_json(node: &Node) -> serde_json::Value {
    use serde_json::Value as Json;
    match &node.value {
        yaml::Value::Scalar(scalar) => match scalar.typed() {
            Typed::Null => Json::Null,
            Typed::Bool(value) => value.into(),
            Typed::Int(value) => value.into(),
            Typed::Float(value) => value.into(),
            Typed::String => scalar.text.as_str().into(),
        },
        yaml::Value::Sequence(items) => items.iter().map(as_json).collect(),
        yaml::Value::Mapping(mapping) => Json::Object(
            mapping
                .resolved()
                .into_iter()
                .map(|entry| {
                    let key = entry.key.as_scalar().unwrap().text.to_string();
                    (key, as_json(&entry.value))
                })
                .collect(),
        ),
    }
}

#[test]
fn objects_become_what_flux_and_its_yaml_library_make_of_them() {
    let recorded: ObjectCases =
        serde_json::from_str(include_str!("../../testdata/substitution-cases.json")).unwrap();
    let lookup = |name: &str| match recorded.variables.get(name) {
        Some(value) => Lookup::Value(value),
        None => Lookup::Unset,
    };
    assert_eq!(recorded.cases.len(), 330);
    let place = crate::source::Place::file_start(FileId(0));
    for case in &recorded.cases {
        let (key, value) = match case.place.as_str() {
            "key" => (case.input.as_str(), "v"),
            _ => ("k", case.input.as_str()),
        };
        let entry = yaml::Entry {
            key: Node::string(place, key),
            value: Node::string(place, value),
        };
        let object = Node::mapping(place, vec![entry]);
        let done = substitute_object(&object, case.strict, &lookup);
        let fault = done.faults.first().map(|fault| match fault.kind {
            FaultKind::Structure => "yaml",
            FaultKind::Grammar | FaultKind::Undefined => "substitution",
        });
        assert_eq!(fault, case.error.as_deref(), "{}", case.input);
        if let Some(json) = &case.json {
            assert_eq!(&as_json(&done.node), json, "{}", case.input);
        }
    }
}
