//! Guards: patches in a wave's kustomization file that keep objects from being pruned, so that the
//! files of the app stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use super::relocate::{Misplaced, verify};
use super::{Context, Step, StepKind};
use crate::change::guards;
use crate::kustomize::{ObjectId, kustomization_file};
use crate::yaml::{edit, parse};

/// The comment above a guard: what it begins with; the entry that it guards follows.
pub(super) const GUARDED: &str = "# guard of wavelint plan:";

/// The step that guards what a move would lose.
pub(super) fn guard(
    context: &Context<'_>,
    misplaced: &[Misplaced],
    lost: &[(usize, (usize, usize))],
) -> Result<Step, Vec<String>> {
    let moment = context.moment;
    let mut wanted: BTreeMap<usize, BTreeSet<ObjectId>> = BTreeMap::new();
    let mut obstacles = Vec::new();
    for (cluster, (kustomization, object)) in lost {
        let cluster = &moment.picture.flux.clusters[*cluster];
        let owner = &cluster.kustomizations[*kustomization];
        let object = &owner.build.objects[*object];
        let path = moment.files.path(object.origin.file);
        let holder = misplaced.iter().position(|one| one.holds(path));
        if guards::guard(&object.node, &owner.node).is_some() {
            obstacles.push(format!(
                "{} is guarded and would be lost all the same",
                object.id()
            ));
        } else if object.original_id().name.contains('$') {
            obstacles.push(format!(
                "{path}: the name of {} holds a variable, which the target of a patch cannot name; guard it by hand",
                object.id()
            ));
        } else if let Some(holder) = holder {
            wanted
                .entry(holder)
                .or_default()
                .insert(object.original_id());
        } else {
            obstacles.push(format!(
                "{} in {path} would be lost in the move",
                object.id()
            ));
        }
    }
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (holder, objects) in &wanted {
        let one = &misplaced[*holder];
        let Some(file) = kustomization_file(&moment.picture.tree, &one.here) else {
            obstacles.push(format!(
                "{} has no kustomization file to put a guard into",
                one.here
            ));
            continue;
        };
        let path = moment.files.path(file).to_owned();
        let mut text = texts
            .get(&path)
            .cloned()
            .or_else(|| context.draft.text(&path).map(str::to_owned))
            .unwrap_or_default();
        let comment = format!("{GUARDED} {}", one.below);
        for object in objects {
            match edit::insert_item(&text, "patches", usize::MAX, &patch(object), Some(&comment)) {
                Some(new) => text = new,
                None => {
                    obstacles.push(format!(
                        "{path}: its `patches` are written in a way that is not understood"
                    ));
                    break;
                }
            }
        }
        texts.insert(path, text);
    }
    if !obstacles.is_empty() || texts.is_empty() {
        obstacles.sort();
        obstacles.dedup();
        return Err(obstacles);
    }
    let objects: usize = wanted.values().map(BTreeSet::len).sum();
    let mut names: Vec<&str> = Vec::new();
    for holder in wanted.keys() {
        let name = misplaced[*holder].service.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let here = wanted.keys().map(|holder| misplaced[*holder].here.as_str());
    let mut verify = verify(context, here);
    if let Some(first) = wanted.values().flatten().next() {
        verify.push(show_guard(first));
    }
    Ok(Step {
        kind: StepKind::Guard,
        title: format!(
            "guard {objects} {} of {}",
            if objects == 1 { "object" } else { "objects" },
            names.join(", ")
        ),
        why:
            "moved as they are, Flux would prune them in the old wave before the new one has them; \
              it looks at the live objects, so the guard must be there a commit before"
                .to_owned(),
        verify,
        writes: texts
            .into_iter()
            .map(|(path, text)| (path, Some(text.into_bytes())))
            .collect(),
        moves: Vec::new(),
    })
}

fn show_guard(object: &ObjectId) -> String {
    let namespace = if object.namespace.is_empty() {
        String::new()
    } else {
        format!(" -n {}", object.namespace)
    };
    let kind = if object.group.is_empty() {
        object.kind.to_lowercase()
    } else {
        format!("{}.{}", object.kind.to_lowercase(), object.group)
    };
    format!(
        "kubectl get {kind} {}{namespace} -o jsonpath='{{.metadata.annotations}}'",
        object.name
    )
}

/// A targeted merge patch that touches nothing but one annotation of the object itself.
fn patch(object: &ObjectId) -> String {
    let name = object.name.replace('.', "\\.");
    let group = if object.group.is_empty() {
        String::new()
    } else {
        format!("  group: {}\n", object.group.replace('.', "\\."))
    };
    let namespace = if object.namespace.is_empty() {
        String::new()
    } else {
        format!("  namespace: {}\n", object.namespace)
    };
    format!(
        "target:\n{group}  kind: {}\n  name: {name}\n{namespace}patch: |\n  apiVersion: {}\n  kind: {}\n  metadata:\n    name: {}\n    annotations:\n      {}: disabled\n",
        object.kind,
        object.api_version(),
        object.kind,
        object.name,
        guards::PRUNE
    )
}

/// The indices of the patches of a kustomization file that are guards, of one entry or of all.
pub(super) fn guards_of(text: &str, below: Option<&str>) -> Vec<usize> {
    let yaml = parse(text, crate::source::FileId(0));
    let Some(patches) = yaml
        .documents
        .first()
        .and_then(|document| document.root.get("patches"))
    else {
        return Vec::new();
    };
    let above = |start: usize| {
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        text[..line].lines().next_back().unwrap_or_default().trim()
    };
    patches
        .items()
        .iter()
        .enumerate()
        .filter(|(_, item)| {
            above(item.place.span.start as usize)
                .strip_prefix(GUARDED)
                .is_some_and(|rest| below.is_none_or(|below| rest.trim() == below))
        })
        .map(|(index, _)| index)
        .collect()
}

/// The step that takes all guards of earlier steps away.
pub(super) fn release(context: &Context<'_>) -> Result<Option<Step>, Vec<String>> {
    let mut writes = BTreeMap::new();
    let mut directories = Vec::new();
    for set in &context.moment.picture.waves.sets {
        for directory in set.waves.values().flat_map(|wave| &wave.directories) {
            let Some(file) = kustomization_file(&context.moment.picture.tree, directory) else {
                continue;
            };
            let path = context.moment.files.path(file);
            let Some(mut text) = context.draft.text(path).map(str::to_owned) else {
                continue;
            };
            let mut changed = false;
            while let Some(index) = guards_of(&text, None).last().copied() {
                let Some(new) = edit::remove_item(&text, "patches", index, Some(GUARDED), true)
                else {
                    return Err(vec![format!(
                        "{path}: take the guards out of `patches` by hand"
                    )]);
                };
                text = new;
                changed = true;
            }
            if changed {
                directories.push(directory.as_str());
                writes.insert(path.to_owned(), Some(text.into_bytes()));
            }
        }
    }
    if writes.is_empty() {
        return Ok(None);
    }
    Ok(Some(Step {
        kind: StepKind::Release,
        title: format!("take the guards out of {}", directories.join(", ")),
        why: "everything is where it belongs and has its new owner; without the guard Flux prunes \
              again what is really removed"
            .to_owned(),
        verify: verify(context, directories.into_iter()),
        writes,
        moves: Vec::new(),
    }))
}
