//! Patches: what their text is, which objects they hit, and how they are applied.
//!
//! Upstream: api `builtins.PatchTransformer`, `PatchStrategicMergeTransformer`,
//! `PatchJson6902Transformer`, `resmap.resWrangler`.

mod index;
mod json;
mod merge;
mod merge_list;
mod merge_schema;
mod read;
mod select;

use index::Index;
use read::{Content, Source};
use select::Selector;

use super::level::{Level, Scope};
use super::printed::fill_empty_values;
use super::scope;
use super::transform::{as_text, refusal};
use super::{Gap, GapEffect, ObjectId, PatchUse, Problem};
use crate::near;
use crate::source::{Place, Span};
use crate::tree::join;
use crate::yaml::{Entry, Node};

/// At most this many objects are offered as what a patch may have meant.
const MAX_CANDIDATES: usize = 200;

/// Applies `patchesStrategicMerge`, then `patches`.
pub(super) fn apply(scope: &Scope<'_>, level: &mut Level, strategic: &[Node], patches: &[Node]) {
    if strategic.is_empty() && patches.is_empty() {
        return;
    }
    let mut index = Index::of(&level.objects);
    let mut phase = Phase {
        scope,
        level,
        index: &mut index,
    };
    for entry in strategic {
        phase.strategic_entry(entry);
    }
    for entry in patches {
        phase.entry(entry);
    }
    index.drop_deleted(&mut level.objects);
}

/// Applies `patchesJson6902`.
pub(super) fn apply_json(scope: &Scope<'_>, level: &mut Level, patches: &[Node]) {
    if patches.is_empty() {
        return;
    }
    let mut index = Index::of(&level.objects);
    let mut phase = Phase {
        scope,
        level,
        index: &mut index,
    };
    for entry in patches {
        phase.json_entry(entry);
    }
}

/// The patches of one kustomization file at work.
struct Phase<'p, 's> {
    scope: &'p Scope<'s>,
    level: &'p mut Level,
    index: &'p mut Index,
}

/// What `options` of a patch allow.
#[derive(Clone, Copy, Default)]
struct Allowed {
    name_change: bool,
    kind_change: bool,
}

impl Phase<'_, '_> {
    fn refuse(&mut self, place: Place, message: impl Into<String>) {
        self.level.problems.push(refusal(place, message));
    }

    /// An entry of `patches`.
    fn entry(&mut self, entry: &Node) {
        let patch = text_field(entry, "patch").filter(|patch| {
            patch
                .as_scalar()
                .is_some_and(|scalar| !scalar.text.trim().is_empty())
        });
        let source = match (patch, text_field(entry, "path")) {
            (Some(patch), None) => Source::Inline(patch),
            (None, Some(path)) => Source::Path(path),
            (None, None) => return self.refuse(entry.place, "a patch has neither patch nor path"),
            (Some(patch), Some(_)) => {
                return self.refuse(patch.place, "a patch has both patch and path");
            }
        };
        let target = entry.get("target");
        let Some(content) = self.read(source, read::Expected::Either) else {
            return;
        };
        let flag = |name| {
            entry
                .at(&["options", name])
                .and_then(Node::as_bool)
                .unwrap_or(false)
        };
        let allowed = Allowed {
            name_change: flag("allowNameChange"),
            kind_change: flag("allowKindChange"),
        };
        match content {
            Content::Nothing => {}
            Content::Merge(patches) => self.merge_entry(entry, target, &patches, allowed),
            Content::Json(operations) => match target {
                Some(target) => self.json(entry, target, &operations, true),
                None => self.refuse(entry.place, "a JSON patch has no target"),
            },
        }
    }

    /// An entry of `patchesStrategicMerge`: the patch itself or a path.
    fn strategic_entry(&mut self, entry: &Node) {
        let content = match read::inline_merge(self.scope.files, entry) {
            Some(patches) => Some(Content::Merge(patches)),
            None => self.read(Source::Path(entry), read::Expected::Merge),
        };
        if let Some(Content::Merge(patches)) = content {
            let patches: Vec<Node> = patches.iter().map(with_text_metadata).collect();
            self.merge_entry(entry, None, &patches, Allowed::default());
        }
    }

