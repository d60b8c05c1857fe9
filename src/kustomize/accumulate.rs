//! One kustomization file at work, in kustomize's order: resources, configurations,
//! generators, components, transformers.
//!
//! Upstream: api `target.KustTarget.accumulateTarget`.

use std::sync::Arc;

use super::document;
use super::file::{self, KustomizationFile, Reading, Strictness};
use super::generate;
use super::identity::{self, Ids};
use super::level::{Level, Scope};
use super::location::{self, Location, Wanted, locate};
use super::plugins;
use super::{Directory, GapEffect, Object, Problem, ProblemKind, patch, references, transform};
use crate::source::{FileId, Place};
use crate::tree::Child;
use crate::yaml::{Entry, Node};

/// What entering a directory costs of a build's budget, in objects.
pub(super) const DIRECTORY_COST: usize = 200;

/// What taking over one object or note of a base costs of a build's budget, in objects.
pub(super) const COPY_COST: usize = 10;

/// Directories nested deeper than this are not entered.
const MAX_DEPTH: usize = 100;

/// Builds what a kustomization file says into `level`: empty for a Kustomization, the parent's for a Component.
pub(super) fn accumulate(scope: &Scope<'_>, file: &KustomizationFile, level: &mut Level) {
    level.files.extend(file.file);
    let mut ids = Ids::of(&level.objects);
    for entry in file.items("resources") {
        resource(scope, level, &mut ids, entry);
    }
    plugins::configurations(scope, level, file);
    generate::generate(scope, level, file);
    for entry in file.items("components") {
        component(scope, level, entry);
    }
    transform(scope, level, file);
    plugins::leftovers(scope, level, file);
}

fn resource(scope: &Scope<'_>, level: &mut Level, ids: &mut Ids, entry: &Node) {
    match locate(scope.tree, scope.directory, entry, Wanted::FileOrDirectory) {
        Ok(Location::File(file)) => resource_file(scope, level, ids, entry, file),
        Ok(Location::Directory(directory)) => base(scope, level, ids, entry, &directory),
        Ok(Location::Remote) => {
            let address = entry.as_str().unwrap_or_default();
            level.gap(
                entry.place,
                GapEffect::Identities,
                format!("remote resource {address}"),
            );
        }
        Ok(Location::Submodule(at)) => {
            level.gap(
                entry.place,
                GapEffect::Identities,
                format!("submodule {at}"),
            );
        }
        Err(problem) => level.problems.push(problem),
    }
}

fn resource_file(scope: &Scope<'_>, level: &mut Level, ids: &mut Ids, entry: &Node, file: FileId) {
    level.files.insert(file);
    let documents = document::read(scope.files, file);
    let listed = (entry.place, "the file is listed here".to_owned());
    level
        .problems
        .extend(documents.problems.into_iter().map(|mut problem| {
            problem.related.push(listed.clone());
            problem
        }));
    for node in documents.objects {
        let place = node.place;
        let mut object = Object::new(node, place);
        object.route = scope.route_to(entry);
        add(level, ids, object);
    }
}

/// Adds an object unless it is there already.
fn add(level: &mut Level, ids: &mut Ids, object: Object) {
    match ids.insert(&object, level.objects.len()) {
        Ok(()) => level.objects.push(object),
        Err(first) => {
            let problem = identity::duplicate(&level.objects[first], &object);
            level.problems.push(problem);
        }
    }
}

/// The objects of a directory, built on its own and then added.
fn base(scope: &Scope<'_>, level: &mut Level, ids: &mut Ids, entry: &Node, directory: &str) {
    if !spend(scope, level, entry, DIRECTORY_COST) {
        return;
    }
    let Some(built) = build_base(scope, level, entry, directory) else {
        return;
    };
    if !spend(
        scope,
        level,
        entry,
        built.weight().saturating_mul(COPY_COST),
    ) {
        return;
    }
    level.take_notes(&built, entry.place);
    level.objects.reserve(built.objects.len());
    for object in &built.objects {
        let mut object = object.clone();
        object.route = [scope.route_to(entry), object.route].concat();
        add(level, ids, object);
    }
}

