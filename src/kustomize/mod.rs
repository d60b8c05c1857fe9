//! Directory → built objects, as kustomize and Flux build them.
//!
//! [`Kustomize::build`] gives objects whose every value knows where it is written,
//! the problems for which kustomize would refuse, and the gaps: what cannot be
//! known from the tree. A gap is never an error.

mod accumulate;
mod document;
mod fields;
pub mod fieldspec;
mod file;
mod finish;
mod flux;
mod generate;
pub mod generators;
pub mod hash;
mod identity;
mod level;
mod location;
mod object;
mod patch;
mod plugins;
mod printed;
pub mod references;
pub mod scope;
pub mod transform;
mod recognized;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

pub use location::meant;
pub use object::{Object, ObjectId};
pub use recognized::{KUSTOMIZATION_FILE_NAMES, kustomization_file};
pub use scope::is_cluster_scoped;

use file::{KustomizationFile, Reading, Strictness};
use level::{Level, Scope};

use crate::source::{FileId, Place};
use crate::tree::{Files, Tree};
use crate::yaml::Node;

/// The work that a build may do, counted as the objects that its components run over;
/// entering a directory counts as [`accumulate::DIRECTORY_COST`] of them, and what is copied
/// from a base as [`accumulate::COPY_COST`] each.
const MAX_OBJECTS_TAKEN: usize = 10_000_000;

/// Builds directories of one tree. What a base yields is kept for all who use it.
pub struct Kustomize<'a> {
    files: &'a Files,
    tree: &'a Tree,
    bases: Mutex<HashMap<String, Arc<Level>>>,
}

impl<'a> Kustomize<'a> {
    /// A builder for a tree.
    pub fn new(files: &'a Files, tree: &'a Tree) -> Self {
        Self {
            files,
            tree,
            bases: Mutex::default(),
        }
    }

    /// The tree whose directories it builds.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    fn cached(&self, directory: &str) -> Option<Arc<Level>> {
        let bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        bases.get(directory).cloned()
    }

    fn remember(&self, directory: &str, level: &Arc<Level>) {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        bases.insert(directory.to_owned(), level.clone());
    }

    /// An object after some patches (a list as in `patches`): what a FluxInstance's
    /// `spec.kustomize.patches` make of the Kustomization that it creates. Deleted: as it was.
    pub fn patch_object(&self, node: &Node, patches: &Node) -> Node {
        let budget = Cell::new(MAX_OBJECTS_TAKEN);
        let scope = Scope {
            kustomize: self,
            files: self.files,
            tree: self.tree,
            directory: "",
            component: false,
            route: &[],
            parent: None,
            budget: &budget,
        };
        let mut level = Level {
            objects: vec![Object::new(node.clone(), node.place)],
            ..Level::default()
        };
        patch::apply(&scope, &mut level, &[], patches.items());
        level
            .objects
            .pop()
            .map_or_else(|| node.clone(), |object| object.node)
    }

    /// Builds a directory: as kustomize does, or, with `options.flux`, as Flux builds a
    /// Kustomization with this path. The directory is written as in [`Tree`].
    pub fn build(&self, directory: &str, options: &BuildOptions) -> Build {
        let mut level = Level::default();
        let mut ignored_fields = Vec::new();
        let root = self.root(directory, options, &mut level, &mut ignored_fields);
        if let Some(root) = root {
            level.directories.push(Directory {
                path: directory.to_owned(),
                kustomization_file: root.file,
                component: root.component,
                entered_from: None,
            });
            let budget = Cell::new(MAX_OBJECTS_TAKEN);
            let scope = Scope {
                kustomize: self,
                files: self.files,
                tree: self.tree,
                directory,
                component: root.component,
                route: &[],
                parent: None,
                budget: &budget,
            };
            accumulate::accumulate(&scope, &root, &mut level);
            finish::finish(&mut level, &root, self.files);
            let doubtful = |file: &FileId| !self.files.yaml(*file).duplicate_keys.is_empty();
            if level.files.iter().any(doubtful) {
                let problems = finish::duplicate_keys(&level.objects);
                level.problems.extend(problems);
            }
        }
        Build {
            objects: level.objects,
            problems: distinct_problems(level.problems),
            gaps: distinct(level.gaps),
            files: level.files,
            directories: level.directories,
            patches: level.patches,
            renamed_namespaces: distinct_by(level.renamed_namespaces, |renamed| {
                (renamed.transformer, renamed.object)
            }),
            encrypted_inputs: distinct_by(level.encrypted_inputs, |input| {
                (input.file, input.listed)
            }),
            ignored_fields,
        }
    }

    /// The kustomization file of the root, with what Flux puts into it.
    fn root(
        &self,
        directory: &str,
        options: &BuildOptions,
        level: &mut Level,
        ignored_fields: &mut Vec<(Place, String)>,
    ) -> Option<KustomizationFile> {
        let place = options.asked_from.or_else(|| {
            let first = self.tree.files_below(directory).next();
            let any = first.or_else(|| self.tree.files().next());
            any.map(|(_, file)| Place::file_start(file))
        });
        let found = file::find(self.tree, directory);
        let mut root = match found.as_slice() {
            [first, second, ..] if !options.flux || !self.tree.is_directory(directory) => {
                level.problems.push(accumulate::two_files(*first, *second));
                return None;
            }
            [first, rest @ ..] => {
                if let [second, ..] = rest {
                    level.problems.push(accumulate::two_files(*first, *second));
                }
                let strictness = if options.flux {
                    Strictness::Lenient
                } else {
                    Strictness::Strict
                };
                let mut reading = Reading::default();
                let read = KustomizationFile::read(self.files, *first, strictness, &mut reading);
                level.files.insert(*first);
                level.problems.append(&mut reading.problems);
                ignored_fields.append(&mut reading.ignored);
                read?
            }
            [] if options.flux && self.tree.is_directory(directory) => {
                flux::generate(self.tree, directory, place?)
            }
            [] => {
                level
                    .problems
                    .push(missing_root(self.tree, directory, place?));
                return None;
            }
        };
        flux::insert(self.tree, directory, options, &mut root, level);
        Some(root)
    }
}

