//! The lines that a finding points at, made ready to be drawn: cut to the width around what
//! is marked, without characters that steer the terminal, each mark moved along.

use crate::source::{FileId, Place, Revision};
use crate::terminal::steers;
use crate::tree::Files;

/// Columns that a tab takes.
const TAB: &str = "    ";

/// A place to mark.
pub(super) struct Mark<'a> {
    pub(super) place: Place,
    /// What is said about it; may be empty.
    pub(super) text: &'a str,
    /// True for the place of the finding itself.
    pub(super) primary: bool,
}

/// Neighbouring lines of one file with marks in them.
pub(super) struct Part {
    /// The path, as shown.
    pub(super) name: String,
    /// The number of the first line, from 1.
    pub(super) first_line: usize,
    /// The lines as shown, each with a line feed.
    pub(super) text: String,
    /// The marks in them.
    pub(super) labels: Vec<Label>,
}

/// A mark in a part.
pub(super) struct Label {
    /// Bytes of [`Part::text`].
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where it is in the file, from 1.
    pub(super) line: usize,
    pub(super) column: usize,
    /// Columns before it as shown.
    pub(super) indent: usize,
    pub(super) text: String,
    pub(super) primary: bool,
}

/// How lines are cut.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Characters of a line at most.
    pub(super) width: usize,
    /// What stands for what is cut away.
    pub(super) ellipsis: &'static str,
    /// What stands for a character that cannot be shown.
    pub(super) unshown: char,
}

/// Marks of one file whose lines touch.
struct Group<'a> {
    file: FileId,
    first: usize,
    last: usize,
    marks: Vec<(&'a Mark<'a>, usize)>,
}

/// The parts to draw, in the order of their first marks. Around the finding's own line one
/// line on each side is shown (unless it is about the whole file), around others none.
pub(super) fn parts(files: &Files, marks: &[Mark], cut: Cut) -> Vec<Part> {
    let mut groups: Vec<Group> = Vec::new();
    for mark in marks {
        let file = mark.place.file;
        let line = files.line(mark.place);
        let around = usize::from(mark.primary && mark.place != Place::file_start(file));
        let (first, last) = (
            line.saturating_sub(around).max(1),
            (line + around).min(last_line(files, file)).max(line),
        );
        let near = groups
            .iter_mut()
            .find(|group| group.file == file && first <= group.last + 2 && last + 2 >= group.first);
        match near {
            Some(group) => {
                group.first = group.first.min(first);
                group.last = group.last.max(last);
                group.marks.push((mark, line));
            }
            None => groups.push(Group {
                file,
                first,
                last,
                marks: vec![(mark, line)],
            }),
        }
    }
    groups.iter().map(|group| part(files, group, cut)).collect()
}

/// The last line with text in it.
fn last_line(files: &Files, file: FileId) -> usize {
    let text = files.text(file);
    let end = text.strip_suffix('\n').unwrap_or(text).len();
    files.line_column(file, end as u32).line
}

fn part(files: &Files, group: &Group, cut: Cut) -> Part {
    let mut name: String = files
        .path(group.file)
        .chars()
        .map(|character| {
            if steers(character) {
                cut.unshown
            } else {
                character
            }
        })
        .collect();
    if files.revision(group.file) == Revision::Base {
        name.push_str(" (base)");
    }
    let mut part = Part {
        name,
        first_line: group.first,
        text: String::new(),
        labels: Vec::new(),
    };
    for line in group.first..=group.last {
        let span = files.line_span(group.file, line);
        let marks: Vec<&Mark> = group
            .marks
            .iter()
            .filter(|(_, at)| *at == line)
            .map(|(mark, _)| *mark)
            .collect();
        let text = files.text(group.file).get(span.range()).unwrap_or_default();
        let start = span.start as usize;
        // The line is cut around its first mark.
        let focus = marks
            .iter()
            .map(|mark| (mark.place.span.start as usize).saturating_sub(start))
            .min()
            .unwrap_or(0);
        let shown = show(text, focus, cut);
        for mark in marks {
            let from = (mark.place.span.start as usize).saturating_sub(start);
            let to = (mark.place.span.end as usize).saturating_sub(start);
            let (from, to) = (shown.at(from), shown.at(to.max(from)));
            let place = files.line_column(group.file, mark.place.span.start);
            part.labels.push(Label {
                start: part.text.len() + from,
                end: part.text.len() + to,
                line: place.line,
                column: place.column,
                indent: shown.text[..from].chars().count(),
                text: mark.text.to_owned(),
                primary: mark.primary,
            });
        }
        part.text.push_str(&shown.text);
        part.text.push('\n');
    }
    part
}

/// A line as shown, and where its characters went.
struct Shown {
    text: String,
    /// Offset in the line and in `text`, for each character shown and the end.
    map: Vec<(usize, usize)>,
}

impl Shown {
    /// Where an offset of the line is in the shown text; what was cut away is at the cut.
    fn at(&self, offset: usize) -> usize {
        let index = self.map.partition_point(|(line, _)| *line < offset);
        self.map
            .get(index)
            .or(self.map.last())
            .map_or(0, |(_, shown)| *shown)
    }
}

/// Shows a line of any length, at most `cut.width` characters of it.
fn show(line: &str, focus: usize, cut: Cut) -> Shown {
    let fits = line.chars().nth(cut.width).is_none();
    // Of a line that is too long, a third of the width is shown before the mark.
    let mut start = 0;
    if !fits {
        let mut focus = focus.min(line.len());
        while !line.is_char_boundary(focus) {
            focus -= 1;
        }
        start = line[..focus]
            .char_indices()
            .rev()
            .nth((cut.width / 3).saturating_sub(1))
            .map_or(0, |(at, _)| at);
        // Nothing is cut away in front if the mark is visible without.
        if line[..focus].chars().nth(cut.width / 2).is_none() {
            start = 0;
        }
    }
    let mut shown = Shown {
        text: String::new(),
        map: Vec::new(),
    };
    if start > 0 {
        shown.text.push_str(cut.ellipsis);
    }
    let mut left = cut.width;
    for (at, character) in line[start..].char_indices() {
        if left == 0 {
            shown.map.push((start + at, shown.text.len()));
            shown.text.push_str(cut.ellipsis);
            return shown;
        }
        left -= 1;
        shown.map.push((start + at, shown.text.len()));
        match character {
            '\t' => shown.text.push_str(TAB),
            character if steers(character) => shown.text.push(cut.unshown),
            character => shown.text.push(character),
        }
    }
    shown.map.push((line.len(), shown.text.len()));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Cut = Cut {
        width: 12,
        ellipsis: "…",
        unshown: '?',
    };

    #[test]
    fn a_short_line_is_shown_whole() {
        let shown = show("a:\tü\u{1b}b", 2, CUT);
        assert_eq!(shown.text, "a:    ü?b");
        assert_eq!(shown.at(2), 2);
        assert_eq!(shown.at(3), 6);
        assert_eq!(shown.at(6), 9);
        assert_eq!(shown.at(7), 10);
        assert_eq!(shown.at(99), 10);
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let line = "0123456789abcdefghijklmnopqrstuvwxyz";
        assert_eq!(show(line, 2, CUT).text, "0123456789ab…");
        let shown = show(line, 20, CUT);
        assert_eq!(shown.text, "…ghijklmnopqr…");
        assert_eq!(&shown.text[shown.at(20)..shown.at(22)], "kl");
        assert_eq!(shown.at(36), "…ghijklmnopqr".len());
        assert_eq!(shown.at(0), "…".len());
        assert_eq!(show(line, 36, CUT).text, "…wxyz");
    }
}
