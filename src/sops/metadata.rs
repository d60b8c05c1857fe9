//! The block that SOPS adds to what it encrypts. Upstream: sops `stores/stores.go`.

use regex::Regex;

use crate::go_regex;
use smol_str::SmolStr;

use super::flat;
use super::recipient::{Recipient, RecipientKind};
use super::text::Text;
use crate::source::{FileId, Place};
use crate::tree::Files;
use crate::yaml::{Node, Typed};

/// How an encrypted file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// YAML, one document or several.
    Yaml,
    /// JSON.
    Json,
    /// `KEY=value` lines.
    Dotenv,
    /// Sections of `key = value` lines.
    Ini,
    /// Any bytes, wrapped in a JSON object with `data` and `sops`.
    Binary,
}

/// What an encrypted document says about itself.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// How the file is written.
    pub format: Format,
    /// The key `sops`, the section `[sops]`, or the first of the `sops_` lines.
    pub place: Place,
    /// Who can decrypt, in the order of the text. With several groups, [`Recipient::group`] tells them apart.
    pub recipients: Vec<Recipient>,
    /// The number of key groups; 1 unless they are written as such.
    pub key_groups: usize,
    /// How many groups are needed, if that is said.
    pub shamir_threshold: Option<Text>,
    /// The message authentication code; never empty.
    pub mac: Text,
    /// When it was last encrypted.
    pub last_modified: Option<Text>,
    /// The version of SOPS.
    pub version: Option<Text>,
    /// What is encrypted.
    pub selector: Selector,
    /// True if the code covers the encrypted values only.
    pub mac_only_encrypted: bool,
}

/// Which values are encrypted.
#[derive(Clone, Debug)]
pub struct Selector {
    /// By what.
    pub kind: SelectorKind,
    /// The suffix or regular expression.
    pub pattern: SmolStr,
    /// Where that is written; `None` for the default, `unencrypted_suffix: _unencrypted`.
    pub place: Option<Place>,
    regex: Option<Regex>,
}

/// By what values are selected; the names are those of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelectorKind {
    /// All but what is below a key with the suffix.
    UnencryptedSuffix,
    /// What is below a key with the suffix.
    EncryptedSuffix,
    /// All but what is below a key that matches.
    UnencryptedRegex,
    /// What is below a key that matches.
    EncryptedRegex,
    /// All but what is below a comment that matches.
    UnencryptedCommentRegex,
    /// What is below a comment that matches.
    EncryptedCommentRegex,
}

impl SelectorKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::UnencryptedSuffix,
        Self::EncryptedSuffix,
        Self::UnencryptedRegex,
        Self::EncryptedRegex,
        Self::UnencryptedCommentRegex,
        Self::EncryptedCommentRegex,
    ];

    /// The key in a file's metadata and in a creation rule.
    pub fn key(self) -> &'static str {
        match self {
            Self::UnencryptedSuffix => "unencrypted_suffix",
            Self::EncryptedSuffix => "encrypted_suffix",
            Self::UnencryptedRegex => "unencrypted_regex",
            Self::EncryptedRegex => "encrypted_regex",
            Self::UnencryptedCommentRegex => "unencrypted_comment_regex",
            Self::EncryptedCommentRegex => "encrypted_comment_regex",
        }
    }

    /// True if what matches is encrypted, false if it is what stays clear.
    pub fn selects_encrypted(self) -> bool {
        matches!(
            self,
            Self::EncryptedSuffix | Self::EncryptedRegex | Self::EncryptedCommentRegex
        )
    }

    /// True if comments are matched rather than keys.
    pub fn matches_comments(self) -> bool {
        matches!(
            self,
            Self::UnencryptedCommentRegex | Self::EncryptedCommentRegex
        )
    }
}

impl Default for Selector {
    fn default() -> Self {
        Self::new(SelectorKind::UnencryptedSuffix, "_unencrypted".into(), None)
    }
}

impl Selector {
    pub(super) fn new(kind: SelectorKind, pattern: SmolStr, place: Option<Place>) -> Self {
        let by_suffix = matches!(
            kind,
            SelectorKind::UnencryptedSuffix | SelectorKind::EncryptedSuffix
        );
        let regex = if by_suffix {
            None
        } else {
            go_regex::compile(&pattern).ok()
        };
        Self {
            kind,
            pattern,
            place,
            regex,
        }
    }

    /// The one that is written, else the default; an empty one counts as not written.
    pub(super) fn from_fields(field: &dyn Fn(&str) -> Option<Text>) -> Self {
        SelectorKind::ALL
            .into_iter()
            .find_map(|kind| {
                let found = field(kind.key()).filter(|found| !found.text.is_empty())?;
                Some(Self::new(kind, found.text, Some(found.place)))
            })
            .unwrap_or_default()
    }

    /// True if a key (or a comment, for the comment kinds) matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self.kind {
            SelectorKind::UnencryptedSuffix | SelectorKind::EncryptedSuffix => {
                text.ends_with(self.pattern.as_str())
            }
            _ => self
                .regex
                .as_ref()
                .is_some_and(|regex| regex.is_match(text)),
        }
    }

    /// False if the regular expression does not compile; then nothing matches.
    pub fn is_valid(&self) -> bool {
        self.regex.is_some()
            || matches!(
                self.kind,
                SelectorKind::UnencryptedSuffix | SelectorKind::EncryptedSuffix
            )
    }

    /// True if both select alike.
    pub fn same_as(&self, other: &Self) -> bool {
        self.kind == other.kind && self.pattern == other.pattern
    }
}

