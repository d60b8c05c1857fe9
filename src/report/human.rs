//! For people: each finding with the lines that prove it. The only file that names miette.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, Severity as Level, SourceCode, SourceSpan, SpanContents,
};

use super::snippet::{Cut, Mark, Part, parts};
use super::{Report, Summary};
use crate::finding::{Finding, Severity};
use crate::terminal::{Style, visible};
use crate::tree::Files;

/// Of a finding with more related places than this, the rest is only counted.
const MAX_RELATED: usize = 8;

/// Columns that line numbers and the frame take.
const FRAME: usize = 8;

pub(super) fn render(
    report: &Report,
    files: &Files,
    style: Style,
    writer: &mut impl Write,
) -> io::Result<()> {
    for finding in &report.findings {
        let mut text = String::new();
        let drawn = draw(finding, report, files, style, &mut text);
        if drawn.is_err() {
            // Whatever the frame refused, the finding itself is never lost.
            text = format!("  {}: {}\n", head(finding), visible(&finding.message));
        }
        text.push('\n');
        // The frame ends lines with blanks where nothing follows.
        for line in text.lines() {
            writeln!(writer, "{}", line.trim_end())?;
        }
    }
    if !style.quiet {
        summary(report, style, writer)?;
    }
    Ok(())
}

/// `error[wrong-wave]`.
fn head(finding: &Finding) -> String {
    format!("{}[{}]", finding.severity.as_str(), finding.rule)
}

fn draw(
    finding: &Finding,
    report: &Report,
    files: &Files,
    style: Style,
    text: &mut String,
) -> fmt::Result {
    let snippets = Snippets::new(finding, files, style);
    let mut theme = match (style.unicode, style.colour) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
    };
    let icon = format!("{}:", head(finding));
    let (level, icon_of_level, own_style) = match finding.severity {
        Severity::Error => (
            Level::Error,
            &mut theme.characters.error,
            theme.styles.error,
        ),
        Severity::Warning => (
            Level::Warning,
            &mut theme.characters.warning,
            theme.styles.warning,
        ),
        Severity::Info => (
            Level::Advice,
            &mut theme.characters.advice,
            theme.styles.advice,
        ),
    };
    *icon_of_level = icon.clone();
    let others = theme.styles.help;
    theme.styles.highlights = snippets
        .labels()
        .map(|(_, label)| if label.primary { own_style } else { others })
        .collect();

    // Without any text the frame would leave out the severity and the rule too.
    let message = match finding.message.trim() {
        "" => "(no message)".to_owned(),
        message => visible(message),
    };
    let view = View {
        message: wrap(&message, style.width, icon.chars().count() + 3, 4),
        level,
        snippets: &snippets,
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(usize::MAX / 4)
        .with_wrap_lines(false)
        .with_context_lines(1)
        .without_syntax_highlighting()
        .with_links(false)
        .render_report(text, &view)?;

    let mut remark = |name: &str, content: &str| {
        let mut lines = content.lines().map(visible);
        // Only the first line is prose; the others are text to be written exactly so.
        let first = lines.next().unwrap_or_default();
        let mut lines: Vec<String> = lines.collect();
        lines.insert(0, wrap(&first, style.width, name.len() + 4, name.len() + 4));
        let indent = format!("\n{}", " ".repeat(name.len() + 4));
        let content = lines.join("\n").replace('\n', &indent);
        text.push_str(&format!(
            "  {} {content}\n",
            style.cyan(&format!("{name}:"))
        ));
    };
    if finding.related.len() > MAX_RELATED {
        remark(
            "more",
            &format!("{} further places", finding.related.len() - MAX_RELATED),
        );
    }
    if report.summary.clusters > 1 && !finding.clusters.is_empty() {
        let clusters = if finding.clusters.len() == report.summary.clusters {
            format!("all {}", report.summary.clusters)
        } else {
            finding.clusters.join(", ")
        };
        remark("clusters", &clusters);
    }
    if let Some(help) = &finding.help {
        remark("help", help);
    }
    if let Some(fix) = &finding.fix {
        let flags = if fix.safe {
            "--fix"
        } else {
            "--fix --unsafe-fixes"
        };
        remark("fix", &format!("{} ({flags})", fix.title));
    }
    Ok(())
}

/// The text with line breaks at blanks so that no line is wider than `width`; the first line
/// starts at column `first`, the others at `rest`. Words are never broken: they may be paths.
fn wrap(text: &str, width: usize, first: usize, rest: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + 8);
    let mut column = first;
    for word in text.split(' ') {
        let length = word.chars().count();
        if !wrapped.is_empty() {
            if column + 1 + length > width && column > rest {
                wrapped.push('\n');
                column = rest;
            } else {
                wrapped.push(' ');
                column += 1;
            }
        }
        wrapped.push_str(word);
        column += length;
    }
    wrapped
}

/// All parts of a finding as one text in which each part starts at an offset of its own.
#[derive(Default)]
struct Snippets {
    parts: Vec<(usize, Part)>,
}

