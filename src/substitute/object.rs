//! Substitution in a built object, each scalar in its place.
//!
//! Flux substitutes in the text of the whole object; here each scalar is taken by
//! itself, in the notation that it has in that text. The only difference: a reference
//! that is not closed in its own scalar, and by chance in a later one, is an error here.

use std::ops::Range;

use smol_str::SmolStr;

use super::contains_substitution;
use super::evaluate::{Lookup, Outcome, evaluate};
use super::grammar::{Reason, references};
use super::notation::{self, notation};
use crate::source::{Place, Span};
use crate::yaml::{Entry, Node, Scalar, Typed, Value, span_in_scalar};

/// A built object after substitution, and what was met on the way.
#[derive(Clone, Debug)]
pub struct Substitution {
    /// The object. A scalar that is unknown or refused stands as it was.
    pub node: Node,
    /// True if the object opts out; then nothing was done.
    pub disabled: bool,
    /// Every variable that is named.
    pub uses: Vec<VariableUse>,
    /// Why Flux refuses the object.
    pub faults: Vec<Fault>,
    /// Strings that are something else afterwards.
    pub retyped: Vec<Retyped>,
    /// Scalars and keys that depend on unknown variables.
    pub unknown: Vec<UnknownText>,
}

/// A variable named in a scalar or key of an object.
#[derive(Clone, Debug)]
pub struct VariableUse {
    /// The variable.
    pub name: SmolStr,
    /// What is known of it.
    pub state: State,
    /// True if the reference has a default, which then stands for an unset or empty value.
    pub has_default: bool,
    /// True if the scalar is this reference and nothing else.
    pub whole: bool,
    /// True if it stands inside another reference.
    pub nested: bool,
    /// True if the scalar is a key.
    pub in_key: bool,
    /// The keys that lead to the scalar (of a key: to its map); list items by their number.
    pub path: Vec<SmolStr>,
    /// The scalar before substitution, with its place.
    pub scalar: Node,
    /// The bytes of the scalar's text from `$` to behind `}`.
    pub range: Range<usize>,
}

/// What is known of a variable that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a value.
    Set,
    /// It is set, to nothing.
    Empty,
    /// Nothing sets it.
    Unset,
    /// It may come from outside the tree.
    Unknown,
}

/// Why Flux refuses an object, and with it the whole Kustomization.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which kind.
    pub kind: FaultKind,
    /// The keys that lead to the scalar.
    pub path: Vec<SmolStr>,
    /// The scalar before substitution, with its place.
    pub scalar: Node,
    /// The bytes of the scalar's text that are at fault.
    pub range: Range<usize>,
    /// What is wrong; lower case, no full stop.
    pub message: String,
}

/// The kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The grammar rejects the text.
    Grammar,
    /// A variable is not set, and strict.
    Undefined,
    /// What stands there after substitution is no YAML, or breaks out of its place.
    Structure,
}

/// A string that is a number, boolean, null, list or map after substitution.
#[derive(Clone, Debug)]
pub struct Retyped {
    /// The keys that lead to it.
    pub path: Vec<SmolStr>,
    /// The scalar before.
    pub before: Node,
    /// What stands there after.
    pub after: Node,
    /// The variable, if the scalar was one reference and nothing else.
    pub variable: Option<SmolStr>,
}

/// A scalar or key that depends on a variable from outside the tree.
#[derive(Clone, Debug)]
pub struct UnknownText {
    /// The keys that lead to it (of a key: to its map).
    pub path: Vec<SmolStr>,
    /// The scalar, with its place.
    pub scalar: Node,
    /// True if it is a key.
    pub is_key: bool,
}

impl VariableUse {
    /// Where the reference is written, as exactly as the notation allows; `file_text` is
    /// the text of the file of the scalar's place.
    pub fn place(&self, file_text: &str) -> Place {
        place_in(&self.scalar, file_text, &self.range)
    }
}

