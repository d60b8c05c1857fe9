//! How Flux writes a scalar before it substitutes, and how it reads the result.
//!
//! Flux prints an object from JSON as YAML, substitutes in that text, and reads it
//! again. So a value lands inside the notation that the printer chose for the text
//! with the `${…}` still in it, whatever the notation in the repository was.
//! Upstream: sigs.k8s.io/yaml `goyaml.v2/encode.go`, `emitterc.go`. Not modelled: the
//! folding of long lines, which reading undoes again; and what the two YAML readers take
//! differently: blanks around U+2028, a lone `!`, `#` right behind a closing bracket, a key
//! that becomes `<<`.

use smol_str::SmolStr;

use crate::source::{FileId, Place};
use crate::yaml::{self, Entry, Node, Scalar, Style, Typed, Value, typed_core, typed_yaml_1_1};

/// The notation of a scalar that holds `$` (and so is nothing but a string).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// What the printer's analysis of a text finds.
#[derive(Default)]
struct Traits {
    special: bool,
    line_break: bool,
    edge_blank: bool,
    trailing_space: bool,
    break_then_space: bool,
    space_then_break: bool,
    indicator: bool,
}

/// The printer's choice for a text, be it a value or a key.
pub(super) fn notation(text: &str) -> Notation {
    let traits = analyze(text);
    let block_fits = !(traits.trailing_space || traits.space_then_break || traits.special);
    if text.contains('\n') {
        return if block_fits {
            Notation::Literal
        } else {
            Notation::DoubleQuoted
        };
    }
    let plain_fits = !traits.edge_blank && !traits.line_break && !traits.indicator;
    let single_fits = !traits.break_then_space && !traits.space_then_break && !traits.special;
    match (plain_fits && single_fits, single_fits) {
        (true, _) => Notation::Plain,
        (false, true) => Notation::SingleQuoted,
        _ => Notation::DoubleQuoted,
    }
}

fn analyze(text: &str) -> Traits {
    let mut traits = Traits {
        indicator: text.starts_with("---") || text.starts_with("..."),
        ..Traits::default()
    };
    let mut previous: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let first = previous.is_none();
        let last = characters.peek().is_none();
        let blank_follows = characters.peek().is_none_or(|next| is_blank(*next));
        traits.indicator |= match c {
            '#' => previous.is_none_or(is_blank),
            ':' => blank_follows,
            '-' | '?' if first => blank_follows,
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => first,
            _ => false,
        };
        traits.special |= !is_printable(c);
        if c == ' ' {
            traits.edge_blank |= first || last;
            traits.trailing_space |= last;
            traits.break_then_space |= previous.is_some_and(is_break);
        } else if is_break(c) {
            traits.line_break = true;
            traits.edge_blank |= first || last;
            traits.space_then_break |= previous == Some(' ');
        }
        previous = Some(c);
    }
    traits
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_break(c)
}

/// Printable for the printer, which escapes all beyond the basic plane.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

/// What stands inside the notation: the text with its escapes, or indented.
pub(super) fn write(text: &str, notation: Notation) -> String {
    match notation {
        Notation::Plain => text.to_owned(),
        Notation::SingleQuoted => text.replace('\'', "''"),
        Notation::DoubleQuoted => {
            let mut out = String::with_capacity(text.len() + 8);
            text.chars().for_each(|c| push_escaped(&mut out, c));
            out
        }
        Notation::Literal => {
            let mut out = String::with_capacity(text.len() + text.len() / 16);
            for line in text.split_inclusive('\n') {
                if line != "\n" {
                    out.push_str("  ");
                }
                out.push_str(line);
            }
            out
        }
    }
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{85}' => out.push_str("\\N"),
        '\u{2028}' => out.push_str("\\L"),
        '\u{2029}' => out.push_str("\\P"),
        c if is_printable(c) => out.push(c),
        c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02X}", c as u32)),
        c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04X}", c as u32)),
        c => out.push_str(&format!("\\U{:08X}", c as u32)),
    }
}

/// Reads a value back: `body` is what [`write`] gave for `original`, after substitution.
/// The node stands at `place` as a whole and is typed as JSON has it afterwards.
///
/// # Errors
/// With the reason when what stands there now is no YAML, or breaks out of its place.
pub(super) fn read_value(
    original: &str,
    body: &str,
    notation: Notation,
    place: Place,
) -> Result<Node, String> {
    if notation == Notation::Plain && is_word(body) {
        return Ok(at_place(Node::plain(place, body), place));
    }
    let mut document = String::with_capacity(body.len() + 16);
    document.push_str("v: ");
    push_scalar(&mut document, original, body, notation);
    let Entry { key, value } = only_entry(&document, place.file)?;
    if key.is_key("v") {
        Ok(at_place(value, place))
    } else {
        Err(BREAKS_OUT.to_owned())
    }
}

