//! Where a generator's data comes from: `envs`, `literals` and `files`, read in this order.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use smol_str::SmolStr;

use super::GeneratorKind;
use super::encrypted::{Format, is_encrypted};
use crate::kustomize::transform::{refusal, written};
use crate::kustomize::{EncryptedInput, Gap, GapEffect, Problem};
use crate::source::{Content, FileId, Place, Span};
use crate::tree::{Files, split};
use crate::yaml::Node;

/// One value on its way into `data`.
pub(super) struct Pair {
    /// The literal, the value in its line of an env file, or the start of the file that it is.
    pub(super) place: Place,
    value: Bytes,
}

enum Bytes {
    Text(SmolStr),
    Binary(Arc<[u8]>),
}

impl Pair {
    /// The field that the value goes to, and how it is written there.
    pub(super) fn encode(&self, kind: GeneratorKind) -> (&'static str, SmolStr) {
        match (&self.value, kind) {
            (Bytes::Text(text), GeneratorKind::ConfigMap) => ("data", text.clone()),
            (Bytes::Text(text), GeneratorKind::Secret) => ("data", base64_lines(text.as_bytes())),
            (Bytes::Binary(bytes), GeneratorKind::ConfigMap) => ("binaryData", base64_lines(bytes)),
            (Bytes::Binary(bytes), GeneratorKind::Secret) => ("data", base64_lines(bytes)),
        }
    }
}

/// Base64 as kustomize writes it: from 70 characters on in lines, each ended by a line feed
/// (upstream: kyaml `datamap.go` encodeBase64). The line feeds count for the hash.
fn base64_lines(bytes: &[u8]) -> SmolStr {
    const LINE: usize = 70;
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
    if encoded.len() < LINE {
        return encoded.into();
    }
    let mut out = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    for (index, c) in encoded.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            out.push('\n');
        }
        out.push(c);
    }
    out.push('\n');
    out.into()
}

/// How an input is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed<'a> {
    /// In `files`, under this key.
    File { key: &'a str },
    /// In `envs`.
    Envs,
    /// In the older `env`, which Flux does not look at.
    Env,
}

/// Collects the pairs of one entry, and all that is to be said about its inputs.
pub(super) struct Sources<'a> {
    pub(super) kind: GeneratorKind,
    pub(super) hashed: bool,
    pub(super) read: &'a mut dyn FnMut(&Node) -> Result<FileId, Problem>,
    pub(super) files: &'a Files,
    pub(super) gaps: &'a mut Vec<Gap>,
    pub(super) encrypted: &'a mut Vec<EncryptedInput>,
    pub(super) problems: Vec<Problem>,
    pub(super) pairs: BTreeMap<SmolStr, Pair>,
}

