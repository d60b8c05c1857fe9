//! Any text parses or is refused; what parses, is written and parsed again says the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavelint::source::FileId;
use wavelint::yaml::{Node, Value, emit_node, parse};

/// Nodes of a document that are written out; aliases may stand for any number.
const MOST: usize = 20_000;

fuzz_target!(|text: &str| {
    let file = parse(text, FileId(0));
    if file.error.is_some() {
        return;
    }
    for document in &file.documents {
        let mut left = MOST;
        if !fits(&document.root, &mut left) {
            continue;
        }
        let written = emit_node(&document.root);
        let again = parse(&written, FileId(0));
        assert!(again.error.is_none(), "{:?}\n{written}", again.error);
        assert_eq!(again.documents.len(), 1, "{written}");
        assert!(
            document.root.same_content(&again.documents[0].root),
            "{text:?}\n{written}"
        );
    }
});

fn fits(node: &Node, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match &node.value {
        Value::Scalar(_) => true,
        Value::Sequence(items) => items.iter().all(|item| fits(item, left)),
        Value::Mapping(mapping) => mapping
            .entries
            .iter()
            .all(|entry| fits(&entry.key, left) && fits(&entry.value, left)),
    }
}