    /// An entry of `patchesJson6902`.
    fn json_entry(&mut self, entry: &Node) {
        let target = entry.get("target");
        let Some(target) = target.filter(|target| text_field(target, "name").is_some()) else {
            return self.refuse(
                target.unwrap_or(entry).place,
                "a patch of patchesJson6902 has no target with a name",
            );
        };
        let source = match (text_field(entry, "patch"), text_field(entry, "path")) {
            (Some(patch), None) => Source::Inline(patch),
            (None, Some(path)) => Source::Path(path),
            (None, None) => return self.refuse(entry.place, "a patch has neither patch nor path"),
            (Some(patch), Some(_)) => {
                return self.refuse(patch.place, "a patch has both patch and path");
            }
        };
        match self.read(source, read::Expected::Json) {
            Some(Content::Json(operations)) if operations.is_empty() => {
                self.refuse(entry.place, "the patch is empty");
            }
            Some(Content::Json(operations)) => self.json(entry, target, &operations, false),
            Some(_) => self.refuse(entry.place, "the patch is empty"),
            None => {}
        }
    }

    /// The content of a patch; its problems and gaps are noted.
    fn read(&mut self, source: Source<'_>, expected: read::Expected) -> Option<Content> {
        match read::read(self.scope, self.level, source, expected) {
            Ok(content) => Some(content),
            Err(read::Failure::Refused(problems)) => {
                self.level.problems.extend(problems);
                None
            }
            Err(read::Failure::Unknown(cause)) => {
                self.level.gaps.push(Gap {
                    place: source.node().place,
                    cause,
                    effect: GapEffect::Identities,
                });
                None
            }
        }
    }

    fn merge_entry(
        &mut self,
        entry: &Node,
        target: Option<&Node>,
        patches: &[Node],
        allowed: Allowed,
    ) {
        let mut used = self.start_use(entry, target);
        used.merge = true;
        used.written_name = patches
            .first()
            .and_then(|patch| patch.at(&["metadata", "name"]))
            .cloned();
        used.deletes = patches.iter().any(merge::deletes_object);
        match target {
            None => {
                for patch in patches {
                    self.merge_untargeted(patch, allowed, &mut used);
                }
            }
            Some(target) => {
                if let [_, second, ..] = patches {
                    return self.refuse(
                        second.place,
                        "a patch with a target holds more than one document",
                    );
                }
                let (Some(patch), Some(selected)) = (patches.first(), self.select(target)) else {
                    return;
                };
                for at in &selected {
                    used.matched.push(self.index.id(*at).clone());
                }
                if selected.is_empty() {
                    self.offer_candidates(target, &mut used);
                }
                let patch = with_text_metadata(patch);
                for at in selected {
                    if !self.merge_one(at, &patch, allowed) {
                        break;
                    }
                }
                self.check_names(allowed);
            }
        }
        self.level.patches.push(used);
    }

    /// A merge patch without target hits the one object that has, or had, the patch's own identity.
    fn merge_untargeted(&mut self, patch: &Node, allowed: Allowed, used: &mut PatchUse) {
        let wanted = ObjectId::of(patch);
        let matches: Vec<usize> = self
            .index
            .named(&wanted.name)
            .filter(|at| {
                scope::all_ids(&self.level.objects[*at])
                    .iter()
                    .any(|id| scope::same_identity(id, &wanted))
            })
            .collect();
        match matches.as_slice() {
            [] => {
                let candidates = self.candidates(|id| id.kind == wanted.kind);
                if !used.uncertain {
                    let place = patch
                        .at(&["metadata", "name"])
                        .map_or(patch.place, |name| name.place);
                    let help = unmatched_help(&wanted, &candidates);
                    self.level.problems.push(Problem {
                        help,
                        ..refusal(
                            place,
                            format!(
                                "{wanted} ({}) is not there to be patched",
                                wanted.api_version()
                            ),
                        )
                    });
                }
                used.candidates.extend(candidates);
            }
            [at] => {
                used.matched.push(self.index.id(*at).clone());
                self.merge_one(*at, patch, allowed);
            }
            _ => self.refuse(
                patch.place,
                format!("{wanted} is there {} times to be patched", matches.len()),
            ),
        }
    }

