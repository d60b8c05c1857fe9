//! `moved-file-changed`: a manifest was edited on its way to another wave.

use std::collections::BTreeSet;

use super::{Group, Rule};
use crate::change::MovedFile;
use crate::finding::{Finding, Severity};
use crate::flux::is_yaml;
use crate::repo::{Base, Repo};
use crate::sops::{self, Recipient};
use crate::source::{Place, Span};
use crate::tree::split;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "moved-file-changed",
    group: Group::Moves,
    summary: "a manifest moved between waves, or an encrypted file moved, and its bytes changed",
    page: include_str!("../../rules/moved-file-changed.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let Some(base) = &repo.base else {
        return Vec::new();
    };
    base.change
        .moved
        .iter()
        .filter(|moved| moved.identical == Some(false))
        .filter(|moved| concerns(repo, base, moved))
        .filter(|moved| !only_recipients_changed(repo, moved))
        .map(|moved| report(repo, moved))
        .collect()
}

/// A manifest into, out of or between waves; an encrypted file anywhere.
fn concerns(repo: &Repo, base: &Base, moved: &MovedFile) -> bool {
    let before = base.picture.waves.wave_of(&moved.from);
    let after = repo.head.waves.wave_of(&moved.to);
    let between_waves = is_yaml(&moved.to) && (before.is_some() || after.is_some());
    let encrypted = |file| sops::detect(repo.files, file).is_some();
    between_waves || encrypted(moved.base) && encrypted(moved.head)
}

/// `sops updatekeys` for the rule of the new place touches nothing but the recipients: whatever stands
/// outside the metadata keeps its bytes, and `mac` and `lastmodified` stay.
fn only_recipients_changed(repo: &Repo, moved: &MovedFile) -> bool {
    let (before, after) = (repo.files.yaml(moved.base), repo.files.yaml(moved.head));
    if before.error.is_some() || after.error.is_some() {
        return false;
    }
    let (Some(old), Some(new)) = (
        sops::detect(repo.files, moved.base),
        sops::detect(repo.files, moved.head),
    ) else {
        return false;
    };
    names_of(&old.recipients) != names_of(&new.recipients)
        && suits_its_rule(repo, moved, &new.recipients)
        && before.documents.len() == after.documents.len()
        && before
            .documents
            .iter()
            .zip(&after.documents)
            .all(|(before, after)| same_but_recipients(repo, &before.root, &after.root))
}

fn names_of(recipients: &[Recipient]) -> BTreeSet<(&'static str, &str)> {
    recipients
        .iter()
        .map(|recipient| (recipient.kind.metadata_key(), recipient.id.as_str()))
        .collect()
}

/// False if the rule for the new place names other recipients.
fn suits_its_rule(repo: &Repo, moved: &MovedFile, recipients: &[Recipient]) -> bool {
    let Some(file) = sops::nearest_config(&repo.head.tree, &moved.to) else {
        return true;
    };
    let Some(document) = repo.files.yaml(file).documents.first() else {
        return true;
    };
    let config = sops::Config::read(&document.root, repo.files.text(file));
    let directory = split(repo.files.path(file)).0;
    let below = moved
        .to
        .strip_prefix(directory)
        .unwrap_or(&moved.to)
        .trim_start_matches('/');
    match config.matching_rule(below) {
        sops::Match::Rule(rule) => {
            rule.recipients.is_empty() || names_of(&rule.recipients) == names_of(recipients)
        }
        _ => true,
    }
}

fn same_but_recipients(repo: &Repo, before: &Node, after: &Node) -> bool {
    let kept = |key: &str| before.str_at(&["sops", key]) == after.str_at(&["sops", key]);
    let without = |node: &Node| {
        let mut node = node.clone();
        node.remove("sops");
        node
    };
    let above = |node: &Node| {
        let end = node
            .entry("sops")
            .map_or(node.place.span.end, |entry| entry.key.place.span.start);
        repo.files.slice(Place {
            file: node.place.file,
            span: Span {
                start: node.place.span.start,
                end,
            },
        })
    };
    kept("mac")
        && kept("lastmodified")
        && without(before).same_content(&without(after))
        && above(before) == above(after)
}

fn report(repo: &Repo, moved: &MovedFile) -> Finding {
    let (before, after) = (repo.files.text(moved.base), repo.files.text(moved.head));
    let line = first_difference(before, after);
    let span = repo.files.line_span(moved.head, line);
    let hash = |file| {
        repo.files
            .blob_id(file)
            .map_or_else(|| "unknown".to_owned(), |id| id.chars().take(10).collect())
    };
    let only_endings = before.replace("\r\n", "\n") == after.replace("\r\n", "\n");
    let what = if only_endings {
        ": only its line endings differ"
    } else {
        ""
    };
    let place = Place {
        file: moved.head,
        span: shown(span, after),
    };
    let base_span = repo.files.line_span(moved.base, line);
    Finding::new(
        RULE.name,
        Severity::Error,
        place,
        format!(
            "`{}` moved from {} and was changed on the way (git blob {} → {}){what}",
            moved.to,
            moved.from,
            hash(moved.base),
            hash(moved.head)
        ),
    )
    .help(match repo.files.blob_id(moved.base) {
        Some(blob) => format!(
            "bring the old bytes back and make the change in a commit of its own:
git cat-file blob {blob} > {}",
            moved.to
        ),
        None => "bring the old bytes back and make the change in a commit of its own".to_owned(),
    })
    .related(place, "the first line that differs")
    .related(
        Place {
            file: moved.base,
            span: shown(base_span, before),
        },
        "as it was before the move",
    )
}

/// The number of the first line that differs, line endings included.
fn first_difference(before: &str, after: &str) -> usize {
    let same = before
        .split_inclusive('\n')
        .zip(after.split_inclusive('\n'))
        .take_while(|(before, after)| before == after)
        .count();
    let last = after.split_inclusive('\n').count().max(1);
    (same + 1).min(last)
}

/// What a line says, without its indentation; one byte where it says nothing.
fn shown(span: Span, text: &str) -> Span {
    let line = text.get(span.range()).unwrap_or_default();
    let start = span.start + (line.len() - line.trim_start().len()) as u32;
    let end = span.start + line.trim_end().len() as u32;
    if start < end {
        return Span { start, end };
    }
    Span {
        start: span.start,
        end: span
            .end
            .max(span.start + u32::from((span.start as usize) < text.len())),
    }
}
