//! `.sops.yaml`: which rule is for which file. Upstream: sops `config/config.go`.

use regex::Regex;

use crate::go_regex;
use smol_str::SmolStr;

use super::metadata::{Selector, text_of};
use super::recipient::{Recipient, RecipientKind};
use super::text::Text;
use crate::source::{FileId, Place, Span};
use crate::tree::{Tree, split};
use crate::yaml::{Node, span_in_scalar};

/// A configuration of SOPS.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `creation_rules`, in order.
    pub rules: Vec<CreationRule>,
    /// Keys that SOPS does not know, and ignores.
    pub unknown_keys: Vec<UnknownKey>,
}

/// One of `creation_rules`.
#[derive(Clone, Debug)]
pub struct CreationRule {
    /// The list entry.
    pub place: Place,
    /// `path_regex`, if it is there and not empty; without it the rule is for every file.
    pub path_regex: Option<Text>,
    /// Who is to decrypt; none if that is given on the command line. With several groups,
    /// [`Recipient::group`] tells them apart.
    pub recipients: Vec<Recipient>,
    /// The number of key groups; 1 unless they are written as such.
    pub key_groups: usize,
    /// Keys that cannot be read from the file alone (those of plugins): recipients may be missing.
    pub has_plugin_keys: bool,
    /// What is to be encrypted.
    pub selector: Selector,
    /// `mac_only_encrypted`
    pub mac_only_encrypted: bool,
    /// `shamir_threshold`
    pub shamir_threshold: Option<Text>,
    /// The compiled `path_regex`; an error if it does not compile.
    regex: Option<Result<Regex, String>>,
}

/// A key that SOPS does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key.
    pub key: SmolStr,
    /// Where it is written.
    pub place: Place,
    /// The keys that would be known there.
    pub known: &'static [&'static str],
}

/// The rule that SOPS takes for a file.
#[derive(Clone, Copy, Debug)]
pub enum Match<'a> {
    /// This one, the first that matches.
    Rule(&'a CreationRule),
    /// None matches; SOPS refuses to encrypt the file.
    None,
    /// The regular expression of this rule does not compile, so nothing can be said.
    Unknown(&'a CreationRule),
}

const TOP_KEYS: &[&str] = &["creation_rules", "destination_rules", "stores"];

const RULE_KEYS: &[&str] = &[
    "path_regex",
    "age",
    "pgp",
    "kms",
    "gcp_kms",
    "hckms",
    "azure_keyvault",
    "hc_vault_transit_uri",
    "key_groups",
    "shamir_threshold",
    "aws_profile",
    "plugins",
    "timeout",
    "unencrypted_suffix",
    "encrypted_suffix",
    "unencrypted_regex",
    "encrypted_regex",
    "unencrypted_comment_regex",
    "encrypted_comment_regex",
    "mac_only_encrypted",
];

const GROUP_KEYS: &[&str] = &[
    "merge",
    "age",
    "pgp",
    "kms",
    "gcp_kms",
    "hckms",
    "azure_keyvault",
    "hc_vault",
    "plugins",
];

/// Key groups merged into one another deeper than this are not followed.
const MAX_MERGE_DEPTH: usize = 16;

/// The `.sops.yaml` that is taken for a file: the nearest, in its directory or above.
///
/// That is an approximation: SOPS looks upwards from the directory in which it is run, not from
/// the file's. In a repository with one at the top both come to the same.
pub fn nearest_config(tree: &Tree, path: &str) -> Option<FileId> {
    let mut directory = split(path).0;
    loop {
        let candidate = if directory.is_empty() {
            ".sops.yaml".to_owned()
        } else {
            format!("{directory}/.sops.yaml")
        };
        if let Some(found) = tree.file(&candidate) {
            return Some(found);
        }
        if directory.is_empty() {
            return None;
        }
        directory = split(directory).0;
    }
}

impl Config {
    /// Reads the document of a `.sops.yaml`; `file_text` is the text of that file, to tell
    /// recipients in one comma-separated text apart. What is not as it should be is left out.
    pub fn read(document: &Node, file_text: &str) -> Self {
        let mut config = Self::default();
        let mut unknown = Vec::new();
        note_unknown(document, TOP_KEYS, &mut unknown);
        let rules = document.get("creation_rules");
        for rule in rules.map_or(&[][..], Node::items) {
            note_unknown(rule, RULE_KEYS, &mut unknown);
            config.rules.push(read_rule(rule, file_text, &mut unknown));
        }
        unknown.sort_by_key(|key| key.place);
        config.unknown_keys = unknown;
        config
    }

    /// The rule for a file: the first whose `path_regex`, anywhere in the path, matches.
    /// `path` is relative to the directory of the configuration.
    pub fn matching_rule(&self, path: &str) -> Match<'_> {
        for rule in &self.rules {
            match &rule.regex {
                None => return Match::Rule(rule),
                Some(Ok(regex)) if regex.is_match(path) => return Match::Rule(rule),
                Some(Ok(_)) => {}
                Some(Err(_)) => return Match::Unknown(rule),
            }
        }
        Match::None
    }
}

