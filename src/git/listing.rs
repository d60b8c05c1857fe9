//! What a tree, the index or the work tree holds.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::tree::EntryKind;
use rayon::prelude::*;

use super::{Cleaner, GitError, ObjectId, Repository};

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
    /// A submodule, or another repository in the work tree.
    Submodule,
}

/// Where an item's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// In the object database (of a submodule: the commit, which is elsewhere).
    Object(ObjectId),
    /// In the work tree; of a tracked path, the position in the index.
    WorkTree(Option<usize>),
}

/// One path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Relative to the listed directory, with `/`.
    pub path: String,
    /// What is there.
    pub kind: ItemKind,
    /// Where its bytes are.
    pub content: Content,
}

/// How a repository sees a directory of its work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its files are listed, if it has any.
    Listed,
    /// Git ignores it, or a directory above it, and tracks nothing in it.
    Ignored,
    /// It lies in the submodule at this path, whose repository is not there.
    InSubmodule(String),
}

/// The paths of one moment.
#[derive(Debug, Default)]
pub struct Listing {
    /// Sorted by path in byte order, each path once.
    pub items: Vec<Item>,
    /// What was left out, and why; sorted.
    pub notes: Vec<String>,
}

impl Listing {
    fn add(&mut self, path: &[u8], kind: ItemKind, content: Content) {
        let Ok(path) = std::str::from_utf8(path) else {
            self.notes.push(format!(
                "{}: left out, its name is not valid UTF-8",
                path.as_bstr().escape_ascii()
            ));
            return;
        };
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            self.notes.push(format!(
                "{}: left out, no file can have this name",
                path.escape_debug()
            ));
            return;
        }
        self.items.push(Item {
            path: path.to_owned(),
            kind,
            content,
        });
    }

    fn sorted(mut self) -> Self {
        self.items.sort_by(|a, b| a.path.cmp(&b.path));
        self.items.dedup_by(|later, first| later.path == first.path);
        self.notes.sort();
        self.notes.dedup();
        self
    }
}