/// True if the build may do work of that cost (in objects) yet.
fn spend(scope: &Scope<'_>, level: &mut Level, entry: &Node, cost: usize) -> bool {
    match scope.budget.get().checked_sub(cost) {
        Some(left) => {
            scope.budget.set(left);
            true
        }
        None => {
            level.gap(
                entry.place,
                GapEffect::Identities,
                "a build larger than is looked at",
            );
            false
        }
    }
}

fn build_base(
    scope: &Scope<'_>,
    level: &mut Level,
    entry: &Node,
    directory: &str,
) -> Option<Arc<Level>> {
    enter(scope, level, entry, directory)?;
    if let Some(built) = scope.kustomize.cached(directory) {
        let again = built
            .directories
            .iter()
            .find_map(|inner| Some((inner, scope.cycle_with(&inner.path)?)));
        if let Some((inner, visited)) = again {
            let place = inner.entered_from.unwrap_or(entry.place);
            level.problems.push(cycle(place, &inner.path, visited));
            level.cyclic = true;
        }
        return Some(built);
    }
    let mut built = Level::default();
    let read = read_directory(scope, &mut built, entry, directory, false);
    if let Some(file) = read {
        let inner = Scope {
            directory,
            component: false,
            route: &[],
            parent: Some(scope),
            ..*scope
        };
        accumulate(&inner, &file, &mut built);
    }
    let built = Arc::new(built);
    if !built.cyclic {
        scope.kustomize.remember(directory, &built);
    }
    Some(built)
}

/// Refuses to enter a directory that leads in a circle; gives up where the nesting has no end.
fn enter(scope: &Scope<'_>, level: &mut Level, entry: &Node, directory: &str) -> Option<()> {
    if let Some(visited) = scope.cycle_with(directory) {
        level.problems.push(cycle(entry.place, directory, visited));
        level.cyclic = true;
        return None;
    }
    if scope.chain().count() > MAX_DEPTH {
        level.cyclic = true;
        level.gap(
            entry.place,
            GapEffect::Identities,
            format!("directories nested more than {MAX_DEPTH} deep"),
        );
        return None;
    }
    Some(())
}

fn cycle(place: Place, directory: &str, visited: &str) -> Problem {
    let shown = |path: &str| {
        if path.is_empty() {
            "the root of the repository".to_owned()
        } else {
            format!("`{path}`")
        }
    };
    let message = if directory == visited {
        format!("{} includes itself", shown(directory))
    } else {
        format!(
            "{} contains {}, which includes it: a cycle for kustomize",
            shown(directory),
            shown(visited)
        )
    };
    Problem {
        kind: ProblemKind::Other,
        place,
        message,
        related: Vec::new(),
        help: None,
    }
}

/// Runs a Component on the objects that are there.
fn component(scope: &Scope<'_>, level: &mut Level, entry: &Node) {
    let directory = match locate(scope.tree, scope.directory, entry, Wanted::Directory) {
        Ok(Location::Directory(directory)) => directory,
        Ok(Location::Submodule(at)) => {
            return level.gap(
                entry.place,
                GapEffect::Identities,
                format!("submodule {at}"),
            );
        }
        Ok(_) => {
            let address = entry.as_str().unwrap_or_default();
            return level.gap(
                entry.place,
                GapEffect::Identities,
                format!("remote component {address}"),
            );
        }
        Err(problem) => return level.problems.push(problem),
    };
    if enter(scope, level, entry, &directory).is_none()
        || !spend(scope, level, entry, level.objects.len() + DIRECTORY_COST)
    {
        return;
    }
    let Some(file) = read_directory(scope, level, entry, &directory, true) else {
        return;
    };
    if let Some(read) = level.directories.last_mut() {
        read.entered_from = Some(entry.place);
    }
    let inner = Scope {
        directory: &directory,
        component: true,
        route: &scope.route_to(entry),
        parent: Some(scope),
        ..*scope
    };
    accumulate(&inner, &file, level);
    level.drop_duplicates();
}