/// The problem of each object that has the identity of an earlier one, where names have changed
/// after the build: by substitution (upstream: kustomize-controller, `ResMap.Replace`).
pub fn duplicates(objects: &[Object]) -> Vec<Problem> {
    identity::duplicates(objects)
}

/// The fields that a kustomization file may have at its top level.
pub fn top_level_fields() -> impl Iterator<Item = &'static str> {
    fields::KUSTOMIZATION.iter().map(|(name, _)| *name)
}

fn missing_root(tree: &Tree, directory: &str, place: Place) -> Problem {
    let message = if tree.is_directory(directory) {
        format!("`{directory}` has no kustomization file")
    } else {
        format!("`{directory}` is no directory")
    };
    Problem {
        kind: ProblemKind::ResourceNotFound,
        place,
        message,
        related: Vec::new(),
        help: None,
    }
}

/// The items without repetitions, in their order.
fn distinct<T: Clone + Eq + std::hash::Hash>(items: Vec<T>) -> Vec<T> {
    distinct_by(items, T::clone)
}

fn distinct_by<T, K: Eq + std::hash::Hash>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert(key(item)))
        .collect()
}

fn distinct_problems(problems: Vec<Problem>) -> Vec<Problem> {
    distinct_by(problems, |problem| {
        (problem.kind, problem.place, problem.message.clone())
    })
}

/// What a directory yields.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// The objects in kustomize's order. With problems: what could be built all the same.
    pub objects: Vec<Object>,
    /// Why kustomize refuses; empty if it builds. kustomize stops at the first; here all that can be found stand.
    pub problems: Vec<Problem>,
    /// What cannot be known.
    pub gaps: Vec<Gap>,
    /// Every file that the build reads: kustomization files, resources, patches, generator inputs.
    pub files: BTreeSet<FileId>,
    /// The directories with a kustomization file (or generated) that the build enters, the root first.
    pub directories: Vec<Directory>,
    /// What each patch entry did.
    pub patches: Vec<PatchUse>,
    /// `namespace` fields (or Flux's `targetNamespace`) that renamed a Namespace object.
    pub renamed_namespaces: Vec<RenamedNamespace>,
    /// SOPS-encrypted files that generators or patches use.
    pub encrypted_inputs: Vec<EncryptedInput>,
    /// Fields of the root kustomization file that Flux drops silently: key place and key.
    pub ignored_fields: Vec<(Place, String)>,
}

