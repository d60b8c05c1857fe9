//! `wavelint plan`: the steps to the computed waves, and one of them written to the work tree.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::open::open;
use crate::cli::{InputArgs, PlanArgs, PlanFormat};
use crate::fix::{self, FileChange};
use crate::plan::{Draft, Plan, Step, plan};
use crate::snapshot::{BaseRequest, Kind};
use crate::terminal::{self, Style};

/// Runs the command. Without `--rev` and `--staged` the plan is of what is committed; outside git, of the folder.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn run(args: &PlanArgs, style: Style, writer: &mut impl Write) -> Result<(), String> {
    let input = &args.repository.input;
    let directory = args.repository.dir.as_deref();
    let mut opened = open(directory, input, BaseRequest::None, args.talk)?;
    let root = opened.root.clone();
    let mut on_disk = None;
    if opened.info.kind == Kind::Worktree {
        on_disk = Draft::of(&opened.loaded.files, &opened.loaded.head).ok();
        let committed = InputArgs {
            rev: Some("HEAD".to_owned()),
            ..input.clone()
        };
        opened = open(directory, &committed, BaseRequest::None, args.talk)?;
    }
    let start = Draft::of(&opened.loaded.files, &opened.loaded.head)?;
    let found = plan(&start, &opened.config, &opened.remotes);
    if let Some(number) = args.apply {
        apply(
            &root,
            &start,
            on_disk.as_ref(),
            &found,
            number,
            args.talk.quiet,
        )?;
    }
    if let Some(on_disk) = on_disk.filter(|_| !args.talk.quiet && args.apply.is_none())
        && on_disk != start
    {
        terminal::note(
            "the work tree differs from HEAD: the plan is made from what is committed, and sees nothing of the rest",
        );
    }
    match args.apply {
        Some(_) => Ok(()),
        None => write(&found, args.format, style, writer).map_err(|error| error.to_string()),
    }
}

/// Writes a plan.
///
/// # Errors
/// When the writer refuses.
pub fn write(
    plan: &Plan,
    format: PlanFormat,
    style: Style,
    writer: &mut impl Write,
) -> std::io::Result<()> {
    match format {
        PlanFormat::Json => json(plan, writer),
        PlanFormat::Human => human(plan, style, writer),
    }
}

fn json(plan: &Plan, writer: &mut impl Write) -> std::io::Result<()> {
    let steps: Vec<_> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let moves: Vec<_> = step
                .moves
                .iter()
                .map(|change| json!({"from": change.from, "to": change.to}))
                .collect();
            json!({
                "number": index + 1,
                "kind": step.kind.as_str(),
                "title": step.title,
                "why": step.why,
                "verify": step.verify,
                "writes": step.writes.keys().collect::<Vec<_>>(),
                "moves": moves,
            })
        })
        .collect();
    let value = json!({"version": 1, "steps": steps, "obstacles": plan.obstacles});
    serde_json::to_writer_pretty(&mut *writer, &value)?;
    writeln!(writer)
}

fn human(plan: &Plan, style: Style, writer: &mut impl Write) -> std::io::Result<()> {
    let arrow = if style.unicode { "→" } else { "->" };
    // Before the steps: whoever begins should know that the end cannot be reached yet.
    for obstacle in &plan.obstacles {
        writeln!(writer, "in the way: {obstacle}")?;
    }
    if !plan.obstacles.is_empty() && !plan.steps.is_empty() {
        writeln!(writer, "the plan ends before that:\n")?;
    }
    for (index, step) in plan.steps.iter().enumerate() {
        writeln!(
            writer,
            "{}. {}: {}",
            index + 1,
            step.kind.as_str(),
            step.title
        )?;
        writeln!(writer, "   why: {}", step.why)?;
        for change in &step.moves {
            writeln!(writer, "   move {} {arrow} {}", change.from, change.to)?;
        }
        for (path, bytes) in &step.writes {
            let verb = if bytes.is_some() { "write" } else { "remove" };
            writeln!(writer, "   {verb} {path}")?;
        }
        for command in &step.verify {
            writeln!(writer, "   check: {command}")?;
        }
        writeln!(writer)?;
    }
    match plan.steps.len() {
        0 if plan.obstacles.is_empty() => {
            writeln!(writer, "nothing to do: every service is in its wave")
        }
        0 => Ok(()),
        _ => writeln!(
            writer,
            "each step is one commit, and Flux must have reconciled it before the next: \
             `wavelint plan --apply 1`, commit, push, check, and again"
        ),
    }
}

fn apply(
    root: &Path,
    start: &Draft,
    on_disk: Option<&Draft>,
    plan: &Plan,
    number: usize,
    quiet: bool,
) -> Result<(), String> {
    let step = number
        .checked_sub(1)
        .and_then(|index| plan.steps.get(index))
        .ok_or_else(|| match (plan.steps.len(), plan.obstacles.first()) {
            (0, Some(obstacle)) => format!("there is no step {number}: {obstacle}"),
            (0, None) => "there is nothing to do: every service is in its wave".to_owned(),
            (count, _) => format!("there is no step {number}: the plan has {count}"),
        })?;
    match number {
        1 => {}
        2 => {
            return Err(
                "apply and commit step 1 first, and let Flux reconcile it; step 2 is then step 1"
                    .to_owned(),
            );
        }
        _ => {
            return Err(format!(
                "apply and commit steps 1 {} {} first, each by itself, and let Flux reconcile them; the numbers then begin anew",
                if number == 3 { "and" } else { "to" },
                number - 1
            ));
        }
    }
    let changes = changes(start, &start.after(step), step);
    let is_written = on_disk.is_some_and(|disk| {
        changes
            .iter()
            .all(|change| disk.files().get(&change.path) == change.after.as_ref())
    });
    if is_written {
        return Err(format!(
            "step {number} is written already ({}: {}): commit it and let Flux reconcile it, then `--apply 1` is the next",
            step.kind.as_str(),
            step.title
        ));
    }
    fix::write(root, &changes).map_err(|error| error.to_string())?;
    if !quiet {
        terminal::note(&format!(
            "step {number} is written ({}: {}); commit it alone, and let Flux reconcile it before the next",
            step.kind.as_str(),
            step.title
        ));
    }
    Ok(())
}

/// The files that differ between two trees.
fn changes(before: &Draft, after: &Draft, step: &Step) -> Vec<FileChange> {
    let (old, new) = (before.files(), after.files());
    let mut paths: Vec<&String> = old.keys().chain(new.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
        .into_iter()
        .filter(|path| old.get(*path) != new.get(*path))
        .map(|path| FileChange {
            path: path.clone(),
            before: old.get(path).cloned(),
            after: new.get(path).cloned(),
            origin: step
                .moves
                .iter()
                .find(|change| change.to == *path)
                .map(|change| change.from.clone()),
        })
        .collect()
}