/// The kustomization file of a directory that an entry leads to.
fn read_directory(
    scope: &Scope<'_>,
    level: &mut Level,
    entry: &Node,
    directory: &str,
    component: bool,
) -> Option<KustomizationFile> {
    let found = file::find(scope.tree, directory);
    let file = match found.as_slice() {
        [] => {
            level
                .problems
                .push(no_kustomization_file(scope, entry, directory));
            return None;
        }
        [file] => *file,
        [first, second, ..] => {
            level.problems.push(two_files(*first, *second));
            return None;
        }
    };
    let mut reading = Reading::default();
    let read = KustomizationFile::read(scope.files, file, Strictness::Strict, &mut reading);
    level.files.insert(file);
    level.problems.append(&mut reading.problems);
    let read = read?;
    if read.component != component {
        let (is, should) = if read.component {
            ("a Component", "listed under `components`")
        } else {
            ("no Component", "listed under `resources`")
        };
        let shown = entry.as_str().unwrap_or_default();
        level.problems.push(Problem {
            kind: ProblemKind::Other,
            place: entry.place,
            message: format!("`{shown}` is {is}, so it must be {should}"),
            related: vec![(read.place, "its kustomization file".to_owned())],
            help: None,
        });
        return None;
    }
    level.directories.push(Directory {
        path: directory.to_owned(),
        kustomization_file: read.file,
        component,
        entered_from: None,
    });
    Some(read)
}

/// Two recognised files in one directory.
pub(super) fn two_files(first: FileId, second: FileId) -> Problem {
    Problem {
        kind: ProblemKind::Other,
        place: Place::file_start(second),
        message: "the directory has two kustomization files".to_owned(),
        related: vec![(Place::file_start(first), "the other one".to_owned())],
        help: Some("keep one of them".to_owned()),
    }
}

fn no_kustomization_file(scope: &Scope<'_>, entry: &Node, directory: &str) -> Problem {
    let shown = entry.as_str().unwrap_or_default();
    let misnamed = scope.tree.children(directory).find(|(name, child)| {
        let lower = name.to_ascii_lowercase();
        matches!(child, Child::File(_))
            && matches!(
                lower.as_str(),
                "kustomization.yaml"
                    | "kustomization.yml"
                    | "kustomization"
                    | "kustomize.yaml"
                    | "kustomize.yml"
            )
    });
    let help = if let Some((name, _)) = misnamed {
        Some(format!("rename `{name}` there to `kustomization.yaml`"))
    } else if file::has_linked_file(scope.tree, directory) {
        Some("its kustomization file is a symbolic link, and Flux's artifact has none".to_owned())
    } else {
        let inner = scope.tree.children(directory).find_map(|(name, child)| {
            let inner = file::inside(directory, name);
            (child == Child::Directory && !file::find(scope.tree, &inner).is_empty())
                .then(|| location::relative(scope.directory, &inner))
        });
        Some(inner.map_or_else(
            || "list its files one by one, or add a kustomization.yaml there".to_owned(),
            |inner| format!("write `{inner}`, or add a kustomization.yaml there"),
        ))
    };
    Problem {
        kind: ProblemKind::ResourceNotFound,
        place: entry.place,
        message: format!("`{shown}` is a directory without a kustomization file"),
        related: Vec::new(),
        help,
    }
}