/// A directory that a build enters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Its path.
    pub path: String,
    /// Its kustomization file; `None` where Flux generates one.
    pub kustomization_file: Option<FileId>,
    /// True if that file is a Component.
    pub component: bool,
    /// The entry (of `resources` or `components`) that led to it; `None` for the root.
    pub entered_from: Option<Place>,
}

/// Why kustomize or Flux refuses to build.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Which kind, for the rule that reports it.
    pub kind: ProblemKind,
    /// Where the fault is written.
    pub place: Place,
    /// What is wrong; lower case, no full stop.
    pub message: String,
    /// What proves it.
    pub related: Vec<(Place, String)>,
    /// How to mend it, where that is known.
    pub help: Option<String>,
}

/// The kinds of problem that have a rule of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A listed file or directory is missing.
    ResourceNotFound,
    /// A file does not parse.
    InvalidYaml,
    /// A resource has a key twice.
    DuplicateKey,
    /// One identity twice.
    DuplicateObject,
    /// A Flux Kustomization stands in a file that kustomize takes for its own.
    FluxObjectInKustomizationFile,
    /// A file that is no Kubernetes object.
    NotAManifest,
    /// Anything else.
    Other,
}

/// Something that cannot be known from the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gap {
    /// Where it is written.
    pub place: Place,
    /// What it is, in a few words: `remote resource https://…`, `variables`.
    pub cause: String,
    /// How much is unknown.
    pub effect: GapEffect,
}

/// What a gap leaves unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapEffect {
    /// Only values inside objects that are known to exist.
    Content,
    /// Which objects there are, or their names.
    Identities,
}

/// What one entry of `patches` (or its older forms, or Flux's `spec.patches`) did.
#[derive(Clone, Debug)]
pub struct PatchUse {
    /// The list entry.
    pub entry: Place,
    /// The patch itself: the inline text, or the whole file.
    pub content: Place,
    /// The target as written, if there is one; its values have their places.
    pub target: Option<Node>,
    /// `metadata.name` written in the patch itself, if it is a merge patch.
    pub written_name: Option<Node>,
    /// True if the patch deletes the whole object (`$patch: delete`).
    pub deletes: bool,
    /// True if the patch's content is a merge patch, false for JSON 6902.
    pub merge: bool,
    /// True if the entry stands in a Component.
    pub in_component: bool,
    /// The identities that it hit (at that moment).
    pub matched: Vec<ObjectId>,
    /// Names (with places) of objects that were there to be hit; to offer a near one. The ids at that moment.
    pub candidates: Vec<(ObjectId, Place)>,
    /// True if objects may be missing among the candidates because of a gap.
    pub uncertain: bool,
}

/// A Namespace object that a namespace transformer renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedNamespace {
    /// The transformer's value.
    pub transformer: Place,
    /// The object's `metadata.name` as written.
    pub object: Place,
    /// The name before.
    pub from: String,
    /// The name after.
    pub to: String,
}

/// An encrypted file that a build uses other than as a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedInput {
    /// The file.
    pub file: FileId,
    /// Where it is listed.
    pub listed: Place,
    /// True if Flux would decrypt it there (secretGenerator `files` and `envs`, `patches[].path`).
    pub decrypted_by_flux: bool,
}

/// How a build differs from plain kustomize.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// What asks for the build (a `spec.path`), to point at if the directory itself is at fault.
    pub asked_from: Option<Place>,
    /// As Flux builds a Kustomization: a missing root file is generated, unknown root fields are dropped.
    pub flux: bool,
    /// `spec.targetNamespace`.
    pub target_namespace: Option<Node>,
    /// `spec.namePrefix`.
    pub name_prefix: Option<Node>,
    /// `spec.nameSuffix`.
    pub name_suffix: Option<Node>,
    /// `spec.patches`, as a list.
    pub patches: Option<Node>,
    /// `spec.components`, as a list.
    pub components: Option<Node>,
    /// `spec.ignoreMissingComponents`.
    pub ignore_missing_components: bool,
    /// `spec.images`, as a list.
    pub images: Option<Node>,
    /// `spec.buildMetadata`, as a list.
    pub build_metadata: Option<Node>,
}
