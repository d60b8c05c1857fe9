//! `path:line:column severity rule message`, one line a finding.

use std::io::{self, Write};

use super::Report;
use crate::source::Revision;
use crate::terminal::visible;
use crate::tree::Files;

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    for finding in &report.findings {
        let at = files.line_column(finding.place.file, finding.place.span.start);
        let base = match files.revision(finding.place.file) {
            Revision::Head => "",
            Revision::Base => " (in the base revision)",
        };
        writeln!(
            writer,
            "{}:{}:{} {} {} {}{base}",
            visible(files.path(finding.place.file)),
            at.line,
            at.column,
            finding.severity.as_str(),
            finding.rule,
            visible(&finding.message),
        )?;
    }
    Ok(())
}
