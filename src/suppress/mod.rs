//! What the repository says it knows: inline ignores and the baseline.
//!
//! `# wavelint: ignore[NAME, NAME] reason` holds for its line, or, alone on a line, for the
//! next line that is not itself a comment. `# wavelint: ignore-file[NAME] reason`, in the
//! comments at the top, holds for the file. In Markdown both are written as an HTML comment.
//! A NAME is a rule's, or a group's for all its rules. A finding inside a block scalar (`|`,
//! `>`) may also be ignored where the scalar begins, since no comment can stand in it.

mod baseline;
mod directive;

use std::collections::BTreeMap;

pub use baseline::{Baseline, BaselineError};
use directive::{Directive, Kind};

use crate::finding::{Edit, Finding, Fix, Severity};
use crate::levels;
use crate::near;
use crate::rules::{Group, Rule};
use crate::source::{FileId, Place, Revision};
use crate::tree::Files;
use crate::yaml::{Node, Style, Value};

/// The rule that reports useless ignores.
pub const UNUSED_IGNORE: &str = "unused-ignore";

/// True for the files whose ignores are to be judged even if no finding points at them: YAML and Markdown.
pub fn may_hold_ignores(path: &str) -> bool {
    directive::is_yaml(path) || directive::is_markdown(path)
}

/// What inline ignores leave.
#[derive(Debug, Default)]
pub struct Remaining {
    /// The findings that no ignore names, in the order given.
    pub kept: Vec<Finding>,
    /// How many were left out.
    pub suppressed: usize,
    /// Findings of `unused-ignore`: an ignore that suppresses nothing, names no rule, or gives no reason.
    pub unused: Vec<Finding>,
}

/// Applies the inline ignores.
///
/// `judged` are the files (of the head, not excluded) whose ignores are judged; ignores in
/// other files that a finding points at still work. `ran` says whether a rule ran for a path:
/// an ignore is called useless only if every rule that it names ran there and none of them
/// compares with the base. A finding in the base revision cannot be ignored inline.
pub fn inline(
    findings: Vec<Finding>,
    files: &Files,
    judged: &[FileId],
    rules: &[&'static Rule],
    ran: impl Fn(&Rule, &str) -> bool,
) -> Remaining {
    let mut ignores = Ignores {
        files,
        rules,
        by_file: BTreeMap::new(),
    };
    let mut remaining = Remaining::default();
    for finding in findings {
        if ignores.cover(&finding) {
            remaining.suppressed += 1;
        } else {
            remaining.kept.push(finding);
        }
    }
    let mut judged = judged.to_vec();
    judged.sort_unstable();
    judged.dedup();
    for file in judged {
        let unused = ignores.judge(file, &ran);
        for finding in unused {
            if ignores.cover(&finding) {
                remaining.suppressed += 1;
            } else {
                remaining.unused.push(finding);
            }
        }
    }
    remaining
}

/// The ignores of the files looked at so far.
struct Ignores<'a> {
    files: &'a Files,
    rules: &'a [&'static Rule],
    by_file: BTreeMap<FileId, Vec<Directive>>,
}

