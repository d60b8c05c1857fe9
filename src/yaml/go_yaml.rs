//! Where Go's yaml judges a text otherwise than the parser.
//!
//! Upstream: `go.yaml.in/yaml/v3` `scannerc.go`, kyaml `kio/byteio_reader.go`.

use base64::Engine;
use smol_str::SmolStr;

use super::scalar::{Scalar, Style, Tag, Typed, typed_yaml_1_1};

/// At most this many places of a text are mended.
pub(super) const MAX_MENDS: usize = 50;

/// What stands for a lone `-` between brackets while the text is parsed.
const DASH: u8 = b'_';

/// A text of the same length that the parser reads as Go's yaml reads the original.
#[derive(Default)]
pub(super) struct Mended {
    /// Where [`DASH`] stands for `-`.
    dashes: Vec<usize>,
}

impl Mended {
    /// Changes the bytes at fault, if Go's yaml accepts what the parser refuses at `at`.
    pub(super) fn mend(&mut self, text: &mut Vec<u8>, at: usize) -> bool {
        self.dash(text, at)
            || comment_behind_quotes(text, at)
            || byte_order_mark(text, at)
            || behind_document_end(text, at)
    }

    /// True if the scalar of one byte there is a lone `-`.
    pub(super) fn is_dash(&self, start: usize, end: usize) -> bool {
        end == start + 1 && self.dashes.contains(&start)
    }

    /// A `-` that ends at a flow indicator is a string.
    fn dash(&mut self, text: &mut [u8], at: usize) -> bool {
        let is_lone = |index: usize| {
            text.get(index) == Some(&b'-')
                && matches!(text.get(index + 1), Some(b',' | b']' | b'}'))
                && index
                    .checked_sub(1)
                    .is_some_and(|before| matches!(text[before], b' ' | b'[' | b','))
        };
        let Some(index) = [at, at.wrapping_sub(1)].into_iter().find(|at| is_lone(*at)) else {
            return false;
        };
        text[index] = DASH;
        self.dashes.push(index);
        true
    }
}

/// A comment may follow quotes without a blank.
fn comment_behind_quotes(text: &mut [u8], at: usize) -> bool {
    let is_comment = |index: usize| {
        text.get(index) == Some(&b'#')
            && index
                .checked_sub(1)
                .is_some_and(|before| matches!(text[before], b'"' | b'\'' | b']' | b'}'))
    };
    let Some(start) = [at, at.wrapping_sub(1), at + 1]
        .into_iter()
        .find(|at| is_comment(*at))
    else {
        return false;
    };
    let end = line_end(text, start);
    text[start..end].fill(b' ');
    true
}

/// A byte order mark may begin any document: kustomize reads each on its own.
fn byte_order_mark(text: &mut [u8], at: usize) -> bool {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let Some(start) = [at, at.wrapping_sub(MARK.len())].into_iter().find(|start| {
        text.get(*start..)
            .is_some_and(|rest| rest.starts_with(MARK))
    }) else {
        return false;
    };
    let before = &text[..start];
    let follows_separator = before.ends_with(b"\n---\n") || before == b"---\n";
    if follows_separator {
        text[start..start + MARK.len()].fill(b'\n');
    }
    follows_separator
}

/// What stands between `...` and the next line of `---` is not read.
fn behind_document_end(text: &mut [u8], at: usize) -> bool {
    let mut start = 0;
    let mut ended = None;
    while start < text.len() {
        let end = line_end(text, start);
        let line = text[start..end].trim_ascii_end();
        if line == b"---" || line.starts_with(b"--- ") {
            if ended.is_some() && start > at {
                break;
            }
            ended = None;
        } else if line == b"..." && ended.is_none() && start <= at {
            ended = Some(end);
        }
        start = end + 1;
    }
    let Some(from) = ended else {
        return false;
    };
    let to = start.min(text.len());
    let mut changed = false;
    for byte in &mut text[from..to] {
        if !byte.is_ascii_whitespace() {
            *byte = b' ';
            changed = true;
        }
    }
    changed
}

fn line_end(text: &[u8], start: usize) -> usize {
    text[start..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |length| start + length)
}

/// Why Go's yaml refuses a scalar that the parser reads. `raw` is as written; `core` the name of an
/// explicit tag of YAML's own.
pub(super) fn refusal(
    scalar: &Scalar,
    raw: &str,
    core: Option<&str>,
    in_braces: bool,
    is_value: bool,
) -> Option<String> {
    let text = scalar.text.as_str();
    match scalar.style {
        Style::DoubleQuoted => unknown_escape(raw),
        Style::Literal | Style::Folded => text
            .trim_start_matches('\n')
            .starts_with('\t')
            .then(|| "a tab stands where the text's indentation is expected".to_owned()),
        Style::Plain if in_braces && text.starts_with(':') => {
            Some(format!("`{text}` between braces begins with `:`"))
        }
        Style::Plain if in_braces && is_value && text.starts_with('?') => {
            Some(format!("`{text}` between braces begins with `?`"))
        }
        _ => None,
    }
    .or_else(|| {
        let core = core?;
        let plain = Scalar {
            style: Style::Plain,
            tag: Tag::None,
            ..scalar.clone()
        };
        let fits = match core {
            "int" => matches!(typed_yaml_1_1(&plain), Typed::Int(_)) || is_digits(text),
            "float" => matches!(typed_yaml_1_1(&plain), Typed::Int(_) | Typed::Float(_)),
            "bool" => matches!(typed_yaml_1_1(&plain), Typed::Bool(_)),
            "null" => typed_yaml_1_1(&plain) == Typed::Null,
            _ => true,
        };
        (!fits).then(|| format!("`{text}` is no !!{core}"))
    })
}

/// The text that a `!!binary` scalar holds, if it is text.
pub(super) fn decoded_binary(text: &str) -> Option<SmolStr> {
    let clean: String = text.split_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(clean)
        .ok()?;
    String::from_utf8(bytes).ok().map(SmolStr::from)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// JSON's `\/` and halves of surrogate pairs are no escapes of Go's yaml.
fn unknown_escape(raw: &str) -> Option<String> {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at + 1..];
        let first = escape.chars().next()?;
        if first == '/' {
            return Some("`\\/` is an escape of JSON, which is none of YAML's here".to_owned());
        }
        if first == 'u'
            && let Some(code) = escape.get(1..5)
            && u32::from_str_radix(code, 16).is_ok_and(|code| (0xd800..0xe000).contains(&code))
        {
            return Some(format!("`\\u{code}` is half a character"));
        }
        rest = &escape[first.len_utf8()..];
    }
    None
}