    /// Merges a patch into one object; false if that fails.
    fn merge_one(&mut self, at: usize, patch: &Node, allowed: Allowed) -> bool {
        let object = &mut self.level.objects[at];
        let kept: Vec<(&[&str], Option<Node>)> = [
            (&["kind"][..], !allowed.kind_change),
            (&["metadata", "name"][..], !allowed.name_change),
            (&["metadata", "namespace"][..], true),
        ]
        .into_iter()
        .filter(|(_, keep)| *keep)
        .map(|(path, _)| (path, object.node.at(path).map(as_text)))
        .collect();
        let mut patch = patch.clone();
        if let Some(version) = object.node.get("apiVersion") {
            patch.set("apiVersion", version.place, version.clone());
        }
        match merge::merge(object.node.clone(), &patch) {
            Ok(Some(mut merged)) => {
                for (path, value) in kept {
                    restore(&mut merged, path, value);
                }
                if allowed.name_change || allowed.kind_change {
                    object.remember_id();
                }
                object.node = merged;
                self.index.update(at, object);
                true
            }
            Ok(None) => {
                self.index.delete(at);
                true
            }
            Err(error) => {
                let id = object.id();
                self.refuse(
                    error.place,
                    format!("{id} cannot be patched: {}", error.message),
                );
                false
            }
        }
    }

    /// Names that a patch was allowed to change must still be unique.
    fn check_names(&mut self, allowed: Allowed) {
        if allowed.name_change || allowed.kind_change {
            let problems = super::identity::duplicates(&self.index.living(&self.level.objects));
            self.level.problems.extend(problems);
        }
    }

    /// Applies operations to what a target selects. Only `patches` remembers the identity before.
    fn json(
        &mut self,
        entry: &Node,
        target: &Node,
        operations: &[json::Operation],
        remember: bool,
    ) {
        let mut used = self.start_use(entry, Some(target));
        let Some(selected) = self.select(target) else {
            return;
        };
        for at in &selected {
            used.matched.push(self.index.id(*at).clone());
        }
        if selected.is_empty() {
            self.offer_candidates(target, &mut used);
        }
        for at in selected {
            let object = &mut self.level.objects[at];
            let mut node = object.node.clone();
            fill_empty_values(&mut node, self.scope.files);
            let noted = remember || object.generated || !object.previous.is_empty();
            let applied = if noted {
                json::apply_noted(&mut node, operations)
            } else {
                json::apply(&mut node, operations)
            };
            if let Err(error) = applied {
                let message = format!("{}: {}", object.id(), error.message);
                let related = vec![(object.origin, "the object is here".to_owned())];
                self.level.problems.push(Problem {
                    related,
                    ..refusal(error.place, message)
                });
                break;
            }
            if remember {
                object.remember_id();
            }
            object.node = node;
            self.index.update(at, object);
        }
        self.level.patches.push(used);
    }

    /// Where a patch's content is written: its inline text, or its whole file.
    fn content_place(&self, entry: &Node) -> Place {
        if let Some(patch) = text_field(entry, "patch") {
            return patch.place;
        }
        let path = text_field(entry, "path").unwrap_or(entry);
        path.as_str()
            .and_then(|path| join(self.scope.directory, path))
            .and_then(|path| self.scope.tree.file(&path))
            .map_or(entry.place, |file| Place {
                file,
                span: Span::new(0, self.scope.files.text(file).len()),
            })
    }

    fn start_use(&self, entry: &Node, target: Option<&Node>) -> PatchUse {
        PatchUse {
            entry: entry.place,
            content: self.content_place(entry),
            target: target.cloned(),
            written_name: None,
            deletes: false,
            merge: false,
            in_component: self.scope.component,
            matched: Vec::new(),
            candidates: Vec::new(),
            uncertain: self.level.is_uncertain(),
        }
    }

