//! What kustomize changes without being asked, because it prints objects as YAML and reads them again.

use crate::source::Place;
use crate::tree::Files;
use crate::yaml::{Node, Value};

/// An empty value between braces is printed as `''` and so becomes an empty string.
pub(super) fn fill_empty_values(node: &mut Node, files: &Files) {
    if has_empty_value(node) {
        fill(node, files, false);
    }
}

fn has_empty_value(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.is_empty() && node.is_null(),
        Value::Sequence(items) => items.iter().any(has_empty_value),
        Value::Mapping(mapping) => mapping
            .entries
            .iter()
            .any(|entry| has_empty_value(&entry.value)),
    }
}

fn fill(node: &mut Node, files: &Files, in_braces: bool) {
    let place = node.place;
    if let Value::Scalar(scalar) = &node.value {
        if in_braces && scalar.text.is_empty() && node.is_null() {
            *node = Node::string(place, "");
        }
        return;
    }
    if !has_empty_value(node) {
        return;
    }
    let in_braces = in_braces || is_flow(place, files);
    if let Some(items) = node.items_mut() {
        for item in items {
            fill(item, files, in_braces);
        }
    } else if let Some(mapping) = node.mapping_mut() {
        for entry in &mut mapping.entries {
            fill(&mut entry.value, files, in_braces);
        }
    }
}

/// True if the collection is written between braces or brackets.
fn is_flow(place: Place, files: &Files) -> bool {
    let text = files.text(place.file).as_bytes();
    matches!(text.get(place.span.start as usize), Some(b'{' | b'['))
}

/// What becomes of a folded text when kustomize prints it folded and reads it again: its printer
/// (yaml.v3) puts a line break too many before a line that is indented further. `None` if nothing changes.
pub(super) fn refolded(text: &str) -> Option<String> {
    // A text that no block can hold is printed in quotes, and so keeps its breaks.
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{feff}';
    if !text.contains('\n') || text.contains(" \n") || text.ends_with(' ') || text.contains(odd) {
        return None;
    }
    let starts_blank = text
        .trim_start_matches('\n')
        .chars()
        .next()
        .is_none_or(|c| c == ' ' || c == '\t');
    let mut printed = String::with_capacity(text.len() + 8);
    let (mut after_break, mut indented) = (true, true);
    for c in text.chars() {
        if c == '\n' {
            if !after_break && !indented && !starts_blank {
                printed.push('\n');
            }
            printed.push('\n');
            after_break = true;
        } else {
            if after_break {
                indented = c == ' ' || c == '\t';
            }
            printed.push(c);
            after_break = false;
        }
    }
    let body = printed.trim_end_matches('\n');
    let trailing = match text.len() - text.trim_end_matches('\n').len() {
        kept @ 0..=1 => kept,
        _ => printed.len() - body.len(),
    };
    let read = fold(body) + &"\n".repeat(trailing);
    (read != text).then_some(read)
}

/// Reads a folded text: a single line break is a space, unless a line beside it is indented further.
fn fold(body: &str) -> String {
    let more = |line: &str| line.starts_with([' ', '\t']);
    let mut result = String::with_capacity(body.len());
    let mut breaks = 0;
    let mut last: Option<&str> = None;
    for line in body.split('\n') {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        match last {
            None => result.push_str(&"\n".repeat(breaks)),
            Some(last) if more(last) || more(line) => result.push_str(&"\n".repeat(breaks + 1)),
            Some(_) if breaks == 0 => result.push(' '),
            Some(_) => result.push_str(&"\n".repeat(breaks)),
        }
        result.push_str(line);
        breaks = 0;
        last = Some(line);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_text_gains_a_line_break_before_a_deeper_line() {
        assert_eq!(refolded("a\nb\n"), None);
        assert_eq!(refolded("a\n\nb"), None);
        assert_eq!(refolded("a\n  b\n").as_deref(), Some("a\n\n  b\n"));
        assert_eq!(refolded("  a\n  b"), None);
        assert_eq!(refolded("a \n  b\n"), None);
    }
}