impl Sources<'_> {
    /// Reads all sources of an entry.
    pub(super) fn collect(&mut self, entry: &Node) {
        for path in list(entry, "envs") {
            self.env_file(path, Listed::Envs);
        }
        if let Some(path) = written(entry, "env").filter(|path| path.as_str() != Some("")) {
            self.env_file(path, Listed::Env);
        }
        for literal in list(entry, "literals") {
            self.literal(literal);
        }
        for source in list(entry, "files") {
            self.file(source);
        }
    }

    fn insert(&mut self, key: &str, place: Place, listed: Place, value: Bytes) {
        if let Some(first) = self.pairs.get(key) {
            self.problems.push(Problem {
                related: vec![(first.place, "it is here first".to_owned())],
                ..refusal(
                    listed,
                    format!("a generated {} has the key {key} twice", self.kind.name()),
                )
            });
            return;
        }
        self.pairs.insert(key.into(), Pair { place, value });
    }

    fn literal(&mut self, literal: &Node) {
        let text = literal.as_str().unwrap_or_default();
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                let value = Bytes::Text(without_quotes(value).into());
                self.insert(key, literal.place, literal.place, value);
            }
            _ => self.problems.push(refusal(
                literal.place,
                format!("literal {text} is not of the form key=value"),
            )),
        }
    }

    fn file(&mut self, source: &Node) {
        let text = source.as_str().unwrap_or_default();
        let (key, path) = match text.split_once('=') {
            None => (split(text).1, text),
            Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => {
                (key, path)
            }
            Some(_) => {
                self.problems.push(refusal(
                    source.place,
                    format!("file source {text} is neither a path nor of the form key=path"),
                ));
                return;
            }
        };
        let path_node = self.part_of(source, path);
        let Some(file) = self.open(&path_node, Listed::File { key }) else {
            return;
        };
        let value = match self.files.content(file) {
            Content::Text(text) => Bytes::Text(text.clone().into()),
            Content::Binary(bytes) => Bytes::Binary(bytes.clone()),
            Content::Unreadable(reason) => {
                let problem = format!("{path} cannot be read: {reason}");
                self.problems.push(refusal(path_node.place, problem));
                return;
            }
        };
        self.insert(key, Place::file_start(file), source.place, value);
    }

    fn env_file(&mut self, path: &Node, listed: Listed<'_>) {
        let Some(file) = self.open(path, listed) else {
            return;
        };
        let files = self.files;
        let Content::Text(text) = files.content(file) else {
            self.problems.push(refusal(
                path.place,
                format!("env file {} is not valid UTF-8", files.path(file)),
            ));
            return;
        };
        let mut offset = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let start = offset;
            offset += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            let written = line.strip_suffix('\r').unwrap_or(line);
            let mut line = written;
            if number == 0 {
                line = line.strip_prefix('\u{feff}').unwrap_or(line);
            }
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if key.is_empty() {
                continue;
            }
            let at = |start, end| Place {
                file,
                span: Span::new(start, end),
            };
            let end = start + written.len();
            let place = match value {
                "" => at(start, end),
                _ => at(end - value.len(), end),
            };
            self.insert(key, place, at(start, offset), Bytes::Text(value.into()));
        }
    }

    /// The file of a path as written; notes what is unknown about it.
    fn open(&mut self, path: &Node, listed: Listed<'_>) -> Option<FileId> {
        let text = path.as_str().unwrap_or_default();
        if text.starts_with("https://") || text.starts_with("http://") {
            self.gap(path.place, format!("remote generator input {text}"));
            return None;
        }
        let file = match (self.read)(path) {
            Ok(file) => file,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        if let Some(content) = self.files.content(file).text()
            && is_encrypted(content)
        {
            let format = match listed {
                Listed::File { key } => Format::of_key(key),
                Listed::Envs | Listed::Env => Format::of_env_path(text),
            };
            let decrypted = self.kind == GeneratorKind::Secret
                && listed != Listed::Env
                && format.has_marker(content);
            self.encrypted.push(EncryptedInput {
                file,
                listed: path.place,
                decrypted_by_flux: decrypted,
            });
            if decrypted && self.hashed {
                let cause = format!("hash over encrypted {}", self.files.path(file));
                self.gap(path.place, cause);
            }
        }
        Some(file)
    }

    fn gap(&mut self, place: Place, cause: String) {
        let effect = if self.hashed {
            GapEffect::Identities
        } else {
            GapEffect::Content
        };
        self.gaps.push(Gap {
            place,
            cause,
            effect,
        });
    }

    /// A part at the end of a scalar, with its own place if the scalar is written as it reads.
    fn part_of(&self, scalar: &Node, part: &str) -> Node {
        let whole = scalar.place;
        let place = self
            .files
            .slice(whole)
            .rfind(part)
            .filter(|_| !part.is_empty())
            .map_or(whole, |at| {
                let start = whole.span.start as usize + at;
                Place {
                    file: whole.file,
                    span: Span::new(start, start + part.len()),
                }
            });
        Node::string(place, part)
    }
}

fn list<'a>(entry: &'a Node, key: &str) -> &'a [Node] {
    written(entry, key).map(Node::items).unwrap_or_default()
}

/// Takes away one pair of quotes around a literal's value.
fn without_quotes(value: &str) -> &str {
    for quote in ['"', '\''] {
        if value.len() >= 2
            && let Some(inner) = value
                .strip_prefix(quote)
                .and_then(|rest| rest.strip_suffix(quote))
        {
            return inner;
        }
    }
    value
}
