//! The command line: types for clap, no logic.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

/// The linter for Flux CD repositories.
///
/// Reads a git repository (no cluster, no network) and says before the commit what Flux would do wrong after it. Without a command, it lints: `wavelint apps` is `wavelint check apps`. A command stands first, before all flags. A directory that has the name of a command is written with a dot: `wavelint ./graph`.
///
/// Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 could not run.
#[derive(Debug, Parser)]
#[command(
    name = "wavelint",
    version,
    args_conflicts_with_subcommands = true,
    propagate_version = false,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do; without it, `check`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The arguments of `check`, where no command is named.
    #[command(flatten)]
    pub check: CheckArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lint the repository (the default command)
    Check(CheckArgs),
    /// Show each service's computed wave, the path that proves it, and where it is now
    Waves(WavesArgs),
    /// Show what each cluster reconciles, in order
    Graph(GraphArgs),
    /// Print what Flux would build for a directory or a Kustomization
    ///
    /// The objects go to standard output as YAML, what cannot be known from the tree to standard error. Exit code 1 if Flux would refuse.
    Build(BuildArgs),
    /// Show the steps that bring the layout to the computed waves without Flux deleting anything
    ///
    /// Each step is one commit, which Flux must have reconciled before the next one.
    Plan(PlanArgs),
    /// Explain a rule
    Explain(ExplainArgs),
    /// List all rules
    Rules(RulesArgs),
    /// Write a starter .wavelint.yaml and show how to run wavelint in hooks and in CI
    Init(InitArgs),
    /// Lint a small repository carried in the program, with the classic drifts in it
    Demo(DemoArgs),
    /// Print a shell's completion script
    Completions(CompletionsArgs),
}

/// Arguments of `check`.
#[derive(Debug, Default, Args)]
pub struct CheckArgs {
    /// Where to look.
    #[command(flatten)]
    pub repository: RepositoryArgs,

    /// Compare with the merge base of REV and what is linted
    ///
    /// Default: HEAD for the work tree and the index, the first parent for --rev; in pre-commit and in Actions what they name.
    #[arg(
        long,
        value_name = "REV",
        conflicts_with = "no_base",
        help_heading = "Input"
    )]
    pub base: Option<String>,
    /// Compare with nothing; rules about moves do not run
    #[arg(long, help_heading = "Input")]
    pub no_base: bool,

    /// Run only these rules or groups (comma separated, repeatable)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Rules"
    )]
    pub select: Vec<String>,
    /// Leave out these rules or groups (comma separated, repeatable)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Rules"
    )]
    pub ignore: Vec<String>,
    /// Exit with 1 from this severity on
    #[arg(
        long,
        value_name = "SEVERITY",
        value_enum,
        default_value_t,
        help_heading = "Rules"
    )]
    pub fail_on: FailOn,
    /// Leave out the findings that this file lists
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub baseline: Option<PathBuf>,
    /// Write today's findings to the file of --baseline
    #[arg(long, requires = "baseline", help_heading = "Rules")]
    pub write_baseline: bool,

    /// How to print findings
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: ReportFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Apply safe fixes to the files of the work tree
    #[arg(long, group = "mending", conflicts_with_all = ["staged", "rev", "diff"], help_heading = "Fixes")]
    pub fix: bool,
    /// With --fix or --diff: also fixes that may change what Flux does
    #[arg(long, requires = "mending", help_heading = "Fixes")]
    pub unsafe_fixes: bool,
    /// Print what --fix would change, and change nothing
    #[arg(long, group = "mending", help_heading = "Fixes")]
    pub diff: bool,

    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// What to read.
#[derive(Debug, Default, Args)]
pub struct RepositoryArgs {
    /// The repository, or a directory in it, taken as the root of the tree
    ///
    /// Default: the top of the work tree.
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// What to read of it.
    #[command(flatten)]
    pub input: InputArgs,
}

/// Which state of the repository to read, and how to read it.
#[derive(Clone, Debug, Default, Args)]
pub struct InputArgs {
    /// Read the git index instead of the work tree
    #[arg(long, conflicts_with = "rev", help_heading = "Input")]
    pub staged: bool,
    /// Read a revision instead of the work tree
    #[arg(long, value_name = "REV", help_heading = "Input")]
    pub rev: Option<String>,
    /// Look at these clusters only (repeatable)
    #[arg(long = "cluster", value_name = "PATH", help_heading = "Input")]
    pub clusters: Vec<String>,
    /// Read this configuration instead of .wavelint.yaml
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "no_config",
        help_heading = "Input"
    )]
    pub config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, help_heading = "Input")]
    pub no_config: bool,
}

/// How to talk.
#[derive(Debug, Default, Clone, Copy, Args)]
pub struct TalkArgs {
    /// Colour the output (NO_COLOR and CLICOLOR_FORCE are honoured by auto)
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Output"
    )]
    pub color: ColorChoice,
    /// Print findings only: no summary, no notes
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Say what is read and compared, and what cannot be known
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
}

