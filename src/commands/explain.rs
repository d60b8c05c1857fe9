//! `wavelint explain NAME`: a rule's page.

use std::io::{self, Write};

use crate::near;
use crate::rules::Rule;
use crate::terminal::Style;

/// Why a rule cannot be explained.
#[derive(Debug)]
pub enum ExplainError {
    /// There is no such rule; with what to say about it.
    Unknown(String),
    /// The writer refused.
    Write(io::Error),
}

impl std::fmt::Display for ExplainError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(message) => formatter.write_str(message),
            Self::Write(error) => write!(formatter, "cannot write: {error}"),
        }
    }
}

impl std::error::Error for ExplainError {}

impl From<io::Error> for ExplainError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Writes the page of a rule: as it is where nothing is coloured, else with its Markdown drawn.
///
/// # Errors
/// A name that is no rule's, or a writer that refuses.
pub fn run(
    name: &str,
    rules: &[&Rule],
    style: Style,
    writer: &mut impl Write,
) -> Result<(), ExplainError> {
    let Some(rule) = rules.iter().find(|rule| rule.name == name) else {
        return Err(ExplainError::Unknown(unknown(name, rules)));
    };
    if style.colour {
        writer.write_all(draw(rule.page, style).as_bytes())?;
    } else {
        writer.write_all(rule.page.as_bytes())?;
    }
    if !rule.page.ends_with('\n') {
        writer.write_all(b"\n")?;
    }
    Ok(())
}

/// What to say about a name that is no rule's. A group's name lists its rules.
fn unknown(name: &str, rules: &[&Rule]) -> String {
    let members: Vec<&str> = rules
        .iter()
        .filter(|rule| rule.group.as_str() == name)
        .map(|rule| rule.name)
        .collect();
    if !members.is_empty() {
        return format!("`{name}` is a group, its rules are {}", members.join(", "));
    }
    let hint = near::nearest(name, rules.iter().map(|rule| rule.name)).map_or_else(
        || "; `wavelint rules` lists all rules".to_owned(),
        |candidate| format!(", did you mean `{candidate}`?"),
    );
    format!("there is no rule `{name}`{hint}")
}

/// Markdown for a terminal: headings bold, code coloured and indented, fences and front matter left out.
fn draw(page: &str, style: Style) -> String {
    let mut drawn = String::with_capacity(page.len() * 2);
    let mut fence: Option<&str> = None;
    for line in without_front_matter(page).lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker));
        let drawn_line = match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => {
                fence = None;
                continue;
            }
            (Some(_), _) => format!("    {}", style.cyan(line)),
            (None, Some(marker)) => {
                fence = Some(marker);
                let info = trimmed.trim_start_matches(['`', '~']);
                match title(info) {
                    Some(title) => format!("    {}", style.dim(title)),
                    None => continue,
                }
            }
            (None, None) if trimmed.starts_with('#') => {
                style.bold(trimmed.trim_start_matches('#').trim_start())
            }
            (None, None) => spans(line, style),
        };
        drawn.push_str(&drawn_line);
        drawn.push('\n');
    }
    drawn
}

/// The page behind a block between two lines of `---` at its start.
fn without_front_matter(page: &str) -> &str {
    page.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(page, |(_, rest)| rest.trim_start_matches('\n'))
}

/// The title of a fenced block (`yaml title="a.yaml"`, or without quotes).
fn title(info: &str) -> Option<&str> {
    let (_, rest) = info.split_once("title=")?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_whitespace().next(),
    }
}

/// A line of prose: `code` coloured, **strong** bold.
fn spans(line: &str, style: Style) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    let mut drawn = String::with_capacity(line.len() + 16);
    for (index, piece) in pieces.iter().enumerate() {
        let last = index + 1 == pieces.len();
        if index % 2 == 1 && !last {
            drawn.push_str(&style.cyan(piece));
            continue;
        }
        if index % 2 == 1 {
            drawn.push('`');
        }
        let strong: Vec<&str> = piece.split("**").collect();
        for (index, piece) in strong.iter().enumerate() {
            match (index % 2 == 1, index + 1 == strong.len()) {
                (true, false) => drawn.push_str(&style.bold(piece)),
                (true, true) => {
                    drawn.push_str("**");
                    drawn.push_str(piece);
                }
                (false, _) => drawn.push_str(piece),
            }
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Group;

    static RULE: Rule = Rule {
        name: "wrong-wave",
        group: Group::Waves,
        summary: "",
        page: "---\na: b\n---\n# wrong-wave\n\nA **service** in `wave-0`, a lone ` and ** too.\n\n```yaml title=\"a.yaml\"\n# kept\nkind: X\n```\n",
        off_by_default: false,
        compares: false,
        check: |_| Vec::new(),
    };

    fn explain(name: &str, colour: bool) -> Result<String, String> {
        let mut text = Vec::new();
        let style = Style {
            colour,
            ..Style::PLAIN
        };
        run(name, &[&RULE], style, &mut text).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_page_is_written_as_it_is_into_a_pipe() {
        assert_eq!(explain("wrong-wave", false).unwrap(), RULE.page);
    }

    #[test]
    fn a_page_is_drawn_on_a_terminal() {
        let text = explain("wrong-wave", true).unwrap();
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "wrong-wave\n\nA service in wave-0, a lone ` and ** too.\n\n    a.yaml\n    # kept\n    kind: X\n"
        );
        assert!(text.starts_with("\u{1b}[1mwrong-wave\u{1b}[0m"));
        assert!(text.contains("\u{1b}[36mwave-0\u{1b}[0m"));
    }

    #[test]
    fn a_miss_names_what_is_near() {
        assert_eq!(
            explain("wrong-wav", false).unwrap_err(),
            "there is no rule `wrong-wav`, did you mean `wrong-wave`?"
        );
        assert_eq!(
            explain("waves", false).unwrap_err(),
            "`waves` is a group, its rules are wrong-wave"
        );
        assert_eq!(
            explain("zzz", false).unwrap_err(),
            "there is no rule `zzz`; `wavelint rules` lists all rules"
        );
    }
}
