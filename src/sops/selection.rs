//! The values of an encrypted file: which are encrypted, and which should be.
//! Upstream: sops `sops.go` (`shouldBeEncrypted`, the walk over branches).

use smol_str::SmolStr;

use super::flat;
use super::is_encrypted_value;
use super::metadata::{Format, Metadata, Selector, format_of_path};
use super::text::Text;
use crate::source::{FileId, Place};
use crate::tree::Files;
use crate::yaml::{Comment, Node, Typed, Value};

/// A value of an encrypted file.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The keys that lead to it; items of a list have none of their own, as in the value's
    /// additional data (INI: section and key).
    pub path: Vec<SmolStr>,
    /// Where it is written.
    pub place: Place,
    /// The text as written.
    pub text: SmolStr,
    /// Whether it is encrypted.
    pub state: LeafState,
    /// True if the file's own metadata selects it for encryption.
    pub selected: bool,
}

/// Whether a value is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafState {
    /// `ENC[…]`
    Encrypted,
    /// In clear.
    Clear,
    /// An empty text or null, which SOPS never encrypts.
    Empty,
}

impl Leaf {
    /// True if the leaf is in clear and selected.
    pub fn should_be_encrypted(&self) -> bool {
        self.selected && self.state == LeafState::Clear
    }

    /// True if the leaf is encrypted and not selected.
    pub fn should_be_clear(&self) -> bool {
        !self.selected && self.state == LeafState::Encrypted
    }
}

/// The values of all documents of a file, by the metadata of the first, as SOPS takes it.
pub fn leaves_of_file(files: &Files, id: FileId, metadata: &Metadata) -> Vec<Leaf> {
    leaves_in(files, id, metadata.format, &metadata.selector)
}

/// The values of a file in the format that its name says, and which of them a selector selects;
/// for files that are not encrypted yet.
pub fn leaves_by_selector(files: &Files, id: FileId, selector: &Selector) -> Vec<Leaf> {
    leaves_in(files, id, format_of_path(files.path(id)), selector)
}

fn leaves_in(files: &Files, id: FileId, format: Format, selector: &Selector) -> Vec<Leaf> {
    match format {
        Format::Yaml | Format::Json | Format::Binary => {
            let yaml = files.yaml(id);
            yaml.documents
                .iter()
                .flat_map(|document| leaves(&document.root, &yaml.comments, selector))
                .collect()
        }
        Format::Dotenv | Format::Ini => flat_leaves(files.text(id), id, format, selector),
    }
}

/// The values of a YAML or JSON document, in its order, without the block `sops` at the top.
///
/// A key that matches decides for all below it. With the comment selectors a comment decides
/// for the key or item that follows it, and all below; `comments` are those of the whole file.
/// They are attached by their place: those on lines of their own between the previous value
/// and the key, and one behind a value on its line. SOPS moves some comments when it writes
/// a file, so in hand-edited files this can differ from what it would do.
pub fn leaves(document: &Node, comments: &[Comment], selector: &Selector) -> Vec<Leaf> {
    let by_comment = selector.kind.matches_comments();
    let mut walk = Walk {
        comments: if by_comment { comments } else { &[] },
        selector,
        path: Vec::new(),
        leaves: Vec::new(),
    };
    let first = comments_start(document, comments);
    walk.node(
        document,
        false,
        Bounds {
            from: first,
            to: u32::MAX,
        },
        true,
    );
    walk.leaves
}

/// Where the comments that belong to a document begin: behind what stands before it.
fn comments_start(document: &Node, comments: &[Comment]) -> u32 {
    // Comments of an earlier document stand before its last value, which is unknown here; the
    // run of own-line comments right before the document is what counts.
    let before =
        comments.partition_point(|comment| comment.place.span.start < document.place.span.start);
    comments[..before]
        .iter()
        .rev()
        .take_while(|comment| comment.own_line)
        .last()
        .map_or(document.place.span.start, |comment| {
            comment.place.span.start
        })
}

/// Between which offsets comments belong to a node: those before its first part, and those behind its last.
#[derive(Clone, Copy)]
struct Bounds {
    from: u32,
    to: u32,
}

