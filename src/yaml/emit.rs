//! Trees → YAML text, in the form that kustomize prints: two spaces, lists not indented.

use super::node::{Node, Value};
use super::scalar::{Scalar, Style};
use super::scalar::{Typed, plain_text_is_string};

/// Several documents, separated by `---`.
pub fn emit_documents<'a>(documents: impl IntoIterator<Item = &'a Node>) -> String {
    let mut out = String::new();
    for document in documents {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        out.push_str(&emit_node(document));
    }
    out
}

/// One document, ending in a line feed. Merge keys are resolved.
pub fn emit_node(node: &Node) -> String {
    let mut out = String::new();
    write_node(&mut out, node, 0, true);
    out
}

/// Writes a node; `at_line_start` says that the indentation of the first line is still to be written.
fn write_node(out: &mut String, node: &Node, indent: usize, at_line_start: bool) {
    match &node.value {
        Value::Scalar(scalar) => {
            write_scalar(out, scalar, indent);
            out.push('\n');
        }
        Value::Sequence(items) if items.is_empty() => out.push_str("[]\n"),
        Value::Mapping(mapping) if mapping.resolved().is_empty() => out.push_str("{}\n"),
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 || at_line_start {
                    push_indent(out, indent);
                }
                out.push_str("- ");
                write_node(out, item, indent + 2, false);
            }
        }
        Value::Mapping(mapping) => {
            for (index, entry) in mapping.resolved().into_iter().enumerate() {
                if index > 0 || at_line_start {
                    push_indent(out, indent);
                }
                match &entry.key.value {
                    Value::Scalar(scalar) => write_inline_scalar(out, scalar),
                    _ => out.push_str("null"),
                }
                out.push(':');
                match &entry.value.value {
                    Value::Sequence(items) if !items.is_empty() => {
                        out.push('\n');
                        write_node(out, &entry.value, indent, true);
                    }
                    Value::Mapping(inner) if !inner.resolved().is_empty() => {
                        out.push('\n');
                        write_node(out, &entry.value, indent + 2, true);
                    }
                    _ => {
                        out.push(' ');
                        write_node(out, &entry.value, indent + 2, false);
                    }
                }
            }
        }
    }
}

fn push_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_scalar(out: &mut String, scalar: &Scalar, indent: usize) {
    if fits_literal_block(scalar) {
        write_literal(out, &scalar.text, indent.max(2));
    } else {
        write_inline_scalar(out, scalar);
    }
}

/// A literal block keeps the text only if no line is odd: no carriage return, no
/// leading blank on the first line, no blank at a line's end, nothing unprintable.
fn fits_literal_block(scalar: &Scalar) -> bool {
    let text = scalar.text.as_str();
    scalar.typed() == Typed::String
        && text.contains('\n')
        && !text.trim_end_matches('\n').is_empty()
        && !text.starts_with([' ', '\n', '\t'])
        && text.lines().all(|line| !line.ends_with([' ', '\t']))
        && text
            .chars()
            .all(|c| c == '\n' || c == '\t' || !c.is_control())
        && !text.contains(['\u{feff}', '\u{2028}', '\u{2029}', '\u{85}'])
}

fn write_literal(out: &mut String, text: &str, indent: usize) {
    let trimmed = text.trim_end_matches('\n');
    out.push('|');
    match text.len() - trimmed.len() {
        0 => out.push('-'),
        1 => {}
        _ => out.push('+'),
    }
    let body = if text.len() - trimmed.len() > 1 {
        &text[..text.len() - 1]
    } else {
        trimmed
    };
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            push_indent(out, indent);
            out.push_str(line);
        }
    }
}

fn write_inline_scalar(out: &mut String, scalar: &Scalar) {
    match scalar.typed() {
        Typed::Null => out.push_str("null"),
        Typed::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Typed::Int(value) => out.push_str(&value.to_string()),
        // As JSON has it; beyond that range and for no number at all, as written.
        Typed::Float(value) if (1e-6..1e21).contains(&value.abs()) => {
            out.push_str(&value.to_string());
        }
        Typed::Float(_) => out.push_str(&scalar.text),
        Typed::String => {
            let text = scalar.text.as_str();
            if safe_plain(text, scalar.style) {
                out.push_str(text);
            } else {
                write_double_quoted(out, text);
            }
        }
    }
}

/// True if the text may stand without quotes.
fn safe_plain(text: &str, _style: Style) -> bool {
    !text.is_empty()
        && plain_text_is_string(text)
        && text != "<<"
        && text != "="
        && !looks_like_date(text)
        && !text.starts_with(|c: char| {
            c.is_whitespace() || "-?:,[]{}#&*!|>'\"%@`".contains(c) && !safe_leading(text, c)
        })
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text
            .chars()
            .all(|c| !c.is_control() && c != '\u{feff}' && c != '\u{2028}' && c != '\u{2029}')
}

/// `-x`, `?x` and `:x` are plain.
fn safe_leading(text: &str, first: char) -> bool {
    "-?:".contains(first)
        && text[1..].starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '-')
        && !text.starts_with("---")
}

/// Texts that a YAML 1.1 reader may take for a timestamp or a base-60 number.
fn looks_like_date(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains([':', '-'])
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || "-:.TtZz+ ".contains(c))
}

fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}') => {
                out.push_str(&format!("\\u{:04X}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
