//! The names in a cell: separated by commas and the like, perhaps in backticks or links.

use crate::source::Span;

/// One name of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Its bytes as written, markup and remarks included.
    pub(super) span: Span,
    /// What is left without them, in lower case, with `-` for spaces.
    pub(super) name: String,
}

/// The names in a cell, and what stands between two of them (`, ` where there is only one).
/// `is_known` tells names that are separated by spaces alone.
pub(super) fn names(
    text: &str,
    cell: Span,
    is_known: &dyn Fn(&str) -> bool,
) -> (Vec<Name>, String) {
    let mut pieces = split(text, cell, separator_at);
    if let [only] = pieces.as_slice()
        && !is_known(&bare(&text[only.range()]))
    {
        let words = split(text, cell, |rest| usize::from(rest.starts_with(' ')));
        if words.len() > 1
            && words
                .iter()
                .all(|word| is_known(&bare(&text[word.range()])))
        {
            pieces = words;
        }
    }
    let between = match pieces.as_slice() {
        [first, second, ..] => text[first.end as usize..second.start as usize].to_owned(),
        _ => ", ".to_owned(),
    };
    let names = pieces
        .into_iter()
        .map(|span| Name {
            span,
            name: bare(&text[span.range()]),
        })
        .collect();
    (names, between)
}

/// The pieces of a cell between separators, trimmed, empty ones left out. Brackets hold together.
fn split(text: &str, cell: Span, separator: fn(&str) -> usize) -> Vec<Span> {
    let mut pieces = Vec::new();
    let (mut start, end) = (cell.start as usize, cell.end as usize);
    let mut at = start;
    let mut depth = 0usize;
    while let Some(character) = text.get(at..end).and_then(|rest| rest.chars().next()) {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let length = if depth == 0 {
            separator(&text[at..end])
        } else {
            0
        };
        if length > 0 {
            pieces.extend(trimmed(text, start, at));
            at += length;
            start = at;
        } else {
            at += character.len_utf8();
        }
    }
    pieces.extend(trimmed(text, start, end));
    pieces
}

fn trimmed(text: &str, start: usize, end: usize) -> Option<Span> {
    let piece = text.get(start..end)?;
    let content = piece.trim();
    let start = start + piece.len() - piece.trim_start().len();
    (!content.is_empty()).then(|| Span::new(start, start + content.len()))
}

/// The length of the separator with which a text begins; 0 if it begins with none.
fn separator_at(rest: &str) -> usize {
    [
        "<br>", "<br/>", "<br />", " and ", " & ", " + ", ",", ";", "·", "•",
    ]
    .into_iter()
    .find(|separator| rest.starts_with(separator))
    .map_or(0, str::len)
}

/// A name without backticks, emphasis, link target and remark in brackets.
fn bare(written: &str) -> String {
    let mut name = written.trim();
    if let Some(text) = name
        .find('[')
        .and_then(|open| name[open + 1..].split_once(']'))
    {
        name = text.0;
    } else if let Some((before, _)) = name.split_once('(') {
        name = before;
    }
    name.trim_matches(['`', '*', '_', '"', '\'', ' ', '~'])
        .to_lowercase()
        .replace(' ', "-")
}

/// True for what can be the name of a service, and is no word for "nothing".
pub(super) fn is_plain(name: &str) -> bool {
    !["none", "nothing", "n/a", "tbd", "-"].contains(&name)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_through_their_markup() {
        let known = |name: &str| ["a", "b-c", "d"].contains(&name);
        let read = |text: &str| {
            let (names, between) = names(text, Span::new(0, text.len()), &known);
            let names: Vec<String> = names.into_iter().map(|name| name.name).collect();
            (names.join("|"), between)
        };
        for text in [
            " a, b-c, d ",
            "`a`, **b-c**, [d](docs/d,e.md)",
            "A, B C, d (the last, of all)",
        ] {
            assert_eq!(
                read(text),
                ("a|b-c|d".to_owned(), ", ".to_owned()),
                "{text}"
            );
        }
        assert_eq!(read("a<br>b-c"), ("a|b-c".to_owned(), "<br>".to_owned()));
        assert_eq!(read("a b-c d").0, "a|b-c|d");
        assert_eq!(read("see the wiki").0, "see-the-wiki");
        assert_eq!(read("  ").0, "");
    }
}
