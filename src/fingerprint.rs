//! What names a finding across commits: not its line, but what it says about which text.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use crate::finding::Finding;
use crate::tree::Files;

/// Bytes of the hash that are kept; two hexadecimal digits each.
const LENGTH: usize = 12;

/// The fingerprints of findings in report order (path, offset, rule), in the same order: 24
/// hexadecimal digits each, no two equal.
///
/// One is made of the rule, the path, the message without its numbers, the text of the line
/// pointed at without its indentation, and, among equals, the how-manieth it is. So it stays
/// when lines shift, when a count in the message changes, and when the finding appears in
/// another cluster.
pub fn fingerprints(findings: &[Finding], files: &Files) -> Vec<String> {
    let mut seen: HashMap<[u8; LENGTH], u32> = HashMap::new();
    findings
        .iter()
        .map(|finding| {
            let line = files.line(finding.place);
            let span = files.line_span(finding.place.file, line);
            let text = files.text(finding.place.file);
            let content = hash(&[
                finding.rule,
                files.path(finding.place.file),
                &without_numbers(&finding.message),
                text.get(span.range()).unwrap_or_default().trim(),
            ]);
            let ordinal = seen.entry(content).or_default();
            let name = if *ordinal == 0 {
                content
            } else {
                hash(&[&hexadecimal(&content), &ordinal.to_string()])
            };
            *ordinal += 1;
            hexadecimal(&name)
        })
        .collect()
}

/// The first bytes of the SHA-256 of parts, each closed so that no two lists hash alike.
fn hash(parts: &[&str]) -> [u8; LENGTH] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let mut kept = [0; LENGTH];
    kept.copy_from_slice(&hasher.finalize()[..LENGTH]);
    kept
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The message with each number, and each commit or blob id, written as `#`.
fn without_numbers(message: &str) -> String {
    static NUMBERS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = || Regex::new(r"\b[0-9a-f]{7,64}\b|[0-9]+").ok();
    match NUMBERS.get_or_init(pattern) {
        Some(numbers) => numbers.replace_all(message, "#").into_owned(),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::snapshot::Snapshot;
    use crate::source::{Place, Revision, Span};

    fn of(text: &str, offsets: &[usize], message: &str) -> Vec<String> {
        let mut files = Files::default();
        let snapshot = Snapshot::memory([("a.yaml".to_owned(), text.as_bytes().to_vec())]);
        let tree = files.add(snapshot, Revision::Head, None);
        let file = tree.file("a.yaml").unwrap();
        let findings: Vec<_> = offsets
            .iter()
            .map(|offset| {
                let place = Place {
                    file,
                    span: Span::new(*offset, *offset),
                };
                Finding::new("rule", Severity::Error, place, message)
            })
            .collect();
        fingerprints(&findings, &files)
    }

    #[test]
    fn it_stays_when_lines_shift_and_numbers_change() {
        let before = of("a: 1\nb: 2\n", &[5], "5 of 12 at 0123abc");
        assert_eq!(before[0].len(), 24);
        assert_eq!(
            before,
            of("new:\n  a: 1\n  b: 2\n", &[14], "6 of 13 at fedcba9")
        );
    }

    #[test]
    fn it_changes_with_the_line_and_the_words() {
        let before = of("a: 1\nb: 2\n", &[5], "wrong");
        assert_ne!(before, of("a: 1\nb: 3\n", &[5], "wrong"));
        assert_ne!(before, of("a: 1\nb: 2\n", &[5], "right"));
    }

    #[test]
    fn equal_findings_are_told_apart_by_their_order() {
        let both = of("- x\n- x\n", &[0, 4], "wrong");
        assert_ne!(both[0], both[1]);
        assert_eq!(both, of("#\n- x\n- x\n", &[2, 6], "wrong"));
    }
}