/// The format that SOPS takes a file for, by its name (upstream: `cmd/sops/formats`).
pub fn format_of_path(path: &str) -> Format {
    let ends = |ending: &str| path.ends_with(ending);
    if ends(".yaml") || ends(".yml") {
        Format::Yaml
    } else if ends(".json") {
        Format::Json
    } else if ends(".env") {
        Format::Dotenv
    } else if ends(".ini") {
        Format::Ini
    } else {
        Format::Binary
    }
}

/// The metadata of a file that SOPS has encrypted, of its first document if it has several;
/// `None` if it has none with a code, or does not parse.
///
/// The name decides the format where it says something; a file of any other name is
/// recognised by what marks each format.
pub fn detect(files: &Files, id: FileId) -> Option<Metadata> {
    let text = files.text(id);
    // Every form names both; most files do not, and need not be parsed.
    if !text.contains("sops") || !text.contains("mac") {
        return None;
    }
    let by_document = |format| {
        let yaml = files.yaml(id);
        let root = &yaml.documents.first()?.root;
        let metadata = Metadata::of_document(root)?;
        yaml.error
            .is_none()
            .then_some(Metadata { format, ..metadata })
    };
    match format_of_path(files.path(id)) {
        format @ (Format::Yaml | Format::Json) => by_document(format),
        Format::Dotenv => Metadata::of_pairs(&flat::dotenv_pairs(text, id), Format::Dotenv),
        Format::Ini => Metadata::of_pairs(&flat::ini_pairs(text, id), Format::Ini),
        Format::Binary if text.trim_start().starts_with('{') => by_document(Format::Binary),
        Format::Binary => Metadata::of_pairs(&flat::dotenv_pairs(text, id), Format::Dotenv)
            .or_else(|| Metadata::of_pairs(&flat::ini_pairs(text, id), Format::Ini))
            .or_else(|| by_document(Format::Yaml)),
    }
}

impl Metadata {
    /// The metadata of a document or object: a map `sops` with a `mac` that is not empty, which is
    /// also what Flux looks at. The format is taken as YAML.
    pub fn of_document(root: &Node) -> Option<Self> {
        let entry = root.entry("sops")?;
        let sops = &entry.value;
        let field = |name: &str| text_of(sops.get(name)?);
        let mac = field("mac").filter(|mac| !mac.text.is_empty())?;
        let mut recipients = Vec::new();
        let read_group = |owner: &Node, group: usize, recipients: &mut Vec<Recipient>| {
            for kind in RecipientKind::ALL {
                let items = owner.get(kind.metadata_key()).map_or(&[][..], Node::items);
                recipients.extend(items.iter().filter_map(|item| {
                    Recipient::from_fields(kind, group, &|name| {
                        text_of(item.get(name)?).map(|text| (text.text, text.place))
                    })
                }));
            }
        };
        read_group(sops, 0, &mut recipients);
        let mut key_groups = 1;
        // Flat lists, if there are any, are all that SOPS looks at.
        if recipients.is_empty() {
            let groups = sops.get("key_groups").map_or(&[][..], Node::items);
            for (group, owner) in groups.iter().enumerate() {
                read_group(owner, group, &mut recipients);
            }
            key_groups = groups.len().max(1);
        }
        recipients.sort_by_key(|recipient| recipient.place);
        Some(Self {
            format: Format::Yaml,
            place: entry.key.place,
            recipients,
            key_groups,
            shamir_threshold: field("shamir_threshold"),
            mac,
            last_modified: field("lastmodified"),
            version: field("version"),
            selector: Selector::from_fields(&field),
            mac_only_encrypted: sops
                .get("mac_only_encrypted")
                .and_then(Node::as_bool)
                .unwrap_or_default(),
        })
    }

    /// The metadata among flat pairs; their keys name places in lists and maps.
    fn of_pairs(pairs: &[flat::Pair], format: Format) -> Option<Self> {
        let own: Vec<&flat::Pair> = pairs.iter().filter(|pair| pair.is_metadata).collect();
        let field = |name: &str| {
            let pair = own.iter().find(|pair| pair.key.text == name)?;
            Some(pair.value.clone())
        };
        let mac = field("mac").filter(|mac| !mac.text.is_empty())?;
        let mut recipients = flat::recipients(&own);
        recipients.sort_by_key(|recipient| recipient.place);
        let key_groups = recipients
            .iter()
            .map(|recipient| recipient.group.saturating_add(1))
            .max()
            .unwrap_or(1);
        Some(Self {
            format,
            place: own.first()?.section.unwrap_or(own.first()?.key.place),
            recipients,
            key_groups,
            shamir_threshold: field("shamir_threshold"),
            mac,
            last_modified: field("lastmodified"),
            version: field("version"),
            selector: Selector::from_fields(&field),
            mac_only_encrypted: field("mac_only_encrypted")
                .is_some_and(|value| value.text == "true"),
        })
    }
}

/// A scalar's text; null is none.
pub(super) fn text_of(node: &Node) -> Option<Text> {
    let scalar = node.as_scalar()?;
    (scalar.typed() != Typed::Null).then(|| Text {
        text: scalar.text.clone(),
        place: node.place,
    })
}
