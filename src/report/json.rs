//! JSON, version 1. The order of the fields is that of the documentation.

use std::io::{self, Write};

use serde::Serialize;

use super::location::{Location, location};
use super::{Report, write_json};
use crate::finding::{Certainty, Finding, Fix};
use crate::fingerprint::fingerprints;
use crate::snapshot::Kind;
use crate::tree::Files;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    tool: Tool,
    snapshot: SnapshotOut<'a>,
    findings: Vec<FindingOut<'a>>,
    summary: SummaryOut,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct SnapshotOut<'a> {
    kind: &'static str,
    revision: Option<&'a str>,
    base: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingOut<'a> {
    rule: &'a str,
    group: Option<&'static str>,
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    clusters: &'a [String],
    certainty: Option<&'static str>,
    location: Location<'a>,
    related: Vec<RelatedOut<'a>>,
    fix: Option<FixOut<'a>>,
    fingerprint: String,
}

#[derive(Serialize)]
struct RelatedOut<'a> {
    message: &'a str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct FixOut<'a> {
    safe: bool,
    title: &'a str,
    edits: Vec<EditOut<'a>>,
    moves: Vec<MoveOut<'a>>,
}

#[derive(Serialize)]
struct EditOut<'a> {
    path: &'a str,
    start: u32,
    end: u32,
    text: &'a str,
}

#[derive(Serialize)]
struct MoveOut<'a> {
    from: &'a str,
    to: &'a str,
}

#[derive(Serialize)]
struct SummaryOut {
    files: usize,
    objects: usize,
    kustomizations: usize,
    clusters: usize,
    services: usize,
    waves: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    suppressed: usize,
}

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    let summary = report.summary;
    let names = fingerprints(&report.findings, files);
    let output = Output {
        version: 1,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        snapshot: SnapshotOut {
            kind: kind(report.snapshot.kind),
            revision: report.snapshot.revision.as_deref(),
            base: report.snapshot.base.as_deref(),
        },
        findings: report
            .findings
            .iter()
            .zip(names)
            .map(|(finding, name)| finding_out(report, files, finding, name))
            .collect(),
        summary: SummaryOut {
            files: summary.files,
            objects: summary.objects,
            kustomizations: summary.kustomizations,
            clusters: summary.clusters,
            services: summary.services,
            waves: summary.waves,
            errors: summary.errors,
            warnings: summary.warnings,
            infos: summary.infos,
            suppressed: summary.suppressed,
        },
    };
    write_json(&output, writer)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Worktree => "worktree",
        Kind::Index => "index",
        Kind::Revision => "revision",
        Kind::Folder => "folder",
        Kind::Memory => "memory",
    }
}

fn finding_out<'a>(
    report: &Report,
    files: &'a Files,
    finding: &'a Finding,
    fingerprint: String,
) -> FindingOut<'a> {
    FindingOut {
        rule: finding.rule,
        group: report.rule(finding.rule).map(|rule| rule.group.as_str()),
        severity: finding.severity.as_str(),
        message: &finding.message,
        help: finding.help.as_deref(),
        clusters: &finding.clusters,
        certainty: finding.certainty.map(Certainty::as_str),
        location: location(files, finding.place),
        related: finding
            .related
            .iter()
            .map(|related| RelatedOut {
                message: &related.message,
                location: location(files, related.place),
            })
            .collect(),
        fix: finding.fix.as_ref().map(|fix| fix_out(files, fix)),
        fingerprint,
    }
}

fn fix_out<'a>(files: &'a Files, fix: &'a Fix) -> FixOut<'a> {
    FixOut {
        safe: fix.safe,
        title: &fix.title,
        edits: fix
            .edits
            .iter()
            .map(|edit| EditOut {
                path: files.path(edit.place.file),
                start: edit.place.span.start,
                end: edit.place.span.end,
                text: &edit.text,
            })
            .collect(),
        moves: fix
            .moves
            .iter()
            .map(|step| MoveOut {
                from: &step.from,
                to: &step.to,
            })
            .collect(),
    }
}
