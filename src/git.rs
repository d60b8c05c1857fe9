//! The only place that names gix: this file and the folder beside it.
//!
//! Everything is read; nothing is written, no other program is run, and no network is used.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use smol_str::SmolStr;

mod clean;
mod history;
mod listing;
mod open;

pub use clean::Cleaner;
pub use history::Parent;
pub use listing::{Content, Item, ItemKind, Listing, Standing};
pub use open::{OpenError, Overrides};

/// What git could not do, with gix's own words for the reason.
#[derive(Debug)]
pub struct GitError(String);

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GitError {}

impl From<gix::Error> for GitError {
    fn from(error: gix::Error) -> Self {
        let mut words: Vec<String> = Vec::new();
        for source in error.iter_errors() {
            let word = source.to_string();
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        Self(words.join(": "))
    }
}

/// The id of an object in a repository: SHA-1 or SHA-256, displayed in full as hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(gix::ObjectId);

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.to_hex(), f)
    }
}

/// An open repository, shared between threads.
pub struct Repository {
    shared: gix::ThreadSafeRepository,
    /// Handles that no thread uses at the moment: making one is dear, using one is cheap.
    handles: Mutex<Vec<gix::Repository>>,
    work_tree: Option<PathBuf>,
    git_dir: PathBuf,
    index_path: PathBuf,
    reftable: bool,
}

impl Repository {
    /// The top of the work tree, absolute and without symbolic links; `None` in a bare repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The git directory of this work tree, absolute.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Whether references are stored as a reftable, which cannot be read here.
    pub fn is_reftable(&self) -> bool {
        self.reftable
    }

    /// Whether history was cut off, as `git clone --depth` does.
    pub fn is_shallow(&self) -> bool {
        self.with(|handle| handle.is_shallow().unwrap_or(false))
    }

    /// The URLs of all remotes, in the order of the configuration, without the user
    /// information of HTTP URLs: tokens live there.
    pub fn remotes(&self) -> Vec<String> {
        self.with(|handle| {
            let configuration = handle.config_snapshot();
            let mut urls: Vec<String> = Vec::new();
            let sections = configuration.plumbing().sections_by_name("remote");
            for section in sections.into_iter().flatten() {
                for url in section.values("url") {
                    let Ok(url) = String::from_utf8(Vec::from(url)) else {
                        continue;
                    };
                    let url = without_credentials(&url);
                    if !urls.contains(&url) {
                        urls.push(url);
                    }
                }
            }
            urls
        })
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When the object is missing (a partial clone), damaged, or not a blob.
    pub fn read_blob(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        self.with(|handle| {
            let mut object = handle.find_object(id.0)?;
            if object.kind != gix::objs::Kind::Blob {
                return Err(GitError(format!(
                    "object {id} is a {}, not a blob",
                    object.kind
                )));
            }
            Ok(std::mem::take(&mut object.data))
        })
    }

    /// Runs `action` with a handle that this thread has to itself.
    fn with<T>(&self, action: impl FnOnce(&gix::Repository) -> T) -> T {
        let free = self
            .handles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let handle = free.unwrap_or_else(|| self.shared.to_thread_local());
        let result = action(&handle);
        self.handles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(handle);
        result
    }
}

/// The SHA-1 blob id of bytes.
pub fn sha1_blob_id(bytes: &[u8]) -> SmolStr {
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes)
        .expect("SHA-1 of bytes in memory cannot fail");
    SmolStr::new(id.to_hex().to_string())
}

/// The bytes of a regular file; whatever else is there is refused: a pipe would never end.
///
/// # Errors
/// When the file is gone, unreadable, or not a regular file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::other("it is no longer a regular file"));
    }
    std::fs::read(path)
}

/// What git stores for a symbolic link: its target. Where links cannot be made, a file holds it.
///
/// # Errors
/// When there is neither a link nor a file, or it is unreadable.
pub fn read_link(path: &Path) -> io::Result<Vec<u8>> {
    if !path.symlink_metadata()?.is_symlink() {
        return read_file(path);
    }
    let target = gix::path::into_bstr(std::fs::read_link(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    let target = gix::path::to_unix_separators_on_windows(target);
    Ok(target.into_owned().into())
}

/// An HTTP URL without what stands before `@` in its host part; any other URL as it is.
fn without_credentials(url: &str) -> String {
    for scheme in ["https://", "http://"] {
        if let Some(rest) = url.strip_prefix(scheme) {
            let host_end = rest.find('/').unwrap_or(rest.len());
            let host_start = rest[..host_end].rfind('@').map_or(0, |at| at + 1);
            return format!("{scheme}{}", &rest[host_start..]);
        }
    }
    url.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blob_id_is_that_of_git() {
        assert_eq!(
            sha1_blob_id(b"what is up, doc?"),
            "bd9dbf5aae1a3862dd1526723246b20206e5fc37"
        );
    }

    #[test]
    fn tokens_in_urls_are_dropped() {
        let bare = "https://example.org/a/b@c.git";
        assert_eq!(without_credentials(bare), bare);
        assert_eq!(
            without_credentials("https://x:ghs_secret@example.org/a/b@c.git"),
            bare
        );
        assert_eq!(
            without_credentials("ssh://git@example.org/a"),
            "ssh://git@example.org/a"
        );
    }
}
