//! Mending: from findings to changed files, in memory; as a diff; and in the work tree, all or nothing.
//!
//! Fixes are applied in passes. In one pass a fix that overlaps an earlier one waits: the changed
//! tree is linted again, and what is still wrong is mended in the next pass.

mod diff;
mod journal;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Edit, Finding, Fix};
use crate::snapshot::Changes;
use crate::source::{FileId, Span};
use crate::tree::{Child, Files, Tree};
use crate::yaml;

pub use diff::unified;
pub use write::{FileChange, Unfinished, interrupted, recover, write};

/// After so many passes, fixes that still change something are taken to undo each other.
pub const MAX_PASSES: usize = 16;

/// A finding that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The rule.
    pub rule: &'static str,
    /// The file it was found in.
    pub path: String,
    /// The line (from 1) of the text as linted in that pass.
    pub line: usize,
    /// What was done.
    pub title: String,
}

/// All that was mended so far.
#[derive(Clone, Debug, Default)]
pub struct Mended {
    /// The files that differ from the work tree.
    pub changes: Changes,
    /// For a moved file its path in the work tree, whose permissions it keeps.
    pub origins: BTreeMap<String, String>,
    /// What was mended, in the order of the report, pass by pass.
    pub fixed: Vec<Fixed>,
}

impl Mended {
    /// Applies what can be applied at once of the fixes of findings; false if nothing was.
    /// `files` and `head` are what was linted, with the changes so far in it. A fix is left out if it is
    /// not safe (unless those are wanted too), reaches out of the linted tree, overlaps one before it,
    /// or would leave a YAML file that does not parse.
    pub fn pass(
        &mut self,
        findings: &[Finding],
        files: &Files,
        head: &Tree,
        unsafe_too: bool,
    ) -> bool {
        let mut pass = Pass {
            files,
            head,
            edits: BTreeMap::new(),
            moves: BTreeMap::new(),
            targets: BTreeSet::new(),
        };
        let before = self.fixed.len();
        for finding in findings {
            let Some(fix) = &finding.fix else { continue };
            if (fix.safe || unsafe_too) && pass.take(fix).is_some() {
                self.fixed.push(Fixed {
                    rule: finding.rule,
                    path: files.path(finding.place.file).to_owned(),
                    line: files.line(finding.place),
                    title: fix.title.clone(),
                });
            }
        }
        pass.apply(self);
        self.fixed.len() > before
    }
}

/// The edits of one file, by their spans; none overlaps or touches another.
type FileEdits<'a> = BTreeMap<Span, &'a str>;

/// The fixes taken in one pass.
struct Pass<'a> {
    files: &'a Files,
    head: &'a Tree,
    edits: BTreeMap<FileId, FileEdits<'a>>,
    /// From → to.
    moves: BTreeMap<&'a str, &'a str>,
    targets: BTreeSet<&'a str>,
}

impl<'a> Pass<'a> {
    /// Takes a fix, whole or not at all.
    fn take(&mut self, fix: &'a Fix) -> Option<()> {
        if fix.edits.is_empty() && fix.moves.is_empty() {
            return None;
        }
        let mut edits: BTreeMap<FileId, FileEdits> = BTreeMap::new();
        for edit in &fix.edits {
            let file = edit.place.file;
            let own = edits
                .entry(file)
                .or_insert_with(|| self.edits.get(&file).cloned().unwrap_or_default());
            self.check_edit(edit, own)?;
            own.insert(edit.place.span, &edit.text);
        }
        for (file, edits) in &edits {
            self.check_result(*file, edits)?;
        }
        let mut sources = BTreeSet::new();
        let mut targets = BTreeSet::new();
        for change in &fix.moves {
            let (from, to) = (change.from.as_str(), change.to.as_str());
            self.check_move(from, to)?;
            (sources.insert(from) && targets.insert(to)).then_some(())?;
        }
        self.edits.extend(edits);
        self.moves
            .extend(fix.moves.iter().map(|change| (&*change.from, &*change.to)));
        self.targets.extend(targets);
        Some(())
    }

    /// An edit must lie in a text of the head that does not move, and touch no other edit.
    fn check_edit(&self, edit: &Edit, others: &FileEdits) -> Option<()> {
        let path = self.files.path(edit.place.file);
        if self.head.file(path) != Some(edit.place.file) || self.moves.contains_key(path) {
            return None;
        }
        let text = self.files.content(edit.place.file).text()?;
        let span = edit.place.span;
        text.get(span.range())?;
        let apart = others
            .keys()
            .all(|other| span.end < other.start || other.end < span.start);
        apart.then_some(())
    }

    /// A YAML file that parsed must parse afterwards.
    fn check_result(&self, file: FileId, edits: &FileEdits) -> Option<()> {
        let path = self.files.path(file);
        if !crate::flux::is_yaml(path) || self.files.yaml(file).error.is_some() {
            return Some(());
        }
        let text = edited(self.files.text(file), edits);
        yaml::parse(&text, file).error.is_none().then_some(())
    }

    /// A move must take a file of the head, edited by no other fix, to a new place in the linted tree.
    fn check_move(&self, from: &str, to: &str) -> Option<()> {
        let file = self.head.file(from)?;
        let free = !self.edits.contains_key(&file)
            && !self.moves.contains_key(from)
            && !self.targets.contains(to)
            && self.head.child(to).is_none()
            && is_below_root(to);
        let mut above = to;
        while let Some((directory, _)) = above.rsplit_once('/') {
            let child = self.head.child(directory);
            if !matches!(child, None | Some(Child::Directory)) || self.targets.contains(directory) {
                return None;
            }
            above = directory;
        }
        free.then_some(())
    }

    fn apply(&self, mended: &mut Mended) {
        for (file, edits) in &self.edits {
            let text = edited(self.files.text(*file), edits);
            let path = self.files.path(*file).to_owned();
            mended.changes.insert(path, Some(text.into_bytes()));
        }
        for (from, to) in &self.moves {
            let Some(file) = self.head.file(from) else {
                continue;
            };
            let bytes = match mended.changes.get(*from) {
                Some(Some(bytes)) => bytes.clone(),
                _ => self.files.content(file).bytes().to_vec(),
            };
            let origin = mended.origins.remove(*from);
            mended.origins.insert(
                (*to).to_owned(),
                origin.unwrap_or_else(|| (*from).to_owned()),
            );
            mended.changes.insert((*from).to_owned(), None);
            mended.changes.insert((*to).to_owned(), Some(bytes));
        }
    }
}

/// A text with its edits applied, byte for byte the same elsewhere.
fn edited(text: &str, edits: &FileEdits) -> String {
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (span, new) in edits {
        result.push_str(text.get(end..span.start as usize).unwrap_or_default());
        result.push_str(new);
        end = span.end as usize;
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}

/// True for a plain relative path that stays below the root, and out of git's own directory.
fn is_below_root(path: &str) -> bool {
    !path.is_empty()
        && !path.contains('\\')
        && path
            .split('/')
            .all(|name| !matches!(name, "" | "." | "..") && !name.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
