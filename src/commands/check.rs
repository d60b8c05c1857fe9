//! `wavelint check`: lint, mend if asked to, and report.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::idle_config;
use super::open::{Opened, cluster_names, open};
use super::verbose;
use crate::cli::{CheckArgs, FailOn};
use crate::finding::{Finding, Severity};
use crate::fix::{self, FileChange, Fixed, Mended};
use crate::levels::{self, Selection};
use crate::lint::{self, Outcome};
use crate::repo::Repo;
use crate::report::{self, Report};
use crate::rules::RULES;
use crate::snapshot::{BaseRequest, Kind};
use crate::suppress::Baseline;
use crate::terminal::{self, Output, Status, Style};

/// Runs the command.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn run(args: &CheckArgs) -> Result<Status, String> {
    let start = Instant::now();
    let mut opened = open_repository(args)?;
    let clusters = cluster_names(&args.repository.input);
    let baseline = read_baseline(args)?;
    let mut mended = Mended::default();
    let mut found_at_first = None;
    let mut passes = 0;
    let root = opened.root.clone();
    loop {
        let info = opened.info.clone();
        let repo = opened.understand(&clusters)?;
        if args.talk.verbose && passes == 0 {
            for note in verbose::notes(&repo, &info) {
                terminal::note(&note);
            }
        }
        if !args.talk.quiet && passes == 0 {
            for note in idle_config::notes(&repo) {
                terminal::note(&note);
            }
        }
        let mut outcome = judge(&repo, args, &clusters, baseline.as_ref())?;
        let first = *found_at_first.get_or_insert(fails(&outcome.findings, args.fail_on));
        let mending = args.fix || args.diff;
        let changed = mending
            && mended.pass(
                &outcome.findings,
                repo.files,
                &repo.head.tree,
                args.unsafe_fixes,
            );
        if changed {
            passes += 1;
            if passes > fix::MAX_PASSES {
                return Err(format!(
                    "the fixes undo each other: after {} passes there is still something to fix; nothing was changed",
                    fix::MAX_PASSES
                ));
            }
            opened.lint_again(&mended);
            continue;
        }
        if args.diff {
            let text = fix::unified(&opened.changes(&mended)?);
            print(args, text.as_bytes())?;
            return Ok(status(first));
        }
        if args.write_baseline
            && let Some(path) = &args.baseline
        {
            let kept = not_judged(&repo, args, &clusters, path)?;
            let text = Baseline::write(&outcome.findings, repo.files, &kept);
            terminal::write_file(path, text.as_bytes())
                .map_err(|error| format!("{}: {error}", path.display()))?;
            outcome.summary.suppressed += outcome.findings.len();
            outcome.findings.clear();
        }
        let report = Report::new(
            outcome.findings,
            outcome.summary,
            info,
            start.elapsed(),
            RULES,
            repo.files,
        );
        if !args.talk.quiet
            && let Some(note) = taken_as_root(&report, &root)
        {
            terminal::note(&note);
        }
        let failed = fails(&report.findings, args.fail_on);
        let mut text = Vec::new();
        let style = style(args);
        report::render(args.format, &report, repo.files, style, &mut text)
            .map_err(|error| error.to_string())?;
        if args.fix {
            fix::write(&opened.root, &opened.changes(&mended)?)
                .map_err(|error| error.to_string())?;
            if !args.talk.quiet && !mended.fixed.is_empty() {
                terminal::note(&summary_of(&mended.fixed));
            }
        }
        print(args, &text)?;
        return Ok(status(failed));
    }
}

/// Takes the snapshots. What an earlier, interrupted run of `--fix` left is undone first if this is one too.
fn open_repository(args: &CheckArgs) -> Result<Opened, String> {
    let base = || match (&args.base, args.no_base) {
        (Some(revision), _) => BaseRequest::Revision(revision.clone()),
        (None, true) => BaseRequest::None,
        (None, false) => BaseRequest::Default,
    };
    let input = &args.repository.input;
    let take = || open(args.repository.dir.as_deref(), input, base(), args.talk);
    let opened = take()?;
    let on_disk = matches!(opened.info.kind, Kind::Worktree | Kind::Folder);
    if !on_disk {
        return Ok(opened);
    }
    if args.fix {
        let undone = fix::recover(&opened.root).map_err(|error| error.to_string())?;
        if undone {
            terminal::note("an earlier --fix was interrupted here: what it did was undone first");
            return take();
        }
    } else if !args.talk.quiet && fix::interrupted(&opened.root) {
        terminal::note(
            "an earlier --fix was interrupted here, files may be half changed: `wavelint --fix` undoes it first",
        );
    }
    Ok(opened)
}