impl CreationRule {
    /// Why `path_regex` does not compile, if it does not.
    pub fn regex_error(&self) -> Option<&str> {
        match &self.regex {
            Some(Err(reason)) => Some(reason),
            _ => None,
        }
    }
}

fn note_unknown(node: &Node, known: &'static [&'static str], unknown: &mut Vec<UnknownKey>) {
    for entry in node.pairs() {
        let key = entry.key.as_str().unwrap_or_default();
        if !known.contains(&key) {
            unknown.push(UnknownKey {
                key: key.into(),
                place: entry.key.place,
                known,
            });
        }
    }
}

fn read_rule(rule: &Node, file_text: &str, unknown: &mut Vec<UnknownKey>) -> CreationRule {
    let field = |name: &str| text_of(rule.get(name)?);
    let path_regex = field("path_regex").filter(|regex| !regex.text.is_empty());
    let groups = rule.get("key_groups").map_or(&[][..], Node::items);
    let mut recipients = Vec::new();
    let mut has_plugin_keys = false;
    if groups.is_empty() {
        has_plugin_keys = !rule.get("plugins").map_or(&[][..], Node::items).is_empty();
        for kind in RecipientKind::ALL {
            if let Some(value) = rule.get(kind.rule_key()) {
                read_texts(kind, value, 0, file_text, &mut recipients);
            }
        }
    }
    for (index, group) in groups.iter().enumerate() {
        let mut reader = GroupReader {
            index,
            file_text,
            recipients: &mut recipients,
            has_plugin_keys: &mut has_plugin_keys,
            unknown,
        };
        reader.group(group, 0);
    }
    CreationRule {
        place: rule.place,
        regex: path_regex
            .as_ref()
            .map(|regex| go_regex::compile(&regex.text)),
        path_regex,
        recipients,
        key_groups: groups.len().max(1),
        has_plugin_keys,
        selector: Selector::from_fields(&field),
        mac_only_encrypted: rule
            .get("mac_only_encrypted")
            .and_then(Node::as_bool)
            .unwrap_or_default(),
        shamir_threshold: field("shamir_threshold"),
    }
}

struct GroupReader<'a> {
    index: usize,
    file_text: &'a str,
    recipients: &'a mut Vec<Recipient>,
    has_plugin_keys: &'a mut bool,
    unknown: &'a mut Vec<UnknownKey>,
}

impl GroupReader<'_> {
    fn group(&mut self, group: &Node, depth: usize) {
        note_unknown(group, GROUP_KEYS, self.unknown);
        *self.has_plugin_keys |= !group.get("plugins").map_or(&[][..], Node::items).is_empty();
        if depth < MAX_MERGE_DEPTH {
            for merged in group.get("merge").map_or(&[][..], Node::items) {
                self.group(merged, depth + 1);
            }
        }
        for kind in RecipientKind::ALL {
            for item in group.get(kind.group_key()).map_or(&[][..], Node::items) {
                if item.as_scalar().is_some() {
                    read_texts(kind, item, self.index, self.file_text, self.recipients);
                } else {
                    let found = Recipient::from_fields(kind, self.index, &|name| {
                        text_of(item.get(name)?).map(|text| (text.text, text.place))
                    });
                    push_new(self.recipients, found);
                }
            }
        }
    }
}

/// Recipients in a text, separated by commas, or in a list of such texts.
fn read_texts(
    kind: RecipientKind,
    value: &Node,
    group: usize,
    file_text: &str,
    recipients: &mut Vec<Recipient>,
) {
    let texts = value.as_sequence().unwrap_or(std::slice::from_ref(value));
    for node in texts {
        let Some(text) = node.as_str() else { continue };
        let mut offset = 0;
        for part in text.split(',') {
            let start = offset + (part.len() - part.trim_start().len());
            offset += part.len() + 1;
            let span = Span::new(start, start + part.trim().len());
            let place = Place {
                file: node.place.file,
                span: part_span(node, part.trim(), span, file_text),
            };
            push_new(recipients, Recipient::from_text(kind, part, group, place));
        }
    }
}

/// Where a part of a text is written; in folded text it is looked for, since folding keeps words whole.
fn part_span(node: &Node, part: &str, span: Span, file_text: &str) -> Span {
    let mapped = span_in_scalar(node, file_text, span);
    let whole = node.place.span;
    if mapped != whole || part.is_empty() {
        return mapped;
    }
    file_text
        .get(whole.range())
        .and_then(|written| written.find(part))
        .map_or(whole, |at| {
            let start = whole.start as usize + at;
            Span::new(start, start + part.len())
        })
}

/// Adds a recipient unless its group has it already.
fn push_new(recipients: &mut Vec<Recipient>, recipient: Option<Recipient>) {
    if let Some(new) = recipient
        && !recipients
            .iter()
            .any(|known| known.group == new.group && known.same_key(&new))
    {
        recipients.push(new);
    }
}
