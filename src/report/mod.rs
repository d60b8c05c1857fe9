//! Findings → text: one module a format.

mod concise;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
pub(crate) mod location;
mod sarif;
mod snippet;

use std::io::{self, Write};
use std::time::Duration;

pub use crate::cli::ReportFormat as Format;
use crate::finding::{Finding, Severity};
use crate::rules::Rule;
use crate::snapshot::Kind;
use crate::terminal::Style;
use crate::tree::Files;

/// What a run found, and in what.
pub struct Report<'a> {
    /// The findings, sorted by path, offset and rule.
    pub findings: Vec<Finding>,
    /// What was looked at, and how much was found.
    pub summary: Summary,
    /// What was linted.
    pub snapshot: SnapshotInfo,
    /// How long the run took; only people are told.
    pub elapsed: Duration,
    /// All rules, for the formats that describe them.
    pub rules: &'a [&'static Rule],
}

/// Numbers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files of the head.
    pub files: usize,
    /// Objects that clusters reconcile.
    pub objects: usize,
    /// Flux Kustomizations of all clusters.
    pub kustomizations: usize,
    /// Entry points.
    pub clusters: usize,
    /// Services of the catalog.
    pub services: usize,
    /// Wave directories.
    pub waves: usize,
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are infos.
    pub infos: usize,
    /// Findings left out by ignores or the baseline.
    pub suppressed: usize,
}

/// What was linted, and compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Where the files were taken.
    pub kind: Kind,
    /// The commit, if it is one.
    pub revision: Option<String>,
    /// The commit compared with, if any.
    pub base: Option<String>,
    /// The linted directory as seen from the top of the repository, `""` if it is the top:
    /// forges count paths from there.
    pub directory: String,
}

impl<'a> Report<'a> {
    /// Sorts the findings and counts them; the counts of severities in `summary` are set here.
    pub fn new(
        mut findings: Vec<Finding>,
        mut summary: Summary,
        snapshot: SnapshotInfo,
        elapsed: Duration,
        rules: &'a [&'static Rule],
        files: &Files,
    ) -> Self {
        sort(&mut findings, files);
        let count = |severity| {
            findings
                .iter()
                .filter(|finding| finding.severity == severity)
                .count()
        };
        summary.errors = count(Severity::Error);
        summary.warnings = count(Severity::Warning);
        summary.infos = count(Severity::Info);
        Self {
            findings,
            summary,
            snapshot,
            elapsed,
            rules,
        }
    }

    /// The rule of a finding, if it is among the rules.
    fn rule(&self, name: &str) -> Option<&'static Rule> {
        self.rules.iter().copied().find(|rule| rule.name == name)
    }
}

/// Puts findings in report order: path, offset, rule; then message, so that the order is total.
pub fn sort(findings: &mut [Finding], files: &Files) {
    let key = |finding: &Finding| (finding.place.span.start, finding.rule);
    findings.sort_by(|left, right| {
        files
            .path(left.place.file)
            .cmp(files.path(right.place.file))
            .then_with(|| key(left).cmp(&key(right)))
            .then_with(|| left.message.cmp(&right.message))
            .then_with(|| left.place.cmp(&right.place))
    });
}

/// Writes the report.
///
/// # Errors
/// When the writer refuses.
pub fn render(
    format: Format,
    report: &Report,
    files: &Files,
    style: Style,
    writer: &mut impl Write,
) -> io::Result<()> {
    match format {
        Format::Human => human::render(report, files, style, writer),
        Format::Concise => concise::render(report, files, writer),
        Format::Json => json::render(report, files, writer),
        Format::Sarif => sarif::render(report, files, writer),
        Format::Github => github::render(report, files, writer),
        Format::Gitlab => gitlab::render(report, files, writer),
        Format::Junit => junit::render(report, files, writer),
    }
}

/// `value` as indented JSON and a line feed.
fn write_json(value: &impl serde::Serialize, writer: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, value)?;
    writer.write_all(b"\n")
}

#[cfg(test)]
mod tests;
