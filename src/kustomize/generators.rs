//! `configMapGenerator` and `secretGenerator` (upstream: `internal/generators`, `kv.go`,
//! `reswrangler.go` appendReplaceOrMerge).

mod encrypted;
mod sources;

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::scope::{all_ids, same_identity};
use super::transform::{as_text, refusal, written, written_bool, written_text};
use super::{EncryptedInput, Gap, Object, Problem, ProblemKind};
use crate::source::{FileId, Place};
use crate::tree::Files;
use crate::yaml::{Entry, Node};

use sources::Sources;

/// What a generator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorKind {
    /// `configMapGenerator`
    ConfigMap,
    /// `secretGenerator`
    Secret,
}

impl GeneratorKind {
    /// The kind of the object.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// What the entry does with an object that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Create,
    Replace,
    Merge,
}

/// Runs one entry of a generator list: adds its object to `objects`, or puts it in the place of
/// one that is there (`behavior`). `options` is the file's `generatorOptions`; `read` gives the
/// file for a path as written, or why it cannot be read.
///
/// The object's `origin` is the entry, or for `merge` and `replace` that of the object before.
/// Values have the place of their literal, of their text in an env file, or the start of their file. Encrypted files are
/// taken as they are, reported in `encrypted`, and are a gap if the name's hash depends on
/// their plaintext.
///
/// # Errors
/// Every reason for which kustomize would refuse the entry; `objects` is then unchanged, but
/// for inputs that cannot be read: what remains is generated all the same, so that the object is there.
#[allow(clippy::too_many_arguments)]
pub fn generate(
    kind: GeneratorKind,
    entry: &Node,
    options: Option<&Node>,
    read: &mut dyn FnMut(&Node) -> Result<FileId, Problem>,
    files: &Files,
    objects: &mut Vec<Object>,
    gaps: &mut Vec<Gap>,
    encrypted: &mut Vec<EncryptedInput>,
) -> Result<(), Vec<Problem>> {
    let settings = Settings::new(entry, options);
    let mut sources = Sources {
        kind,
        hashed: settings.hashed,
        read,
        files,
        gaps,
        encrypted,
        problems: Vec::new(),
        pairs: BTreeMap::new(),
    };
    sources.collect(entry);
    let Sources {
        pairs,
        mut problems,
        ..
    } = sources;
    let Some(name) =
        written(entry, "name").filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
    else {
        problems.push(refusal(
            entry.place,
            format!("a generated {} has no name", kind.name()),
        ));
        return Err(problems);
    };
    let node = settings.build(kind, entry, name, pairs);
    let mut object = Object::new(node, entry.place);
    object.generated = true;
    object.needs_hash = settings.hashed;
    let behavior = match written_text(entry, "behavior") {
        "merge" => Behavior::Merge,
        "replace" => Behavior::Replace,
        _ => Behavior::Create,
    };
    if let Err(problem) = place_object(object, behavior, entry, name.place, objects) {
        problems.push(problem);
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// Options of an entry and of the file, put together.
struct Settings {
    hashed: bool,
    immutable: Option<Place>,
    labels: BTreeMap<SmolStr, Entry>,
    annotations: BTreeMap<SmolStr, Entry>,
}

impl Settings {
    /// A flag that is true in either is true; of labels and annotations the entry's own win
    /// (upstream: `types.MergeGlobalOptionsIntoLocal`).
    fn new(entry: &Node, global: Option<&Node>) -> Self {
        let all: Vec<&Node> = global
            .into_iter()
            .chain(written(entry, "options"))
            .collect();
        let flag = |key| {
            all.iter()
                .find(|options| written_bool(options, key))
                .and_then(|options| written(options, key))
                .map(|value| value.place)
        };
        let map = |key| {
            all.iter()
                .filter_map(|options| written(options, key))
                .flat_map(|map| map.pairs())
                .map(|pair| (key_text(&pair.key), pair.clone()))
                .collect()
        };
        Self {
            hashed: flag("disableNameSuffixHash").is_none(),
            immutable: flag("immutable"),
            labels: map("labels"),
            annotations: map("annotations"),
        }
    }

    fn build(
        &self,
        kind: GeneratorKind,
        entry: &Node,
        name: &Node,
        pairs: BTreeMap<SmolStr, sources::Pair>,
    ) -> Node {
        let here = entry.place;
        let mut metadata = Node::mapping(here, Vec::new());
        metadata.set("name", name.place, as_string(name));
        if let Some(namespace) =
            written(entry, "namespace").filter(|node| node.as_str().is_some_and(|s| !s.is_empty()))
        {
            metadata.set("namespace", namespace.place, as_string(namespace));
        }
        for (field, map) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if !map.is_empty() {
                metadata.set(field, here, string_map(here, map));
            }
        }
        let mut object = Node::mapping(here, Vec::new());
        object.set("apiVersion", here, Node::plain(here, "v1"));
        object.set("kind", here, Node::plain(here, kind.name()));
        object.set("metadata", here, metadata);
        if kind == GeneratorKind::Secret {
            let written = written(entry, "type")
                .filter(|node| !written_text(entry, "type").is_empty() && !node.is_null());
            let secret_type = match written {
                Some(node) => as_string(node),
                None => Node::string(here, "Opaque"),
            };
            object.set("type", secret_type.place, secret_type);
            object.set("data", here, Node::mapping(here, Vec::new()));
        }
        for (key, pair) in pairs {
            let (field, text) = pair.encode(kind);
            if object.get(field).is_none() {
                object.set(field, here, Node::mapping(here, Vec::new()));
            }
            if let Some(data) = object.get_mut(field).and_then(Node::mapping_mut) {
                data.entries.push(Entry {
                    key: Node::string(pair.place, key),
                    value: Node::string(pair.place, text),
                });
            }
        }
        if let Some(place) = self.immutable {
            object.set("immutable", place, Node::plain(place, "true"));
        }
        object
    }
}

fn key_text(key: &Node) -> SmolStr {
    key.as_str().unwrap_or_default().into()
}

fn as_string(node: &Node) -> Node {
    Node::string(node.place, node.as_str().unwrap_or_default())
}

fn string_map(place: Place, map: &BTreeMap<SmolStr, Entry>) -> Node {
    let entries = map
        .values()
        .map(|pair| Entry {
            key: pair.key.clone(),
            value: as_string(&pair.value),
        })
        .collect();
    Node::mapping(place, entries)
}

/// Adds a generated object, or merges it with the one that has or had its identity.
fn place_object(
    mut object: Object,
    behavior: Behavior,
    entry: &Node,
    name: Place,
    objects: &mut Vec<Object>,
) -> Result<(), Problem> {
    let id = object.id();
    let matches: Vec<usize> = objects
        .iter()
        .enumerate()
        .filter(|(_, other)| other.node.str_at(&["kind"]) == Some(&id.kind))
        .filter(|(_, other)| all_ids(other).iter().any(|known| same_identity(known, &id)))
        .map(|(index, _)| index)
        .collect();
    match (matches.as_slice(), behavior) {
        ([], Behavior::Create) => {
            objects.push(object);
            Ok(())
        }
        ([], _) => {
            let behavior = written(entry, "behavior").map_or(name, |node| node.place);
            Err(Problem {
                related: vec![(name, "the generated object is named here".to_owned())],
                ..refusal(
                    behavior,
                    format!("{id} is not there, so nothing can be merged into it or replaced"),
                )
            })
        }
        ([index], Behavior::Create) => Err(Problem {
            kind: ProblemKind::DuplicateObject,
            related: vec![(objects[*index].name_place(), "it is here".to_owned())],
            help: Some("set behavior to merge or replace, or give it another name".to_owned()),
            ..refusal(name, format!("{id} is there already"))
        }),
        ([index], behavior) => {
            let old = &objects[*index];
            take_over(&mut object, old, behavior);
            objects[*index] = object;
            Ok(())
        }
        (several, _) => Err(Problem {
            related: several
                .iter()
                .map(|index| (objects[*index].name_place(), "one is here".to_owned()))
                .collect(),
            ..refusal(
                name,
                format!("several objects have or had the identity {id}"),
            )
        }),
    }
}

/// What a generated object takes from the one in whose place it stands: name, namespace, history,
/// labels and annotations that it lacks, with `merge` also data. Everything else of `old` is lost.
fn take_over(object: &mut Object, old: &Object, behavior: Behavior) {
    let metadata_place = object.node.place;
    for field in ["labels", "annotations"] {
        let merged = merged_strings(&old.node, &object.node, &["metadata", field]);
        if let (false, Some(metadata)) = (merged.is_empty(), object.node.get_mut("metadata")) {
            metadata.set(field, metadata_place, string_map(metadata_place, &merged));
        }
    }
    if let Some(metadata) = object.node.get_mut("metadata") {
        if let Some(name) = old.node.at(&["metadata", "name"]) {
            metadata.set("name", name.place, name.clone());
        }
        match old.node.at(&["metadata", "namespace"]) {
            Some(namespace) if namespace.as_str().is_some_and(|text| !text.is_empty()) => {
                metadata.set("namespace", namespace.place, namespace.clone());
            }
            _ => {
                metadata.remove("namespace");
            }
        }
    }
    if behavior == Behavior::Merge {
        for field in ["data", "binaryData"] {
            let mut merged = merged_strings(&old.node, &object.node, &[field]);
            if let Some(data) = old.node.get(field) {
                // In data, unlike in metadata, null is the empty string.
                for pair in data.pairs().into_iter().filter(|pair| pair.value.is_null()) {
                    let found = merged.get_mut(&key_text(&pair.key));
                    if let Some(found) = found.filter(|found| found.value.place == pair.value.place)
                    {
                        found.value = Node::string(pair.value.place, "");
                    }
                }
            }
            object.node.remove(field);
            if !merged.is_empty() {
                object
                    .node
                    .set(field, metadata_place, string_map(metadata_place, &merged));
            }
        }
    }
    object.needs_hash &= old.needs_hash;
    object.origin = old.origin;
    object.route.clone_from(&old.route);
    object.previous.clone_from(&old.previous);
    object.prefixes.clone_from(&old.prefixes);
    object.suffixes.clone_from(&old.suffixes);
}

/// The pairs of both maps, those of `new` winning; every value becomes the string that is written.
fn merged_strings(old: &Node, new: &Node, path: &[&str]) -> BTreeMap<SmolStr, Entry> {
    [old, new]
        .into_iter()
        .filter_map(|node| node.at(path))
        .flat_map(Node::pairs)
        .map(|pair| {
            let value = as_text(&pair.value);
            let key = pair.key.clone();
            (key_text(&pair.key), Entry { key, value })
        })
        .collect()
}

#[cfg(test)]
mod tests;
