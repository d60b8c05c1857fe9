//! SARIF 2.1.0, for code scanning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::location::{from_top, location};
use super::{Report, write_json};
use crate::finding::{Certainty, Finding, Fix, Severity};
use crate::fingerprint::fingerprints;
use crate::private_key;
use crate::rules::Rule;
use crate::source::{FileId, Place};
use crate::tree::Files;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What relative addresses start from: the top of the repository.
const ROOT: &str = "%SRCROOT%";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    column_kind: &'static str,
    results: Vec<ResultOut<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<RuleOut<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleOut<'a> {
    id: &'a str,
    short_description: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Help<'a>>,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
}

#[derive(Serialize)]
struct Help<'a> {
    text: Cow<'a, str>,
    markdown: Cow<'a, str>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultOut<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: OwnedText,
    locations: [LocationOut<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<LocationOut<'a>>,
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<FixOut<'a>>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct OwnedText {
    text: String,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "wavelint/v1")]
    first: String,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    clusters: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<&'static str>,
    revision: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LocationOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
    byte_offset: u32,
    byte_length: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixOut<'a> {
    description: Text<'a>,
    artifact_changes: Vec<ArtifactChange<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'a> {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'a> {
    deleted_region: Region,
    inserted_content: Text<'a>,
}

pub(super) fn render(report: &Report, files: &Files, writer: &mut impl Write) -> io::Result<()> {
    let converter = Converter { report, files };
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: report.rules.iter().map(|rule| rule_out(rule)).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: report
                .findings
                .iter()
                .zip(fingerprints(&report.findings, files))
                .map(|(finding, name)| converter.result(finding, name))
                .collect(),
        }],
    };
    write_json(&log, writer)
}

fn rule_out(rule: &Rule) -> RuleOut<'_> {
    RuleOut {
        id: rule.name,
        short_description: Text { text: rule.summary },
        help: (!rule.page.is_empty()).then(|| {
            let page = without_keys(rule.page);
            Help {
                text: page.clone(),
                markdown: page,
            }
        }),
        properties: RuleProperties {
            tags: [rule.group.as_str()],
        },
    }
}

/// A page whose example keys nothing takes for keys: reports are committed and scanned too.
fn without_keys(page: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(page);
    for key in private_key::find(page.as_bytes()).iter().rev() {
        let mut range = key.span.range();
        range.start = (range.start + 16).min(range.end);
        if page.is_char_boundary(range.start) && page.is_char_boundary(range.end) {
            text.to_mut().replace_range(range, "…");
        }
    }
    text
}

struct Converter<'a> {
    report: &'a Report<'a>,
    files: &'a Files,
}

impl<'a> Converter<'a> {
    fn result(&self, finding: &'a Finding, fingerprint: String) -> ResultOut<'a> {
        let mut text = finding.message.clone();
        if let Some(help) = &finding.help {
            text.push_str("\nhelp: ");
            text.push_str(help);
        }
        ResultOut {
            rule_id: finding.rule,
            rule_index: self
                .report
                .rules
                .iter()
                .position(|rule| rule.name == finding.rule),
            level: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "note",
            },
            message: OwnedText { text },
            locations: [self.location(finding.place, None, None)],
            related_locations: finding
                .related
                .iter()
                .enumerate()
                .map(|(id, related)| self.location(related.place, Some(id), Some(&related.message)))
                .collect(),
            partial_fingerprints: Fingerprints { first: fingerprint },
            fixes: finding.fix.iter().filter_map(|fix| self.fix(fix)).collect(),
            properties: Properties {
                clusters: &finding.clusters,
                certainty: finding.certainty.map(Certainty::as_str),
                revision: location(self.files, finding.place).revision,
            },
        }
    }

    fn location(
        &self,
        place: Place,
        id: Option<usize>,
        message: Option<&'a String>,
    ) -> LocationOut<'a> {
        LocationOut {
            id,
            physical_location: PhysicalLocation {
                artifact_location: self.artifact(place.file),
                region: self.region(place),
            },
            message: message.map(|text| Text { text }),
        }
    }

    fn artifact(&self, file: FileId) -> ArtifactLocation {
        let path = from_top(&self.report.snapshot.directory, self.files.path(file));
        ArtifactLocation {
            uri: uri(&path),
            uri_base_id: ROOT,
        }
    }

    fn region(&self, place: Place) -> Region {
        let at = location(self.files, place);
        Region {
            start_line: at.start.line,
            start_column: at.start.column,
            end_line: at.end.line,
            end_column: at.end.column,
            byte_offset: at.start.offset,
            byte_length: at.end.offset.saturating_sub(at.start.offset),
        }
    }

    /// A fix that only changes text; SARIF knows no moves, and half a fix is none.
    fn fix(&self, fix: &'a Fix) -> Option<FixOut<'a>> {
        if fix.edits.is_empty() || !fix.moves.is_empty() {
            return None;
        }
        let mut by_file: BTreeMap<FileId, Vec<Replacement>> = BTreeMap::new();
        for edit in &fix.edits {
            by_file
                .entry(edit.place.file)
                .or_default()
                .push(Replacement {
                    deleted_region: self.region(edit.place),
                    inserted_content: Text { text: &edit.text },
                });
        }
        Some(FixOut {
            description: Text { text: &fix.title },
            artifact_changes: by_file
                .into_iter()
                .map(|(file, replacements)| ArtifactChange {
                    artifact_location: self.artifact(file),
                    replacements,
                })
                .collect(),
        })
    }
}

/// A path as a relative URI reference: everything but unreserved characters and `/` is
/// percent-encoded, so that no segment is read as a scheme.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_relative_uri() {
        assert_eq!(uri("apps/wave-0/a.yaml"), "apps/wave-0/a.yaml");
        assert_eq!(uri("c:/ä b%.yaml"), "c%3A/%C3%A4%20b%25.yaml");
    }
}
