//! Files, the ids that name them, spans inside them, and the line index.
//!
//! A [`Place`] is all that later stages need to point at text: the file id says
//! which file of which revision, the span says which bytes. Ids are unique over
//! both revisions of a run; a file that is equal in both has one id.

use std::sync::{Arc, OnceLock};

/// Names one file of a run. The same content at the same path has the same id at head and base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file, `start` included, `end` excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// A span from `start` to `end`, in bytes; files of 4 GiB and more are never read.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end.max(start) as u32,
        }
    }

    /// True if `other` lies inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The span as a range of `usize`, to slice text with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A span in a file: where something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes in it.
    pub span: Span,
}

impl Place {
    /// The very start of a file: its first line, for findings about the file as a whole.
    pub fn file_start(file: FileId) -> Self {
        Self {
            file,
            span: Span::default(),
        }
    }
}

/// Which of the two revisions of a run something belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// What is linted.
    Head,
    /// What it is compared with.
    Base,
}

/// A line and a column, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Valid UTF-8.
    Text(Arc<str>),
    /// Anything else.
    Binary(Arc<[u8]>),
    /// The file could not be read; the reason.
    Unreadable(Arc<str>),
}

impl Content {
    /// Sorts bytes into text and binary.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(error) => Self::Binary(error.into_bytes().into()),
        }
    }

    /// The text, if the file is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes, whatever they are; none of an unreadable file.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
            Self::Unreadable(_) => &[],
        }
    }
}

/// The line starts of one text, found once, asked often.
#[derive(Debug, Default)]
pub struct LineIndex {
    starts: OnceLock<Vec<u32>>,
}

impl LineIndex {
    /// Offsets at which the lines of `text` start; the first is 0.
    pub fn starts(&self, text: &str) -> &[u32] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0];
            starts.extend(
                text.bytes()
                    .enumerate()
                    .filter(|(_, byte)| *byte == b'\n')
                    .map(|(offset, _)| offset as u32 + 1),
            );
            starts
        })
    }

    /// Line and column of a byte offset; an offset past the end is taken as the end.
    pub fn line_column(&self, text: &str, offset: u32) -> LineColumn {
        let offset = floor_char_boundary(text, offset as usize);
        let starts = self.starts(text);
        let line = starts.partition_point(|start| *start as usize <= offset);
        let start = starts[line - 1] as usize;
        LineColumn {
            line,
            column: text[start..offset].chars().count() + 1,
        }
    }

    /// The bytes of line `line` (from 1), without its line ending; empty past the end.
    pub fn line_span(&self, text: &str, line: usize) -> Span {
        let starts = self.starts(text);
        let Some(start) = starts.get(line.wrapping_sub(1)) else {
            return Span::new(text.len(), text.len());
        };
        let end = starts
            .get(line)
            .map_or(text.len(), |next| *next as usize - 1);
        let line_text = &text[*start as usize..end];
        let trimmed = line_text.strip_suffix('\r').unwrap_or(line_text);
        Span::new(*start as usize, *start as usize + trimmed.len())
    }
}

/// The largest character boundary at or below `offset`.
fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "aé\r\nb\n";
        let index = LineIndex::default();
        assert_eq!(
            index.line_column(text, 0),
            LineColumn { line: 1, column: 1 }
        );
        assert_eq!(
            index.line_column(text, 3),
            LineColumn { line: 1, column: 3 }
        );
        assert_eq!(
            index.line_column(text, 5),
            LineColumn { line: 2, column: 1 }
        );
        assert_eq!(
            index.line_column(text, 99),
            LineColumn { line: 3, column: 1 }
        );
        assert_eq!(index.line_span(text, 1), Span::new(0, 3));
        assert_eq!(index.line_span(text, 2), Span::new(5, 6));
        assert_eq!(index.line_span(text, 9), Span::new(7, 7));
    }
}