impl Repository {
    /// The files of a commit below `directory` (relative to the top, `/`-separated, empty for
    /// the top itself); `None` if the commit has no such directory.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn list_commit(
        &self,
        commit: ObjectId,
        directory: &str,
    ) -> Result<Option<Listing>, GitError> {
        self.with(|handle| {
            let mut tree = handle.find_commit(commit.0)?.tree()?;
            if !directory.is_empty() {
                let parts = directory.split('/').map(str::as_bytes);
                match tree.peel_to_entry(parts)? {
                    Some(entry) if entry.mode().is_tree() => {}
                    _ => return Ok(None),
                }
            }
            let mut listing = Listing::default();
            list_tree(handle, tree.id, b"", &mut listing)?;
            Ok(Some(listing.sorted()))
        })
    }

    /// The files of the index below `directory`. Of a path in conflict, our side.
    ///
    /// # Errors
    /// When the index, or a tree that a sparse index names, cannot be read.
    pub fn list_index(&self, directory: &str) -> Result<Listing, GitError> {
        let index = self.read_index()?;
        self.with(|handle| {
            let mut listing = Listing::default();
            let mut conflicts = BTreeSet::new();
            for entry in index.entries() {
                let Some(path) = below(entry.path(&index), directory) else {
                    // A sparse entry stands for everything below it, so also for `directory`.
                    list_sparse_above(handle, &index, entry, directory, &mut listing)?;
                    continue;
                };
                if entry.stage() != Stage::Unconflicted {
                    conflicts.insert(path.to_owned());
                }
                if !matches!(entry.stage(), Stage::Unconflicted | Stage::Ours)
                    || entry.flags.contains(Flags::INTENT_TO_ADD)
                {
                    continue;
                }
                if entry.mode.is_sparse() {
                    list_tree(handle, entry.id, path, &mut listing)?;
                } else if let Some(kind) = kind_of_mode(entry.mode) {
                    listing.add(path, kind, Content::Object(ObjectId(entry.id)));
                }
            }
            for path in conflicts {
                listing.notes.push(format!(
                    "{}: not merged yet, read as on our side",
                    path.as_bstr()
                ));
            }
            Ok(listing.sorted())
        })
    }

    /// The files of the work tree below `directory`: tracked ones that are there, and untracked
    /// ones that are not ignored. What a sparse checkout left out comes from the index.
    /// The [`Cleaner`] knows the blob ids of the items.
    ///
    /// # Errors
    /// In a bare repository, and when the index or the work tree cannot be read.
    pub fn list_work_tree(&self, directory: &str) -> Result<(Listing, Cleaner), GitError> {
        let Some(work_tree) = self.work_tree() else {
            return Err(GitError("the repository has no work tree".to_owned()));
        };
        let mut index = self.read_index()?;
        let links = self.with(|handle| handle.filesystem_options())?.symlink;
        let on_disk = look_up(work_tree, &index, links);
        check_denied(work_tree, &index, &on_disk, directory)?;
        // Spares the walk a look at the disk for each of them.
        for (entry, found) in index.entries_mut().iter_mut().zip(&on_disk) {
            if found.is_some() {
                entry.flags.insert(Flags::UPTODATE);
            }
        }
        let mut listing = Listing::default();
        self.with(|handle| {
            let mut previous: Option<&BStr> = None;
            for (position, entry) in index.entries().iter().enumerate() {
                let full = entry.path(&index);
                let Some(path) = below(full, directory) else {
                    list_sparse_above(handle, &index, entry, directory, &mut listing)?;
                    continue;
                };
                match on_disk[position] {
                    _ if previous == Some(full) => {}
                    Some(kind) => {
                        listing.add(path, kind, Content::WorkTree(Some(position)));
                    }
                    None if !entry.flags.contains(Flags::SKIP_WORKTREE) => {}
                    None if entry.mode.is_sparse() => {
                        list_tree(handle, entry.id, path, &mut listing)?;
                    }
                    None => {
                        if let Some(kind) = kind_of_mode(entry.mode) {
                            listing.add(path, kind, Content::Object(ObjectId(entry.id)));
                        }
                    }
                }
                previous = Some(full);
            }
            list_untracked(handle, &index, directory, &mut listing)
        })?;
        let comparison = self.with(|handle| handle.stat_options())?;
        let cleaner = Cleaner::new(work_tree.to_owned(), directory, index, comparison);
        Ok((listing.sorted(), cleaner))
    }

    /// How the work tree's repository sees one of its directories.
    ///
    /// # Errors
    /// When the index or the ignore files cannot be read.
    pub fn standing(&self, directory: &str) -> Result<Standing, GitError> {
        if directory.is_empty() {
            return Ok(Standing::Listed);
        }
        let index = self.read_index()?;
        let inside = format!("{directory}/");
        for (end, _) in inside.match_indices('/') {
            let above = &inside[..end];
            let entry = index.entry_by_path(BStr::new(above));
            if entry.is_some_and(|entry| entry.mode.is_submodule()) {
                return Ok(Standing::InSubmodule(above.to_owned()));
            }
        }
        if index.prefixed_entries(BStr::new(&inside)).is_some() {
            return Ok(Standing::Listed);
        }
        self.with(|handle| {
            use gix::worktree::stack::state::ignore::Source;
            let source = Source::WorktreeThenIdMappingIfNotSkipped;
            let mut excludes = handle.excludes(&index, None, source)?;
            let platform = excludes
                .at_entry(BStr::new(directory), Some(Mode::DIR))
                .map_err(|error| GitError(error.to_string()))?;
            Ok(if platform.is_excluded() {
                Standing::Ignored
            } else {
                Standing::Listed
            })
        })
    }

    /// The index as it is on disk; an empty one if there is none.
    fn read_index(&self) -> Result<gix::index::File, GitError> {
        let options = gix::index::decode::Options::default();
        self.with(|handle| {
            let hash = handle.object_hash();
            gix::index::File::at_or_default(self.index_path.clone(), hash, true, options)
                .map_err(GitError::from)
        })
    }
}

