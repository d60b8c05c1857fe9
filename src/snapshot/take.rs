//! From what was asked for to snapshots: which directory, which moment, and what it is compared with.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::request::{BaseRequest, Request, Source, TakeError, Taken};
use super::{base, folder, repository};
use crate::git::{GitError, OpenError, Overrides, Repository, Standing};

/// Takes the snapshot that was asked for, and the one to compare it with.
///
/// # Errors
/// When the directory, the repository, the revision or the base cannot be had.
pub fn take(request: &Request) -> Result<Taken, TakeError> {
    let place = Place::find(request)?;
    let Some(repository) = open(&place, request)? else {
        return take_folder(&place.path, request, "is not in a git repository");
    };
    let repository = Arc::new(repository);
    let (root, directory) = place.within(&repository, request)?;
    if request.source == Source::WorkTree
        && let Some(work_tree) = repository.work_tree()
    {
        let standing = repository.standing(&directory);
        match standing.map_err(|error| unreadable(work_tree, &error))? {
            Standing::Listed => {}
            Standing::Ignored => return take_folder(&root, request, "is ignored by git"),
            Standing::InSubmodule(path) => {
                return Err(TakeError::new(format!(
                    "directory {} is in the submodule `{path}`, which is not checked out",
                    root.display()
                ))
                .with_help(format!(
                    "check it out: `git submodule update --init {path}`"
                )));
            }
        }
    }

    let mut notes = Vec::new();
    let mut linted = None;
    let head = match &request.source {
        Source::WorkTree => {
            need_work_tree(&repository)?;
            repository::work_tree(&repository, &directory, &mut notes)
                .map_err(|error| unreadable(&root, &error))?
        }
        Source::Index => {
            need_work_tree(&repository)?;
            let index =
                repository::index(&repository, &directory, &mut notes).map_err(|error| {
                    TakeError::new(format!(
                        "index of {} cannot be read: {error}",
                        root.display()
                    ))
                })?;
            if index.entries.is_empty() && !place.exists() {
                return Err(TakeError::new(format!(
                    "directory `{directory}` is not in the index"
                )));
            }
            index
        }
        Source::Revision(revision) => {
            let commit = base::resolve(&repository, revision)?;
            linted = Some(commit);
            repository::commit(&repository, commit, &directory, &mut notes)
                .map_err(|error| {
                    TakeError::new(format!("revision `{revision}` cannot be read: {error}"))
                })?
                .ok_or_else(|| {
                    TakeError::new(format!(
                        "directory `{directory}` is not in revision `{revision}`"
                    ))
                })?
        }
    };
    let base = base::take(&repository, request, linted, &directory, &mut notes)?;
    let (base_revision, base) = match base {
        Some((commit, snapshot)) => (Some(commit.to_string()), Some(snapshot)),
        None => (None, None),
    };
    Ok(Taken {
        head,
        base,
        base_revision,
        notes,
        remotes: repository.remotes(),
        directory,
        root,
    })
}

/// The directory that was named.
struct Place {
    /// Absolute; without symbolic links as far as it exists.
    path: PathBuf,
    /// The part of it that exists: a revision may hold directories that the work tree does not.
    existing: PathBuf,
}

impl Place {
    fn find(request: &Request) -> Result<Self, TakeError> {
        let named = match &request.directory {
            Some(directory) => request.current_directory.join(directory),
            None => request.current_directory.clone(),
        };
        let mut existing = named.as_path();
        let found = loop {
            let error = match existing.canonicalize() {
                Ok(found) if found.is_dir() => break found,
                Ok(_) => std::io::ErrorKind::NotADirectory.into(),
                Err(error) => error,
            };
            let mend = match error.kind() {
                std::io::ErrorKind::NotFound => "does not exist",
                std::io::ErrorKind::NotADirectory => "is not a directory",
                _ => "cannot be read",
            };
            let parent = existing.parent();
            match parent {
                Some(parent) if mend != "cannot be read" && request.source != Source::WorkTree => {
                    existing = parent;
                }
                _ => {
                    return Err(
                        TakeError::new(format!("{} {mend}: {error}", named.display()))
                            .with_help("name the directory that holds the repository's files"),
                    );
                }
            }
        };
        let mut path = found.clone();
        for part in named.strip_prefix(existing).unwrap_or(&named).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                Component::Normal(name) => path.push(name),
                _ => {}
            }
        }
        Ok(Self {
            path,
            existing: found,
        })
    }

    /// Whether the named directory itself is there.
    fn exists(&self) -> bool {
        self.path == self.existing
    }

    /// The linted root, and where it lies in the repository: `/`-separated, empty for the top.
    fn within(
        &self,
        repository: &Repository,
        request: &Request,
    ) -> Result<(PathBuf, String), TakeError> {
        let top = repository.work_tree().unwrap_or(repository.git_dir());
        if request.directory.is_none() {
            return Ok((top.to_owned(), String::new()));
        }
        let outside = || {
            TakeError::new(format!(
                "directory {} is not in the work tree {}",
                self.path.display(),
                top.display()
            ))
            .with_help("name a directory below it, or none at all")
        };
        let relative = self.path.strip_prefix(top).map_err(|_| outside())?;
        if repository.work_tree().is_some() && self.path.starts_with(repository.git_dir()) {
            return Err(outside());
        }
        let parts: Option<Vec<&str>> = relative.iter().map(|part| part.to_str()).collect();
        let parts = parts.ok_or_else(|| {
            TakeError::new(format!(
                "directory {} has a name that is not valid UTF-8",
                self.path.display()
            ))
        })?;
        Ok((self.path.clone(), parts.join("/")))
    }
}

