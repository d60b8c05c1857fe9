//! Text → documents. The only file that names the parser.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span as ParserSpan};
use smol_str::SmolStr;

use super::cause;
use super::go_yaml::{self, Mended};
use super::node::{Entry, Mapping, Node, Value};
use super::offsets::OffsetMap;
use super::scalar::{Scalar, Style, Tag};
use crate::source::{FileId, Place, Span};

/// A document that expands through aliases to more nodes than this, and to much
/// more than is written, is refused, as Go's yaml refuses it.
const MAX_EXPANDED_NODES: u64 = 400_000;

/// All that one YAML text holds.
#[derive(Debug, Default)]
pub struct YamlFile {
    /// The documents up to the first error.
    pub documents: Vec<Document>,
    /// The comments of the whole text, in order.
    pub comments: Vec<Comment>,
    /// Keys written twice in one map.
    pub duplicate_keys: Vec<DuplicateKey>,
    /// Why the text does not parse; nothing of such a file may be used as if it were whole.
    pub error: Option<ParseError>,
    /// Why kustomize refuses the text as a manifest though it is YAML, if it does.
    pub unreadable: Option<ParseError>,
}

/// One document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its content; a null scalar if it is empty.
    pub root: Node,
    /// True if kustomize loses it silently: it does not follow a line of `---` alone
    /// (kyaml splits the text at such lines and decodes one document of each piece).
    pub lost: bool,
}

/// A comment: `#` and the rest of its line.
#[derive(Clone, Debug)]
pub struct Comment {
    /// From `#` to the end of the line.
    pub place: Place,
    /// The text behind `#`, as written.
    pub text: SmolStr,
    /// True if nothing but blanks stands before it on its line.
    pub own_line: bool,
}

/// A key that a map has twice.
#[derive(Clone, Debug)]
pub struct DuplicateKey {
    /// The key.
    pub key: SmolStr,
    /// Where it stands first.
    pub first: Place,
    /// Where it stands again.
    pub second: Place,
    /// Which document, from 0.
    pub document: usize,
}

/// Why a text is no YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where the parser gave up.
    pub place: Place,
    /// What it says.
    pub message: String,
}

impl YamlFile {
    /// The documents that kustomize sees: neither lost nor empty.
    pub fn seen(&self) -> impl Iterator<Item = &Document> {
        self.documents
            .iter()
            .filter(|document| !document.lost && !document.root.is_null())
    }
}

/// Parses a whole file.
pub fn parse(text: &str, file: FileId) -> YamlFile {
    parse_mapped(text, file, &OffsetMap::Identity)
}

/// Parses text whose offsets are mapped to those of the file that holds it.
pub(super) fn parse_mapped(text: &str, file: FileId, offsets: &OffsetMap) -> YamlFile {
    let mut mended = Mended::default();
    let (mut result, mut failed_at) = run(text, text, file, offsets, &mended);
    let mut bytes = Vec::new();
    for _ in 0..go_yaml::MAX_MENDS {
        let Some(at) = failed_at else {
            break;
        };
        if bytes.is_empty() {
            bytes = text.as_bytes().to_vec();
        }
        if !mended.mend(&mut bytes, at) {
            break;
        }
        let Ok(parsed) = std::str::from_utf8(&bytes) else {
            break;
        };
        (result, failed_at) = run(parsed, text, file, offsets, &mended);
    }
    result
}

/// One pass over a text, mended or not; with it, where the parser refused it.
fn run(
    parsed: &str,
    text: &str,
    file: FileId,
    offsets: &OffsetMap,
    mended: &Mended,
) -> (YamlFile, Option<usize>) {
    let options = granit_parser::options! {
        block_scalar_eof_without_line_feed: true,
        max_buffered_comment_events: usize::MAX,
    };
    let mut builder = Builder {
        text,
        file,
        offsets,
        mended,
        result: YamlFile::default(),
        anchors: HashMap::new(),
        open: Vec::new(),
        written: 0,
        has_alias: false,
        lost: false,
    };
    let mut failed_at = None;
    for event in Parser::new_from_str_with_options(parsed, options) {
        let outcome = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                let at = builder.offset_of(&error);
                failed_at = Some(at);
                Err(match cause::cause(text, at) {
                    Some((at, message)) => builder.error(at, at, message.to_owned()),
                    None => builder.error(at, at, error.info()),
                })
            }
        };
        if let Err(error) = outcome {
            builder.result.error = Some(error);
            break;
        }
    }
    (builder.result, failed_at)
}

