//! The baseline: findings that were there when wavelint came.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::fingerprint::fingerprints;
use crate::tree::Files;

/// The version that is written and read.
const VERSION: u32 = 1;

/// Accepted findings, by fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    fingerprints: BTreeSet<String>,
    /// In the order of the file.
    entries: Vec<WrittenFinding>,
}

/// The file. Rule, path and message are for people; the fingerprint alone counts.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    findings: Vec<WrittenFinding>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WrittenFinding {
    fingerprint: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    message: String,
}

/// Why a baseline cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError(String);

impl std::fmt::Display for BaselineError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// Reads a baseline; `path` is its name, for the error.
    ///
    /// # Errors
    /// Text that is no baseline of this version.
    pub fn parse(text: &str, path: &str) -> Result<Self, BaselineError> {
        let written: Written = serde_json::from_str(text)
            .map_err(|error| BaselineError(format!("{path}: not a baseline: {error}")))?;
        if written.version != VERSION {
            return Err(BaselineError(format!(
                "{path}: baseline version {} is not known, write it anew with --write-baseline",
                written.version
            )));
        }
        Ok(Self {
            fingerprints: written
                .findings
                .iter()
                .map(|finding| finding.fingerprint.clone())
                .collect(),
            entries: written.findings,
        })
    }

    /// The part of it that is about some rules: what a run that leaves them out must not forget.
    pub fn of_rules(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        let entries: Vec<WrittenFinding> = self
            .entries
            .iter()
            .filter(|entry| is_kept(&entry.rule))
            .cloned()
            .collect();
        Self {
            fingerprints: entries
                .iter()
                .map(|entry| entry.fingerprint.clone())
                .collect(),
            entries,
        }
    }

    /// The findings that it does not hold, and the number of those that it does. The findings
    /// must be in report order.
    pub fn filter(&self, findings: Vec<Finding>, files: &Files) -> (Vec<Finding>, usize) {
        let before = findings.len();
        let names = fingerprints(&findings, files);
        let kept: Vec<Finding> = findings
            .into_iter()
            .zip(names)
            .filter(|(_, name)| !self.fingerprints.contains(name))
            .map(|(finding, _)| finding)
            .collect();
        let suppressed = before - kept.len();
        (kept, suppressed)
    }

    /// The text of a baseline that holds these findings, which must be in report order, and then
    /// what `kept` holds besides.
    pub fn write(findings: &[Finding], files: &Files, kept: &Self) -> String {
        let mut findings: Vec<WrittenFinding> = findings
            .iter()
            .zip(fingerprints(findings, files))
            .map(|(finding, fingerprint)| WrittenFinding {
                fingerprint,
                rule: finding.rule.to_owned(),
                path: files.path(finding.place.file).to_owned(),
                message: finding.message.clone(),
            })
            .collect();
        let new: BTreeSet<String> = findings
            .iter()
            .map(|finding| finding.fingerprint.clone())
            .collect();
        let besides = kept.entries.iter();
        findings.extend(
            besides
                .filter(|entry| !new.contains(&entry.fingerprint))
                .cloned(),
        );
        let written = Written {
            version: VERSION,
            findings,
        };
        let mut text = serde_json::to_string_pretty(&written).unwrap_or_default();
        text.push('\n');
        text
    }
}
