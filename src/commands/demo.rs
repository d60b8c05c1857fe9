//! `wavelint demo`: lints a repository carried in the program, with the four classic drifts in it.

use std::io::Write;
use std::time::Instant;

use crate::cli::DemoArgs;
use crate::config::{Config, FILE_NAME};
use crate::levels::Selection;
use crate::lint;
use crate::report::{self, Report, SnapshotInfo};
use crate::rules::RULES;
use crate::snapshot::{Kind, Snapshot};
use crate::terminal::{Output, Status, Style};

mod files {
    //! The demonstration repository, as it was and as it is; written by the build script.
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));
}

/// Runs the command. It ends well whatever it finds.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &DemoArgs) -> Result<Status, String> {
    let start = Instant::now();
    let snapshot = |files: &[(&str, &str)]| {
        Snapshot::memory(
            files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
        )
    };
    let mut loaded = lint::load(snapshot(files::AFTER), Some(snapshot(files::BEFORE)));
    let config = files::AFTER
        .iter()
        .find(|(path, _)| *path == FILE_NAME)
        .map_or(Ok(Config::default()), |(path, text)| {
            Config::parse(text, path)
        })
        .map_err(|error| error.to_string())?;
    let head = std::mem::take(&mut loaded.head);
    let base = loaded.base.take();
    let repo = lint::understand(&loaded.files, &config, head, base, &[]);
    let outcome =
        lint::lint(&repo, &Selection::default(), &[]).map_err(|error| error.to_string())?;
    let info = SnapshotInfo {
        kind: Kind::Memory,
        revision: None,
        base: None,
        directory: String::new(),
    };
    let report = Report::new(
        outcome.findings,
        outcome.summary,
        info,
        start.elapsed(),
        RULES,
        repo.files,
    );
    let mut out = Output::stdout();
    report::render(
        args.format,
        &report,
        repo.files,
        Style::detect(args.talk),
        &mut out,
    )
    .and_then(|()| out.flush())
    .map_err(|error| error.to_string())?;
    Ok(Status::Clean)
}
