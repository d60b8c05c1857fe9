//! The fields that configure kustomize itself: configurations, CRD definitions, generators,
//! transformers and validators given as files, vars. What is not evaluated is a gap.
//!
//! Upstream: api `target.configureExternalGenerators`, `plugins/loader`, `accumulator.LoadConfigFromCRDs`.

use super::document::{self, Documents};
use super::file::KustomizationFile;
use super::level::{Level, Scope};
use super::location::{Location, Wanted, locate};
use super::references;
use super::transform::refusal;
use super::{GapEffect, Problem, ProblemKind};
use crate::source::{FileId, Place};
use crate::tree::Files;
use crate::yaml::{Node, parse_embedded};

/// The first document of a file that is no list of resources; an empty list if it has none.
pub(super) fn first_document(files: &Files, file: FileId) -> Result<Node, Problem> {
    let yaml = files.yaml(file);
    if let Some(error) = &yaml.error {
        return Err(Problem {
            kind: ProblemKind::InvalidYaml,
            ..refusal(error.place, format!("no YAML: {}", error.message))
        });
    }
    let first = yaml.documents.first().map(|document| document.root.clone());
    Ok(first.unwrap_or_else(|| Node::sequence(Place::file_start(file), Vec::new())))
}

/// The file that an entry names; what cannot be read is noted.
fn file_of(scope: &Scope<'_>, level: &mut Level, entry: &Node, what: &str) -> Option<FileId> {
    match locate(scope.tree, scope.directory, entry, Wanted::File) {
        Ok(Location::File(file)) => {
            level.files.insert(file);
            Some(file)
        }
        Ok(_) => {
            let address = entry.as_str().unwrap_or_default();
            level.gap(
                entry.place,
                GapEffect::Identities,
                format!("remote {what} {address}"),
            );
            None
        }
        Err(problem) => {
            level.problems.push(problem);
            None
        }
    }
}

/// `configurations`, `crds` and `openapi`.
pub(super) fn configurations(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    for entry in file.items("configurations") {
        let Some(found) = file_of(scope, level, entry, "configuration") else {
            continue;
        };
        match first_document(scope.files, found) {
            Ok(configuration) => configuration_of(level, entry, &configuration),
            Err(problem) => level.problems.push(problem),
        }
    }
    for entry in file.items("crds") {
        let Some(found) = file_of(scope, level, entry, "definitions") else {
            continue;
        };
        match first_document(scope.files, found) {
            Ok(definitions) => crd_definitions(level, entry, &definitions),
            Err(problem) => level.problems.push(problem),
        }
    }
    if let Some(openapi) = file
        .field("openapi")
        .filter(|field| !field.pairs().is_empty())
    {
        level.gap(openapi.place, GapEffect::Content, "openapi");
        if let Some(path) = openapi.get("path") {
            file_of(scope, level, path, "schema");
        }
    }
}

fn configuration_of(level: &mut Level, entry: &Node, configuration: &Node) {
    level
        .name_references
        .extend(references::from_configuration(configuration));
    for pair in configuration.pairs() {
        let name = pair.key.as_str().unwrap_or_default();
        if pair.value.items().is_empty() || name.eq_ignore_ascii_case("nameReference") {
            continue;
        }
        let names = ["namePrefix", "nameSuffix", "namespace"];
        let effect = if names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
            GapEffect::Identities
        } else {
            GapEffect::Content
        };
        level.gap(entry.place, effect, format!("configuration of {name}"));
    }
}

/// `crds` takes OpenAPI definitions by name; a CustomResourceDefinition is none.
fn crd_definitions(level: &mut Level, entry: &Node, definitions: &Node) {
    let fits = definitions
        .pairs()
        .iter()
        .all(|pair| pair.value.as_mapping().is_some() || pair.value.is_null());
    if definitions.as_mapping().is_some() && fits {
        return level.gap(entry.place, GapEffect::Content, "crds");
    }
    if definitions.items().is_empty() && definitions.as_scalar().is_none() && fits {
        return;
    }
    let shown = entry.as_str().unwrap_or_default();
    level.problems.push(Problem {
        related: vec![(definitions.place, "the file".to_owned())],
        help: Some("list a CustomResourceDefinition under `resources`".to_owned()),
        ..refusal(
            entry.place,
            format!("`{shown}` holds no OpenAPI definitions, which `crds` takes"),
        )
    });
}

/// `helmCharts`, which Flux never renders, and generators given as files.
pub(super) fn generators(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    if let Some(charts) = file
        .field("helmCharts")
        .filter(|charts| !charts.items().is_empty())
    {
        level.problems.push(Problem {
            help: Some("write a HelmRelease".to_owned()),
            ..refusal(
                charts.place,
                "helmCharts are not rendered by Flux: the build fails",
            )
        });
    }
    for entry in file.items("generators") {
        for plugin in plugins(scope, level, entry) {
            refuse_external(level, &plugin, |_| GapEffect::Identities);
        }
    }
}

/// Transformers given as files.
pub(super) fn transformers(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    for entry in file.items("transformers") {
        for plugin in plugins(scope, level, entry) {
            refuse_external(level, &plugin, |kind| match kind {
                "LabelTransformer"
                | "AnnotationsTransformer"
                | "ImageTagTransformer"
                | "ReplicaCountTransformer" => GapEffect::Content,
                _ => GapEffect::Identities,
            });
        }
    }
}

/// Validators, and `vars`.
pub(super) fn leftovers(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    for entry in file.items("validators") {
        for plugin in plugins(scope, level, entry) {
            refuse_external(level, &plugin, |_| GapEffect::Content);
        }
    }
    if let Some(vars) = file.field("vars").filter(|vars| !vars.items().is_empty()) {
        level.gap(vars.place, GapEffect::Content, "vars");
    }
}

/// The objects that configure plugins: written in the entry, or in a file or directory.
fn plugins(scope: &Scope<'_>, level: &mut Level, entry: &Node) -> Vec<Node> {
    let yaml = parse_embedded(entry, scope.files.text(entry.place.file));
    let text = entry.as_scalar().map_or("", |scalar| scalar.text.as_str());
    let inline = document::read_yaml(&yaml, text, entry.place);
    if inline.problems.is_empty() {
        return inline.objects;
    }
    match locate(scope.tree, scope.directory, entry, Wanted::FileOrDirectory) {
        Ok(Location::File(file)) => {
            level.files.insert(file);
            let Documents { objects, problems } = document::read(scope.files, file);
            level.problems.extend(problems);
            objects
        }
        Ok(_) => {
            let shown = entry.as_str().unwrap_or_default();
            level.gap(
                entry.place,
                GapEffect::Identities,
                format!("plugins in {shown}"),
            );
            Vec::new()
        }
        Err(problem) => {
            level.problems.push(problem);
            Vec::new()
        }
    }
}

/// A plugin that is not built in fails in Flux; one that is built in is a gap.
fn refuse_external(level: &mut Level, plugin: &Node, effect: impl Fn(&str) -> GapEffect) {
    let kind = plugin.str_at(&["kind"]).unwrap_or_default();
    if plugin.str_at(&["apiVersion"]) == Some("builtin") {
        level.gap(plugin.place, effect(kind), format!("built-in {kind}"));
        return;
    }
    let place = plugin.get("kind").map_or(plugin.place, |kind| kind.place);
    level.problems.push(refusal(
        place,
        format!("{kind} is a plugin of kustomize, and Flux runs none: the build fails"),
    ));
}
