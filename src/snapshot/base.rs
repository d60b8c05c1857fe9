//! What the linted snapshot is compared with.

use std::sync::Arc;

use super::environment::ImpliedBase;
use super::request::{BaseRequest, Request, Source, TakeError};
use super::{Snapshot, repository};
use crate::git::{GitError, ObjectId, Parent, Repository};

/// How to get history that a shallow clone left out.
const DEEPEN: &str =
    "the clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout";

/// The base snapshot below `directory`, if there is a base. `linted` is the commit of `--rev`.
///
/// # Errors
/// When a base was asked for and cannot be had.
pub(super) fn take(
    repository: &Arc<Repository>,
    request: &Request,
    linted: Option<ObjectId>,
    directory: &str,
    notes: &mut Vec<String>,
) -> Result<Option<(ObjectId, Snapshot)>, TakeError> {
    let chosen = match (&request.base, linted) {
        (BaseRequest::None, _) => None,
        (BaseRequest::Revision(revision), _) => {
            Some(asked_for(repository, revision, request, linted)?)
        }
        (BaseRequest::Default, Some(commit)) => first_parent(repository, commit, notes)?,
        (BaseRequest::Default, None) => {
            check_references(repository)?;
            match request.environment.base() {
                Some(implied) => picked_up(repository, implied, notes),
                None => head(repository)?,
            }
        }
    };
    let Some(commit) = chosen else {
        return Ok(None);
    };
    // The head's snapshot has said which paths cannot be read; the same ones here are no news.
    match repository::commit(repository, commit, directory, &mut Vec::new()) {
        Ok(Some(snapshot)) => Ok(Some((commit, snapshot))),
        Ok(None) => Ok(Some((commit, repository::empty_commit(repository, commit)))),
        Err(error) if matches!(request.base, BaseRequest::Revision(_)) => Err(TakeError::new(
            format!("base {commit} cannot be read: {error}"),
        )),
        Err(error) => {
            notes.push(format!(
                "not compared with a base: {commit} cannot be read: {error}"
            ));
            Ok(None)
        }
    }
}

/// The commit that a revision names.
///
/// # Errors
/// When it names none, or references cannot be read.
pub(super) fn resolve(repository: &Repository, revision: &str) -> Result<ObjectId, TakeError> {
    check_references(repository)?;
    repository.resolve_commit(revision).map_err(|error| {
        if matches!(repository.head_commit(), Ok(None)) {
            return TakeError::new(format!(
                "revision `{revision}` is no commit here: HEAD has none yet"
            ))
            .with_help("commit first, or look at what is staged: `--staged`");
        }
        let error = TakeError::new(format!("revision `{revision}` is no commit here: {error}"));
        if repository.is_shallow() {
            error.with_help(DEEPEN)
        } else {
            error
        }
    })
}

/// `--base REV`: where what is linted left `REV`.
fn asked_for(
    repository: &Repository,
    revision: &str,
    request: &Request,
    linted: Option<ObjectId>,
) -> Result<ObjectId, TakeError> {
    let base = resolve(repository, revision)?;
    let (linted, name) = match (linted, &request.source) {
        (Some(commit), Source::Revision(name)) => (commit, name.as_str()),
        (Some(commit), _) => (commit, "HEAD"),
        (None, _) => match head(repository)? {
            Some(commit) => (commit, "HEAD"),
            None => {
                return Err(TakeError::new(format!(
                    "base `{revision}` and HEAD have no common commit: HEAD has none yet"
                ))
                .with_help("lint without a base: `--no-base`"));
            }
        },
    };
    let merge_base = repository.merge_base(base, linted).map_err(|error| {
        TakeError::new(format!(
            "base `{revision}` and {name}: history cannot be read: {error}"
        ))
    })?;
    merge_base.ok_or_else(|| {
        let error = TakeError::new(format!(
            "base `{revision}` and {name} have no common commit"
        ));
        if repository.is_shallow() {
            error.with_help(DEEPEN)
        } else {
            error.with_help("name a base of the same history, or lint without one: `--no-base`")
        }
    })
}

fn first_parent(
    repository: &Repository,
    commit: ObjectId,
    notes: &mut Vec<String>,
) -> Result<Option<ObjectId>, TakeError> {
    match repository.first_parent(commit) {
        Ok(Parent::Present(parent)) => Ok(Some(parent)),
        Ok(Parent::Root) => Ok(None),
        Ok(Parent::CutOff) => {
            notes.push(format!(
                "not compared with a base: the parent of {commit} is not here; {DEEPEN}"
            ));
            Ok(None)
        }
        Err(error) => {
            notes.push(format!(
                "not compared with a base: the parent of {commit} is not here: {error}"
            ));
            Ok(None)
        }
    }
}

/// The base that the environment implies; one that cannot be had is dropped with a note.
fn picked_up(
    repository: &Repository,
    implied: ImpliedBase,
    notes: &mut Vec<String>,
) -> Option<ObjectId> {
    let (what, found) = match implied {
        ImpliedBase::Nothing(why) => {
            notes.push(format!("not compared with a base: {why}"));
            return None;
        }
        ImpliedBase::Exact { commit, what } => (
            format!("{what} ({commit})"),
            repository.resolve_commit(&commit).map(Some),
        ),
        ImpliedBase::Fork { from, to, what } => (
            format!("{what} ({from})"),
            fork(repository, &from, to.as_deref()),
        ),
    };
    let reason = match found {
        Ok(Some(commit)) => return Some(commit),
        Ok(None) => "its history and that of what is linted do not meet".to_owned(),
        Err(error) => format!("it is not in this clone: {error}"),
    };
    let mend = if repository.is_shallow() {
        DEEPEN
    } else {
        "fetch it, or name another: `--base`"
    };
    notes.push(format!("not compared with {what}: {reason}; {mend}"));
    None
}

fn fork(
    repository: &Repository,
    from: &str,
    to: Option<&str>,
) -> Result<Option<ObjectId>, GitError> {
    let from = repository.resolve_commit(from)?;
    let to = match to {
        Some(to) => Some(repository.resolve_commit(to)?),
        None => repository.head_commit()?,
    };
    match to {
        Some(to) => repository.merge_base(from, to),
        None => Ok(None),
    }
}

fn head(repository: &Repository) -> Result<Option<ObjectId>, TakeError> {
    repository.head_commit().map_err(|error| {
        TakeError::new(format!("HEAD cannot be read: {error}"))
            .with_help("lint without a base: `--no-base`")
    })
}

/// # Errors
/// When references are stored in a way that cannot be read.
fn check_references(repository: &Repository) -> Result<(), TakeError> {
    if !repository.is_reftable() {
        return Ok(());
    }
    Err(TakeError::new(format!(
        "repository {} stores its references as a reftable, which wavelint cannot read",
        repository.git_dir().display()
    ))
    .with_help(
        "convert it with `git refs migrate --ref-format=files`, or lint without references: `--no-base`",
    ))
}