/// Opens the repository of a place; `None` outside git. What git says in the environment
/// counts for the repository in which the program was started, and for no other.
fn open(place: &Place, request: &Request) -> Result<Option<Repository>, TakeError> {
    let environment = &request.environment;
    let start = &request.current_directory;
    let absolute = |path: &PathBuf| start.join(path);
    let mut overrides = Overrides {
        git_dir: environment.git_dir.as_ref().map(absolute),
        work_tree: environment.git_work_tree.as_ref().map(absolute),
        index_file: None,
    };
    let speaks = overrides != Overrides::default() || environment.git_index_file.is_some();
    if speaks
        && let Some(here) = discover(start, &overrides)?
        && is_same(&here, place, request, &overrides)?
    {
        let top = here.work_tree().unwrap_or(start);
        overrides.index_file = environment
            .git_index_file
            .as_ref()
            .map(|path| top.join(path));
        return discover(start, &overrides);
    }
    discover(&place.existing, &Overrides::default())
}

/// Whether a place lies in the repository in which the program was started.
fn is_same(
    here: &Repository,
    place: &Place,
    request: &Request,
    overrides: &Overrides,
) -> Result<bool, TakeError> {
    if request.directory.is_none() {
        return Ok(true);
    }
    if overrides.git_dir.is_some() {
        return Ok(here
            .work_tree()
            .is_some_and(|top| place.path.starts_with(top)));
    }
    let there = discover(&place.existing, &Overrides::default())?;
    Ok(there.is_some_and(|there| there.git_dir() == here.git_dir()))
}

fn discover(directory: &Path, overrides: &Overrides) -> Result<Option<Repository>, TakeError> {
    match Repository::discover(directory, overrides) {
        Ok(repository) => Ok(Some(repository)),
        Err(OpenError::NotFound) => Ok(None),
        Err(OpenError::Untrusted(path)) => Err(TakeError::new(format!(
            "repository {} belongs to another user",
            path.display()
        ))
        .with_help(format!(
            "if you trust it: `git config --global --add safe.directory {}`",
            path.display()
        ))),
        Err(error @ OpenError::Broken(_)) => Err(TakeError::new(error.to_string())),
    }
}

/// Files outside git; `why` says what keeps git away.
fn take_folder(root: &Path, request: &Request, why: &str) -> Result<Taken, TakeError> {
    let option = match (&request.source, &request.base) {
        (Source::Index, _) => Some("--staged"),
        (Source::Revision(_), _) => Some("--rev"),
        (Source::WorkTree, BaseRequest::Revision(_)) => Some("--base"),
        (Source::WorkTree, _) => None,
    };
    if let Some(option) = option {
        return Err(TakeError::new(format!(
            "{} {why}: there is nothing that `{option}` could read",
            root.display()
        ))
        .with_help(format!("lint the files as they are, without `{option}`")));
    }
    let mut notes = Vec::new();
    if request.base == BaseRequest::Default {
        notes.push(format!("{} {why}: nothing to compare with", root.display()));
    }
    let head = folder::take(root, &mut notes).map_err(|error| {
        TakeError::new(format!(
            "directory {} cannot be read: {error}",
            root.display()
        ))
    })?;
    Ok(Taken {
        head,
        base: None,
        base_revision: None,
        notes,
        remotes: Vec::new(),
        directory: String::new(),
        root: root.to_owned(),
    })
}

fn need_work_tree(repository: &Repository) -> Result<(), TakeError> {
    if repository.work_tree().is_some() {
        return Ok(());
    }
    Err(TakeError::new(format!(
        "repository {} is bare: it has no work tree and no index",
        repository.git_dir().display()
    ))
    .with_help("lint a revision: `--rev HEAD`"))
}

fn unreadable(root: &Path, error: &GitError) -> TakeError {
    TakeError::new(format!(
        "work tree {} cannot be read: {error}",
        root.display()
    ))
}