    /// The objects that a target selects, in their order.
    fn select(&mut self, target: &Node) -> Option<Vec<usize>> {
        let selector = match Selector::new(target) {
            Ok(selector) => selector,
            Err(problem) => {
                self.level.problems.push(problem);
                return None;
            }
        };
        let objects = &self.level.objects;
        let selects = |at: &usize| selector.selects(&objects[*at], self.index.id(*at));
        Some(match selector.literal_name() {
            Some(name) => self.index.named(name).filter(selects).collect(),
            None => self.index.all().filter(selects).collect(),
        })
    }

    fn offer_candidates(&mut self, target: &Node, used: &mut PatchUse) {
        if let Ok(selector) = Selector::new(target) {
            used.candidates = self.candidates(|id| selector.fits_kind(id));
            if used.candidates.is_empty() {
                used.candidates = self.candidates(|_| true);
            }
        }
    }

    fn candidates(&self, fits: impl Fn(&ObjectId) -> bool) -> Vec<(ObjectId, Place)> {
        self.index
            .all()
            .filter(|at| fits(self.index.id(*at)))
            .take(MAX_CANDIDATES)
            .map(|at| {
                (
                    self.index.id(at).clone(),
                    self.level.objects[at].name_place(),
                )
            })
            .collect()
    }
}

/// What to write instead of an identity that matches nothing.
fn unmatched_help(wanted: &ObjectId, candidates: &[(ObjectId, Place)]) -> Option<String> {
    if let Some((id, _)) = candidates.iter().find(|(id, _)| id.name == wanted.name) {
        if id.api_version() != wanted.api_version() {
            return Some(format!("write `apiVersion: {}`", id.api_version()));
        }
        return Some(if id.namespace.is_empty() {
            "write no namespace in the patch".to_owned()
        } else {
            format!("write `namespace: {}` in the patch", id.namespace)
        });
    }
    let names = candidates.iter().map(|(id, _)| id.name.as_str());
    near::nearest(&wanted.name, names).map(|near| format!("write `name: {near}`"))
}

/// A string field that is not empty.
fn text_field<'n>(entry: &'n Node, name: &str) -> Option<&'n Node> {
    entry.get(name).filter(|node| {
        node.as_scalar()
            .is_some_and(|scalar| !scalar.text.is_empty())
    })
}

/// The patch as kustomize prepares it for a target, and in `patchesStrategicMerge`: its labels and
/// annotations are strings, so that a null there deletes nothing but becomes the text `null`.
fn with_text_metadata(patch: &Node) -> Node {
    let mut patch = patch.clone();
    for field in ["labels", "annotations"] {
        let Some(written) = patch.at(&["metadata", field]) else {
            continue;
        };
        let place = written.place;
        let entries: Vec<Entry> = written
            .pairs()
            .into_iter()
            .map(|entry| Entry {
                key: entry.key.clone(),
                value: as_text(&entry.value),
            })
            .collect();
        let Some(metadata) = patch.get_mut("metadata") else {
            continue;
        };
        if entries.is_empty() {
            metadata.remove(field);
        } else {
            metadata.set(field, place, Node::mapping(place, entries));
        }
    }
    patch
}

/// Puts back a value that a merge patch may not change.
fn restore(node: &mut Node, path: &[&str], value: Option<Node>) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut parent = node;
    for key in parents {
        if parent
            .get_mut(key)
            .is_none_or(|child| child.as_mapping().is_none())
        {
            let Some(value) = &value else {
                return;
            };
            parent.set(key, value.place, Node::mapping(value.place, Vec::new()));
        }
        let Some(child) = parent.get_mut(key) else {
            return;
        };
        parent = child;
    }
    match value {
        Some(value) => {
            // An unchanged value keeps the place where the object has it.
            parent.set(last, value.place, value);
        }
        None => {
            parent.remove(last);
        }
    }
}
