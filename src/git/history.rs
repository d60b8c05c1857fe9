//! Commits: names, parents, merge bases, and where a shallow clone ends.

use std::collections::BTreeSet;

use gix::bstr::{BStr, ByteSlice};

use super::{GitError, ObjectId, Repository};

/// The parent that a comparison is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The first parent, and it is there.
    Present(ObjectId),
    /// The commit has none.
    Root,
    /// It has one, but a shallow clone left it out.
    CutOff,
}

impl Repository {
    /// The commit that a revision names, tags peeled.
    ///
    /// # Errors
    /// When the words name nothing, no single object, or something that is not a commit.
    pub fn resolve_commit(&self, revision: &str) -> Result<ObjectId, GitError> {
        if revision.is_empty() {
            return Err(GitError("it is empty".to_owned()));
        }
        self.with(|handle| {
            let id = handle.rev_parse_single(BStr::new(revision))?;
            let commit = id.object()?.peel_to_commit()?;
            Ok(ObjectId(commit.id))
        })
    }

    /// The commit of `HEAD`; `None` before the first commit.
    ///
    /// # Errors
    /// When `HEAD` is broken or its commit is missing.
    pub fn head_commit(&self) -> Result<Option<ObjectId>, GitError> {
        self.with(|handle| {
            let mut head = handle.head()?;
            if head.is_unborn() {
                return Ok(None);
            }
            Ok(Some(ObjectId(head.peel_to_commit()?.id)))
        })
    }

    /// The first parent of a commit.
    ///
    /// # Errors
    /// When the commit cannot be read, or its parent is missing although the clone is not shallow.
    pub fn first_parent(&self, commit: ObjectId) -> Result<Parent, GitError> {
        let shallow = self.shallow_commits()?;
        self.with(|handle| {
            let found = handle.find_commit(commit.0)?;
            let Some(parent) = found.parent_ids().next() else {
                return Ok(Parent::Root);
            };
            if shallow.contains(&commit.0) {
                return Ok(Parent::CutOff);
            }
            Ok(Parent::Present(ObjectId(parent.object()?.id)))
        })
    }

    /// The best common ancestor of two commits; `None` if their histories do not meet
    /// in what is there of them.
    ///
    /// # Errors
    /// When a commit on the way is missing although the clone is not shallow.
    pub fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, GitError> {
        let shallow = self.shallow_commits()?;
        self.with(|handle| {
            let base = if shallow.is_empty() {
                handle.merge_base(one.0, two.0)?
            } else {
                let objects = CutHistory {
                    objects: &handle.objects,
                    shallow: &shallow,
                };
                let mut graph = gix::revwalk::Graph::new(objects, None);
                handle.merge_base_with_graph(one.0, two.0, &mut graph)?
            };
            Ok(base.map(|id| ObjectId(id.detach())))
        })
    }

    /// The commits whose parents a shallow clone left out.
    fn shallow_commits(&self) -> Result<BTreeSet<gix::ObjectId>, GitError> {
        self.with(|handle| {
            let commits = handle.shallow_commits()?;
            Ok(commits
                .map(|commits| commits.iter().copied().collect())
                .unwrap_or_default())
        })
    }
}

/// Objects in which the commits at the end of a shallow clone have no parents.
struct CutHistory<'a, Objects> {
    objects: &'a Objects,
    shallow: &'a BTreeSet<gix::ObjectId>,
}

impl<Objects: gix::objs::Find> gix::objs::Find for CutHistory<'_, Objects> {
    fn try_find<'b>(
        &self,
        id: &gix::oid,
        buffer: &'b mut Vec<u8>,
    ) -> gix::Result<Option<gix::objs::Data<'b>>> {
        let mut own = Vec::new();
        let Some(found) = self.objects.try_find(id, &mut own)? else {
            return Ok(None);
        };
        let is_end = found.kind == gix::objs::Kind::Commit && self.shallow.contains(id);
        *buffer = if is_end {
            without_parents(found.data)
        } else {
            found.data.to_vec()
        };
        Ok(Some(gix::objs::Data::new(
            buffer,
            found.kind,
            found.object_hash,
        )))
    }
}

/// A commit's bytes without the `parent` lines of its header.
fn without_parents(commit: &[u8]) -> Vec<u8> {
    let mut cut = Vec::with_capacity(commit.len());
    let mut in_header = true;
    for line in commit.lines_with_terminator() {
        in_header &= line != b"\n";
        if !(in_header && line.starts_with(b"parent ")) {
            cut.extend_from_slice(line);
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_header_loses_its_parents() {
        let commit = b"tree 1\nparent 2\nparent 3\nauthor a\n\nparent of all\n";
        assert_eq!(
            without_parents(commit),
            b"tree 1\nauthor a\n\nparent of all\n"
        );
    }
}