impl Snippets {
    fn new(finding: &Finding, files: &Files, style: Style) -> Self {
        let cut = Cut {
            width: style.width.saturating_sub(FRAME).max(20),
            ellipsis: if style.unicode { "…" } else { "..." },
            unshown: if style.unicode { '\u{fffd}' } else { '?' },
        };
        let related = || finding.related.iter().take(MAX_RELATED);
        // What is said about the finding's own place goes to the one mark there.
        let own = related()
            .find(|related| related.place == finding.place)
            .map_or("", |related| related.message.as_str());
        let mut marks = vec![Mark {
            place: finding.place,
            text: own,
            primary: true,
        }];
        marks.extend(
            related()
                .filter(|related| related.place != finding.place)
                .map(|related| Mark {
                    place: related.place,
                    text: &related.message,
                    primary: false,
                }),
        );
        let mut offset = 0;
        let parts = parts(files, &marks, cut)
            .into_iter()
            .map(|mut part| {
                for label in &mut part.labels {
                    let room = style.width.saturating_sub(FRAME + label.indent + 4).max(24);
                    label.text = wrap(&visible(&label.text), room, 0, 0);
                }
                part.labels.sort_by_key(|label| label.start);
                let start = offset;
                offset += part.text.len() + 1;
                (start, part)
            })
            .collect();
        Self { parts }
    }

    /// All labels in order of their offsets, each with the offset of its part.
    fn labels(&self) -> impl Iterator<Item = (usize, &super::snippet::Label)> {
        self.parts
            .iter()
            .flat_map(|(offset, part)| part.labels.iter().map(move |label| (*offset, label)))
    }
}

impl SourceCode for Snippets {
    /// The whole part in which the span lies. Asked for no context, miette wants to know line
    /// and column, which are those in the file, not in the text as shown.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let (offset, part) = self
            .parts
            .iter()
            .find(|(offset, part)| *offset <= start && end <= offset + part.text.len())
            .ok_or(MietteError::OutOfBounds)?;
        let label = part
            .labels
            .iter()
            .find(|label| lines_before + lines_after == 0 && offset + label.start == start);
        let (line, column) = label.map_or((part.first_line - 1, 0), |label| {
            (label.line - 1, label.column - 1)
        });
        Ok(Box::new(MietteSpanContents::new_named(
            part.name.clone(),
            part.text.as_bytes(),
            (*offset, part.text.len()).into(),
            line,
            column,
            part.text.matches('\n').count(),
        )))
    }
}

/// A finding as miette wants it.
struct View<'a> {
    message: String,
    level: Level,
    snippets: &'a Snippets,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for View<'_> {}

impl Diagnostic for View<'_> {
    fn severity(&self) -> Option<Level> {
        Some(self.level)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.snippets)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.snippets.labels().map(|(offset, label)| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let span = (offset + label.start, label.end - label.start);
            if label.primary {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        })))
    }
}

/// `3 errors, 1 warning in 49 files, 2 clusters, 6 Kustomizations (12 ms)`, and what can be fixed.
fn summary(report: &Report, style: Style, writer: &mut impl Write) -> io::Result<()> {
    let Summary {
        errors,
        warnings,
        infos,
        suppressed,
        ..
    } = report.summary;
    let mut found = Vec::new();
    if errors > 0 {
        found.push(style.red(&style.bold(&counted(errors, "error"))));
    }
    if warnings > 0 {
        found.push(style.yellow(&style.bold(&counted(warnings, "warning"))));
    }
    if infos > 0 {
        found.push(style.cyan(&style.bold(&counted(infos, "info"))));
    }
    if found.is_empty() {
        found.push(style.green("no findings"));
    }
    if suppressed > 0 {
        found.push(format!("{suppressed} suppressed"));
    }
    let seen: Vec<String> = [
        (report.summary.files, "file"),
        (report.summary.clusters, "cluster"),
        (report.summary.kustomizations, "Kustomization"),
    ]
    .into_iter()
    .filter(|(count, name)| *count > 0 || *name == "file")
    .map(|(count, name)| counted(count, name))
    .collect();
    writeln!(
        writer,
        "{} in {} {}",
        found.join(", "),
        seen.join(", "),
        style.dim(&format!("({})", time(report.elapsed)))
    )?;

    let fixes = |safe: bool| {
        report
            .findings
            .iter()
            .filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safe == safe))
            .count()
    };
    match (fixes(true), fixes(false)) {
        (0, 0) => Ok(()),
        (safe, 0) => writeln!(writer, "{safe} can be fixed with --fix"),
        (0, other) => writeln!(writer, "{other} can be fixed with --fix --unsafe-fixes"),
        (safe, other) => writeln!(
            writer,
            "{safe} can be fixed with --fix, {other} more with --fix --unsafe-fixes"
        ),
    }
}

fn counted(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

fn time(elapsed: Duration) -> String {
    if elapsed < Duration::from_secs(1) {
        format!("{} ms", elapsed.as_millis())
    } else {
        format!("{:.1} s", elapsed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_at_blanks_only() {
        assert_eq!(wrap("one two three", 9, 0, 0), "one two\nthree");
        assert_eq!(wrap("one two three", 9, 4, 2), "one\ntwo\nthree");
        assert_eq!(
            wrap("a-very-long-word is kept", 6, 0, 0),
            "a-very-long-word\nis\nkept"
        );
        assert_eq!(wrap("", 6, 0, 0), "");
    }

    #[test]
    fn times_and_counts_read_well() {
        assert_eq!(time(Duration::from_micros(12_900)), "12 ms");
        assert_eq!(time(Duration::from_millis(1_250)), "1.2 s");
        assert_eq!(counted(1, "error"), "1 error");
        assert_eq!(counted(2, "error"), "2 errors");
    }
}
