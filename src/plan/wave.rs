//! Waves that are missing are made like their siblings; one that is left empty at the end is removed.

use std::collections::{BTreeMap, BTreeSet};

use super::relocate::Misplaced;
use super::{Context, Step, StepKind};
use crate::flux::{Kustomization, join_name};
use crate::kustomize::{KUSTOMIZATION_FILE_NAMES, kustomization_file};
use crate::tree::split;
use crate::waves::WaveSet;
use crate::yaml::{Node, edit, parse};

/// The step that makes the lowest wave that is missing.
pub(super) fn create(
    context: &Context<'_>,
    misplaced: &[Misplaced],
) -> Result<Option<Step>, Vec<String>> {
    let sets = &context.moment.picture.waves.sets;
    let missing: BTreeSet<(usize, u64)> = misplaced
        .iter()
        .filter(|one| !sets[one.set].waves.contains_key(&one.to))
        .map(|one| (one.set, one.to))
        .collect();
    let Some((set, number)) = missing.first().copied() else {
        return Ok(None);
    };
    let set = &sets[set];
    // A wave stands on the one below it, which must be there first.
    let numbers: Vec<u64> = set.waves.keys().copied().collect();
    let highest = numbers.last().copied().unwrap_or_default();
    let next = set.number_at(numbers.len());
    let number = if next > highest && next < number {
        next
    } else {
        number
    };
    make(context, set, highest, number)
        .map(Some)
        .map_err(|obstacle| vec![obstacle])
}

fn make(context: &Context<'_>, set: &WaveSet, highest: u64, number: u64) -> Result<Step, String> {
    let directory = set.directory(number);
    let by_hand = |why: &str| format!("{directory} is missing and {why}; make it by hand");
    if number < highest {
        return Err(by_hand("would lie between waves that are there"));
    }
    let sibling = sibling(context, set, highest).ok_or_else(|| {
        by_hand("no Kustomization of its own file applies the wave below, to be copied")
    })?;
    let text = context
        .draft
        .text(&sibling.path)
        .ok_or_else(|| by_hand("the Kustomization of the wave below is no text"))?;
    let name = renumbered(&sibling.name, highest, number).ok_or_else(|| {
        by_hand("the number of the wave below is not in its Kustomization's name")
    })?;
    let mut writes: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
    writes.insert(
        format!("{directory}/kustomization.yaml"),
        Some(
            b"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"
                .to_vec(),
        ),
    );
    let new_path = {
        let (folder, file) = split(&sibling.path);
        let file = renumbered(file, highest, number)
            .ok_or_else(|| by_hand("the number of the wave below is not in its file's name"))?;
        join_name(folder, &file)
    };
    if context.draft.files().contains_key(&new_path) {
        return Err(by_hand(&format!("{new_path} is already there")));
    }
    let copy = copy(text, &sibling, &set.directory(highest), &directory, &name)
        .ok_or_else(|| by_hand("the Kustomization of the wave below cannot be copied as text"))?;
    writes.insert(new_path.clone(), Some(copy.into_bytes()));
    for (path, text) in kustomization_files(context) {
        if let Some(new) = with_new_sibling(&path, &text, &sibling, &new_path, &name) {
            writes.insert(path, Some(new.into_bytes()));
        }
    }
    Ok(Step {
        kind: StepKind::Create,
        title: format!("make {directory} and Kustomization {name}"),
        why: format!(
            "a service belongs in wave {number}, which is not there yet; it is made like wave {highest}"
        ),
        verify: vec![format!(
            "flux get kustomization {name} -n {}",
            sibling.namespace
        )],
        writes,
        moves: Vec::new(),
    })
}

/// The Kustomization of a wave, where it stands alone in a file.
struct Sibling {
    path: String,
    name: String,
    namespace: String,
    depends_on: Vec<String>,
}

fn sibling(context: &Context<'_>, set: &WaveSet, number: u64) -> Option<Sibling> {
    let wave = set.waves.get(&number)?;
    let (cluster, indices) = wave.kustomizations.iter().next()?;
    let kustomization: &Kustomization =
        &context.moment.picture.flux.clusters[*cluster].kustomizations[*indices.first()?];
    let file = kustomization.origin.file;
    (context.moment.files.yaml(file).documents.len() == 1).then(|| Sibling {
        path: context.moment.files.path(file).to_owned(),
        name: kustomization.name.name.to_string(),
        namespace: kustomization.name.namespace.to_string(),
        depends_on: kustomization
            .spec
            .depends_on
            .iter()
            .map(|entry| entry.target.name.to_string())
            .collect(),
    })
}

/// A name with its last occurrence of one number as another.
fn renumbered(name: &str, from: u64, to: u64) -> Option<String> {
    let from = from.to_string();
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let at = name.rmatch_indices(&from).map(|(at, _)| at).find(|at| {
        !is_digit(name[..*at].chars().next_back())
            && !is_digit(name[at + from.len()..].chars().next())
    })?;
    Some(format!("{}{to}{}", &name[..at], &name[at + from.len()..]))
}

