//! The substitution of a Kustomization: its variables applied to all that it builds.

use super::kustomization::Spec;
use super::unknown::Unknowns;
use super::variables::Variables;
use crate::kustomize::{Build, Gap, GapEffect, Problem, duplicates};
use crate::source::Place;
use crate::substitute::{Fault, Lookup, Retyped, VariableUse, substitute_object};
use crate::yaml::Node;

/// What substitution did in a Kustomization.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// True if Flux substitutes here: `postBuild` is set, and there is a variable or the strategy `Always`.
    pub ran: bool,
    /// The variables.
    pub variables: Variables,
    /// Every variable that is named, with the index of the object among those built.
    pub uses: Vec<(usize, VariableUse)>,
    /// Why Flux refuses an object, with its index.
    pub faults: Vec<(usize, Fault)>,
    /// Strings that are something else afterwards, with the index of the object.
    pub retyped: Vec<(usize, Retyped)>,
    /// True if some object went through substitution.
    pub touched: bool,
}

impl Substitution {
    /// True if Flux refuses to substitute, and so applies nothing of the Kustomization.
    pub fn fails(&self) -> bool {
        !self.faults.is_empty() || self.touched && !self.variables.invalid_names.is_empty()
    }
}

/// What a Kustomization builds, after substitution.
pub(super) struct Substituted {
    /// The build; its objects as Flux applies them.
    pub(super) build: Build,
    /// What was done.
    pub(super) substitution: Substitution,
    /// The values that cannot be known.
    pub(super) unknowns: Unknowns,
}

/// Substitutes in what a Kustomization builds, and marks what cannot be known.
pub(super) fn run(
    node: &Node,
    spec: &Spec,
    mut build: Build,
    variables: Variables,
    strict: bool,
    is_external: &(dyn Fn(&str) -> bool + Sync),
) -> Substituted {
    let ran = spec.post_build && (!variables.is_empty() || spec.substitute_always);
    let mut result = Substitution {
        ran,
        variables,
        ..Substitution::default()
    };
    let mut unknowns = Unknowns::default();
    if ran {
        let lookup = |name: &str| match result.variables.lookup(name) {
            Lookup::Unset if is_external(name) => Lookup::Unknown,
            found => found,
        };
        for (index, object) in build.objects.iter_mut().enumerate() {
            let done = substitute_object(&object.node, strict, &lookup);
            result.touched |= !done.disabled;
            for unknown in &done.unknown {
                unknowns.insert(unknown.scalar.place);
                if names_the_object(&unknown.path) {
                    build.gaps.push(Gap {
                        place: unknown.scalar.place,
                        cause: "a variable from outside the tree in the identity of an object"
                            .to_owned(),
                        effect: GapEffect::Identities,
                    });
                }
            }
            result
                .uses
                .extend(done.uses.into_iter().map(|found| (index, found)));
            result
                .faults
                .extend(done.faults.into_iter().map(|found| (index, found)));
            result
                .retyped
                .extend(done.retyped.into_iter().map(|found| (index, found)));
            object.node = done.node;
        }
        if build.problems.is_empty() {
            build.problems = duplicates(&build.objects);
            point_at_variables(&mut build.problems, &result.uses);
        }
    }
    add_common_metadata(node, &mut build);
    Substituted {
        build,
        substitution: result,
        unknowns,
    }
}

/// Of two objects that substitution made one, the one whose name holds the variable is at fault.
fn point_at_variables(problems: &mut [Problem], uses: &[(usize, VariableUse)]) {
    let is_substituted = |place: Place| {
        uses.iter()
            .any(|(_, used)| used.scalar.place == place && names_the_object(&used.path))
    };
    for problem in problems {
        if let Some((other, _)) = problem.related.first_mut()
            && is_substituted(*other)
            && !is_substituted(problem.place)
        {
            std::mem::swap(other, &mut problem.place);
        }
    }
}

/// Sets `spec.commonMetadata` on every object, after all else (upstream: kustomize-controller
/// `kustomization_controller.go`, `ssautil.SetCommonMetadata`).
fn add_common_metadata(node: &Node, build: &mut Build) {
    let Some(common) = node.at(&["spec", "commonMetadata"]) else {
        return;
    };
    for field in ["labels", "annotations"] {
        for pair in common.get(field).map(Node::pairs).unwrap_or_default() {
            let Some(key) = pair.key.as_str() else {
                continue;
            };
            for object in &mut build.objects {
                let Some(metadata) = object.node.get_mut("metadata") else {
                    continue;
                };
                if metadata.get(field).and_then(Node::as_mapping).is_none() {
                    let place = common.place;
                    metadata.set(field, place, Node::mapping(place, Vec::new()));
                }
                if let Some(map) = metadata.get_mut(field) {
                    map.set(key, pair.key.place, pair.value.clone());
                }
            }
        }
    }
}

/// True for the fields that name an object.
fn names_the_object(path: &[smol_str::SmolStr]) -> bool {
    let path: Vec<&str> = path.iter().map(|key| key.as_str()).collect();
    matches!(
        path.as_slice(),
        ["apiVersion"] | ["kind"] | ["metadata", "name" | "namespace"]
    )
}
