//! The generators of a kustomization file, with what is not in the tree left out.

use super::file::KustomizationFile;
use super::generators::{self, GeneratorKind};
use super::level::{Level, Scope};
use super::location::{Location, Wanted, locate};
use super::transform::refusal;
use super::{GapEffect, ProblemKind, plugins};
use crate::yaml::Node;

/// Runs `configMapGenerator`, then `secretGenerator`, then generators given as files.
pub(super) fn generate(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    let options = file.field("generatorOptions");
    for (field, kind) in [
        ("configMapGenerator", GeneratorKind::ConfigMap),
        ("secretGenerator", GeneratorKind::Secret),
    ] {
        for entry in file.items(field) {
            generate_one(scope, level, kind, entry, options);
        }
    }
    plugins::generators(scope, level, file);
}

fn generate_one(
    scope: &Scope<'_>,
    level: &mut Level,
    kind: GeneratorKind,
    entry: &Node,
    options: Option<&Node>,
) {
    let uncertain = level.is_uncertain();
    let entry = without_unknown_inputs(scope, level, entry, options);
    let mut read_files = Vec::new();
    let mut read = |path: &Node| match locate(scope.tree, scope.directory, path, Wanted::File)? {
        Location::File(file) => {
            read_files.push(file);
            Ok(file)
        }
        _ => Err(refusal(
            path.place,
            format!("`{}` cannot be read", path.as_str().unwrap_or_default()),
        )),
    };
    let before = level.objects.len();
    let made = generators::generate(
        kind,
        &entry,
        options,
        &mut read,
        scope.files,
        &mut level.objects,
        &mut level.gaps,
        &mut level.encrypted_inputs,
    );
    level.files.extend(read_files);
    for object in level.objects.iter_mut().skip(before) {
        object.route = scope.route_to(&entry);
    }
    if let Err(problems) = made {
        let merges = matches!(entry.str_at(&["behavior"]), Some("merge" | "replace"));
        for problem in problems {
            if uncertain && merges && problem.kind == ProblemKind::Other {
                level.gap(
                    entry.place,
                    GapEffect::Content,
                    "a generator that merges into what is unknown",
                );
            } else {
                level.problems.push(problem);
            }
        }
    }
}

/// The generator without inputs that are not in the tree; they are noted as gaps.
fn without_unknown_inputs(
    scope: &Scope<'_>,
    level: &mut Level,
    entry: &Node,
    options: Option<&Node>,
) -> Node {
    let hashless = [entry.get("options"), options]
        .into_iter()
        .flatten()
        .any(|options| {
            options
                .get("disableNameSuffixHash")
                .and_then(Node::as_bool)
                .unwrap_or(false)
        });
    let effect = if hashless {
        GapEffect::Content
    } else {
        GapEffect::Identities
    };
    let mut entry = entry.clone();
    for field in ["files", "envs", "env"] {
        let Some(list) = entry.get(field) else {
            continue;
        };
        let items = match list.as_sequence() {
            Some(items) => items.to_vec(),
            None => vec![list.clone()],
        };
        let is_known = |item: &Node| {
            let text = item.as_str().unwrap_or_default();
            let path = match (field, text.split_once('=')) {
                ("files", Some((_, path))) => Node::string(item.place, path),
                _ => item.clone(),
            };
            !matches!(
                locate(scope.tree, scope.directory, &path, Wanted::File),
                Ok(Location::Remote | Location::Submodule(_))
            )
        };
        let (known, unknown): (Vec<Node>, Vec<Node>) = items.into_iter().partition(is_known);
        if unknown.is_empty() {
            continue;
        }
        for item in &unknown {
            let text = item.as_str().unwrap_or_default();
            level.gap(item.place, effect, format!("remote input {text}"));
        }
        let place = list.place;
        if list.as_sequence().is_some() {
            entry.set(field, place, Node::sequence(place, known));
        } else {
            entry.remove(field);
        }
    }
    entry
}
