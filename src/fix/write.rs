//! Changed files into the work tree: all or nothing, also when the program is interrupted.
//!
//! First a journal says what is going to happen; then new and old contents are written beside the files;
//! then each new content is renamed into place; then the journal is renamed, and the change is done. Whatever
//! stops the run before that, [`recover`] puts everything back from the old contents.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::is_below_root;
use super::journal::{DONE, JOURNAL, Journal, Step, hash};

/// One file, as it was linted and as it shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root, with `/`.
    pub path: String,
    /// The bytes that the file must still have; `None` if there must be none.
    pub before: Option<Vec<u8>>,
    /// The bytes that it shall have; `None` to remove it.
    pub after: Option<Vec<u8>>,
    /// For a new file that is a moved one: where it was. Its permissions are kept.
    pub origin: Option<String>,
}

/// Why nothing was changed, or what could not be undone.
#[derive(Debug)]
pub struct Unfinished(String);

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfinished {}

/// Changes files below `root`, all or none.
///
/// # Errors
/// A file that is not as it was linted, that is read-only, a link, or cannot be written; then all files
/// are as they were.
pub fn write(root: &Path, changes: &[FileChange]) -> Result<(), Unfinished> {
    Disk::new(root).write(changes)
}

/// True if a run of `--fix` was interrupted below `root`: [`recover`] undoes it.
pub fn interrupted(root: &Path) -> bool {
    let journal = root.join(JOURNAL);
    File::open(journal).is_ok_and(|file| file.try_lock().is_ok())
}

/// Undoes what an interrupted run left below `root`; false if there is nothing to undo.
///
/// # Errors
/// Another run is at work, the journal is none, or a file was changed since and is left as it is.
pub fn recover(root: &Path) -> Result<bool, Unfinished> {
    Disk::new(root).recover()
}

