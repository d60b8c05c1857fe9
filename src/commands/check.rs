//! `wavelint check`: lint, and report.

use std::io::Write;
use std::time::Instant;

use super::open::{cluster_names, open};
use crate::cli::{CheckArgs, FailOn};
use crate::finding::{Finding, Severity};
use crate::levels::Selection;
use crate::lint;
use crate::report::{self, Report};
use crate::rules::RULES;
use crate::snapshot::BaseRequest;
use crate::suppress::Baseline;
use crate::terminal::{Output, Status, Style};

/// Runs the command.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn run(args: &CheckArgs) -> Result<Status, String> {
    let start = Instant::now();
    let base = match (&args.base, args.no_base) {
        (Some(revision), _) => BaseRequest::Revision(revision.clone()),
        (None, true) => BaseRequest::None,
        (None, false) => BaseRequest::Default,
    };
    let input = &args.repository.input;
    let mut opened = open(args.repository.dir.as_deref(), input, base, args.talk)?;
    let info = opened.info.clone();
    let clusters = cluster_names(input);
    let repo = opened.understand(&clusters)?;
    let selection = Selection {
        select: args.select.clone(),
        ignore: args.ignore.clone(),
    };
    let mut outcome =
        lint::lint(&repo, &selection, &clusters).map_err(|error| error.to_string())?;
    if let Some(path) = &args.baseline {
        let name = path.display().to_string();
        if args.write_baseline {
            report::sort(&mut outcome.findings, repo.files);
            std::fs::write(path, Baseline::write(&outcome.findings, repo.files))
                .map_err(|error| format!("{name}: {error}"))?;
            outcome.summary.suppressed += outcome.findings.len();
            outcome.findings.clear();
        } else {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
            let baseline = Baseline::parse(&text, &name).map_err(|error| error.to_string())?;
            report::sort(&mut outcome.findings, repo.files);
            let (left, suppressed) = baseline.filter(outcome.findings, repo.files);
            outcome.findings = left;
            outcome.summary.suppressed += suppressed;
        }
    }
    let report = Report::new(
        outcome.findings,
        outcome.summary,
        info,
        start.elapsed(),
        RULES,
        repo.files,
    );
    let failed = fails(&report.findings, args.fail_on);
    let name = args.output.as_ref().map_or_else(
        || "standard output".to_owned(),
        |path| path.display().to_string(),
    );
    let style = match &args.output {
        Some(_) => Style::PLAIN,
        None => Style::detect(args.talk),
    };
    Output::open(args.output.as_deref())
        .and_then(|mut out| {
            report::render(args.format, &report, repo.files, style, &mut out)?;
            out.flush()
        })
        .map_err(|error| format!("{name}: {error}"))?;
    Ok(if failed {
        Status::Findings
    } else {
        Status::Clean
    })
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
