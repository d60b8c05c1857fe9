//! GitLab's code quality report.

use std::io::{self, Write};

use serde::Serialize;

use super::location::{from_top, location};
use super::{Report, write_json};
use crate::finding::Severity;
use crate::fingerprint::fingerprints;
use crate::tree::Files;

#[derive(Serialize)]
struct Issue<'a> {
    description: &'a str,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Where,
}

#[derive(Serialize)]
struct Where {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    let issues: Vec<Issue> = report
        .findings
        .iter()
        .zip(fingerprints(&report.findings, files))
        .map(|(finding, fingerprint)| {
            let at = location(files, finding.place);
            Issue {
                description: &finding.message,
                check_name: finding.rule,
                fingerprint,
                severity: match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Info => "info",
                },
                location: Where {
                    path: from_top(&report.snapshot.directory, at.path),
                    lines: Lines {
                        begin: at.start.line,
                        end: at.end.line,
                    },
                },
            }
        })
        .collect();
    write_json(&issues, writer)
}
