//! Parse, run, exit code.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use wavelint::cli::{Cli, Command};
use wavelint::commands;
use wavelint::rules::RULES;
use wavelint::terminal::{self, Output, Status, Style};

fn main() -> ExitCode {
    terminal::finish(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<Status, String> {
    let mut out = Output::stdout();
    let status = match &cli.command {
        None => return commands::check::run(&cli.check),
        Some(Command::Check(args)) => return commands::check::run(args),
        Some(Command::Build(args)) => return commands::build::run(args),
        Some(Command::Demo(args)) => return commands::demo::run(args),
        Some(Command::Explain(args)) => {
            commands::explain::run(&args.name, RULES, Style::detect(args.talk), &mut out)
                .map_err(|error| error.to_string())
        }
        Some(Command::Rules(args)) => {
            commands::rules::run(RULES, args.format, Style::detect(args.talk), &mut out)
                .map_err(|error| error.to_string())
        }
        Some(Command::Completions(args)) => {
            commands::completions::run(args.shell, &mut out).map_err(|error| error.to_string())
        }
        Some(Command::Graph(args)) => commands::graph::run(args, &mut out),
        Some(Command::Init(args)) => {
            commands::init::run(&args.dir, &mut out).map_err(|error| error.to_string())
        }
        Some(Command::Waves(args)) => {
            commands::waves::run(args, Style::detect(args.talk), &mut out)
        }
        Some(Command::Plan(args)) => commands::plan::run(args, Style::detect(args.talk), &mut out),
    };
    status?;
    out.flush().map_err(|error| error.to_string())?;
    Ok(Status::Clean)
}
