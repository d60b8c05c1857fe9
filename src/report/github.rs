//! Workflow commands of GitHub Actions, which Gitea and Forgejo understand too.

use std::io::{self, Write};

use super::Report;
use super::location::{from_top, location};
use crate::finding::Severity;
use crate::terminal::visible;
use crate::tree::Files;

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    for finding in &report.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let at = location(files, finding.place);
        write!(
            writer,
            "::{command} file={},line={},endLine={}",
            property(&from_top(&report.snapshot.directory, at.path)),
            at.start.line,
            at.end.line
        )?;
        // Columns are allowed only where the annotation stays on one line.
        if at.start.line == at.end.line {
            write!(
                writer,
                ",col={},endColumn={}",
                at.start.column, at.end.column
            )?;
        }
        let mut text = finding.message.clone();
        if at.revision == "base" {
            text.push_str(" (in the base revision)");
        }
        for related in &finding.related {
            let at = location(files, related.place);
            text.push_str(&format!(
                "\n{}:{}: {}",
                at.path, at.start.line, related.message
            ));
        }
        if let Some(help) = &finding.help {
            text.push_str(&format!("\nhelp: {help}"));
        }
        writeln!(writer, ",title={}::{}", property(finding.rule), data(&text))?;
    }
    Ok(())
}

/// Escapes the text of a command (upstream: actions/toolkit, `escapeData`), and what could steer the
/// terminal in which the log is read.
fn data(text: &str) -> String {
    let shown: Vec<String> = text
        .split_inclusive(['\r', '\n'])
        .map(|line| {
            let end = line.trim_end_matches(['\r', '\n']).len();
            format!("{}{}", visible(&line[..end]), &line[end..])
        })
        .collect();
    shown
        .concat()
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property (upstream: actions/toolkit, `escapeProperty`).
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("100%\r\na:b,c"), "100%25%0D%0Aa:b,c");
        assert_eq!(
            data("\u{1b}[2J\u{7}\u{9b}\u{202e}\r\nb"),
            "\\u{1b}[2J\\u{7}\\u{9b}\\u{202e}%0D%0Ab"
        );
        assert_eq!(property("100%\r\na:b,c"), "100%25%0D%0Aa%3Ab%2Cc");
    }
}