fn read_baseline(args: &CheckArgs) -> Result<Option<Baseline>, String> {
    let Some(path) = args.baseline.as_ref().filter(|_| !args.write_baseline) else {
        return Ok(None);
    };
    parse_baseline(path).map(Some)
}

fn parse_baseline(path: &Path) -> Result<Baseline, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    Baseline::parse(&text, &name).map_err(|error| error.to_string())
}

/// What the baseline that is written anew holds of rules and clusters that this run does not judge.
fn not_judged(
    repo: &Repo,
    args: &CheckArgs,
    clusters: &[String],
    path: &Path,
) -> Result<Baseline, String> {
    let is_whole = args.select.is_empty() && args.ignore.is_empty() && clusters.is_empty();
    if is_whole || !path.exists() {
        return Ok(Baseline::default());
    }
    let levels =
        levels::resolve(repo.config, &selection(args), RULES).map_err(|error| error.to_string())?;
    let is_kept = |rule: &str| !clusters.is_empty() || levels.leaves_out(rule);
    Ok(parse_baseline(path)?.of_rules(is_kept))
}

fn selection(args: &CheckArgs) -> Selection {
    Selection {
        select: args.select.clone(),
        ignore: args.ignore.clone(),
    }
}

/// Lints; the findings in report order, without those of the baseline.
fn judge(
    repo: &Repo,
    args: &CheckArgs,
    clusters: &[String],
    baseline: Option<&Baseline>,
) -> Result<Outcome, String> {
    let mut outcome =
        lint::lint(repo, &selection(args), clusters).map_err(|error| error.to_string())?;
    report::sort(&mut outcome.findings, repo.files);
    if let Some(baseline) = baseline {
        let (left, suppressed) = baseline.filter(outcome.findings, repo.files);
        outcome.findings = left;
        outcome.summary.suppressed += suppressed;
    }
    Ok(outcome)
}

impl Opened {
    /// Reads again what is linted, with the changes so far in it.
    fn lint_again(&mut self, mended: &Mended) {
        let head = Arc::new(self.head.with(&mended.changes));
        self.loaded = lint::load_shared(head, self.base.clone());
    }

    /// The files that differ from what was linted at first.
    fn changes(&self, mended: &Mended) -> Result<Vec<FileChange>, String> {
        let mut changes = Vec::new();
        for (path, after) in &mended.changes {
            let found = self
                .head
                .entries
                .binary_search_by(|entry| entry.path.cmp(path));
            let before = match found {
                Ok(index) => Some(
                    self.head
                        .read(index)
                        .map_err(|error| format!("{path}: {error}"))?,
                ),
                Err(_) => None,
            };
            if before != *after {
                changes.push(FileChange {
                    path: path.clone(),
                    before,
                    after: after.clone(),
                    origin: mended.origins.get(path).cloned(),
                });
            }
        }
        Ok(changes)
    }
}

/// What to say where a part of a repository was linted as if it were the whole, and paths are not found for it.
fn taken_as_root(report: &Report, root: &Path) -> Option<String> {
    let directory = &report.snapshot.directory;
    let has_lost_path = report
        .findings
        .iter()
        .any(|finding| finding.rule == "path-not-found");
    if directory.is_empty() || !has_lost_path {
        return None;
    }
    let top = root.ancestors().nth(directory.split('/').count())?;
    Some(format!(
        "paths are taken from `{directory}` on, as if it were the top of what Flux syncs; if Flux syncs the whole repository, lint {}",
        top.display()
    ))
}

/// `fixed 2: …` and a line for each.
fn summary_of(fixed: &[Fixed]) -> String {
    let mut text = format!("fixed {}:", fixed.len());
    for fixed in fixed {
        let _ = write!(
            text,
            "\n  {}:{} {}: {}",
            fixed.path, fixed.line, fixed.rule, fixed.title
        );
    }
    text
}

fn style(args: &CheckArgs) -> Style {
    match &args.output {
        Some(_) => Style::PLAIN,
        None => Style::detect(args.talk),
    }
}

/// Writes to standard output, or to the file of `--output`.
fn print(args: &CheckArgs, text: &[u8]) -> Result<(), String> {
    if let Some(path) = &args.output {
        return terminal::write_file(path, text)
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let mut out = Output::stdout();
    out.write_all(text)
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}"))
}

fn status(failed: bool) -> Status {
    if failed {
        Status::Findings
    } else {
        Status::Clean
    }
}

/// True if a finding is at or above the severity from which the run fails.
fn fails(findings: &[Finding], fail_on: FailOn) -> bool {
    let least = match fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Info => Severity::Info,
        FailOn::Never => return false,
    };
    findings.iter().any(|finding| finding.severity >= least)
}
