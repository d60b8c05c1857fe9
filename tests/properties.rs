//! What must hold of every build, whatever the tree: over some hundred random small trees.

mod support;

use std::collections::BTreeMap;

use support::generated;
use wavelint::kustomize::{Build, BuildOptions, Kustomize};
use wavelint::snapshot::Snapshot;
use wavelint::source::{FileId, Place, Revision};
use wavelint::tree::{Files, Tree};
use wavelint::yaml::{Node, Value, emit_node, parse};

type Texts = BTreeMap<String, String>;

const TREES: std::ops::Range<u64> = 5_000..5_150;

/// Builds a directory of a tree in memory.
fn build(texts: &Texts, directory: &str) -> (Files, Build) {
    let mut files = Files::default();
    let snapshot = Snapshot::memory(
        texts
            .iter()
            .map(|(path, text)| (path.clone(), text.clone().into_bytes())),
    );
    let tree: Tree = files.add(snapshot, Revision::Head, None);
    let build = Kustomize::new(&files, &tree).build(directory, &BuildOptions::default());
    (files, build)
}

fn texts(seed: u64) -> Texts {
    generated::tree(seed).files.into_iter().collect()
}

/// The directory of a random tree that builds all of it.
const ROOT: &str = "top";

/// The objects as text, the order of keys and objects aside: how a build sorts is for its root to say.
fn content(build: &Build) -> Vec<String> {
    let mut objects: Vec<String> = build
        .objects
        .iter()
        .map(|object| emit_node(&sorted(&object.node)))
        .collect();
    objects.sort();
    objects
}

fn sorted(node: &Node) -> Node {
    match &node.value {
        Value::Scalar(_) => node.clone(),
        Value::Sequence(items) => Node::sequence(node.place, items.iter().map(sorted).collect()),
        Value::Mapping(_) => {
            let mut entries: Vec<_> = node
                .pairs()
                .into_iter()
                .map(|entry| wavelint::yaml::Entry {
                    key: entry.key.clone(),
                    value: sorted(&entry.value),
                })
                .collect();
            entries.sort_by_key(|entry| entry.key.as_str().unwrap_or_default().to_owned());
            Node::mapping(node.place, entries)
        }
    }
}

/// An overlay over the root of a tree, with patches as given.
fn overlay(seed: u64, rest: &str) -> Texts {
    let mut texts = texts(seed);
    let above = "../".repeat(2);
    texts.insert(
        "zz-overlay/top/kustomization.yaml".to_owned(),
        format!("resources:\n  - {above}{}\n{rest}", ROOT),
    );
    texts
}

#[test]
fn an_overlay_that_patches_nothing_changes_nothing() {
    for seed in TREES {
        let (_, plain) = build(&texts(seed), ROOT);
        let nothing = "patches:\n  - target: {kind: NoSuchKind}\n    patch: |\n      - {op: remove, path: /spec}\n";
        for rest in ["", nothing] {
            let (_, over) = build(&overlay(seed, rest), "zz-overlay/top");
            assert_eq!(
                plain.problems.is_empty(),
                over.problems.is_empty(),
                "tree {seed}"
            );
            if plain.problems.is_empty() {
                assert_eq!(content(&plain), content(&over), "tree {seed}");
            }
        }
    }
}

#[test]
fn the_order_of_independent_patches_does_not_count() {
    let one = "  - target: {kind: ConfigMap}\n    patch: |\n      - {op: add, path: /metadata/annotations, value: {one: a}}\n";
    let two = "  - target: {kind: Deployment}\n    patch: |\n      - {op: add, path: /metadata/annotations, value: {two: b}}\n";
    for seed in TREES {
        let (_, ab) = build(
            &overlay(seed, &format!("patches:\n{one}{two}")),
            "zz-overlay/top",
        );
        let (_, ba) = build(
            &overlay(seed, &format!("patches:\n{two}{one}")),
            "zz-overlay/top",
        );
        assert_eq!(content(&ab), content(&ba), "tree {seed}");
        assert_eq!(ab.problems.len(), ba.problems.len(), "tree {seed}");
    }
}

#[test]
fn a_build_does_not_depend_on_the_names_of_directories_above_it() {
    for seed in TREES {
        let (_, here) = build(&texts(seed), ROOT);
        let moved: Texts = texts(seed)
            .into_iter()
            .map(|(path, text)| (format!("some/where else/{path}"), text))
            .collect();
        let directory = format!("some/where else/{}", ROOT);
        let (_, there) = build(&moved, directory.trim_end_matches('/'));
        assert_eq!(content(&here), content(&there), "tree {seed}");
        assert_eq!(here.problems.len(), there.problems.len(), "tree {seed}");
    }
}

#[test]
fn every_place_lies_inside_its_file() {
    fn check(files: &Files, node: &Node, seed: u64) {
        inside(files, node.place, seed);
        for item in node.items() {
            check(files, item, seed);
        }
        for pair in node.pairs() {
            check(files, &pair.key, seed);
            check(files, &pair.value, seed);
        }
    }
    fn inside(files: &Files, place: Place, seed: u64) {
        let text = files.text(place.file);
        let range = place.span.range();
        assert!(
            range.start <= range.end && range.end <= text.len(),
            "tree {seed}: {place:?}"
        );
        assert!(
            text.is_char_boundary(range.start) && text.is_char_boundary(range.end),
            "tree {seed}: {place:?}"
        );
    }
    for seed in TREES {
        let (files, build) = build(&texts(seed), ROOT);
        for object in &build.objects {
            check(&files, &object.node, seed);
            inside(&files, object.origin, seed);
        }
        for problem in &build.problems {
            inside(&files, problem.place, seed);
        }
        for gap in &build.gaps {
            inside(&files, gap.place, seed);
        }
        for patch in &build.patches {
            inside(&files, patch.entry, seed);
            inside(&files, patch.content, seed);
        }
    }
}

#[test]
fn what_is_printed_reads_back_as_the_same() {
    for seed in TREES {
        let (_, build) = build(&texts(seed), ROOT);
        for object in &build.objects {
            let text = emit_node(&object.node);
            let read = parse(&text, FileId(0));
            assert!(read.error.is_none(), "tree {seed}:\n{text}");
            assert!(
                read.documents.len() == 1 && read.documents[0].root.same_content(&object.node),
                "tree {seed}:\n{text}"
            );
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic_or_point_outside(text in "[a-z0-9:{}\\[\\],&*#|>'\"!%@`\\-? \n\té]{0,200}") {
        let read = parse(&text, FileId(0));
        let inside = |place: Place| place.span.range().end <= text.len();
        proptest::prop_assert!(read.error.iter().all(|error| inside(error.place)));
        proptest::prop_assert!(read.comments.iter().all(|comment| inside(comment.place)));
        proptest::prop_assert!(read.documents.iter().all(|document| inside(document.root.place)));
    }

    #[test]
    fn any_string_survives_printing(text in "\\PC{0,60}|[ -~\n\t]{0,60}") {
        let place = Place::file_start(FileId(0));
        let node = Node::mapping(place, vec![wavelint::yaml::Entry {
            key: Node::string(place, "key"),
            value: Node::string(place, text.as_str()),
        }]);
        let printed = emit_node(&node);
        let read = parse(&printed, FileId(0));
        proptest::prop_assert!(read.error.is_none(), "{printed}");
        proptest::prop_assert_eq!(read.documents[0].root.get("key").and_then(Node::as_string), Some(text.as_str()), "{}", printed);
    }
}