/// The rest of `path` below `directory`.
fn below<'a>(path: &'a BStr, directory: &str) -> Option<&'a [u8]> {
    if directory.is_empty() {
        return Some(path);
    }
    path.strip_prefix(directory.as_bytes())?.strip_prefix(b"/")
}

fn kind_of_mode(mode: Mode) -> Option<ItemKind> {
    match mode {
        Mode::FILE | Mode::FILE_EXECUTABLE => Some(ItemKind::File),
        Mode::SYMLINK => Some(ItemKind::Symlink),
        Mode::COMMIT => Some(ItemKind::Submodule),
        _ => None,
    }
}

/// More entries than any repository for Flux has: a few trees that name each other can stand for
/// billions of files.
const MOST_ENTRIES: usize = 1_000_000;

/// More bytes than the path of a file can have.
const LONGEST_PATH: usize = 4096;

/// Adds everything below a tree, with `prefix` before each path.
fn list_tree(
    handle: &gix::Repository,
    tree: gix::ObjectId,
    prefix: &[u8],
    listing: &mut Listing,
) -> Result<(), GitError> {
    let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
    let mut waiting = vec![(prefix.to_vec(), tree)];
    let mut trees: HashMap<gix::ObjectId, Vec<u8>> = HashMap::new();
    let mut seen = 0;
    while let Some((prefix, id)) = waiting.pop() {
        let data = match trees.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(handle.find_tree(id)?.detach().data),
        };
        for entry in gix::objs::TreeRefIter::from_bytes(data, handle.object_hash()) {
            let entry = entry?;
            seen += 1;
            if seen > MOST_ENTRIES {
                return Err(GitError(format!(
                    "it holds more than {MOST_ENTRIES} entries"
                )));
            }
            let mut path = prefix.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(entry.filename);
            if path.len() > LONGEST_PATH {
                path.truncate(64);
                listing.notes.push(format!(
                    "{}…: left out, no file can have so long a path",
                    path.escape_ascii()
                ));
                continue;
            }
            let kind = match entry.mode.kind() {
                EntryKind::Tree => {
                    waiting.push((path, entry.oid.to_owned()));
                    continue;
                }
                EntryKind::Blob | EntryKind::BlobExecutable => ItemKind::File,
                EntryKind::Link => ItemKind::Symlink,
                EntryKind::Commit => ItemKind::Submodule,
            };
            let content = Content::Object(ObjectId(entry.oid.to_owned()));
            listing.add(&path, kind, content);
        }
    }
    Ok(())
}

/// Where a sparse index has one entry for a directory above `directory`, adds what is below the latter.
fn list_sparse_above(
    handle: &gix::Repository,
    index: &gix::index::File,
    entry: &gix::index::Entry,
    directory: &str,
    listing: &mut Listing,
) -> Result<(), GitError> {
    if !entry.mode.is_sparse() {
        return Ok(());
    }
    let inside = format!("{directory}/");
    let Some(rest) = inside.as_bytes().strip_prefix(entry.path(index).as_bytes()) else {
        return Ok(());
    };
    let mut tree = handle.find_tree(entry.id)?;
    let parts = rest
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty());
    match tree.peel_to_entry(parts)? {
        Some(found) if found.mode().is_tree() => list_tree(handle, tree.id, b"", listing),
        _ => Ok(()),
    }
}

