use super::*;
use crate::kustomize::transform::names::prefix;
use crate::kustomize::transform::testing::{node, objects, text};
use crate::source::FileId;

const SOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: src, labels: {n.io/k: lab}}\n\
    data: {num: '123', word: abc, host: a.b.c}\n";
const TARGET: &str = "apiVersion: example.com/v1\nkind: T\nmetadata: {name: t}\n\
    spec: {port: 8080, text: old, list: [{name: nginx, v: 1}, {name: nginx-2, v: 2}, {name: q, v: 3}], args: [-jar, x], m: {k: v}, host: x.y.z, nul: null}\n";

fn run(entries: &str) -> Result<(Vec<Object>, Vec<Gap>), Problem> {
    let mut objects = objects(&[SOURCE, TARGET].join("---\n"));
    let mut gaps = Vec::new();
    let mut load = |path: &Node| Err(refusal(path.place, "no file"));
    apply(&mut objects, &node(entries), &mut load, &mut gaps)?;
    Ok((objects, gaps))
}

/// The target object after replacing `path` by the word `abc`.
fn word_into(path: &str) -> Result<Vec<Gap>, String> {
    run(&format!(
        "- source: {{kind: ConfigMap, name: src, fieldPath: data.word}}\n  targets: [{{select: {{kind: T}}, fieldPaths: ['{path}']}}]\n"
    ))
    .map(|(_, gaps)| gaps)
    .map_err(|problem| problem.message)
}

fn source_error(source: &str) -> String {
    let entry = format!(
        "- source: {source}\n  targets: [{{select: {{kind: T}}, fieldPaths: [spec.text]}}]\n"
    );
    run(&entry).unwrap_err().message
}