/// Reads a key back, as [`read_value`] does a value.
///
/// # Errors
/// When what stands there now is no key.
pub(super) fn read_key(
    original: &str,
    body: &str,
    notation: Notation,
    place: Place,
) -> Result<SmolStr, String> {
    let mut document = String::with_capacity(body.len() + 8);
    if notation == Notation::Literal || original.len() > MAX_SIMPLE_KEY {
        document.push_str("? ");
        push_scalar(&mut document, original, body, notation);
    } else {
        push_quoted(&mut document, body, notation);
    }
    document.push_str(": v\n");
    let Entry { key, value } = only_entry(&document, place.file)?;
    if !value.is_key("v") {
        return Err(BREAKS_OUT.to_owned());
    }
    key_text(&key).ok_or_else(|| "no key of an object can be made of it".to_owned())
}

/// A longer key is printed on a line of its own, behind `?`; so is one of several lines.
const MAX_SIMPLE_KEY: usize = 128;

const BREAKS_OUT: &str = "it breaks out of its place in the YAML";

/// True for text that, written plain, is one plain scalar and nothing else.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

fn push_scalar(document: &mut String, original: &str, body: &str, notation: Notation) {
    if notation == Notation::Literal {
        document.push_str(literal_header(original));
        document.push_str(body);
    } else {
        push_quoted(document, body, notation);
    }
    if !document.ends_with('\n') {
        document.push('\n');
    }
}

fn push_quoted(document: &mut String, body: &str, notation: Notation) {
    let quote = match notation {
        Notation::SingleQuoted => "'",
        Notation::DoubleQuoted => "\"",
        Notation::Plain | Notation::Literal => "",
    };
    document.push_str(quote);
    document.push_str(body);
    document.push_str(quote);
}

/// The line that starts a literal block.
fn literal_header(text: &str) -> &'static str {
    let indented = text.starts_with([' ', '\n']);
    let mut end = text.chars().rev();
    let (last, before) = (end.next(), end.next());
    match (indented, last == Some('\n'), before) {
        (true, false, _) => "|2-\n",
        (false, false, _) => "|-\n",
        (true, true, None | Some('\n')) => "|2+\n",
        (false, true, None | Some('\n')) => "|+\n",
        (true, true, _) => "|2\n",
        (false, true, _) => "|\n",
    }
}

fn only_entry(document: &str, file: FileId) -> Result<Entry, String> {
    let mut parsed = yaml::parse(document, file);
    if let Some(error) = parsed.error {
        return Err(error.message);
    }
    let root = match parsed.documents.pop() {
        Some(only) if parsed.documents.is_empty() => only.root,
        _ => return Err(BREAKS_OUT.to_owned()),
    };
    match root.as_mapping().map(|mapping| mapping.entries.as_slice()) {
        Some([entry]) => Ok(entry.clone()),
        _ => Err(BREAKS_OUT.to_owned()),
    }
}

/// The tree with every node at one place, its scalars as JSON has them.
fn at_place(node: Node, place: Place) -> Node {
    match &node.value {
        Value::Scalar(scalar) => Node {
            place,
            value: Value::Scalar(as_json(scalar)),
        },
        Value::Sequence(items) => Node::sequence(
            place,
            items
                .iter()
                .map(|item| at_place(item.clone(), place))
                .collect(),
        ),
        Value::Mapping(mapping) => Node::mapping(
            place,
            mapping
                .resolved()
                .into_iter()
                .map(|entry| Entry {
                    key: Node::string(place, key_text(&entry.key).unwrap_or_default()),
                    value: at_place(entry.value.clone(), place),
                })
                .collect(),
        ),
    }
}

/// A scalar as read by YAML 1.1 rules, written so that later stages read the same.
fn as_json(scalar: &Scalar) -> Scalar {
    match typed_yaml_1_1(scalar) {
        Typed::Null => Scalar::plain("null"),
        Typed::Bool(value) => Scalar::plain(if value { "true" } else { "false" }),
        Typed::Int(value) => Scalar::plain(value.to_string()),
        Typed::Float(_) if matches!(typed_core(scalar), Typed::Float(_)) => {
            Scalar::plain(scalar.text.clone())
        }
        Typed::Float(value) => Scalar::plain(value.to_string()),
        Typed::String if scalar.style == Style::Plain && typed_core(scalar) == Typed::String => {
            Scalar::plain(scalar.text.clone())
        }
        Typed::String => Scalar::string(scalar.text.clone()),
    }
}

/// A key as JSON has it: always a string; null and collections cannot be one.
fn key_text(key: &Node) -> Option<SmolStr> {
    let scalar = as_json(key.as_scalar()?);
    match scalar.typed() {
        Typed::Null => None,
        Typed::Float(value) => Some(smol_str::format_smolstr!("{value}")),
        _ => Some(scalar.text),
    }
}