struct Walk<'a> {
    comments: &'a [Comment],
    selector: &'a Selector,
    path: Vec<SmolStr>,
    leaves: Vec<Leaf>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, matched: bool, bounds: Bounds, top: bool) {
        match &node.value {
            Value::Scalar(scalar) => {
                let null = scalar.typed() == Typed::Null;
                self.push(node.place, scalar.text.clone(), null, matched);
            }
            Value::Sequence(items) => {
                let mut from = bounds.from;
                for (index, item) in items.iter().enumerate() {
                    let to = items
                        .get(index + 1)
                        .map_or(bounds.to, |next| next.place.span.start);
                    let matched = matched || self.comment_matches(from, item, item, to);
                    let from_here = item.place.span.start;
                    self.node(
                        item,
                        matched,
                        Bounds {
                            from: from_here,
                            to,
                        },
                        false,
                    );
                    from = item.place.span.end;
                }
            }
            Value::Mapping(mapping) => {
                let pairs = mapping.resolved();
                let mut from = bounds.from;
                for (index, entry) in pairs.iter().enumerate() {
                    let to = pairs
                        .get(index + 1)
                        .map_or(bounds.to, |next| next.key.place.span.start);
                    if !(top && entry.key.is_key("sops")) {
                        let key: SmolStr = entry.key.as_str().unwrap_or_default().into();
                        let matched = matched
                            || self.key_matches(&key)
                            || self.comment_matches(from, &entry.key, &entry.value, to);
                        self.path.push(key);
                        let from = entry.key.place.span.end;
                        self.node(&entry.value, matched, Bounds { from, to }, false);
                        self.path.pop();
                    }
                    from = entry.value.place.span.end;
                }
            }
        }
    }

    fn key_matches(&self, key: &str) -> bool {
        !self.selector.kind.matches_comments() && self.selector.matches(key)
    }

    /// True if a comment before `first`, or behind the scalar `value` on its line, matches.
    fn comment_matches(&self, from: u32, first: &Node, value: &Node, to: u32) -> bool {
        let matches = |comment: &Comment| self.selector.matches(&comment.text);
        let start = self.position(from);
        let before = self.comments[start..]
            .iter()
            .take_while(|comment| comment.place.span.start < first.place.span.start)
            .any(|comment| comment.own_line && matches(comment));
        let behind = value.as_scalar().is_some()
            && self.comments[self.position(value.place.span.end)..]
                .first()
                .is_some_and(|comment| {
                    !comment.own_line && comment.place.span.start < to && matches(comment)
                });
        before || behind
    }

    fn position(&self, offset: u32) -> usize {
        self.comments
            .partition_point(|comment| comment.place.span.start < offset)
    }

    fn push(&mut self, place: Place, text: SmolStr, null: bool, matched: bool) {
        let path = self.path.clone();
        self.leaves
            .push(leaf(path, place, text, null, matched, self.selector));
    }
}

fn leaf(
    path: Vec<SmolStr>,
    place: Place,
    text: SmolStr,
    null: bool,
    matched: bool,
    selector: &Selector,
) -> Leaf {
    let state = if null || text.is_empty() {
        LeafState::Empty
    } else if is_encrypted_value(&text) {
        LeafState::Encrypted
    } else {
        LeafState::Clear
    };
    Leaf {
        path,
        place,
        text,
        state,
        selected: matched == selector.kind.selects_encrypted(),
    }
}

/// The values of a dotenv or INI file. Comments are not looked at.
fn flat_leaves(text: &str, file: FileId, format: Format, selector: &Selector) -> Vec<Leaf> {
    let pairs = if format == Format::Ini {
        flat::ini_pairs(text, file)
    } else {
        flat::dotenv_pairs(text, file)
    };
    pairs
        .into_iter()
        .filter(|pair| !pair.is_metadata)
        .map(|pair| {
            let path: Vec<SmolStr> = [pair.section_name, pair.key.text]
                .into_iter()
                .filter(|key| !key.is_empty())
                .collect();
            let matched =
                !selector.kind.matches_comments() && path.iter().any(|key| selector.matches(key));
            let Text { text, place } = pair.value;
            leaf(path, place, text, false, matched, selector)
        })
        .collect()
}
