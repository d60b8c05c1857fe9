//! Finding and opening the repository of a directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{GitError, Repository};

/// What git's environment variables say about the repository; all paths absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `GIT_DIR`: use this git directory, look for none.
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`: its work tree; with `GIT_DIR` alone, where git was started.
    pub work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`: the index, which `git commit -a` and `git commit PATH` replace while hooks run.
    pub index_file: Option<PathBuf>,
}

/// Why a repository was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is none.
    NotFound,
    /// It belongs to somebody else, and `safe.directory` does not name it.
    Untrusted(PathBuf),
    /// It is there, but cannot be used.
    Broken(GitError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no git repository"),
            Self::Untrusted(path) => {
                write!(f, "repository {} belongs to another user", path.display())
            }
            Self::Broken(error) => write!(f, "git repository cannot be opened: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl Repository {
    /// Opens the repository that `directory` lies in, or that `GIT_DIR` names.
    ///
    /// # Errors
    /// When there is none, when it belongs to another user, or when it is broken.
    pub fn discover(directory: &Path, overrides: &Overrides) -> Result<Self, OpenError> {
        let options = gix::open::Options::default()
            // Also keeps gix from reading GIT_* of the process: `overrides` says what holds.
            .clone_without_trust();
        let handle = if let Some(git_dir) = &overrides.git_dir {
            options.open_path_as_is(true).open(git_dir.clone())
        } else {
            let mut upwards = gix::discover::upwards::Options {
                match_ceiling_dir_or_error: false,
                ..Default::default()
            }
            .apply_environment();
            upwards.match_ceiling_dir_or_error = false;
            gix::discover_opts(directory, upwards, options)
        };
        let mut handle = handle.map_err(classify)?;
        if handle.git_dir_trust() != gix::sec::Trust::Full {
            let place = handle.workdir().unwrap_or_else(|| handle.git_dir());
            return Err(OpenError::Untrusted(place.to_owned()));
        }
        if let Some(work_tree) = work_tree_override(&handle, directory, overrides) {
            handle
                .set_workdir(work_tree)
                .map_err(|error| OpenError::Broken(error.into()))?;
        }
        Self::new(handle, overrides)
    }

    fn new(mut handle: gix::Repository, overrides: &Overrides) -> Result<Self, OpenError> {
        let work_tree = match handle.workdir() {
            Some(path) => Some(path.canonicalize().map_err(|error| {
                OpenError::Broken(GitError(format!("work tree {}: {error}", path.display())))
            })?),
            None => None,
        };
        if let Some(path) = &work_tree {
            handle
                .set_workdir(path.clone())
                .map_err(|error| OpenError::Broken(error.into()))?;
        }
        let git_dir = handle
            .git_dir()
            .canonicalize()
            .unwrap_or_else(|_| handle.git_dir().to_owned());
        let index_path = overrides
            .index_file
            .clone()
            .unwrap_or_else(|| handle.index_path());
        let reftable = handle
            .config_snapshot()
            .string("extensions.refStorage")
            .is_some_and(|storage| storage.eq_ignore_ascii_case(b"reftable"));
        Ok(Self {
            shared: handle.into_sync(),
            handles: Mutex::new(Vec::new()),
            work_tree,
            git_dir,
            index_path,
            reftable,
        })
    }
}

/// The work tree if not the one that the git directory implies: as `GIT_WORK_TREE` says, or
/// where git was started if `GIT_DIR` alone is set.
fn work_tree_override(
    handle: &gix::Repository,
    started_in: &Path,
    overrides: &Overrides,
) -> Option<PathBuf> {
    if overrides.work_tree.is_some() {
        return overrides.work_tree.clone();
    }
    overrides.git_dir.as_ref()?;
    let configuration = handle.config_snapshot();
    let configured = configuration.string("core.worktree").is_some();
    let bare = configuration.boolean("core.bare").unwrap_or(false) && handle.workdir().is_none();
    (!configured && !bare).then(|| started_in.to_owned())
}

fn classify(error: gix::Error) -> OpenError {
    use gix::discover::upwards::Error as Discovery;
    match error.downcast_any_ref::<Discovery>() {
        Some(
            Discovery::NoGitRepository { .. }
            | Discovery::NoGitRepositoryWithinCeiling { .. }
            | Discovery::NoGitRepositoryWithinFs { .. },
        ) => OpenError::NotFound,
        Some(Discovery::NoTrustedGitRepository { candidate, .. }) => {
            OpenError::Untrusted(candidate.clone())
        }
        _ => OpenError::Broken(error.into()),
    }
}
