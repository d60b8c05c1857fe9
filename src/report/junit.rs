//! JUnit XML: a finding is a failed test case, a clean run one that passed.

use std::io::{self, Write};

use super::Report;
use super::location::location;
use crate::finding::{Finding, Severity};
use crate::tree::Files;

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    let failures = report.summary.errors + report.summary.warnings;
    let tests = report.findings.len().max(1);
    writeln!(writer, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        writer,
        r#"<testsuites name="wavelint" tests="{tests}" failures="{failures}" errors="0">"#
    )?;
    writeln!(
        writer,
        r#"  <testsuite name="wavelint" tests="{tests}" failures="{failures}" errors="0" skipped="0">"#
    )?;
    if report.findings.is_empty() {
        writeln!(
            writer,
            r#"    <testcase name="no findings" classname="wavelint"/>"#
        )?;
    }
    for finding in &report.findings {
        case(files, finding, writer)?;
    }
    writeln!(writer, "  </testsuite>")?;
    writeln!(writer, "</testsuites>")
}

fn case(files: &Files, finding: &Finding, writer: &mut impl Write) -> io::Result<()> {
    let at = location(files, finding.place);
    let (path, line) = (attribute(at.path), at.start.line);
    let mut text = format!(
        "{}:{line}:{}: {}",
        at.path, at.start.column, finding.message
    );
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
    writeln!(
        writer,
        r#"    <testcase name="{}" classname="{path}" file="{path}" line="{line}">"#,
        attribute(&format!("{} at line {line}", finding.rule)),
    )?;
    match finding.severity {
        Severity::Info => writeln!(writer, "      <system-out>{}</system-out>", content(&text))?,
        Severity::Error | Severity::Warning => writeln!(
            writer,
            r#"      <failure type="{}" message="{}">{}</failure>"#,
            finding.severity.as_str(),
            attribute(&finding.message),
            content(&text)
        )?,
    }
    writeln!(writer, "    </testcase>")
}

/// Text between tags; characters that XML cannot hold are left out.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            character => escaped.push(character),
        }
    }
    escaped
}

/// The value of an attribute, in which line breaks and tabs survive only as references.
fn attribute(text: &str) -> String {
    content(text)
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
        .replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_escaped_or_left_out() {
        assert_eq!(content("a<b>&\u{1b}\u{0}c\u{ffff}"), "a&lt;b&gt;&amp;c");
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
    }
}
