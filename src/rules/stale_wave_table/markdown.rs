//! Tables in Markdown, with the bytes of every cell.

use crate::source::Span;

/// A table: its header, and the rows below the line of dashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The line of titles.
    pub(super) header: Line,
    /// The line of dashes.
    pub(super) dashes: Line,
    /// All other lines.
    pub(super) rows: Vec<Line>,
    /// True if it stands between the marks.
    pub(super) marked: bool,
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes, without the line ending.
    pub(super) span: Span,
    /// Where the next line starts.
    pub(super) next: usize,
    /// What stands between the bars, white space included.
    pub(super) cells: Vec<Span>,
}

/// A pair of marks without a table between them: where the first of them ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EmptyMarks {
    /// The bytes of the first mark.
    pub(super) mark: Span,
    /// Where the line after it starts.
    pub(super) next: usize,
}

/// What opens a marked part.
const MARK: &str = "<!-- wavelint:waves -->";
/// What closes it, besides the same mark once more.
const END_MARKS: [&str; 2] = ["<!-- /wavelint:waves -->", "<!-- wavelint:end -->"];

/// All tables of a text, and the marks that hold none. Code blocks are left out.
pub(super) fn tables(text: &str) -> (Vec<Table>, Vec<EmptyMarks>) {
    let mut tables: Vec<Table> = Vec::new();
    let mut empty = Vec::new();
    let mut marks: Option<(EmptyMarks, usize)> = None;
    let mut fence: Option<&str> = None;
    let mut open = false;
    let mut above: Option<Line> = None;
    let mut start = 0;
    for piece in text.split_inclusive('\n') {
        let line = line(text, start, piece);
        start = line.next;
        let trimmed = text[line.span.range()].trim();
        if let Some(opened) = fence {
            if trimmed.starts_with(opened) && trimmed.trim_start_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            let length = trimmed.len() - trimmed.trim_start_matches(&trimmed[..1]).len();
            fence = Some(&trimmed[..length]);
            (open, above) = (false, None);
            continue;
        }
        let is_end = END_MARKS.contains(&trimmed) || trimmed == MARK && marks.is_some();
        if is_end {
            if let Some((mark, before)) = marks.take()
                && before == tables.len()
            {
                empty.push(mark);
            }
        } else if trimmed == MARK {
            let mark = EmptyMarks {
                mark: line.span,
                next: line.next,
            };
            marks = Some((mark, tables.len()));
        }
        if line.cells.is_empty() {
            (open, above) = (false, None);
        } else if open {
            if let Some(table) = tables.last_mut() {
                table.rows.push(line);
            }
        } else if let Some(header) =
            above.take_if(|above| above.cells.len() == line.cells.len() && is_dashes(text, &line))
        {
            open = true;
            tables.push(Table {
                header,
                dashes: line,
                rows: Vec::new(),
                marked: marks.is_some(),
            });
        } else {
            above = Some(line);
        }
    }
    (tables, empty)
}

/// A line and its cells; none if there is no bar in it.
fn line(text: &str, start: usize, piece: &str) -> Line {
    let content = piece.trim_end_matches(['\n', '\r']);
    let end = start + content.len();
    let mut cells = Vec::new();
    if content.contains('|') {
        let inner = content.trim_end();
        let mut from = start + (content.len() - content.trim_start().len());
        let end = start + inner.len();
        if text[from..end].starts_with('|') {
            from += 1;
        }
        let mut escaped = false;
        for (at, character) in text[from..end].char_indices() {
            let at = from + at;
            if character == '|' && !escaped {
                let cell_start = cells
                    .last()
                    .map_or(from, |cell: &Span| cell.end as usize + 1);
                cells.push(Span::new(cell_start, at));
            }
            escaped = character == '\\' && !escaped;
        }
        let rest = cells.last().map_or(from, |cell| cell.end as usize + 1);
        if rest < end {
            cells.push(Span::new(rest, end));
        }
    }
    Line {
        span: Span::new(start, end),
        next: start + piece.len(),
        cells,
    }
}

fn is_dashes(text: &str, line: &Line) -> bool {
    line.cells.iter().all(|cell| {
        let cell = text[cell.range()].trim();
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.chars().all(|character| character == '-')
    })
}

impl Table {
    /// True if a cell is as wide as its title and its dashes: then it stays so with other content.
    pub(super) fn is_aligned(&self, text: &str, line: &Line, column: usize) -> bool {
        let width = |line: &Line| {
            line.cells
                .get(column)
                .map(|cell| text[cell.range()].chars().count())
        };
        width(line) == width(&self.header) && width(line) == width(&self.dashes)
    }
}

/// A cell with other content, its white space kept; in an aligned column, as wide as before if it fits.
pub(super) fn refill(cell: &str, content: &str, aligned: bool) -> String {
    let trimmed = cell.trim();
    if trimmed.is_empty() {
        return format!(" {content} ");
    }
    let at = cell.len() - cell.trim_start().len();
    let (mut before, mut after) = (cell[..at].to_owned(), cell[at + trimmed.len()..].to_owned());
    if aligned {
        let (old, new) = (trimmed.chars().count(), content.chars().count());
        // Right-aligned: all that is spare stands in front.
        let spare = if before.len() > 1 && after.len() <= 1 {
            &mut before
        } else {
            &mut after
        };
        if new <= old {
            spare.push_str(&" ".repeat(old - new));
        } else {
            let keep = spare
                .len()
                .saturating_sub(new - old)
                .max(spare.len().min(1));
            spare.truncate(keep);
        }
    }
    format!("{before}{content}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells<'a>(text: &'a str, line: &Line) -> Vec<&'a str> {
        line.cells.iter().map(|cell| &text[cell.range()]).collect()
    }

    #[test]
    fn tables_are_found_with_their_cells() {
        let text = "# T\r\n| a | b |\r\n|---|:-:|\r\n| 1 | x\\|y |\r\nc | d\r\n\r\n```\n| a |\n|---|\n```\n";
        let (tables, empty) = tables(text);
        assert_eq!(tables.len(), 1);
        assert!(empty.is_empty());
        assert_eq!(cells(text, &tables[0].header), [" a ", " b "]);
        assert_eq!(cells(text, &tables[0].rows[0]), [" 1 ", " x\\|y "]);
        assert_eq!(cells(text, &tables[0].rows[1]), ["c ", " d"]);
        assert!(!tables[0].marked);
    }

    #[test]
    fn marks_say_which_table_counts() {
        let text = "<!-- wavelint:waves -->\n| a |\n|---|\n<!-- wavelint:waves -->\n| b |\n|---|\n\n<!-- wavelint:waves -->\n<!-- /wavelint:waves -->\n";
        let (tables, empty) = tables(text);
        let marked: Vec<bool> = tables.iter().map(|table| table.marked).collect();
        assert_eq!(marked, [true, false]);
        assert_eq!(empty.len(), 1);
    }

    #[test]
    fn a_cell_keeps_its_white_space_and_an_aligned_one_its_width() {
        assert_eq!(refill(" a ", "bcd", false), " bcd ");
        assert_eq!(refill(" abcd   ", "x", true), " x      ");
        assert_eq!(refill(" a   ", "xyz", true), " xyz ");
        assert_eq!(refill(" a ", "xyz", true), " xyz ");
        assert_eq!(refill("   9 ", "10", true), "  10 ");
        assert_eq!(refill("  ", "x", true), " x ");
    }
}
