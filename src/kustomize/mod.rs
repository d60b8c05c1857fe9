//! Directory → built objects, as kustomize and Flux build them.
//!
//! [`Kustomize::build`] gives objects whose every value knows where it is written,
//! the problems for which kustomize would refuse, and the gaps: what cannot be
//! known from the tree. A gap is never an error.

pub mod fieldspec;
pub mod generators;
pub mod hash;
mod object;
pub mod references;
pub mod scope;
pub mod transform;

use std::collections::BTreeSet;

pub use object::{Object, ObjectId};

use crate::source::{FileId, Place};
use crate::yaml::Node;

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
