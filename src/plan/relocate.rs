//! What lies in the wrong wave, and the step that moves it: byte for byte, with both lists and its guards.

use std::collections::BTreeMap;

use super::guard::{GUARDED, guards_of};
use super::{Context, Step, StepKind};
use crate::finding::Move;
use crate::kustomize::kustomization_file;
use crate::waves::PlacementKind;
use crate::yaml::{Node, edit, parse};

/// A file or directory in the wrong wave.
pub(crate) struct Misplaced {
    /// The index of the wave set.
    pub(super) set: usize,
    /// The wave where it is, and its directory.
    pub(super) from: u64,
    pub(super) here: String,
    /// The wave where it belongs, and its directory.
    pub(super) to: u64,
    pub(super) there: String,
    /// Its path below the wave's directory.
    pub(super) below: String,
    /// The service.
    pub(super) service: String,
    is_directory: bool,
}

impl Misplaced {
    /// Its path now.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.here, self.below)
    }

    /// True if a file belongs to it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let own = self.path();
        path == own || path.starts_with(&format!("{own}/"))
    }
}

/// Everything in a wave that is not its service's computed one.
pub(super) fn misplaced(context: &Context<'_>) -> Vec<Misplaced> {
    let waves = &context.moment.picture.waves;
    let mut found = Vec::new();
    for (index, set) in waves.sets.iter().enumerate() {
        for (number, wave) in &set.waves {
            for placement in &wave.placements {
                let Some(service) = placement.service else {
                    continue;
                };
                let Some(to) = set.computed(service).filter(|to| to != number) else {
                    continue;
                };
                let here = wave
                    .directories
                    .iter()
                    .find(|directory| placement.path.starts_with(&format!("{directory}/")));
                let (Some(here), true) = (here, placement.kind != PlacementKind::Listed) else {
                    continue;
                };
                found.push(Misplaced {
                    set: index,
                    from: *number,
                    here: here.clone(),
                    to,
                    there: set.directory(to),
                    below: placement.path[here.len() + 1..].to_owned(),
                    service: waves.catalog.services[service].name.to_string(),
                    is_directory: placement.kind == PlacementKind::Directory,
                });
            }
        }
    }
    found
}