/// Arguments of `waves`.
#[derive(Debug, Args)]
pub struct WavesArgs {
    /// Where to look.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: WavesFormat,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `graph`.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Where to look.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How to draw
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: GraphFormat,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `build`.
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// A directory of the tree, or a Kustomization's name (NAME or NAMESPACE/NAME)
    #[arg(value_name = "PATH|NAME")]
    pub target: String,
    /// Where to look.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Where to look.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// Write step N to the work tree
    #[arg(long, value_name = "N", conflicts_with_all = ["staged", "rev"])]
    pub apply: Option<usize>,
    /// How to print
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: PlanFormat,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The rule's name
    pub name: String,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: RulesFormat,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Where to write .wavelint.yaml
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// How to print findings
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// From which severity on `check` exits with 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors only
    Error,
    /// Errors and warnings
    #[default]
    Warning,
    /// Any finding
    Info,
    /// No finding
    Never,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// With the lines they point at
    #[default]
    Human,
    /// One line each
    Concise,
    /// JSON, version 1
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub, Gitea and Forgejo Actions
    Github,
    /// GitLab code quality
    Gitlab,
    /// JUnit XML
    Junit,
}

/// How `waves` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WavesFormat {
    /// A table for the terminal
    #[default]
    Table,
    /// JSON, version 1
    Json,
    /// A Markdown table, for documentation
    Markdown,
}

/// How `graph` draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A tree for the terminal
    #[default]
    Tree,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
    /// An image
    Svg,
    /// JSON, version 1
    Json,
}

/// How `plan` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For reading
    #[default]
    Human,
    /// JSON, version 1
    Json,
}

/// How `rules` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// A table for the terminal
    #[default]
    Table,
    /// JSON, version 1
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that shows colours
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The whole command line as clap knows it, for completions and for checks of the documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The names of the commands, to say so when a DIR that does not exist nearly has one.
pub fn command_names() -> Vec<String> {
    command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    fn check(line: &str) -> CheckArgs {
        let cli = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        match cli.command {
            None => cli.check,
            Some(Command::Check(check)) => check,
            Some(other) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn check_is_the_default_command() {
        assert_eq!(check("wavelint").repository.dir, None);
        for line in ["wavelint apps", "wavelint check apps"] {
            assert_eq!(check(line).repository.dir, Some("apps".into()), "{line}");
        }
        assert_eq!(
            check("wavelint ./graph").repository.dir,
            Some("./graph".into())
        );
        assert!(check("wavelint --staged apps").repository.input.staged);
        assert_eq!(
            check("wavelint --rev HEAD").repository.input.rev.as_deref(),
            Some("HEAD")
        );
        // A command stands first; behind a flag the word is a directory.
        assert_eq!(
            check("wavelint --staged waves").repository.dir,
            Some("waves".into())
        );
        assert_eq!(check("wavelint --format json").format, ReportFormat::Json);
    }

    #[test]
    fn lists_are_comma_separated_and_repeatable() {
        let args = check("wavelint check --select a,b --select c --cluster x --cluster y,z");
        assert_eq!(args.select, ["a", "b", "c"]);
        assert_eq!(args.repository.input.clusters, ["x", "y,z"]);
    }

    #[test]
    fn conflicting_flags_are_refused_with_exit_code_2() {
        for line in [
            "wavelint --staged --rev HEAD",
            "wavelint check --staged --rev HEAD",
            "wavelint --base main --no-base",
            "wavelint --config a --no-config",
            "wavelint -q -v",
            "wavelint --fix --diff",
            "wavelint --fix --staged",
            "wavelint --fix --rev HEAD",
            "wavelint --unsafe-fixes",
            "wavelint --write-baseline",
            "wavelint waves --staged --rev HEAD",
            "wavelint plan --apply 1 --staged",
            "wavelint plan --apply x",
            "wavelint --format xml",
            "wavelint explain",
            "wavelint build",
            "wavelint apps waves",
        ] {
            match parse(line) {
                Ok(cli) => panic!("{line}: accepted as {cli:?}"),
                Err(error) => assert_eq!(error.exit_code(), 2, "{line}"),
            }
        }
    }

    #[test]
    fn each_command_takes_what_the_documentation_names() {
        for line in [
            "wavelint check . --staged --base main --fail-on never --output x --diff --unsafe-fixes --color always -v",
            "wavelint --fix --unsafe-fixes",
            "wavelint --baseline b.json --write-baseline",
            "wavelint waves . --rev HEAD --cluster c --config f --format markdown",
            "wavelint graph . --staged --cluster c --no-config --format svg",
            "wavelint build apps-wave-0 . --rev HEAD --cluster clusters/dev",
            "wavelint plan . --format json",
            "wavelint plan --apply 2",
            "wavelint explain wrong-wave --color never",
            "wavelint rules --format json",
            "wavelint init .",
            "wavelint demo --format json",
            "wavelint completions bash",
        ] {
            if let Err(error) = parse(line) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn every_flag_says_what_it_does() {
        fn look(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    command.get_name(),
                    argument.get_id()
                );
            }
            command.get_subcommands().for_each(look);
        }
        look(&command());
    }
}