/// The text of a Kustomization under a new name, with a new path, standing on the old one.
fn copy(
    text: &str,
    sibling: &Sibling,
    old_directory: &str,
    directory: &str,
    name: &str,
) -> Option<String> {
    let yaml = parse(text, crate::source::FileId(0));
    let root = &yaml.documents.first()?.root;
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let mut replace = |node: &Node, old: &str, new: &str| {
        let range = node.place.span.range();
        let written = text.get(range.clone()).unwrap_or_default();
        edits.push((range, written.replace(old, new)));
    };
    replace(root.at(&["metadata", "name"])?, &sibling.name, name);
    replace(root.at(&["spec", "path"])?, old_directory, directory);
    let entries = root.at(&["spec", "dependsOn"]).map(Node::items)?;
    let [entry] = entries else { return None };
    let [below] = sibling.depends_on.as_slice() else {
        return None;
    };
    replace(entry.get("name")?, below, &sibling.name);
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut new = text.to_owned();
    for (range, text) in edits {
        new.replace_range(range, &text);
    }
    Some(new)
}

fn kustomization_files(context: &Context<'_>) -> Vec<(String, String)> {
    context
        .draft
        .files()
        .keys()
        .filter(|path| KUSTOMIZATION_FILE_NAMES.contains(&split(path).1))
        .filter_map(|path| Some((path.clone(), context.draft.text(path)?.to_owned())))
        .collect()
}

fn items(text: &str, key: &str) -> Vec<Node> {
    let yaml = parse(text, crate::source::FileId(0));
    yaml.documents
        .first()
        .and_then(|document| document.root.get(key))
        .map(Node::items)
        .unwrap_or_default()
        .to_vec()
}

/// The position of an entry for a file in a list of resources.
fn position(path: &str, text: &str, file: &str) -> Option<usize> {
    items(text, "resources").iter().position(|item| {
        item.as_str()
            .and_then(|entry| crate::tree::join(split(path).0, entry))
            .is_some_and(|listed| listed == file)
    })
}

fn targets(patch: &Node, name: &str) -> bool {
    patch.str_at(&["target", "kind"]) == Some("Kustomization")
        && patch.str_at(&["target", "name"]) == Some(name)
}

/// A kustomization file that lists or patches a wave's Kustomization, doing the same for a new one.
fn with_new_sibling(
    path: &str,
    text: &str,
    sibling: &Sibling,
    new_path: &str,
    name: &str,
) -> Option<String> {
    let mut new = text.to_owned();
    if let Some(at) = position(path, text, &sibling.path) {
        let entry = items(text, "resources")[at].as_str()?.to_owned();
        let entry = entry.replace(split(&sibling.path).1, split(new_path).1);
        new = edit::insert_item(&new, "resources", at + 1, &entry, None)?;
    }
    let patches = items(text, "patches");
    for (index, _) in patches
        .iter()
        .enumerate()
        .filter(|(_, patch)| targets(patch, &sibling.name))
    {
        let item = edit::item_text(text, "patches", index)?.replace(&sibling.name, name);
        new = edit::insert_item(&new, "patches", usize::MAX, &item, None)?;
    }
    (new != text).then_some(new)
}

/// The step that takes the highest wave away, if nothing is in it and nothing stands on it.
pub(super) fn remove(context: &Context<'_>) -> Option<Step> {
    let picture = &context.moment.picture;
    for set in picture.waves.sets.iter().filter(|set| set.claimed) {
        let (number, wave) = set.waves.last_key_value()?;
        let [directory] = wave.directories.as_slice() else {
            continue;
        };
        let own = kustomization_file(&picture.tree, directory)
            .map(|file| context.moment.files.path(file).to_owned());
        let Some(own) = own else { continue };
        let only_list = context
            .draft
            .files()
            .keys()
            .filter(|path| path.starts_with(&format!("{directory}/")))
            .all(|path| *path == own);
        let empty = only_list && items(context.draft.text(&own)?, "resources").is_empty();
        if !empty || set.waves.len() < 2 {
            continue;
        }
        let Some(sibling) = sibling(context, set, *number) else {
            continue;
        };
        let is_waited_for = picture.flux.clusters.iter().any(|cluster| {
            cluster.kustomizations.iter().any(|kustomization| {
                kustomization
                    .spec
                    .depends_on
                    .iter()
                    .any(|entry| entry.target.name == sibling.name)
            })
        });
        if is_waited_for {
            continue;
        }
        let mut writes = BTreeMap::from([(own, None), (sibling.path.clone(), None)]);
        for (path, text) in kustomization_files(context) {
            let mut new = text.clone();
            if let Some(at) = position(&path, &new, &sibling.path) {
                new = edit::remove_item(&new, "resources", at, None, false)?;
            }
            while let Some(at) = items(&new, "patches")
                .iter()
                .position(|patch| targets(patch, &sibling.name))
            {
                new = edit::remove_item(&new, "patches", at, None, true)?;
            }
            if new != text {
                writes.insert(path, Some(new.into_bytes()));
            }
        }
        return Some(Step {
            kind: StepKind::Remove,
            title: format!("remove {directory} and Kustomization {}", sibling.name),
            why: "nothing is left in it and nothing waits for it".to_owned(),
            verify: vec![format!("flux get kustomizations -n {}", sibling.namespace)],
            writes,
            moves: Vec::new(),
        });
    }
    None
}