/// For each index entry, what the work tree has there; `None` where it has nothing that git would take.
/// Without `links` (`core.symlinks`), files stand for symbolic links.
fn look_up(work_tree: &Path, index: &gix::index::File, links: bool) -> Vec<Option<ItemKind>> {
    let entries = index.entries();
    let chunk = entries
        .len()
        .div_ceil(4 * rayon::current_num_threads())
        .max(1);
    entries
        .par_chunks(chunk)
        .flat_map_iter(|entries| {
            let mut parent = Parent::default();
            entries
                .iter()
                .map(|entry| {
                    let path = gix::path::from_bstr(entry.path(index)).ok()?;
                    if entry.mode.is_sparse() || !parent.is_real(work_tree, &path) {
                        return None;
                    }
                    let metadata = work_tree.join(&path).symlink_metadata().ok()?;
                    if metadata.is_symlink() {
                        Some(ItemKind::Symlink)
                    } else if metadata.is_dir() {
                        (entry.mode == Mode::COMMIT).then_some(ItemKind::Submodule)
                    } else if !metadata.is_file() {
                        None
                    } else if entry.mode == Mode::SYMLINK && !links {
                        Some(ItemKind::Symlink)
                    } else {
                        Some(ItemKind::File)
                    }
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// What is tracked and not there may be out of sight only: what it says is then unknown, and nothing
/// that is found without it can be trusted.
fn check_denied(
    work_tree: &Path,
    index: &gix::index::File,
    on_disk: &[Option<ItemKind>],
    directory: &str,
) -> Result<(), GitError> {
    for (entry, found) in index.entries().iter().zip(on_disk) {
        let full = entry.path(index);
        let is_asked = found.is_none()
            && !entry.flags.contains(Flags::SKIP_WORKTREE)
            && below(full, directory).is_some();
        if !is_asked {
            continue;
        }
        let Ok(path) = gix::path::from_bstr(full) else {
            continue;
        };
        if let Err(error) = work_tree.join(&path).symlink_metadata()
            && error.kind() == std::io::ErrorKind::PermissionDenied
        {
            return Err(GitError(format!("{}: {error}", path.display())));
        }
    }
    Ok(())
}

/// The directory of the path looked at last: neighbours in the index mostly share it.
#[derive(Default)]
struct Parent {
    path: PathBuf,
    real: bool,
}

impl Parent {
    /// Whether all directories above `path` are directories and not links to some.
    fn is_real(&mut self, work_tree: &Path, path: &Path) -> bool {
        let Some(parent) = path.parent() else {
            return true;
        };
        if parent.as_os_str().is_empty() {
            return true;
        }
        if self.path != parent {
            let mut directories = parent.ancestors().filter(|path| *path != Path::new(""));
            self.real = directories.all(|directory| {
                work_tree
                    .join(directory)
                    .symlink_metadata()
                    .is_ok_and(|metadata| metadata.is_dir())
            });
            self.path = parent.to_owned();
        }
        self.real
    }
}

/// Adds what git would show as untracked.
fn list_untracked(
    handle: &gix::Repository,
    index: &gix::index::File,
    directory: &str,
    listing: &mut Listing,
) -> Result<(), GitError> {
    let mut collected = gix::dir::walk::delegate::Collect::default();
    let outcome = handle.dirwalk(
        index,
        None::<&BStr>,
        &AtomicBool::new(false),
        handle.dirwalk_options()?,
        &mut collected,
    )?;
    match outcome.dirwalk.read_dir_errors {
        0 => {}
        1 => listing
            .notes
            .push("one directory of the work tree could not be read".to_owned()),
        count => listing.notes.push(format!(
            "{count} directories of the work tree could not be read"
        )),
    }
    for (entry, _) in collected.unorded_entries {
        if entry.status != gix::dir::entry::Status::Untracked {
            continue;
        }
        let kind = match entry.disk_kind {
            Some(gix::dir::entry::Kind::File) => ItemKind::File,
            Some(gix::dir::entry::Kind::Symlink) => ItemKind::Symlink,
            Some(gix::dir::entry::Kind::Repository) => ItemKind::Submodule,
            _ => continue,
        };
        let path = entry.rela_path.strip_suffix(b"/");
        let path = BStr::new(path.unwrap_or(&entry.rela_path));
        if let Some(path) = below(path, directory) {
            listing.add(path, kind, Content::WorkTree(None));
        }
    }
    Ok(())
}
