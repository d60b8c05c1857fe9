//! What every command that looks at a repository begins with: arguments → snapshots → configuration → repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{InputArgs, TalkArgs};
use crate::config::{Config, FILE_NAME};
use crate::lint::{self, Loaded};
use crate::repo::Repo;
use crate::report::SnapshotInfo;
use crate::snapshot::{BaseRequest, Environment, Request, Snapshot, Source, Taken};
use crate::terminal;

/// A repository, read.
pub struct Opened {
    /// Its files.
    pub loaded: Loaded,
    /// Its configuration.
    pub config: Config,
    /// The URLs of the checkout's git remotes.
    pub remotes: Vec<String>,
    /// What was taken, for the report.
    pub info: SnapshotInfo,
    /// The snapshot that is linted.
    pub head: Arc<Snapshot>,
    /// The snapshot that it is compared with.
    pub base: Option<Arc<Snapshot>>,
    /// What paths are relative to, where it is a directory.
    pub root: PathBuf,
}

/// Takes the snapshots that the arguments name and reads the configuration.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn open(
    directory: Option<&Path>,
    input: &InputArgs,
    base: BaseRequest,
    talk: TalkArgs,
) -> Result<Opened, String> {
    let current_directory = std::env::current_dir()
        .map_err(|error| format!("the current directory cannot be read: {error}"))?;
    let request = Request {
        directory: directory.map(Path::to_owned),
        source: match (&input.rev, input.staged) {
            (Some(revision), _) => Source::Revision(revision.clone()),
            (None, true) => Source::Index,
            (None, false) => Source::WorkTree,
        },
        base,
        environment: Environment::from_process(),
        current_directory,
    };
    let taken = crate::snapshot::take(&request).map_err(|error| error.to_string())?;
    if !talk.quiet {
        for message in &taken.notes {
            terminal::note(message);
        }
    }
    let config = read_config(&taken.head, input, talk)?;
    Ok(assemble(taken, config))
}

fn assemble(taken: Taken, config: Config) -> Opened {
    let info = SnapshotInfo {
        kind: taken.head.kind,
        revision: taken.head.revision.clone(),
        base: taken.base_revision,
        directory: taken.directory,
    };
    let (head, base) = (Arc::new(taken.head), taken.base.map(Arc::new));
    Opened {
        loaded: lint::load_shared(head.clone(), base.clone()),
        head,
        base,
        config,
        remotes: taken.remotes,
        info,
        root: taken.root,
    }
}

/// `--config` names a file; else the one of the snapshot counts, if it has one.
fn read_config(head: &Snapshot, input: &InputArgs, talk: TalkArgs) -> Result<Config, String> {
    if input.no_config {
        return Ok(Config::default());
    }
    let (name, bytes) = match &input.config {
        Some(path) => {
            let name = path.display().to_string();
            let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
            (name, bytes)
        }
        None => {
            let found = head
                .entries
                .binary_search_by(|entry| entry.path.as_str().cmp(FILE_NAME));
            let Ok(index) = found else {
                look_for_misnamed(head, talk)?;
                return Ok(Config::default());
            };
            let bytes = head
                .read(index)
                .map_err(|error| format!("{FILE_NAME}: {error}"))?;
            (FILE_NAME.to_owned(), bytes)
        }
    };
    let text =
        String::from_utf8(bytes).map_err(|_| format!("{name}: the file is not valid UTF-8"))?;
    Config::parse(&text, &name).map_err(|error| error.to_string())
}

/// A configuration that is not read because of its name or kind is not passed over without a word.
fn look_for_misnamed(head: &Snapshot, talk: TalkArgs) -> Result<(), String> {
    let directory = format!("{FILE_NAME}/");
    for entry in &head.entries {
        if entry.path.starts_with(&directory) {
            return Err(format!("{FILE_NAME} is a directory, and must be a file"));
        }
        if entry.path == ".wavelint.yml" && !talk.quiet {
            terminal::note(&format!(
                ".wavelint.yml is not read: the configuration is called {FILE_NAME}"
            ));
        }
    }
    Ok(())
}

impl Opened {
    /// Understands what was read.
    ///
    /// # Errors
    /// A YAML file that must not be read, or a `--cluster` that is no cluster of the repository.
    pub fn understand(&mut self, clusters: &[String]) -> Result<Repo<'_>, String> {
        let head = std::mem::take(&mut self.loaded.head);
        let base = self.loaded.base.take();
        let repo = lint::understand(&self.loaded.files, &self.config, head, base, &self.remotes);
        check_denied(&self.head, &repo)?;
        for wanted in clusters {
            let known: Vec<&str> = repo
                .head
                .flux
                .clusters
                .iter()
                .map(|cluster| cluster.path.as_str())
                .collect();
            if !known.contains(&wanted.as_str()) {
                let list = if known.is_empty() {
                    "this repository has none".to_owned()
                } else {
                    format!("there are {}", known.join(", "))
                };
                return Err(format!("`{wanted}` is no cluster: {list}"));
            }
        }
        Ok(repo)
    }
}

/// A YAML file that this user may not read could say anything: nothing found without it can be trusted.
fn check_denied(head: &Snapshot, repo: &Repo) -> Result<(), String> {
    for path in repo.files.unreadable() {
        let found = head
            .entries
            .binary_search_by(|entry| entry.path.as_str().cmp(path));
        let is_yaml = [".yaml", ".yml"]
            .iter()
            .any(|ending| path.ends_with(ending));
        if let (true, Ok(index)) = (is_yaml, found)
            && let Err(error) = head.read(index)
            && error.kind() == std::io::ErrorKind::PermissionDenied
        {
            return Err(format!("{path} cannot be read: {error}"));
        }
    }
    Ok(())
}

/// The paths of `--cluster` as clusters are named: without `./` and a slash at the end.
pub fn cluster_names(input: &InputArgs) -> Vec<String> {
    input
        .clusters
        .iter()
        .map(|path| crate::flux::clamp(path))
        .collect()
}