impl Fault {
    /// Where the fault is written, as exactly as the notation allows; `file_text` is
    /// the text of the file of the scalar's place.
    pub fn place(&self, file_text: &str) -> Place {
        place_in(&self.scalar, file_text, &self.range)
    }
}

fn place_in(scalar: &Node, file_text: &str, range: &Range<usize>) -> Place {
    Place {
        file: scalar.place.file,
        span: span_in_scalar(scalar, file_text, Span::new(range.start, range.end)),
    }
}

/// True if the object has the label or annotation
/// `kustomize.toolkit.fluxcd.io/substitute: disabled`, in exactly that case.
pub fn is_disabled(node: &Node) -> bool {
    ["labels", "annotations"].iter().any(|field| {
        node.at(&["metadata", field, "kustomize.toolkit.fluxcd.io/substitute"])
            .and_then(Node::as_string)
            == Some("disabled")
    })
}

/// Substitutes in every key and scalar of a built object, as Flux does when there is
/// at least one variable (or `substituteStrategy: Always`).
///
/// With `strict` (Flux 2.9 and later) a variable that is not set and has no default is a
/// fault; without, it is empty. Either way it is among the uses as [`State::Unset`].
pub fn substitute_object<'v>(
    node: &Node,
    strict: bool,
    lookup: &dyn Fn(&str) -> Lookup<'v>,
) -> Substitution {
    let mut walk = Walk {
        strict,
        lookup,
        path: Vec::new(),
        result: Substitution {
            node: node.clone(),
            disabled: is_disabled(node),
            uses: Vec::new(),
            faults: Vec::new(),
            retyped: Vec::new(),
            unknown: Vec::new(),
        },
    };
    if !walk.result.disabled
        && let Some(changed) = walk.node(node)
    {
        walk.result.node = changed;
    }
    walk.result
}

struct Walk<'a, 'v> {
    strict: bool,
    lookup: &'a dyn Fn(&str) -> Lookup<'v>,
    path: Vec<SmolStr>,
    result: Substitution,
}

impl Walk<'_, '_> {
    /// The node after substitution, if anything in it changes.
    fn node(&mut self, node: &Node) -> Option<Node> {
        match &node.value {
            Value::Scalar(scalar) => self.scalar(node, scalar),
            Value::Sequence(items) => {
                let mut changed: Option<Vec<Node>> = None;
                for (index, item) in items.iter().enumerate() {
                    self.path.push(smol_str::format_smolstr!("{index}"));
                    if let Some(new) = self.node(item) {
                        changed.get_or_insert_with(|| items.to_vec())[index] = new;
                    }
                    self.path.pop();
                }
                changed.map(|items| Node::sequence(node.place, items))
            }
            Value::Mapping(mapping) => {
                let mut changed: Option<Vec<Entry>> = None;
                let pairs = mapping.resolved();
                for (index, entry) in pairs.iter().enumerate() {
                    let key = self.key(&entry.key);
                    self.path
                        .push(entry.key.as_str().map(SmolStr::new).unwrap_or_default());
                    let value = self.node(&entry.value);
                    self.path.pop();
                    if key.is_none() && value.is_none() {
                        continue;
                    }
                    let entries = changed.get_or_insert_with(|| {
                        pairs.iter().map(|entry| (*entry).clone()).collect()
                    });
                    if let Some(key) = key {
                        entries[index].key = key;
                    }
                    if let Some(value) = value {
                        entries[index].value = value;
                    }
                }
                changed.map(|entries| Node::mapping(node.place, entries))
            }
        }
    }

    fn key(&mut self, key: &Node) -> Option<Node> {
        let text = key.as_str().filter(|text| contains_substitution(text))?;
        let notation = notation(text);
        let body = self.evaluated(key, text, notation, true)?;
        match notation::read_key(text, &body, notation, key.place) {
            Ok(new) => Some(Node::string(key.place, new)),
            Err(reason) => {
                self.structure_fault(key, text, &reason);
                None
            }
        }
    }