impl Ignores<'_> {
    fn of(&mut self, file: FileId) -> &mut Vec<Directive> {
        self.by_file
            .entry(file)
            .or_insert_with(|| directive::find(self.files, file))
    }

    /// True if an ignore covers the finding; the ignores that do are marked as used.
    fn cover(&mut self, finding: &Finding) -> bool {
        let (files, rules) = (self.files, self.rules);
        let file = finding.place.file;
        if files.revision(file) == Revision::Base {
            return false;
        }
        let directives = self.of(file);
        if directives.is_empty() {
            return false;
        }
        let line = files.line(finding.place);
        let scalar_line = block_scalar_line(files, finding.place);
        let mut covered = false;
        for directive in directives {
            let here = match directive.kind {
                Kind::File => directive.at_top,
                Kind::Line => {
                    directive.lines.contains(&line)
                        || scalar_line.is_some_and(|line| directive.lines.contains(&line))
                }
            };
            if !here || directive.misspelt.is_some() {
                continue;
            }
            for name in &mut directive.names {
                let means = levels::named(&name.text, rules)
                    .map_or(name.text == finding.rule, |named| {
                        named.contains(&finding.rule)
                    });
                if means {
                    name.used = true;
                    covered = true;
                }
            }
        }
        covered
    }

    /// What is wrong with the ignores of a file.
    fn judge(&mut self, file: FileId, ran: &impl Fn(&Rule, &str) -> bool) -> Vec<Finding> {
        let (files, rules) = (self.files, self.rules);
        if files.revision(file) == Revision::Base {
            return Vec::new();
        }
        let path = files.path(file);
        let idle = |name: &str| {
            let named = levels::named(name, rules)?;
            let judgeable = !named.is_empty()
                && named.iter().all(|name| {
                    rules.iter().any(|rule| {
                        rule.name == *name
                            && *name != UNUSED_IGNORE
                            && !rule.compares
                            && ran(rule, path)
                    })
                });
            Some(judgeable)
        };
        let mut found = Vec::new();
        for directive in self.of(file).iter() {
            let place = Place {
                file,
                span: directive.span,
            };
            let mut say = |message: String, help: String| {
                found.push(
                    Finding::new(UNUSED_IGNORE, Severity::Warning, place, message).help(help),
                );
            };
            let word = directive.word();
            if let Some(written) = &directive.misspelt {
                say(
                    format!("`{written}` is no ignore and suppresses nothing"),
                    "write `wavelint: ignore[NAME] reason`, or `ignore-file` at the top of a file"
                        .to_owned(),
                );
                continue;
            }
            if directive.names.is_empty() {
                say(
                    format!("`{word}` names no rule"),
                    format!("write `wavelint: {word}[NAME] reason`"),
                );
                continue;
            }
            let mut useless = Vec::new();
            for name in &directive.names {
                match idle(&name.text) {
                    None => say(
                        format!(
                            "`{word}` names `{}`, which is neither a rule nor a group",
                            name.text
                        ),
                        near_rule(&name.text, rules),
                    ),
                    Some(true) if !name.used => useless.push(name.text.as_str()),
                    Some(_) => {}
                }
            }
            if directive.kind == Kind::File && !directive.at_top {
                say(
                    "`ignore-file` stands below the top of the file, where it has no effect"
                        .to_owned(),
                    "move it into the comments before the first line of content".to_owned(),
                );
            } else if !useless.is_empty() {
                say(
                    format!(
                        "`{word}` suppresses nothing: {} has no finding here",
                        useless.join(", ")
                    ),
                    "remove it".to_owned(),
                );
                if useless.len() == directive.names.len()
                    && let Some(last) = found.last_mut()
                {
                    last.fix = Some(removal(file, directive));
                }
                continue;
            }
            if !directive.has_reason {
                found.push(
                    Finding::new(
                        UNUSED_IGNORE,
                        Severity::Warning,
                        place,
                        format!("`{word}` gives no reason"),
                    )
                    .help("say behind the bracket why the finding is accepted"),
                );
            }
        }
        found
    }
}

fn near_rule(name: &str, rules: &[&'static Rule]) -> String {
    let candidates = rules
        .iter()
        .map(|rule| rule.name)
        .chain(Group::ALL.map(Group::as_str));
    near::nearest(name, candidates).map_or_else(
        || "`wavelint rules` lists all rules".to_owned(),
        |candidate| format!("write `{candidate}`"),
    )
}

/// Takes the comment out, with its line if nothing else is on it. Not safe: the file may be
/// the content of a generated ConfigMap, whose name has a hash of every byte.
fn removal(file: FileId, directive: &Directive) -> Fix {
    Fix {
        safe: false,
        title: "remove the ignore".to_owned(),
        edits: vec![Edit {
            place: Place {
                file,
                span: directive.removal,
            },
            text: String::new(),
        }],
        moves: Vec::new(),
    }
}

/// The line on which the block scalar begins that holds the place's line: that of its key, or
/// of its list entry.
fn block_scalar_line(files: &Files, place: Place) -> Option<usize> {
    if !directive::is_yaml(files.path(place.file)) {
        return None;
    }
    let line = files.line(place);
    let documents = &files.yaml(place.file).documents;
    documents
        .iter()
        .find_map(|document| holder_line(files, &document.root, None, line))
}

/// Looks for the block scalar below `node`; `key` is what holds it in a map.
fn holder_line(files: &Files, node: &Node, key: Option<Place>, line: usize) -> Option<usize> {
    match &node.value {
        Value::Scalar(scalar) => {
            if !matches!(scalar.style, Style::Literal | Style::Folded) {
                return None;
            }
            let file = node.place.file;
            // The span reaches into the next line, and begins behind the line with `|`.
            let length = files.slice(node.place).trim_end().len() as u32;
            let first = files.line(node.place);
            let last = files.line_column(file, node.place.span.start + length).line;
            if !(first..=last).contains(&line) {
                return None;
            }
            key.map(|key| files.line(key)).or_else(|| {
                let has_text = |line: &usize| {
                    let span = files.line_span(file, *line);
                    !files.slice(Place { file, span }).trim().is_empty()
                };
                (1..first).rev().find(has_text)
            })
        }
        Value::Sequence(items) => items
            .iter()
            .find_map(|item| holder_line(files, item, None, line)),
        Value::Mapping(mapping) => mapping
            .entries
            .iter()
            .find_map(|entry| holder_line(files, &entry.value, Some(entry.key.place), line)),
    }
}

#[cfg(test)]
mod tests;
