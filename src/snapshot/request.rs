//! What is asked for, and what is given: the words between the program and the snapshots.

use std::fmt;
use std::path::PathBuf;

use super::{Environment, Snapshot};

/// What to take.
#[derive(Clone, Debug)]
pub struct Request {
    /// `DIR`, if it was given; relative to the current directory.
    pub directory: Option<PathBuf>,
    /// Where the program was started; absolute.
    pub current_directory: PathBuf,
    /// Which moment.
    pub source: Source,
    /// What to compare with.
    pub base: BaseRequest,
    /// What the environment adds.
    pub environment: Environment,
}

/// Which moment is linted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The files as they are; of a folder outside git too.
    WorkTree,
    /// `--staged`: what the next commit will hold.
    Index,
    /// `--rev`: a commit, by any name that git knows for it.
    Revision(String),
}

/// What it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseRequest {
    /// What pre-commit or Actions imply, for work tree and index; else `HEAD`. For a revision, its first parent.
    Default,
    /// `--base`: the merge base of this revision and what is linted.
    Revision(String),
    /// `--no-base`: nothing.
    None,
}

/// What was taken.
pub struct Taken {
    /// What is linted.
    pub head: Snapshot,
    /// What it is compared with.
    pub base: Option<Snapshot>,
    /// The full id of the base's commit.
    pub base_revision: Option<String>,
    /// What the user should know, for standard error: what was left out, and a base that
    /// was implied but could not be had.
    pub notes: Vec<String>,
    /// The URLs of the repository's remotes, without the user information of HTTP URLs.
    pub remotes: Vec<String>,
    /// The linted directory as seen from the top of the repository; `""` if it is the top, or outside git.
    pub directory: String,
    /// What the entries' paths are relative to; absolute. In a bare repository, the git directory.
    pub root: PathBuf,
}

/// Why nothing could be taken, and how to mend it. The program ends with exit code 2.
#[derive(Debug)]
pub struct TakeError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl TakeError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TakeError {}
