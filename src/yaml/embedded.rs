//! YAML inside a scalar of another YAML file: its spans mapped back to the file.

use super::node::{Node, Value};
use super::offsets::OffsetMap;
use super::parse::{YamlFile, parse_mapped};
use super::scalar::Style;
use crate::source::Span;

/// Parses the YAML in a scalar (an inline patch, a values document in a ConfigMap).
///
/// `file_text` is the text of the file in which `scalar` is written. Not a
/// scalar: nothing, as an empty text.
pub fn parse_embedded(scalar: &Node, file_text: &str) -> YamlFile {
    let Value::Scalar(content) = &scalar.value else {
        return YamlFile::default();
    };
    let offsets = offset_map(&content.text, content.style, scalar.place.span, file_text);
    parse_mapped(&content.text, scalar.place.file, &offsets)
}

/// Where bytes of a scalar's text are written in its file, as exactly as the notation
/// allows: of quotes with escapes and of folded text it is the whole scalar.
///
/// `part` counts in the scalar's text; `file_text` is the text of the file in which the
/// scalar is written. Not a scalar: its own span.
pub fn span_in_scalar(scalar: &Node, file_text: &str, part: Span) -> Span {
    match &scalar.value {
        Value::Scalar(content) => {
            offset_map(&content.text, content.style, scalar.place.span, file_text).map(part)
        }
        _ => scalar.place.span,
    }
}

fn offset_map(text: &str, style: Style, span: Span, file_text: &str) -> OffsetMap {
    let whole = OffsetMap::Whole(span);
    let Some(written) = file_text.get(span.range()) else {
        return whole;
    };
    // A generator's value stands at the start of the file that it was read from, or where its text is.
    if span == Span::new(0, 0) && !text.is_empty() && file_text == text {
        return OffsetMap::Identity;
    }
    match style {
        _ if written == text && !text.is_empty() => OffsetMap::Lines(vec![(0, span.start)], span),
        Style::Plain if written == text => OffsetMap::Lines(vec![(0, span.start)], span),
        Style::SingleQuoted | Style::DoubleQuoted
            if written.get(1..written.len().saturating_sub(1)) == Some(text) =>
        {
            OffsetMap::Lines(vec![(0, span.start + 1)], span)
        }
        Style::Literal => literal_lines(text, span, file_text).unwrap_or(whole),
        _ => whole,
    }
}

/// Pairs the lines of a literal block with the lines of the file; each differs by its indentation.
fn literal_lines(text: &str, span: Span, file_text: &str) -> Option<OffsetMap> {
    let mut lines = Vec::new();
    let mut text_offset = 0usize;
    let mut file_offset = file_text
        .get(..span.start as usize)?
        .rfind('\n')
        .map_or(0, |at| at + 1);
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let written = file_text.get(file_offset..)?.split_inclusive('\n').next()?;
        let bare = written.trim_end_matches(['\n', '\r']);
        let indent = if content.is_empty() {
            bare.len()
        } else {
            bare.strip_suffix(content)?.len()
        };
        lines.push((text_offset as u32, (file_offset + indent) as u32));
        text_offset += line.len();
        file_offset += written.len();
    }
    (!lines.is_empty()).then_some(OffsetMap::Lines(lines, span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Place};

    #[test]
    fn a_text_that_is_a_whole_file_keeps_its_offsets() {
        let text = "#!/bin/sh\necho ${FOO}\n";
        let value = Node::string(Place::file_start(FileId(0)), text);
        let at = text.find("${").unwrap_or_default();
        let part = Span::new(at, at + 6);
        assert_eq!(span_in_scalar(&value, text, part), part);
        // Another text at the start of a file has no place of its own in it.
        let value = Node::string(Place::file_start(FileId(0)), "echo ${FOO}");
        assert_eq!(
            span_in_scalar(&value, text, Span::new(5, 11)),
            Span::new(0, 0)
        );
    }

    #[test]
    fn a_text_without_quotes_of_its_own_keeps_its_offsets() {
        let file = "A=1\nB=x ${FOO}\n";
        let place = Place {
            file: FileId(0),
            span: Span::new(6, 14),
        };
        let value = Node::string(place, "x ${FOO}");
        assert_eq!(
            span_in_scalar(&value, file, Span::new(2, 8)),
            Span::new(8, 14)
        );
    }
}