/// A collection being read.
enum Open {
    Sequence {
        start: usize,
        flow: bool,
        anchor: usize,
        items: Vec<Node>,
        weight: u64,
    },
    Mapping {
        start: usize,
        flow: bool,
        anchor: usize,
        entries: Vec<Entry>,
        key: Option<Node>,
        weight: u64,
    },
}

struct Builder<'a> {
    text: &'a str,
    file: FileId,
    offsets: &'a OffsetMap,
    mended: &'a Mended,
    result: YamlFile,
    /// Anchored nodes of this document, with their expanded size.
    anchors: HashMap<usize, (Node, u64)>,
    open: Vec<Open>,
    /// Nodes written in this document.
    written: u64,
    has_alias: bool,
    lost: bool,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: ParserSpan) -> Result<(), ParseError> {
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(explicit, ..) => {
                self.anchors.clear();
                self.written = 0;
                self.has_alias = false;
                let follows_a_separator = explicit && self.clean_separator(range.start);
                self.lost = !self.result.documents.is_empty() && !follows_a_separator;
            }
            Event::Comment(text, _) => {
                let line_start = self.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                self.result.comments.push(Comment {
                    place: self.place(range.start, range.end),
                    text: SmolStr::new(text),
                    own_line: self.text[line_start..range.start].trim().is_empty(),
                });
            }
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                let core = tag.as_ref().and_then(|tag| tag.core_suffix());
                let mut text = SmolStr::new(text);
                if self.mended.is_dash(range.start, range.end) {
                    text = SmolStr::new("-");
                }
                let tag = match (&tag, core) {
                    (None, _) => Tag::None,
                    (Some(_), Some("str")) => Tag::String,
                    (Some(tag), None) if tag.suffix() == "binary" && tag.handle() != "!" => {
                        Tag::Binary
                    }
                    (Some(_), Some("int" | "float" | "bool" | "null")) => Tag::Core,
                    (Some(_), Some(_)) if style == Style::Plain => Tag::Core,
                    (Some(_), Some(_)) => Tag::None,
                    // `!` alone leaves the type to the notation.
                    (Some(tag), None) if tag.suffix().is_empty() || tag.suffix() == "!" => {
                        Tag::None
                    }
                    (Some(_), None) => Tag::Custom,
                };
                // An empty plain scalar arrives as `~` with an empty span.
                if style == Style::Plain && range.is_empty() {
                    text = SmolStr::default();
                }
                if tag == Tag::Binary
                    && let Some(decoded) = go_yaml::decoded_binary(&text)
                {
                    text = decoded;
                }
                let scalar = Scalar { text, style, tag };
                let place = self.place(range.start, range.end);
                let raw = self.text.get(range).unwrap_or_default();
                self.check(&scalar, raw, core, place);
                let node = Node {
                    place,
                    value: Value::Scalar(scalar),
                };
                self.finish(node, 1, anchor)?;
            }
            Event::SequenceStart(style, anchor, _) => self.open.push(Open::Sequence {
                start: range.start,
                flow: style == granit_parser::StructureStyle::Flow,
                anchor,
                items: Vec::new(),
                weight: 1,
            }),
            Event::MappingStart(style, anchor, _) => self.open.push(Open::Mapping {
                start: range.start,
                flow: style == granit_parser::StructureStyle::Flow,
                anchor,
                entries: Vec::new(),
                key: None,
                weight: 1,
            }),
            Event::SequenceEnd | Event::MappingEnd => self.close(range.end)?,
            Event::Alias(id) => {
                self.has_alias = true;
                let Some((target, weight)) = self.anchors.get(&id) else {
                    return Err(self.error(
                        range.start,
                        range.end,
                        "an alias inside its own anchor".into(),
                    ));
                };
                let (mut node, weight) = (target.clone(), *weight);
                node.place = self.place(range.start, range.end);
                self.finish(node, weight, 0)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// True if the `---` at `start` begins its line and only blanks or a comment follow it.
    fn clean_separator(&self, start: usize) -> bool {
        let line = self.text[start..].lines().next().unwrap_or_default();
        let at_line_start = start == 0 || self.text.as_bytes()[start - 1] == b'\n';
        let rest = line.strip_prefix("---").unwrap_or("x").trim_start();
        at_line_start && (rest.is_empty() || rest.starts_with('#'))
    }

    fn close(&mut self, event_end: usize) -> Result<(), ParseError> {
        let last_end = |place: Option<Place>, fallback: usize| match self.offsets {
            OffsetMap::Identity => place.map_or(fallback, |place| place.span.end as usize),
            _ => event_end,
        };
        match self.open.pop() {
            Some(Open::Sequence {
                start,
                flow,
                anchor,
                items,
                weight,
            }) => {
                let end = if flow {
                    event_end
                } else {
                    last_end(items.last().map(|item| item.place), start)
                };
                let node = Node {
                    place: self.place(start, end),
                    value: Value::Sequence(Arc::new(items)),
                };
                self.finish(node, weight, anchor)
            }
            Some(Open::Mapping {
                start,
                flow,
                anchor,
                entries,
                weight,
                ..
            }) => {
                let end = if flow {
                    event_end
                } else {
                    last_end(entries.last().map(|entry| entry.value.place), start)
                };
                self.note_duplicates(&entries);
                let node = Node {
                    place: self.place(start, end),
                    value: Value::Mapping(Arc::new(Mapping { entries })),
                };
                self.finish(node, weight, anchor)
            }
            None => Ok(()),
        }
    }

    /// Puts a finished node where it belongs: its parent, or the document.
    fn finish(&mut self, node: Node, weight: u64, anchor: usize) -> Result<(), ParseError> {
        self.written += 1;
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weight));
        }
        match self.open.last_mut() {
            None => {
                if self.has_alias && weight > MAX_EXPANDED_NODES && weight / 10 > self.written {
                    let place = node.place;
                    return Err(ParseError {
                        place,
                        message: "the document contains excessive aliasing".into(),
                    });
                }
                self.result.documents.push(Document {
                    root: node,
                    lost: self.lost,
                });
            }
            Some(Open::Sequence {
                items,
                weight: total,
                ..
            }) => {
                items.push(node);
                *total = total.saturating_add(weight);
            }
            Some(Open::Mapping {
                entries,
                key,
                weight: total,
                ..
            }) => {
                *total = total.saturating_add(weight);
                match key.take() {
                    None => *key = Some(node),
                    Some(key) => entries.push(Entry { key, value: node }),
                }
            }
        }
        Ok(())
    }

    fn note_duplicates(&mut self, entries: &[Entry]) {
        let document = self.result.documents.len();
        let mut note = |first: &Node, second: &Node, text: &SmolStr| {
            self.result.duplicate_keys.push(DuplicateKey {
                key: text.clone(),
                first: first.place,
                second: second.place,
                document,
            });
        };
        let scalar_text = |node: &Node| match &node.value {
            Value::Scalar(scalar) if !node.is_merge_key() => Some(scalar.text.clone()),
            _ => None,
        };
        if entries.len() <= 16 {
            for (index, entry) in entries.iter().enumerate() {
                let Some(text) = scalar_text(&entry.key) else {
                    continue;
                };
                if let Some(first) = entries[..index]
                    .iter()
                    .find(|other| other.key.is_key(&text))
                {
                    note(&first.key, &entry.key, &text);
                }
            }
            return;
        }
        let mut seen: HashMap<SmolStr, &Node> = HashMap::with_capacity(entries.len());
        for entry in entries {
            let Some(text) = scalar_text(&entry.key) else {
                continue;
            };
            match seen.get(&text) {
                Some(first) => note(first, &entry.key, &text),
                None => {
                    seen.insert(text, &entry.key);
                }
            }
        }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place {
            file: self.file,
            span: self.offsets.map(Span::new(start, end)),
        }
    }

    fn error(&self, start: usize, end: usize, message: String) -> ParseError {
        ParseError {
            place: self.place(start, end),
            message,
        }
    }

    fn offset_of(&self, error: &ScanError) -> usize {
        error
            .marker()
            .byte_offset()
            .unwrap_or(self.text.len())
            .min(self.text.len())
    }

    /// Notes what Go's yaml does not read.
    fn check(&mut self, scalar: &Scalar, raw: &str, core: Option<&str>, place: Place) {
        let (in_braces, is_value) = match self.open.last() {
            Some(Open::Mapping { flow, key, .. }) => (*flow, key.is_some()),
            Some(Open::Sequence { flow, .. }) => (*flow, false),
            None => (false, false),
        };
        if self.result.unreadable.is_none()
            && let Some(message) = go_yaml::refusal(scalar, raw, core, in_braces, is_value)
        {
            self.result.unreadable = Some(ParseError { place, message });
        }
    }
}
