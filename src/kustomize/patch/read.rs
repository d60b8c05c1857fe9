//! What a patch's text is: a strategic merge, or JSON 6902.

use super::json;
use crate::kustomize::document::{self, Documents};
use crate::kustomize::level::{Level, Scope};
use crate::kustomize::location::{Location, Wanted, locate};
use crate::kustomize::{EncryptedInput, Gap, GapEffect, Problem, ProblemKind};
use crate::source::Place;
use crate::tree::Files;
use crate::yaml::{Node, YamlFile, parse_embedded};

/// Where a patch's text stands.
#[derive(Clone, Copy)]
pub(super) enum Source<'n> {
    /// In the entry.
    Inline(&'n Node),
    /// In a file.
    Path(&'n Node),
}

impl<'n> Source<'n> {
    /// The scalar that holds the text or the path.
    pub(super) fn node(self) -> &'n Node {
        match self {
            Self::Inline(node) | Self::Path(node) => node,
        }
    }
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// `patches`.
    Either,
    /// `patchesStrategicMerge`.
    Merge,
    /// `patchesJson6902`.
    Json,
}

/// What a patch does.
pub(super) enum Content {
    /// Nothing: it holds only comments.
    Nothing,
    /// Merges these documents.
    Merge(Vec<Node>),
    /// Does these operations.
    Json(Vec<json::Operation>),
}

/// Why there is no content.
pub(super) enum Failure {
    /// kustomize refuses it.
    Refused(Vec<Problem>),
    /// It is not in the tree.
    Unknown(String),
}

/// Reads a patch. Files that are read, and encrypted ones, are noted in `level`.
pub(super) fn read(
    scope: &Scope<'_>,
    level: &mut Level,
    source: Source<'_>,
    expected: Expected,
) -> Result<Content, Failure> {
    match source {
        Source::Inline(node) => {
            let yaml = parse_embedded(node, scope.files.text(node.place.file));
            let text = node
                .as_scalar()
                .map_or("", |scalar| scalar.text.trim_start());
            classify(&yaml, text, node.place, expected)
        }
        Source::Path(node) => {
            let location = locate(scope.tree, scope.directory, node, Wanted::File)
                .map_err(|problem| Failure::Refused(vec![problem]))?;
            let file = match location {
                Location::File(file) => file,
                Location::Submodule(at) => return Err(Failure::Unknown(format!("submodule {at}"))),
                Location::Remote | Location::Directory(_) => {
                    let address = node.as_str().unwrap_or_default();
                    return Err(Failure::Unknown(format!("remote patch {address}")));
                }
            };
            level.files.insert(file);
            let start = Place::file_start(file);
            let content = classify(
                scope.files.yaml(file),
                scope.files.text(file),
                start,
                expected,
            )?;
            Ok(without_encryption(content, level, node, expected))
        }
    }
}

/// The documents of a patch that stands in an entry of `patchesStrategicMerge`; `None` if the entry is a path.
pub(super) fn inline_merge(files: &Files, entry: &Node) -> Option<Vec<Node>> {
    let yaml = parse_embedded(entry, files.text(entry.place.file));
    let text = entry.as_scalar()?.text.as_str();
    let documents = document::read_yaml(&yaml, text, entry.place);
    documents.problems.is_empty().then_some(documents.objects)
}

fn classify(
    yaml: &YamlFile,
    text: &str,
    start: Place,
    expected: Expected,
) -> Result<Content, Failure> {
    let documents = match expected {
        Expected::Json => None,
        _ => Some(document::read_yaml(yaml, text, start)),
    };
    if let Some(documents) = &documents
        && documents.problems.is_empty()
    {
        return Ok(if documents.objects.is_empty() {
            Content::Nothing
        } else {
            Content::Merge(documents.objects.clone())
        });
    }
    if expected == Expected::Merge {
        return Err(refuse_merge(documents));
    }
    let first = yaml.documents.first().map(|document| &document.root);
    let Some(first) = first else {
        return match &yaml.error {
            Some(error) => Err(Failure::Refused(vec![problem(
                ProblemKind::InvalidYaml,
                error.place,
                format!("the patch is no YAML: {}", error.message),
            )])),
            None => Ok(Content::Nothing),
        };
    };
    if first.is_null() && expected == Expected::Json {
        return Ok(Content::Nothing);
    }
    if first.as_sequence().is_none() && documents.is_some() {
        return Err(refuse_merge(documents));
    }
    if text.starts_with('[')
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
    {
        return Err(Failure::Refused(vec![problem(
            ProblemKind::Other,
            first.place,
            format!("the patch starts with `[`, so it is read as JSON, and it is none: {error}"),
        )]));
    }
    json::read(first).map(Content::Json).map_err(|error| {
        Failure::Refused(vec![problem(
            ProblemKind::Other,
            error.place,
            error.message,
        )])
    })
}

fn refuse_merge(documents: Option<Documents>) -> Failure {
    let problems = documents.map(|documents| documents.problems);
    Failure::Refused(
        problems
            .unwrap_or_default()
            .into_iter()
            .map(|problem| match problem.kind {
                ProblemKind::NotAManifest => Problem {
                    kind: ProblemKind::Other,
                    message: format!("the patch is neither a merge nor a JSON patch: {}", problem.message),
                    help: Some(
                        "a merge patch has kind and metadata.name, even when a target selects the objects"
                            .to_owned(),
                    ),
                    ..problem
                },
                _ => problem,
            })
            .collect(),
    )
}

fn problem(kind: ProblemKind, place: Place, message: String) -> Problem {
    Problem {
        kind,
        place,
        message,
        related: Vec::new(),
        help: None,
    }
}

/// Notes an encrypted patch file and takes the encryption's own field out of it.
fn without_encryption(
    content: Content,
    level: &mut Level,
    listed: &Node,
    expected: Expected,
) -> Content {
    let Content::Merge(mut patches) = content else {
        return content;
    };
    for patch in &mut patches {
        if patch.at(&["sops", "mac"]).is_none() {
            continue;
        }
        level.encrypted_inputs.push(EncryptedInput {
            file: patch.place.file,
            listed: listed.place,
            decrypted_by_flux: expected == Expected::Either,
        });
        level.gaps.push(Gap {
            place: listed.place,
            cause: format!("encrypted patch {}", listed.as_str().unwrap_or_default()),
            effect: GapEffect::Content,
        });
        if expected == Expected::Either {
            patch.remove("sops");
        }
    }
    Content::Merge(patches)
}