/// The transformers, in kustomize's order.
fn transform(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    patch::apply(
        scope,
        level,
        file.items("patchesStrategicMerge"),
        file.items("patches"),
    );
    if let Some(namespace) = file.text("namespace") {
        let applied = transform::namespace::apply(
            &mut level.objects,
            namespace,
            &mut level.renamed_namespaces,
        );
        match applied {
            Ok(()) => level.drop_duplicates(),
            Err(problem) => level.problems.push(problem),
        }
    }
    if let Some(prefix) = file.text("namePrefix") {
        transform::names::prefix(&mut level.objects, prefix);
    }
    if let Some(suffix) = file.text("nameSuffix") {
        transform::names::suffix(&mut level.objects, suffix);
    }
    type Transformer = fn(&mut [Object], &Node) -> Result<(), Problem>;
    let before: [(&str, Transformer); 3] = [
        ("labels", transform::labels::labels),
        ("commonLabels", transform::labels::common_labels),
        (
            "commonAnnotations",
            transform::annotations::common_annotations,
        ),
    ];
    let after: [(&str, Transformer); 2] = [
        ("replicas", transform::replicas::apply),
        ("images", transform::images::apply),
    ];
    for (name, apply) in before {
        run(level, file, name, apply);
    }
    patch::apply_json(scope, level, file.items("patchesJson6902"));
    for (name, apply) in after {
        run(level, file, name, apply);
    }
    replace(scope, level, file);
    plugins::transformers(scope, level, file);
}

/// Runs a transformer; where objects may be missing, that it fails tells nothing.
fn run(
    level: &mut Level,
    file: &KustomizationFile,
    name: &str,
    apply: fn(&mut [Object], &Node) -> Result<(), Problem>,
) {
    let Some(field) = file.field(name) else {
        return;
    };
    let uncertain = level.is_uncertain();
    if let Err(problem) = apply(&mut level.objects, field) {
        if uncertain {
            level.gap(
                field.place,
                GapEffect::Content,
                format!("{name} on what is unknown"),
            );
        } else {
            level.problems.push(problem);
        }
    }
}

fn replace(scope: &Scope<'_>, level: &mut Level, file: &KustomizationFile) {
    let Some(field) = file.field("replacements") else {
        return;
    };
    let uncertain = level.is_uncertain();
    let mut read_files = Vec::new();
    let mut load = |path: &Node| {
        match locate(scope.tree, scope.directory, path, Wanted::File)? {
            Location::File(file) => {
                read_files.push(file);
                plugins::first_document(scope.files, file)
            }
            // What is fetched at build time is reported below; here it replaces nothing.
            _ => Ok(Node::sequence(path.place, Vec::new())),
        }
    };
    let replaced =
        transform::replacements::apply(&mut level.objects, field, &mut load, &mut level.gaps);
    level.files.extend(read_files);
    for entry in field.items() {
        if let Some(path) = entry.get("path")
            && matches!(
                locate(scope.tree, scope.directory, path, Wanted::File),
                Ok(Location::Remote | Location::Submodule(_))
            )
        {
            level.gap(path.place, GapEffect::Identities, "remote replacements");
        }
    }
    if let Err(problem) = replaced {
        if uncertain {
            level.gap(
                field.place,
                GapEffect::Content,
                "replacements on what is unknown",
            );
        } else {
            level.problems.push(problem);
        }
    }
}

impl Level {
    /// Reports objects that have become the same as an earlier one.
    fn drop_duplicates(&mut self) {
        let problems = identity::remove_duplicates(&mut self.objects);
        self.problems.extend(problems);
    }
}

/// The fields of a generated kustomization file that lists these resources.
pub(super) fn resources_field(place: Place, paths: Vec<String>) -> Vec<Entry> {
    let items = paths
        .into_iter()
        .map(|path| Node::string(place, path))
        .collect();
    vec![Entry {
        key: Node::plain(place, "resources"),
        value: Node::sequence(place, items),
    }]
}

/// Makes references to changed names follow them; only at the root of a build.
pub(super) fn fix_names(level: &mut Level) {
    super::hash::add_suffixes(&mut level.objects, &mut level.gaps);
    let problems = references::fix(&mut level.objects, &level.name_references);
    level.problems.extend(problems);
}
