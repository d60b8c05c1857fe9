//! The blob ids of work-tree files: what `git add` would store, without running a filter.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::filter::plumbing::pipeline::CrlfRoundTripCheck;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::worktree::stack::state::attributes::Source;

use super::{GitError, ItemKind, ObjectId, Repository};

/// Knows the index that a work tree was listed with, and git's conversions.
pub struct Cleaner {
    work_tree: PathBuf,
    /// Of the listed directory: empty, or with a `/` at the end.
    prefix: String,
    index: gix::index::File,
    /// What of a file's times and numbers git compares (`core.trustctime`, `core.checkStat`).
    comparison: gix::index::entry::stat::Options,
    /// Conversions that no thread uses at the moment.
    conversions: Mutex<Vec<Conversion>>,
}

impl Cleaner {
    pub(super) fn new(
        work_tree: PathBuf,
        directory: &str,
        index: gix::index::File,
        comparison: gix::index::entry::stat::Options,
    ) -> Self {
        let prefix = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        Self {
            work_tree,
            prefix,
            index,
            comparison,
            conversions: Mutex::new(Vec::new()),
        }
    }

    /// The absolute path of a listed path.
    pub fn absolute(&self, path: &str) -> PathBuf {
        let mut absolute = self.work_tree.clone();
        absolute.extend(self.prefix.split('/').filter(|part| !part.is_empty()));
        absolute.extend(path.split('/'));
        absolute
    }

    /// The id under which git stores or would store a listed path; `tracked` is its position in
    /// the index. `None` when the file is gone, or only an external filter could say.
    pub fn blob_id(
        &self,
        repository: &Repository,
        path: &str,
        kind: ItemKind,
        tracked: Option<usize>,
    ) -> Option<ObjectId> {
        let absolute = self.absolute(path);
        if let Some(id) = tracked.and_then(|position| self.unchanged(position, kind, &absolute)) {
            return Some(id);
        }
        repository.with(|handle| match kind {
            ItemKind::File => {
                let full = BString::from(format!("{}{path}", self.prefix));
                self.convert(handle, full.as_bstr(), &absolute)
            }
            ItemKind::Symlink => hash(handle, &super::read_link(&absolute).ok()?),
            ItemKind::Submodule => {
                let options = gix::open::Options::isolated();
                let nested = options.open(&absolute).ok();
                let head = nested.and_then(|nested| nested.head_id().ok().map(|id| id.detach()));
                head.or_else(|| Some(self.index.entries().get(tracked?)?.id))
                    .map(ObjectId)
            }
        })
    }

    /// The id in the index, if the file's times and sizes prove that it is still the same.
    fn unchanged(&self, position: usize, kind: ItemKind, absolute: &Path) -> Option<ObjectId> {
        let entry = self.index.entries().get(position)?;
        let same_kind = match kind {
            ItemKind::File => matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE),
            ItemKind::Symlink => entry.mode == Mode::SYMLINK,
            ItemKind::Submodule => false,
        };
        if !same_kind
            || entry.stage() != Stage::Unconflicted
            || entry.flags.contains(Flags::INTENT_TO_ADD)
        {
            return None;
        }
        let metadata = gix::index::fs::Metadata::from_path_no_follow(absolute).ok()?;
        let now = Stat::from_fs(&metadata).ok()?;
        // Git writes size 0 for entries whose times prove nothing.
        let smudged = entry.stat.size == 0 && !entry.id.is_empty_blob();
        let clean = !smudged
            && entry.stat.matches(&now, self.comparison)
            && !entry.stat.is_racy(self.index.timestamp(), self.comparison);
        clean.then_some(ObjectId(entry.id))
    }

    fn convert(&self, handle: &gix::Repository, path: &BStr, absolute: &Path) -> Option<ObjectId> {
        let free = self
            .conversions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut conversion = match free {
            Some(conversion) => conversion,
            None => Conversion::new(handle, &self.index).ok()?,
        };
        let id = conversion.blob_id(handle, &self.index, path, absolute);
        self.conversions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(conversion);
        id
    }
}

fn hash(handle: &gix::Repository, bytes: &[u8]) -> Option<ObjectId> {
    gix::objs::compute_hash(handle.object_hash(), gix::objs::Kind::Blob, bytes)
        .ok()
        .map(ObjectId)
}

/// Git's built-in conversions with the attributes that choose them; used by one thread at a time.
struct Conversion {
    attributes: gix::worktree::Stack,
    pipeline: gix::filter::plumbing::Pipeline,
    /// Filters that git would run: `filter.NAME.clean` or `.process` is configured, or it is required.
    external: Vec<BString>,
    filter: gix::attrs::search::Outcome,
}

impl Conversion {
    fn new(handle: &gix::Repository, index: &gix::index::File) -> Result<Self, GitError> {
        let attributes = handle
            .attributes_only(index, Source::WorktreeThenIdMapping)?
            .detach();
        let mut options = gix::filter::Pipeline::options(handle)?;
        let external = std::mem::take(&mut options.drivers)
            .into_iter()
            .filter(|driver| driver.clean.is_some() || driver.process.is_some() || driver.required)
            .map(|driver| driver.name)
            .collect();
        options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        options.encodings_with_roundtrip_check.clear();
        let pipeline = gix::filter::plumbing::Pipeline::new(
            handle.command_context()?,
            handle.object_hash(),
            options,
        );
        let mut filter = gix::attrs::search::Outcome::default();
        filter.initialize_with_selection(&Default::default(), ["filter"]);
        Ok(Self {
            attributes,
            pipeline,
            external,
            filter,
        })
    }

    fn blob_id(
        &mut self,
        handle: &gix::Repository,
        index: &gix::index::File,
        path: &BStr,
        absolute: &Path,
    ) -> Option<ObjectId> {
        let at_path = self
            .attributes
            .at_entry(path, Some(Mode::FILE), &handle.objects)
            .ok()?;
        at_path.matching_attributes(&mut self.filter);
        let filter = self.filter.iter_selected().next();
        if let Some(gix::attrs::StateRef::Value(name)) = filter.map(|found| found.assignment.state)
            && self.external.iter().any(|driver| driver == name.as_bstr())
        {
            return None;
        }
        let bytes = super::read_file(absolute).ok()?;
        let relative = gix::path::from_bstr(path).ok()?;
        let converted = self
            .pipeline
            .convert_to_git(
                bytes.as_slice(),
                &relative,
                &mut |_, attributes| {
                    at_path.matching_attributes(attributes);
                },
                &mut |buffer| {
                    let Some(entry) = index.entry_by_path(path) else {
                        return Ok(None);
                    };
                    let found = gix::objs::Find::try_find(&handle.objects, &entry.id, buffer)?;
                    Ok(found
                        .filter(|object| object.kind == gix::objs::Kind::Blob)
                        .map(|_| ()))
                },
            )
            .ok()?;
        match converted {
            ToGitOutcome::Unchanged(_) => hash(handle, &bytes),
            ToGitOutcome::Buffer(converted) => hash(handle, converted),
            ToGitOutcome::Process(_) => None,
        }
    }
}