    fn scalar(&mut self, node: &Node, scalar: &Scalar) -> Option<Node> {
        let text = scalar.text.as_str();
        if !contains_substitution(text) {
            return None;
        }
        let notation = notation(text);
        let body = self.evaluated(node, text, notation, false)?;
        let after = match notation::read_value(text, &body, notation, node.place) {
            Ok(after) => after,
            Err(reason) => {
                self.structure_fault(node, text, &reason);
                return None;
            }
        };
        match &after.value {
            // A string keeps its own notation, which tells where its parts are written.
            Value::Scalar(new) if new.typed() == Typed::String => {
                let kept = Scalar {
                    text: new.text.clone(),
                    style: scalar.style,
                    tag: scalar.tag,
                };
                let value = if kept.typed() == Typed::String {
                    kept
                } else {
                    Scalar::string(new.text.clone())
                };
                Some(Node {
                    place: node.place,
                    value: Value::Scalar(value),
                })
            }
            _ => {
                let variable = self
                    .result
                    .uses
                    .iter()
                    .rev()
                    .take_while(|used| used.path == self.path && !used.in_key)
                    .find(|used| used.whole)
                    .map(|used| used.name.clone());
                self.result.retyped.push(Retyped {
                    path: self.path.clone(),
                    before: node.clone(),
                    after: after.clone(),
                    variable,
                });
                Some(after)
            }
        }
    }

    /// What stands inside the notation after substitution; notes uses, faults and unknowns.
    fn evaluated(
        &mut self,
        node: &Node,
        text: &str,
        notation: notation::Notation,
        in_key: bool,
    ) -> Option<String> {
        let found = references(text);
        for reference in found.iter().flatten() {
            self.result.uses.push(VariableUse {
                name: reference.name.clone(),
                state: match (self.lookup)(&reference.name) {
                    Lookup::Value("") => State::Empty,
                    Lookup::Value(_) => State::Set,
                    Lookup::Unset => State::Unset,
                    Lookup::Unknown => State::Unknown,
                },
                has_default: reference.has_default,
                whole: reference.whole,
                nested: reference.nested,
                in_key,
                path: self.path.clone(),
                scalar: node.clone(),
                range: reference.range.clone(),
            });
        }
        match evaluate(&notation::write(text, notation), self.strict, self.lookup) {
            Outcome::Text(body) => Some(body),
            Outcome::Unknown => {
                self.result.unknown.push(UnknownText {
                    path: self.path.clone(),
                    scalar: node.clone(),
                    is_key: in_key,
                });
                None
            }
            Outcome::Error(error) => {
                let range = self.error_range(text, notation, &error.range, found.as_ref().err());
                self.result.faults.push(Fault {
                    kind: match error.reason {
                        Reason::NotSet => FaultKind::Undefined,
                        Reason::CutsCharacter => FaultKind::Structure,
                        _ => FaultKind::Grammar,
                    },
                    path: self.path.clone(),
                    scalar: node.clone(),
                    range,
                    message: error.message,
                });
                None
            }
        }
    }

    /// The bytes of the scalar's own text for an error in its printed form.
    fn error_range(
        &self,
        text: &str,
        notation: notation::Notation,
        printed: &Range<usize>,
        own_error: Option<&super::SubstitutionError>,
    ) -> Range<usize> {
        match own_error {
            Some(own) => own.range.clone(),
            None if notation == notation::Notation::Plain => printed.clone(),
            None => self
                .result
                .uses
                .iter()
                .rev()
                .take_while(|used| used.path == self.path)
                .filter(|used| used.state == State::Unset && !used.has_default)
                .last()
                .map_or(0..text.len(), |used| used.range.clone()),
        }
    }

    fn structure_fault(&mut self, node: &Node, text: &str, reason: &str) {
        self.result.faults.push(Fault {
            kind: FaultKind::Structure,
            path: self.path.clone(),
            scalar: node.clone(),
            range: 0..text.len(),
            message: format!("what `{text}` becomes cannot be read back: {reason}"),
        });
    }
}
