//! The variables of a Kustomization's `postBuild`, from the objects of its cluster.

use std::collections::BTreeMap;

use base64::Engine as _;
use smol_str::SmolStr;

use super::kustomization::{Spec, SubstituteFrom};
use super::unknown::Unknowns;
use crate::kustomize::Object;
use crate::sops::is_encrypted_value;
use crate::source::Place;
use crate::substitute::Lookup;
use crate::yaml::{Entry, Node};

/// What a Kustomization substitutes with.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    values: BTreeMap<SmolStr, Variable>,
    /// Sources whose keys are not in the tree: the place of the `substituteFrom` entry's name, and what it names.
    pub unknown_sources: Vec<(Place, String)>,
    /// Keys that are no valid variable names: the key's place, the key, and the entry that brings it.
    pub invalid_names: Vec<(Place, SmolStr, Place)>,
}

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The value; `None` if it cannot be known.
    pub value: Option<SmolStr>,
    /// Where its key is written.
    pub place: Place,
}

impl Variables {
    /// True if there is no variable at all, and no source that may bring one: Flux then substitutes nothing.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.unknown_sources.is_empty()
    }

    /// What `name` stands for.
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        match self.values.get(name) {
            Some(Variable {
                value: Some(value), ..
            }) => Lookup::Value(value),
            Some(_) => Lookup::Unknown,
            None if self.unknown_sources.is_empty() => Lookup::Unset,
            None => Lookup::Unknown,
        }
    }

    /// The variable of that name, if a source in the tree brings it.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.values.get(name)
    }

    /// All known variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Variable)> {
        self.values.iter()
    }

    fn insert(&mut self, name: &str, value: Option<SmolStr>, place: Place) {
        self.values.insert(name.into(), Variable { value, place });
    }

    /// A source that is not in the tree may bring any variable, and override those before it.
    fn add_unknown_source(&mut self, place: Place, what: String) {
        self.unknown_sources.push((place, what));
        for variable in self.values.values_mut() {
            variable.value = None;
        }
    }
}

/// What is known of a ConfigMap or Secret that an entry names.
pub(super) enum Source<'a> {
    /// The object, with the marks of its unknown values.
    Found(&'a Object, &'a Unknowns),
    /// Nothing in the cluster builds it.
    Absent,
    /// It may still be built.
    NotYet,
}

/// Gathers the variables (upstream: fluxcd/pkg `kustomize_varsub.go`): sources in
/// order, a later one wins, then `substitute`, which wins over all.
///
/// `Err` gives the first source that may still be built.
pub(super) fn gather<'s, 'a>(
    spec: &'s Spec,
    unknowns: &Unknowns,
    find: &dyn Fn(&SubstituteFrom) -> Source<'a>,
) -> Result<Variables, &'s SubstituteFrom> {
    let mut variables = Variables::default();
    for entry in &spec.substitute_from {
        let what = || format!("{} {}", entry.kind, entry.name);
        if entry.unknown {
            variables.add_unknown_source(entry.place, what());
            continue;
        }
        match find(entry) {
            Source::Found(object, marks) => add_source(&mut variables, entry, object, marks),
            Source::Absent => variables.add_unknown_source(entry.place, what()),
            Source::NotYet => return Err(entry),
        }
    }
    if let Some(substitute) = &spec.substitute {
        for pair in substitute.pairs() {
            let unknown = unknowns.contains(&pair.value) || unknowns.contains(&pair.key);
            let value = (!unknown).then(|| cleaned(pair.value.as_str().unwrap_or_default()));
            add(&mut variables, pair, value, pair.key.place);
        }
    }
    Ok(variables)
}

fn add_source(
    variables: &mut Variables,
    entry: &SubstituteFrom,
    object: &Object,
    unknowns: &Unknowns,
) {
    for (field, encoded) in [("data", entry.kind == "Secret"), ("stringData", false)] {
        let Some(data) = object.node.get(field) else {
            continue;
        };
        for pair in data.pairs() {
            let text = pair.value.as_str().unwrap_or_default();
            let value = if unknowns.contains(&pair.value) || is_encrypted_value(text) {
                None
            } else if encoded {
                base64::engine::general_purpose::STANDARD
                    .decode(text.trim())
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .map(|text| cleaned(&text))
            } else {
                Some(cleaned(text))
            };
            add(variables, pair, value, entry.place);
        }
    }
}

fn add(variables: &mut Variables, pair: &Entry, value: Option<SmolStr>, from: Place) {
    let name = key_text(&pair.key);
    if !crate::substitute::is_valid_name(name) {
        variables
            .invalid_names
            .push((pair.key.place, name.into(), from));
    }
    variables.insert(name, value, pair.key.place);
}

fn key_text(key: &Node) -> &str {
    key.as_scalar().map_or("", |scalar| scalar.text.as_str())
}

/// Flux takes line feeds out of every value.
fn cleaned(value: &str) -> SmolStr {
    if value.contains('\n') {
        value.replace('\n', "").into()
    } else {
        value.into()
    }
}