/// The step that moves all of them at once.
pub(super) fn step(context: &Context<'_>, all: &[Misplaced]) -> Result<Step, Vec<String>> {
    let mut obstacles = Vec::new();
    let mut lists: BTreeMap<String, String> = BTreeMap::new();
    let mut moves = Vec::new();
    for one in all {
        match relocate(context, one, &mut lists) {
            Ok(files) => moves.extend(files),
            Err(more) => obstacles.extend(more),
        }
    }
    if !obstacles.is_empty() {
        obstacles.sort();
        obstacles.dedup();
        return Err(obstacles);
    }
    let mut words: Vec<String> = Vec::new();
    for one in all {
        let word = format!("{} from wave {} to {}", one.below, one.from, one.to);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(Step {
        kind: StepKind::Move,
        title: format!("move {}", words.join(", ")),
        why: "the longest dependency path of each service gives its wave; in whatever order the \
              Kustomizations reconcile this, nothing is deleted"
            .to_owned(),
        verify: verify(
            context,
            all.iter()
                .flat_map(|one| [one.here.as_str(), one.there.as_str()]),
        ),
        writes: lists
            .into_iter()
            .map(|(path, text)| (path, Some(text.into_bytes())))
            .collect(),
        moves,
    })
}

fn relocate(
    context: &Context<'_>,
    one: &Misplaced,
    lists: &mut BTreeMap<String, String>,
) -> Result<Vec<Move>, Vec<String>> {
    let path = one.path();
    let target = format!("{}/{}", one.there, one.below);
    let moved: Vec<Move> = context
        .draft
        .files()
        .keys()
        .filter(|path| one.holds(path))
        .map(|from| Move {
            from: from.clone(),
            to: format!("{target}{}", &from[path.len()..]),
        })
        .collect();
    if one.is_directory
        && moved.iter().any(|file| {
            context
                .draft
                .text(&file.from)
                .is_some_and(|text| text.contains("../"))
        })
    {
        return Err(vec![format!(
            "{path}: a file of it names something outside by a relative path; move it by hand"
        )]);
    }
    if moved
        .iter()
        .any(|file| context.draft.files().contains_key(&file.to))
    {
        return Err(vec![format!("{target} is already there")]);
    }
    let tree = &context.moment.picture.tree;
    let file = |directory: &str| {
        kustomization_file(tree, directory).map(|file| context.moment.files.path(file).to_owned())
    };
    let (from, to) = match (file(&one.here), file(&one.there)) {
        (None, None) => return Ok(moved),
        (Some(from), Some(to)) => (from, to),
        _ => {
            return Err(vec![format!(
                "{} and {}: only one of them has a kustomization file",
                one.here, one.there
            )]);
        }
    };
    let text = |path: &str| -> String {
        lists
            .get(path)
            .cloned()
            .or_else(|| context.draft.text(path).map(str::to_owned))
            .unwrap_or_default()
    };
    let (source, goal) = (text(&from), text(&to));
    let source_edited = take_out(&source, &one.below);
    let goal_edited = put_in(&goal, &source, &one.below);
    let (Some(source), Some(goal)) = (&source_edited, &goal_edited) else {
        let mut obstacles = Vec::new();
        if source_edited.is_none() {
            obstacles.push(format!(
                "{from}: its lists are written in a way that is not understood; take `{}` out by hand",
                one.below
            ));
        }
        if goal_edited.is_none() {
            obstacles.push(format!(
                "{to}: its lists are written in a way that is not understood; list `{}` by hand",
                one.below
            ));
        }
        return Err(obstacles);
    };
    lists.insert(from, source.clone());
    lists.insert(to, goal.clone());
    Ok(moved)
}

/// The entry of a list for a path below the wave: its index and its text.
fn entry(text: &str, below: &str) -> Option<(usize, String)> {
    let clean = |entry: &str| {
        entry
            .trim_start_matches("./")
            .trim_end_matches('/')
            .to_owned()
    };
    entries(text)
        .into_iter()
        .enumerate()
        .find(|(_, entry)| clean(entry) == below)
}

/// The kustomization file of the old wave without an entry and its guards.
fn take_out(source: &str, below: &str) -> Option<String> {
    let (index, _) = entry(source, below)?;
    let mut source = edit::remove_item(source, "resources", index, None, false)?;
    while let Some(index) = guards_of(&source, Some(below)).first().copied() {
        source = edit::remove_item(&source, "patches", index, Some(GUARDED), true)?;
    }
    Some(source)
}

/// The kustomization file of the new wave with an entry and its guards as `source` has them. What
/// `source` does not have or does not tell is not asked for.
fn put_in(goal: &str, source: &str, below: &str) -> Option<String> {
    let new = entry(source, below).map_or_else(|| below.to_owned(), |(_, entry)| entry);
    let others = entries(goal);
    let at = if others.is_sorted() {
        others.partition_point(|entry| *entry < new)
    } else {
        others.len()
    };
    let mut goal = edit::insert_item(goal, "resources", at, &new, None)?;
    let comment = format!("{GUARDED} {below}");
    for index in guards_of(source, Some(below)) {
        let Some(item) = edit::item_text(source, "patches", index) else {
            continue;
        };
        goal = edit::insert_item(&goal, "patches", usize::MAX, &item, Some(&comment))?;
    }
    Some(goal)
}

fn entries(text: &str) -> Vec<String> {
    let yaml = parse(text, crate::source::FileId(0));
    yaml.documents
        .first()
        .and_then(|document| document.root.get("resources"))
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(|item| Some(item.as_str()?.to_owned()))
        .collect()
}

/// Commands that show that the Kustomizations of some directories have reconciled a commit.
pub(super) fn verify<'a>(
    context: &Context<'_>,
    directories: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let directories: Vec<&str> = directories.collect();
    let mut commands: Vec<String> = Vec::new();
    for cluster in &context.moment.picture.flux.clusters {
        for kustomization in &cluster.kustomizations {
            if kustomization
                .directory()
                .is_some_and(|directory| directories.contains(&directory))
            {
                commands.push(format!(
                    "flux reconcile kustomization {} -n {} --with-source",
                    kustomization.name.name, kustomization.name.namespace
                ));
            }
        }
    }
    commands.sort();
    commands.dedup();
    commands
}
