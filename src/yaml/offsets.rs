//! How offsets in a text that stands inside a file become offsets in that file.

use crate::source::Span;

/// How offsets in an embedded text become offsets in the file that holds it.
#[derive(Debug)]
pub(super) enum OffsetMap {
    /// The text is the file.
    Identity,
    /// For each line of the text: where it starts there, and where in the file; the span is the whole scalar.
    Lines(Vec<(u32, u32)>, Span),
    /// The notation (quotes with escapes, folding) does not keep offsets: all is at the scalar.
    Whole(Span),
}

impl OffsetMap {
    /// The span in the file.
    pub(super) fn map(&self, span: Span) -> Span {
        match self {
            Self::Identity => span,
            Self::Whole(whole) => *whole,
            Self::Lines(lines, whole) => {
                let map = |offset: u32| {
                    let at = lines.partition_point(|(text, _)| *text <= offset);
                    let (text, file) = lines[at.saturating_sub(1)];
                    (file + (offset - text)).clamp(whole.start, whole.end)
                };
                Span {
                    start: map(span.start),
                    end: map(span.end).max(map(span.start)),
                }
            }
        }
    }
}
