//! Text → the ignores in it.

use std::ops::RangeInclusive;

use crate::source::{FileId, Span};
use crate::tree::Files;

/// Every ignore has this.
const MARK: &str = "wavelint:";

/// One ignore comment.
#[derive(Debug)]
pub(super) struct Directive {
    /// For a line or for the file.
    pub(super) kind: Kind,
    /// What stands where `wavelint: ignore` or `wavelint: ignore-file` was meant, as written.
    pub(super) misspelt: Option<String>,
    /// The rules and groups named.
    pub(super) names: Vec<Name>,
    /// True if text follows the names.
    pub(super) has_reason: bool,
    /// The comment.
    pub(super) span: Span,
    /// What to delete to be rid of it.
    pub(super) removal: Span,
    /// The lines (from 1) that it holds for.
    pub(super) lines: RangeInclusive<usize>,
    /// True if only comments and blank lines stand above it.
    pub(super) at_top: bool,
}

/// A name in an ignore.
#[derive(Debug)]
pub(super) struct Name {
    /// As written.
    pub(super) text: String,
    /// True once it has suppressed a finding.
    pub(super) used: bool,
}

/// What an ignore holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One line.
    Line,
    /// The whole file.
    File,
}

impl Directive {
    /// The word as written.
    pub(super) fn word(&self) -> &'static str {
        match self.kind {
            Kind::Line => "ignore",
            Kind::File => "ignore-file",
        }
    }
}

/// How a file writes comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Yaml,
    Markdown,
    Other,
}

/// True if the path is that of a YAML file.
pub(super) fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

/// True if the path is that of a Markdown file.
pub(super) fn is_markdown(path: &str) -> bool {
    path.ends_with(".md") || path.ends_with(".markdown")
}

fn language(path: &str) -> Language {
    if is_yaml(path) {
        Language::Yaml
    } else if is_markdown(path) {
        Language::Markdown
    } else {
        Language::Other
    }
}

/// The ignores of a file, in order.
pub(super) fn find(files: &Files, file: FileId) -> Vec<Directive> {
    let text = files.text(file);
    let is_marked = [MARK, "Wavelint:", "WAVELINT:"]
        .iter()
        .any(|mark| text.contains(mark));
    if !is_marked {
        return Vec::new();
    }
    let language = language(files.path(file));
    let comments = match language {
        Language::Markdown => markdown_comments(text),
        // What does not parse has comments all the same, and a finding to be ignored.
        Language::Yaml if files.yaml(file).error.is_none() => files
            .yaml(file)
            .comments
            .iter()
            .map(|comment| comment.place.span)
            .collect(),
        Language::Yaml | Language::Other => hash_comments(text),
    };
    comments
        .into_iter()
        .filter_map(|span| read(files, file, span, language))
        .collect()
}

/// Comments of any language that writes them with `#`, taken line by line.
fn hash_comments(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if let Some(mark) = content.find(MARK) {
            let before = content[..mark].trim_end();
            if before.ends_with('#') {
                found.push(Span::new(offset + before.len() - 1, offset + content.len()));
            }
        }
        offset += line.len();
    }
    found
}

/// HTML comments outside code.
fn markdown_comments(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, Some(marker)) => fence = Some(marker),
            _ => {}
        }
        if fence.is_some() || marker.is_some() {
            continue;
        }
        let mut from = 0;
        while let Some(open) = line[from..].find("<!--").map(|at| from + at) {
            // A comment may close on a later line, but an ignore does not.
            let Some(close) = line[open..].find("-->").map(|at| open + at + 3) else {
                break;
            };
            if !line[..open].ends_with('`') {
                found.push(Span::new(start + open, start + close));
            }
            from = close;
        }
    }
    found
}

/// The ignore that a comment is, if it is one.
fn read(files: &Files, file: FileId, span: Span, language: Language) -> Option<Directive> {
    let text = files.text(file);
    let comment = text.get(span.range())?;
    let body = match language {
        Language::Markdown => comment.strip_prefix("<!--")?.strip_suffix("-->")?,
        Language::Yaml | Language::Other => comment.trim_start_matches('#'),
    };
    let body = body.trim();
    let mark = body.get(..MARK.len())?;
    if !mark.eq_ignore_ascii_case(MARK) {
        return None;
    }
    let after = body[MARK.len()..].trim_start();
    let length = after
        .find(|next: char| !(next.is_alphanumeric() || next == '-' || next == '_'))
        .unwrap_or(after.len());
    let (word, rest) = after.split_at(length);
    let kind = if word == "ignore-file" {
        Kind::File
    } else {
        Kind::Line
    };
    let is_ignore = mark == MARK && matches!(word, "ignore" | "ignore-file");
    // Other words begin an ignore only if names in brackets follow at once.
    if !is_ignore && (word.is_empty() || !rest.starts_with('[')) {
        return None;
    }
    let misspelt = (!is_ignore).then(|| format!("{mark} {word}"));
    let rest = rest.trim_start();
    let (names, reason) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((names, reason)) => (names, reason),
        None => ("", rest),
    };
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| Name {
            text: name.to_owned(),
            used: false,
        })
        .collect();

    let line = files.line_column(file, span.start).line;
    let whole_line = files.line_span(file, line);
    let alone = text[whole_line.start as usize..span.start as usize]
        .trim()
        .is_empty()
        && text[span.end as usize..(whole_line.end as usize).max(span.end as usize)]
            .trim()
            .is_empty();
    Some(Directive {
        kind,
        misspelt,
        names,
        has_reason: reason.chars().any(char::is_alphanumeric),
        span,
        removal: removal(files, file, span, line, alone),
        lines: if alone {
            line..=next_content(files, file, line, language)
        } else {
            line..=line
        },
        at_top: kind == Kind::File && at_top(&text[..whole_line.start as usize], language),
    })
}

/// The comment with the blanks before it, or its whole line.
fn removal(files: &Files, file: FileId, span: Span, line: usize, alone: bool) -> Span {
    let text = files.text(file);
    let start_of_line = files.line_span(file, line).start as usize;
    if alone {
        let next = files.line_span(file, line + 1).start as usize;
        return Span::new(start_of_line, next);
    }
    let before = text[start_of_line..span.start as usize].trim_end().len();
    Span::new(start_of_line + before, span.end as usize)
}

/// The first line behind `line` that is no comment (nor blank, in Markdown, where a comment and a table need a blank line between them).
fn next_content(files: &Files, file: FileId, line: usize, language: Language) -> usize {
    let text = files.text(file);
    let mut next = line + 1;
    loop {
        let span = files.line_span(file, next);
        if span.start as usize >= text.len() {
            return next;
        }
        let content = text[span.range()].trim();
        let skip = match language {
            Language::Markdown => content.is_empty() || is_markdown_comment(content),
            Language::Yaml | Language::Other => content.starts_with('#'),
        };
        if !skip {
            return next;
        }
        next += 1;
    }
}

fn is_markdown_comment(line: &str) -> bool {
    line.starts_with("<!--") && line.ends_with("-->")
}

/// True if what stands above is only comments, blank lines and the marks that begin a document.
fn at_top(above: &str, language: Language) -> bool {
    above.trim_start_matches('\u{feff}').lines().all(|line| {
        let line = line.trim();
        line.is_empty()
            || match language {
                Language::Markdown => is_markdown_comment(line),
                Language::Yaml => line.starts_with(['#', '%']) || line == "---",
                Language::Other => line.starts_with('#'),
            }
    })
}