#[test]
fn values_are_written_as_kustomize_writes_them() {
    let (objects, gaps) = run("\
- source: {kind: ConfigMap, name: src, fieldPath: data.num}
  targets:
  - select: {kind: T}
    fieldPaths: [spec.port, spec.text, 'spec.list.[name=nginx].v', 'spec.args.[=-jar]', spec.args.1]
  - select: {kind: T}
    fieldPaths: [spec.new.deep, 'spec.newlist.[name=z].v', spec.list.3.name]
    options: {create: true}
- source: {kind: ConfigMap, name: src, fieldPath: data.host, options: {delimiter: ., index: 1}}
  targets:
  - select: {kind: T}
    fieldPaths: [spec.host]
    options: {delimiter: ., index: 2}
  - select: {kind: T}
    fieldPaths: [spec.m.k]
    options: {delimiter: /, index: -1}
  - select: {kind: T}
    fieldPaths: ['metadata.annotations.n\\.io/k', 'metadata.annotations.[m.io/k]']
    options: {create: true}
- source: {kind: ConfigMap, name: src, fieldPath: 'metadata.labels.[n.io/k]'}
  targets:
  - select: {kind: T}
    fieldPaths: ['spec.list.*.name']
- source: {kind: ConfigMap, name: src, fieldPath: metadata.labels}
  targets:
  - select: {kind: T}
    fieldPaths: [spec.m]
")
    .unwrap();
    assert!(gaps.is_empty());
    assert_eq!(
        text(&objects[1..]),
        "\
apiVersion: example.com/v1
kind: T
metadata:
  name: t
  annotations:
    n.io/k: b
    m.io/k: b
spec:
  port: 123
  text: \"123\"
  list:
  - name: lab
    v: 123
  - name: lab
    v: 123
  - name: lab
    v: 3
  - name: lab
  args:
  - \"123\"
  - \"123\"
  m:
    n.io/k: lab
  host: x.y.b
  nul: null
  new:
    deep: 123
  newlist:
  - name: z
    v: 123
"
    );
    let port = objects[1].node.at(&["spec", "port"]).unwrap();
    let source = objects[0].node.at(&["data", "num"]).unwrap();
    assert_eq!(port.place, source.place);
}

#[test]
fn a_field_that_is_not_there_is_refused() {
    for path in ["spec.none", "spec.none.deep", "spec.list.[name=none].v"] {
        assert_eq!(
            word_into(path).unwrap_err(),
            format!("replacements: T t has no {path}")
        );
    }
    assert_eq!(
        word_into("spec.list.9.v").unwrap_err(),
        "replacements fails on T t: spec.list.9.v: item 9 is asked of a list of 3"
    );
    assert!(word_into("spec.list.name").is_err());
    assert!(word_into("spec.list.[bad].v").is_err());
}

#[test]
fn a_value_that_does_not_fit_the_type_of_the_field_is_refused() {
    assert_eq!(
        word_into("spec.port").unwrap_err(),
        "replacements fails on T t: spec.port: the field is a whole number, \"abc\" is not"
    );
    assert!(word_into("spec.nul").is_err());
}

#[test]
fn a_path_into_the_text_of_a_field_is_a_gap() {
    let gaps = word_into("spec.text.sub").unwrap();
    assert_eq!(
        gaps[0].cause,
        "replacement inside the text of spec.text.sub"
    );
    assert_eq!(gaps[0].effect, GapEffect::Content);
}

#[test]
fn a_source_has_to_be_one_object_with_the_field() {
    assert_eq!(
        source_error("{name: src, fieldPath: data.none}"),
        "replacements: ConfigMap src has no data.none"
    );
    assert_eq!(
        source_error("{name: none}"),
        "replacements: the source selects no object of this build"
    );
    assert_eq!(
        source_error("{fieldPath: metadata.name}"),
        "replacements: the source selects several objects"
    );
    assert!(source_error("{name: src, fieldPath: 'metadata.labels.*'}").contains("cannot have *"));
    assert!(source_error("{name: src, fieldPath: data.num.x}").contains("cannot be read"));
    let out_of_bounds = "{name: src, fieldPath: data.host, options: {delimiter: ., index: 3}}";
    assert!(source_error(out_of_bounds).contains("no piece 3"));
}

#[test]
fn the_last_item_is_a_hyphen_in_a_source_and_a_map_is_empty_text_for_a_scalar() {
    let into_text = |source: &str| {
        let entry = format!(
            "- source: {source}\n  targets: [{{select: {{kind: T}}, fieldPaths: [spec.text]}}]\n"
        );
        let (objects, _) = run(&entry).unwrap();
        objects[1]
            .node
            .str_at(&["spec", "text"])
            .unwrap()
            .to_owned()
    };
    assert_eq!(into_text("{kind: T, fieldPath: 'spec.list.-.name'}"), "q");
    assert_eq!(
        into_text("{kind: T, fieldPath: 'spec.list.[name=q].v'}"),
        "3"
    );
    assert_eq!(into_text("{name: src, fieldPath: data}"), "");
}

#[test]
fn targets_are_selected_by_patterns_over_all_names_and_can_be_rejected() {
    let mut objects =
        objects(&[SOURCE, TARGET, &TARGET.replace("name: t}", "name: other}")].join("---\n"));
    prefix(&mut objects, &node("p-"));
    let entries = node(
        "- sourceValue: new\n  targets:\n  - select: {name: 't|o.*'}\n    reject: [{name: p-other}, {}]\n    fieldPaths: [spec.text]\n",
    );
    let mut load = |path: &Node| Err(refusal(path.place, "no file"));
    apply(&mut objects, &entries, &mut load, &mut Vec::new()).unwrap();
    let texts: Vec<_> = objects
        .iter()
        .map(|object| object.node.str_at(&["spec", "text"]))
        .collect();
    assert_eq!(texts, [None, Some("new"), Some("old")]);
}

#[test]
fn entries_can_stand_in_files() {
    let one = "source: {name: src, fieldPath: data.word}\ntargets: [{select: {kind: T}, fieldPaths: [spec.text]}]\n";
    let list = format!("- {}", one.replace("\nt", "\n  t"));
    for content in [one, &list] {
        let mut objects = objects(&[SOURCE, TARGET].join("---\n"));
        let mut load = |path: &Node| {
            assert_eq!(path.as_str(), Some("r.yaml"));
            Ok(node(content))
        };
        apply(
            &mut objects,
            &node("- path: r.yaml"),
            &mut load,
            &mut Vec::new(),
        )
        .unwrap();
        let text = objects[1].node.at(&["spec", "text"]).unwrap();
        assert_eq!((text.as_str(), text.place.file), (Some("abc"), FileId(0)));
    }
}

#[test]
fn an_entry_without_source_or_targets_is_refused() {
    for entry in [
        "- {}",
        "- {source: {name: src}}",
        "- {source: {name: src}, sourceValue: x, targets: []}",
        "- {source: {name: src}, targets: [{fieldPaths: [a]}]}",
        "- {path: x, source: {name: src}}",
        "- {source: {name: src}, targets: [{select: {name: '['}}]}",
    ] {
        assert!(run(entry).is_err(), "{entry}");
    }
    assert!(run("- {source: {name: src}, targets: []}").is_ok());
    assert!(run("- {source: {name: src}, targets: [{select: {kind: None}}]}").is_ok());
    let (_, gaps) =
        run("- {source: {name: src}, targets: [{select: {labelSelector: a=b}}]}").unwrap();
    assert_eq!(gaps.len(), 1);
}
