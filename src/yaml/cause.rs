//! What is wrong with a text that a parser gave up on, where that is plain to see.

/// What is wrong with a text in which the parser gave up at offset `at`: where it is, and what.
/// `None` where nothing says more than the parser itself.
pub(super) fn cause(text: &str, at: usize) -> Option<(usize, &'static str)> {
    conflict(text).or_else(|| tab(text, at))
}

/// The first marker of a merge conflict. A line of `=` alone may be a heading, so the others count first.
fn conflict(text: &str) -> Option<(usize, &'static str)> {
    let marked = |line: &str, marker: &str| {
        line.strip_prefix(marker)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let first = |wanted: &dyn Fn(&str) -> bool| {
        lines(text)
            .find(|(_, line)| wanted(line))
            .map(|(start, _)| start)
    };
    let start = first(&|line| marked(line, "<<<<<<<") || marked(line, ">>>>>>>"))
        .or_else(|| first(&|line| line == "======="))?;
    let message = match text.as_bytes().get(start) {
        Some(b'<') => "a merge conflict is left in it, from `<<<<<<<` on",
        Some(b'>') => "the end of a merge conflict is left in it, `>>>>>>>`",
        _ => "the middle of a merge conflict is left in it, `=======`",
    };
    Some((start, message))
}

/// A tab in the indentation of the line where the parser gave up (of the next one, if it did so at the
/// line's end), or that begins one of the two lines above.
fn tab(text: &str, at: usize) -> Option<(usize, &'static str)> {
    let rest = text.get(at..).and_then(|rest| rest.split('\n').next());
    let at_end = rest.is_some_and(|rest| rest.trim().is_empty());
    let (mut own, mut above) = (None, None);
    for (number, (start, line)) in lines(text).enumerate() {
        if start > at && !(at_end && own.is_none()) {
            break;
        }
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tab = line
            .get(..indent)
            .and_then(|indent| indent.find('\t'))
            .filter(|_| indent < line.len());
        own = tab.map(|tab| start + tab);
        if start > at {
            break;
        }
        if tab == Some(0) {
            above = Some((number, start));
        } else if above.is_some_and(|(line, _)| line + 2 < number) {
            above = None;
        }
    }
    let found = own.or(above.map(|(_, start)| start))?;
    Some((found, "a tab indents this line, where YAML wants blanks"))
}

/// The lines of a text with their offsets, without their endings.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::source::FileId;

    /// The line (from 1) and the message of the error of a text.
    fn error(text: &str) -> (usize, String) {
        let error = parse(text, FileId(0)).error.expect("it is no YAML");
        let before = &text[..error.place.span.start as usize];
        (before.matches('\n').count() + 1, error.message)
    }

    #[test]
    fn a_merge_conflict_is_said_where_it_begins() {
        let text = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n";
        let (line, message) = error(text);
        assert_eq!(line, 2);
        assert!(message.starts_with("a merge conflict"), "{message}");
        for (text, expected) in [
            ("a: 1\nb: 2\r\n>>>>>>> other\n", 3),
            ("a: 1\n=======\nb: 2\n", 2),
        ] {
            let (line, message) = error(text);
            assert_eq!(line, expected, "{message}");
            assert!(message.contains("merge conflict"), "{message}");
        }
    }

    #[test]
    fn a_tab_is_said_where_it_stands() {
        for (text, line) in [
            ("spec:\n  replicas: 1\n\t bad\n  selector: x\n", 3),
            ("spec:\n\treplicas: 1\n", 2),
            ("spec:\n  a: 1\n  \tb: 2\n", 3),
        ] {
            let found = error(text);
            assert_eq!(found.0, line, "{text:?}: {found:?}");
            assert!(found.1.starts_with("a tab"), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn other_errors_keep_their_words() {
        for text in ["a: b: c\n", "text: |\n  \tx\n  =======\na: [1\n"] {
            let (_, message) = error(text);
            assert!(!message.contains("tab "), "{text:?}: {message}");
            assert!(!message.contains("conflict"), "{text:?}: {message}");
        }
    }
}