/// The file system below a root, and for tests the moment at which it fails.
pub(super) struct Disk {
    root: PathBuf,
    /// Counts down with each change; at 0 it fails.
    pub(super) fuse: Option<usize>,
    /// True if after the first failure nothing works any more, as if the program had been killed.
    pub(super) dead_after: bool,
    /// The files beside the changed ones that this run has made; `None` while an earlier run is undone,
    /// whose journal says which ones it made.
    made: Option<BTreeSet<String>>,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            fuse: None,
            dead_after: false,
            made: None,
        }
    }

    /// Before each change of the disk.
    fn may_fail(&mut self) -> io::Result<()> {
        match &mut self.fuse {
            Some(0) => {
                if !self.dead_after {
                    self.fuse = None;
                }
                Err(io::Error::other("injected"))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn write(&mut self, changes: &[FileChange]) -> Result<(), Unfinished> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut directories = Vec::new();
        for change in changes {
            self.check(change)?;
            self.missing_directories(change, &mut directories);
        }
        let journal = Journal {
            steps: changes.iter().map(Step::new).collect(),
            directories,
        };
        self.check_room(&journal)?;
        self.made = Some(BTreeSet::new());
        let lock = self.begin(&journal)?;
        if let Err(problem) = self.carry_out(changes, &journal) {
            let undone = self.undo(&journal);
            drop(lock);
            return Err(match undone {
                Ok(()) => Unfinished(format!("{problem}; nothing was changed")),
                Err(more) => Unfinished(format!("{problem}; and {more}")),
            });
        }
        // All files are changed; what is left over does no harm, and the next run removes it.
        let _ = self.clean_up(&journal);
        drop(lock);
        Ok(())
    }

    /// What is on disk must be what was linted, a plain file in plain directories.
    fn check(&self, change: &FileChange) -> Result<(), Unfinished> {
        let path = &change.path;
        let refuse = |reason: &str| Err(Unfinished(format!("{path} {reason}")));
        if !is_below_root(path) {
            return refuse("is not in the linted directory");
        }
        let mut above = path.as_str();
        while let Some((directory, _)) = above.rsplit_once('/') {
            match fs::symlink_metadata(self.path(directory)) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return refuse("is reached through something that is no directory"),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return refuse(&format!("cannot be reached: {error}")),
            }
            above = directory;
        }
        match (fs::symlink_metadata(self.path(path)), &change.before) {
            (Err(error), None) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            (Err(error), _) => refuse(&format!("cannot be read: {error}")),
            (Ok(_), None) => refuse("was not there when it was linted; run wavelint again"),
            (Ok(found), Some(_)) if !found.is_file() => refuse("is no regular file"),
            (Ok(found), Some(_)) if found.permissions().readonly() => refuse("is read-only"),
            (Ok(_), Some(before)) => match fs::read(self.path(path)) {
                Ok(bytes) if bytes == *before => Ok(()),
                Ok(_) => refuse("has changed since it was linted; run wavelint again"),
                Err(error) => refuse(&format!("cannot be read: {error}")),
            },
        }
    }

    /// Where old and new contents are going to wait there must be nothing: it would be somebody else's.
    fn check_room(&self, journal: &Journal) -> Result<(), Unfinished> {
        let beside = journal
            .steps
            .iter()
            .flat_map(|step| [step.new_path(), step.old_path()]);
        for path in beside.chain([DONE.to_owned()]) {
            match fs::symlink_metadata(self.path(&path)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(at(&path, &error)),
                Ok(_) => {
                    return Err(Unfinished(format!(
                        "{path} is there already, and --fix needs that name; move it away; nothing was changed"
                    )));
                }
            }
        }
        Ok(())
    }

    fn missing_directories(&self, change: &FileChange, directories: &mut Vec<String>) {
        if change.after.is_none() {
            return;
        }
        let mut missing = Vec::new();
        let mut above = change.path.as_str();
        while let Some((directory, _)) = above.rsplit_once('/') {
            if self.path(directory).exists() {
                break;
            }
            missing.push(directory.to_owned());
            above = directory;
        }
        missing.reverse();
        for directory in missing {
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
    }

    /// Writes the journal; the lock on it says that the run is alive.
    fn begin(&mut self, journal: &Journal) -> Result<File, Unfinished> {
        let path = self.path(JOURNAL);
        let result = (|| {
            self.may_fail()?;
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).open(&path)?;
            lock(&file)?;
            let written = self
                .may_fail()
                .and_then(|()| serde_json::to_writer(&mut file, journal).map_err(Into::into))
                .and_then(|()| file.sync_all());
            match written {
                Ok(()) => Ok(file),
                Err(error) => {
                    let _ = self.may_fail().and_then(|()| fs::remove_file(&path));
                    Err(error)
                }
            }
        })();
        result.map_err(|error: io::Error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                Unfinished(format!("{JOURNAL} exists: another --fix is at work"))
            } else {
                Unfinished(format!("{JOURNAL}: {error}; nothing was changed"))
            }
        })
    }

    fn carry_out(&mut self, changes: &[FileChange], journal: &Journal) -> Result<(), Unfinished> {
        for directory in &journal.directories {
            self.may_fail()
                .and_then(|()| fs::create_dir(self.path(directory)))
                .map_err(|error| at(directory, &error))?;
        }
        for (change, step) in changes.iter().zip(&journal.steps) {
            let like = change.origin.as_ref().unwrap_or(&change.path);
            if let Some(bytes) = &change.before {
                self.create(&step.old_path(), bytes, &change.path)?;
            }
            if let Some(bytes) = &change.after {
                self.create(&step.new_path(), bytes, like)?;
            }
        }
        for (change, step) in changes.iter().zip(&journal.steps) {
            self.check(change)?;
            let target = self.path(&change.path);
            self.may_fail()
                .and_then(|()| match change.after {
                    Some(_) => fs::rename(self.path(&step.new_path()), &target),
                    None => fs::remove_file(&target),
                })
                .map_err(|error| at(&change.path, &error))?;
        }
        self.may_fail()
            .and_then(|()| fs::rename(self.path(JOURNAL), self.path(DONE)))
            .map_err(|error| at(JOURNAL, &error))
    }

    /// Makes a file that must not be there yet, with the permissions of another.
    fn create(&mut self, path: &str, bytes: &[u8], like: &str) -> Result<(), Unfinished> {
        let write = |disk: &mut Self| {
            disk.may_fail()?;
            let full = disk.path(path);
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).open(full)?;
            if let Some(made) = &mut disk.made {
                made.insert(path.to_owned());
            }
            disk.may_fail()?;
            file.write_all(bytes)?;
            if let Ok(found) = fs::symlink_metadata(disk.path(like)) {
                file.set_permissions(found.permissions())?;
            }
            file.sync_all()
        };
        write(self).map_err(|error| at(path, &error))
    }

    /// After the last rename: the old contents are not needed any more.
    fn clean_up(&mut self, journal: &Journal) -> io::Result<()> {
        for step in &journal.steps {
            self.remove(&step.old_path())?;
        }
        self.remove(DONE)
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        self.may_fail()?;
        match fs::remove_file(self.path(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn recover(&mut self) -> Result<bool, Unfinished> {
        if let Some((file, journal)) = self.read(DONE)? {
            let cleaned = self.clean_up(&journal);
            drop(file);
            cleaned.map_err(|error| at(DONE, &error))?;
        }
        let Some((file, journal)) = self.read(JOURNAL)? else {
            return Ok(false);
        };
        let undone = self.undo(&journal);
        drop(file);
        undone.map(|()| !journal.steps.is_empty())
    }

    /// Reads a journal and locks it. One that is cut off was never acted upon; what is none is an error.
    fn read(&self, name: &str) -> Result<Option<(File, Journal)>, Unfinished> {
        let path = self.path(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(Unfinished(format!("{name} is no regular file"))),
            Err(_) => return Ok(None),
        }
        let file = File::open(&path).map_err(|error| at(name, &error))?;
        lock(&file).map_err(|error| at(name, &error))?;
        let bytes = fs::read(&path).map_err(|error| at(name, &error))?;
        let journal = match serde_json::from_slice::<Journal>(&bytes) {
            Ok(journal) if !journal.steps.is_empty() => journal,
            Err(error) if name == JOURNAL && error.is_eof() && begins_as_journal(&bytes) => {
                Journal::default()
            }
            _ => {
                return Err(Unfinished(format!(
                    "{name} is no journal of an interrupted --fix: remove it if it is not yours"
                )));
            }
        };
        let outside = journal
            .steps
            .iter()
            .map(|step| &step.path)
            .chain(&journal.directories)
            .any(|path| !is_below_root(path));
        if outside {
            return Err(Unfinished(format!("{name} was not written by wavelint")));
        }
        Ok(Some((file, journal)))
    }

    /// Puts every file back that was changed, removes what was added. Can be interrupted and begun again.
    fn undo(&mut self, journal: &Journal) -> Result<(), Unfinished> {
        for step in journal.steps.iter().rev() {
            self.undo_step(step)
                .map_err(|error| at(&step.path, &error))?;
        }
        for step in &journal.steps {
            for path in [step.new_path(), step.old_path()] {
                if self.made.as_ref().is_some_and(|made| !made.contains(&path)) {
                    continue;
                }
                self.remove(&path).map_err(|error| at(&path, &error))?;
            }
        }
        for directory in journal.directories.iter().rev() {
            // Somebody may have put something into it.
            let _ = self
                .may_fail()
                .and_then(|()| fs::remove_dir(self.path(directory)));
        }
        self.remove(JOURNAL).map_err(|error| at(JOURNAL, &error))
    }

    fn undo_step(&mut self, step: &Step) -> io::Result<()> {
        let target = self.path(&step.path);
        let now = match fs::symlink_metadata(&target) {
            Ok(found) if found.is_file() => Some(hash(&fs::read(&target)?)),
            Ok(_) => return Err(io::Error::other("it is no regular file any more")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let waiting = step.after.is_some() && self.path(&step.new_path()).exists();
        let removal_undone = step.after.is_none() && now.is_some();
        if now == step.before || waiting || removal_undone {
            // This step was not carried out.
            return Ok(());
        }
        if now != step.after {
            return Err(io::Error::other(format!(
                "it was changed after an interrupted --fix and is left as it is; {} has what it was before; \
                 remove {JOURNAL} when all is as you want it",
                step.old_path()
            )));
        }
        self.may_fail()?;
        if step.before.is_some() {
            fs::rename(self.path(&step.old_path()), &target)
        } else {
            fs::remove_file(&target)
        }
    }
}

/// True if these bytes are the beginning of what a journal is written as.
fn begins_as_journal(bytes: &[u8]) -> bool {
    const BEGINNING: &[u8] = br#"{"steps":[{"path":"#;
    bytes.starts_with(BEGINNING) || BEGINNING.starts_with(bytes)
}

fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another --fix is at work")),
        // File systems without locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn at(path: &str, error: &io::Error) -> Unfinished {
    Unfinished(format!("{path}: {error}"))
}
