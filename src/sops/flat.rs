//! Formats without nesting: dotenv and INI, and how SOPS flattens its metadata into them.
//! Upstream: sops `stores/flatten.go`, `stores/dotenv/`, `stores/ini/`.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::recipient::{Recipient, RecipientKind};
use super::text::Text;
use crate::source::{FileId, Place, Span};

/// One `key=value`.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The INI section's name; empty in dotenv.
    pub(super) section_name: SmolStr,
    /// Where the section is named.
    pub(super) section: Option<Place>,
    /// The key; of metadata, without `sops_`.
    pub(super) key: Text,
    /// The value as written.
    pub(super) value: Text,
    /// True if it belongs to SOPS.
    pub(super) is_metadata: bool,
}

/// The pairs of a dotenv file.
pub(super) fn dotenv_pairs(text: &str, file: FileId) -> Vec<Pair> {
    lines(text)
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(start, line)| {
            let (key, value) = pair(line, start, file, false)?;
            let own = key.text.strip_prefix("sops_").map(SmolStr::new);
            Some(Pair {
                section_name: SmolStr::default(),
                section: None,
                is_metadata: own.is_some(),
                key: Text {
                    text: own.unwrap_or(key.text),
                    place: key.place,
                },
                value,
            })
        })
        .collect()
}

/// The pairs of an INI file; those of section `sops` are metadata.
pub(super) fn ini_pairs(text: &str, file: FileId) -> Vec<Pair> {
    let mut section_name = SmolStr::new_static("DEFAULT");
    let mut section = None;
    let mut pairs = Vec::new();
    for (start, line) in lines(text) {
        let bare = line.trim();
        if bare.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = bare
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section_name = name.trim().into();
            section = Some(Place {
                file,
                span: Span::new(start, start + line.trim_end().len()),
            });
            continue;
        }
        if let Some((key, value)) = pair(line, start, file, true) {
            pairs.push(Pair {
                is_metadata: section_name == "sops",
                section_name: section_name.clone(),
                section,
                key,
                value,
            });
        }
    }
    pairs
}

/// Lines with their offsets, without their endings.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = offset;
        offset += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

fn pair(line: &str, start: usize, file: FileId, trim: bool) -> Option<(Text, Text)> {
    let equals = line.find('=')?;
    let part = |from: usize, to: usize| {
        let written = &line[from..to];
        let (lead, text) = if trim {
            (written.len() - written.trim_start().len(), written.trim())
        } else {
            (0, written)
        };
        Text {
            text: text.into(),
            place: Place {
                file,
                span: Span::new(start + from + lead, start + from + lead + text.len()),
            },
        }
    };
    let key = part(0, equals);
    (!key.text.is_empty()).then(|| (key, part(equals + 1, line.len())))
}

/// The recipients among metadata keys such as `age__list_0__map_recipient` and
/// `key_groups__list_1__map_pgp__list_0__map_fp`.
pub(super) fn recipients(pairs: &[&Pair]) -> Vec<Recipient> {
    type Entries<'a> = BTreeMap<(bool, usize, RecipientKind, usize), Vec<(&'a str, &'a Text)>>;
    let mut entries = Entries::new();
    for pair in pairs {
        let grouped = pair
            .key
            .text
            .strip_prefix("key_groups__list_")
            .and_then(|rest| rest.split_once("__map_"))
            .and_then(|(group, rest)| Some((group.parse().ok()?, rest)));
        let (group, key) = grouped.unwrap_or((0, pair.key.text.as_str()));
        let parsed = key
            .split_once("__list_")
            .and_then(|(kind, rest)| Some((kind, rest.split_once("__map_")?)));
        let Some((kind, (index, field))) = parsed else {
            continue;
        };
        let kind = RecipientKind::ALL
            .into_iter()
            .find(|known| known.metadata_key() == kind);
        if let (Some(kind), Ok(index)) = (kind, index.parse()) {
            entries
                .entry((grouped.is_some(), group, kind, index))
                .or_default()
                .push((field, &pair.value));
        }
    }
    // Flat lists, if there are any, are all that SOPS looks at.
    let flat = entries.keys().any(|(grouped, ..)| !grouped);
    entries
        .iter()
        .filter(|((grouped, ..), _)| *grouped != flat)
        .filter_map(|((_, group, kind, _), fields)| {
            Recipient::from_fields(*kind, *group, &|name| {
                let (_, value) = fields.iter().find(|(field, _)| *field == name)?;
                Some((value.text.clone(), value.place))
            })
        })
        .collect()
}
