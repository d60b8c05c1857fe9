//! A place as every machine-readable format needs it.

use serde::Serialize;

use crate::source::{Place, Revision};
use crate::tree::Files;

/// Where something is: path, and both ends.
#[derive(Serialize)]
pub(crate) struct Location<'a> {
    pub(crate) revision: &'static str,
    pub(crate) path: &'a str,
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// Line and column from 1, the column in characters; the offset in bytes from 0.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) offset: u32,
}

pub(crate) fn location(files: &Files, place: Place) -> Location<'_> {
    let position = |offset: u32| {
        let found = files.line_column(place.file, offset);
        Position {
            line: found.line,
            column: found.column,
            offset,
        }
    };
    Location {
        revision: match files.revision(place.file) {
            Revision::Head => "head",
            Revision::Base => "base",
        },
        path: files.path(place.file),
        start: position(place.span.start),
        end: position(place.span.end),
    }
}

/// The path as seen from the top of the repository.
pub(crate) fn from_top(directory: &str, path: &str) -> String {
    if directory.is_empty() {
        path.to_owned()
    } else {
        format!("{directory}/{path}")
    }
}
