//! The files of a run, read and parsed when asked for, and the trees of its one or two revisions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use crate::snapshot::{BlobId, EntryKind, Snapshot};
use crate::source::{Content, FileId, LineColumn, LineIndex, Place, Revision, Span};
use crate::yaml::{self, YamlFile};

/// All files of a run, of both revisions. What is equal at one path in both is one file.
#[derive(Default)]
pub struct Files {
    files: Vec<SourceFile>,
}

struct SourceFile {
    revision: Revision,
    path: Arc<str>,
    snapshot: Arc<Snapshot>,
    entry: usize,
    content: OnceLock<Content>,
    lines: LineIndex,
    yaml: OnceLock<YamlFile>,
}

impl Files {
    fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The path, relative to the linted directory.
    pub fn path(&self, id: FileId) -> &str {
        &self.file(id).path
    }

    /// The revision that the file belongs to; `Head` for a file that is equal in both.
    pub fn revision(&self, id: FileId) -> Revision {
        self.file(id).revision
    }

    /// The content, read on the first call.
    pub fn content(&self, id: FileId) -> &Content {
        let file = self.file(id);
        file.content
            .get_or_init(|| match file.snapshot.read(file.entry) {
                Ok(bytes) => Content::from_bytes(bytes),
                Err(error) => Content::Unreadable(error.to_string().into()),
            })
    }

    /// The paths of what could not be read when it was asked for.
    pub fn unreadable(&self) -> impl Iterator<Item = &str> {
        self.files
            .iter()
            .filter(|file| matches!(file.content.get(), Some(Content::Unreadable(_))))
            .map(|file| &*file.path)
    }

    /// Lets a function look at the bytes without keeping them: for files that are looked at once.
    pub fn peek<T>(&self, id: FileId, look: impl FnOnce(&[u8]) -> T) -> T {
        let file = self.file(id);
        if let Some(content) = file.content.get() {
            return look(content.bytes());
        }
        look(&file.snapshot.read(file.entry).unwrap_or_default())
    }

    /// The text; empty for what is no text.
    pub fn text(&self, id: FileId) -> &str {
        self.content(id).text().unwrap_or_default()
    }

    /// The documents of a YAML file, parsed on the first call. What is no text has an error.
    pub fn yaml(&self, id: FileId) -> &YamlFile {
        self.file(id).yaml.get_or_init(|| {
            let message = match self.content(id) {
                Content::Text(text) => return yaml::parse(text, id),
                Content::Binary(_) => "the file is not valid UTF-8".to_owned(),
                Content::Unreadable(reason) => format!("the file cannot be read: {reason}"),
            };
            YamlFile {
                error: Some(yaml::ParseError {
                    place: Place::file_start(id),
                    message,
                }),
                ..YamlFile::default()
            }
        })
    }

    /// The id under which git stores the content, if it can be known.
    pub fn blob_id(&self, id: FileId) -> Option<BlobId> {
        let file = self.file(id);
        file.snapshot.blob_id(file.entry)
    }

    /// Line and column of a byte offset.
    pub fn line_column(&self, id: FileId, offset: u32) -> LineColumn {
        self.file(id).lines.line_column(self.text(id), offset)
    }

    /// The line (from 1) on which a place starts.
    pub fn line(&self, place: Place) -> usize {
        self.line_column(place.file, place.span.start).line
    }

    /// The bytes of a line (from 1), without its ending.
    pub fn line_span(&self, id: FileId, line: usize) -> Span {
        self.file(id).lines.line_span(self.text(id), line)
    }

    /// The text at a place.
    pub fn slice(&self, place: Place) -> &str {
        self.text(place.file)
            .get(place.span.range())
            .unwrap_or_default()
    }

    /// Adds the files of a snapshot and gives its tree. A file that `other` has with
    /// the same path and blob id is not added again but shared.
    pub fn add(
        &mut self,
        snapshot: impl Into<Arc<Snapshot>>,
        revision: Revision,
        other: Option<&Tree>,
    ) -> Tree {
        let snapshot = snapshot.into();
        let mut tree = Tree::default();
        for (index, entry) in snapshot.entries.iter().enumerate() {
            let path: Arc<str> = entry.path.as_str().into();
            match entry.kind {
                EntryKind::Symlink => tree.add_special(path, Child::Symlink),
                EntryKind::Submodule => tree.add_special(path, Child::Submodule),
                EntryKind::File => {
                    let shared = other.and_then(|other| other.file(&path)).filter(|shared| {
                        let id = self.blob_id(*shared);
                        id.is_some() && id == snapshot.blob_id(index)
                    });
                    let id = shared.unwrap_or_else(|| {
                        let id = FileId(self.files.len() as u32);
                        self.files.push(SourceFile {
                            revision,
                            path: path.clone(),
                            snapshot: snapshot.clone(),
                            entry: index,
                            content: OnceLock::new(),
                            lines: LineIndex::default(),
                            yaml: OnceLock::new(),
                        });
                        id
                    });
                    tree.add_file(path, id);
                }
            }
        }
        tree
    }
}

/// What a directory holds under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A regular file.
    File(FileId),
    /// A directory.
    Directory,
    /// A symbolic link, which Flux's artifact does not have.
    Symlink,
    /// A submodule, whose content is unknown.
    Submodule,
}

/// The paths of one revision. A directory is named without a slash at its end; the root is `""`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<Arc<str>, FileId>,
    directories: HashMap<Arc<str>, BTreeMap<Arc<str>, Child>>,
    /// Files that the repository has and this tree has not.
    left_out: BTreeSet<Arc<str>>,
}

impl Tree {
    fn add_file(&mut self, path: Arc<str>, id: FileId) {
        self.add_special(path.clone(), Child::File(id));
        self.files.insert(path, id);
    }

    fn add_special(&mut self, path: Arc<str>, child: Child) {
        let (mut directory, mut name) = split(&path);
        let mut child = child;
        loop {
            let children = self.directories.entry(directory.into()).or_default();
            let known = children.insert(name.into(), child).is_some();
            if known || directory.is_empty() {
                return;
            }
            (directory, name) = split(directory);
            child = Child::Directory;
        }
    }

    /// The regular file at a path.
    pub fn file(&self, path: &str) -> Option<FileId> {
        self.files.get(path).copied()
    }

    /// What is at a path.
    pub fn child(&self, path: &str) -> Option<Child> {
        if path.is_empty() {
            return Some(Child::Directory);
        }
        let (directory, name) = split(path);
        self.directories.get(directory)?.get(name).copied()
    }

    /// True if the path is a directory; the root always is.
    pub fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || self.directories.contains_key(path)
    }

    /// What a directory holds, by name in byte order; nothing if it is none.
    pub fn children(&self, directory: &str) -> impl Iterator<Item = (&str, Child)> {
        self.directories
            .get(directory)
            .into_iter()
            .flatten()
            .map(|(name, child)| (name.as_ref(), *child))
    }

    /// All directories, sorted; the root is not among them.
    pub fn directories(&self) -> Vec<&str> {
        let mut directories: Vec<&str> = self
            .directories
            .keys()
            .map(AsRef::as_ref)
            .filter(|path: &&str| !path.is_empty())
            .collect();
        directories.sort_unstable();
        directories
    }

    /// The tree below a directory, with paths relative to it; files keep their ids.
    pub fn subtree(&self, directory: &str) -> Self {
        if directory.is_empty() {
            return self.clone();
        }
        let start = format!("{directory}/");
        let mut tree = Self::default();
        for (path, children) in &self.directories {
            let below = if path.as_ref() == directory {
                ""
            } else if let Some(below) = path.strip_prefix(&start) {
                below
            } else {
                continue;
            };
            tree.directories.insert(below.into(), children.clone());
        }
        for (path, id) in self.files_below(directory) {
            tree.files.insert(path[start.len()..].into(), id);
        }
        tree
    }

    /// The tree without the paths that `leave_out` names (given a path, and whether it is a directory).
    /// A directory stays if it is not named itself, or if something below it stays.
    #[must_use]
    pub fn without(&self, leave_out: &dyn Fn(&str, bool) -> bool) -> Self {
        let mut tree = Self {
            left_out: self.left_out.clone(),
            ..Self::default()
        };
        for (path, id) in &self.files {
            if leave_out(path, false) {
                tree.left_out.insert(path.clone());
            } else {
                tree.add_file(path.clone(), *id);
            }
        }
        for (directory, children) in &self.directories {
            for (name, child) in children {
                let special = matches!(child, Child::Symlink | Child::Submodule);
                let path = if directory.is_empty() {
                    name.clone()
                } else {
                    format!("{directory}/{name}").into()
                };
                if special && !leave_out(&path, false) {
                    tree.add_special(path, *child);
                } else if *child == Child::Directory && !leave_out(&path, true) {
                    tree.directories.entry(path.clone()).or_default();
                    tree.add_special(path, *child);
                }
            }
        }
        tree
    }

    /// True for a file that the repository has, and that [`Tree::without`] took out.
    pub fn is_left_out(&self, path: &str) -> bool {
        self.left_out.contains(path)
    }

    /// All regular files, by path in byte order.
    pub fn files(&self) -> impl Iterator<Item = (&str, FileId)> {
        self.files.iter().map(|(path, id)| (path.as_ref(), *id))
    }

    /// The regular files below a directory, by path in byte order.
    pub fn files_below<'a>(
        &'a self,
        directory: &'a str,
    ) -> impl Iterator<Item = (&'a str, FileId)> {
        let start = if directory.is_empty() {
            String::new()
        } else {
            format!("{directory}/")
        };
        self.files
            .range::<str, _>((
                std::ops::Bound::Included(start.as_str()),
                std::ops::Bound::Unbounded,
            ))
            .take_while(move |(path, _)| path.starts_with(&start))
            .map(|(path, id)| (path.as_ref(), *id))
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// Directory and last name of a path.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// `path` as seen from `directory`, cleaned of `.` and `..`; `None` if it leaves the root.
/// An absolute path counts from the root.
pub fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = if path.starts_with('/') {
        Vec::new()
    } else {
        directory
            .split('/')
            .filter(|part| !part.is_empty())
            .collect()
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_knows_its_directories() {
        let mut files = Files::default();
        let snapshot = Snapshot::memory(
            ["a/b/c.yaml", "a/d.yaml", "e.yaml", "a-b/f.yaml"]
                .map(|path| (path.to_owned(), path.as_bytes().to_vec())),
        );
        let tree = files.add(snapshot, Revision::Head, None);
        assert!(tree.is_directory("a/b"));
        assert!(!tree.is_directory("a/d.yaml"));
        let names: Vec<_> = tree.children("a").map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "d.yaml"]);
        let below: Vec<_> = tree.files_below("a").map(|(path, _)| path).collect();
        assert_eq!(below, ["a/b/c.yaml", "a/d.yaml"]);
        assert_eq!(files.text(tree.file("e.yaml").unwrap()), "e.yaml");
    }

    #[test]
    fn equal_files_are_shared_between_revisions() {
        let mut files = Files::default();
        let take = |b: &str| {
            Snapshot::memory([
                ("a".to_owned(), b"same".to_vec()),
                ("b".to_owned(), b.as_bytes().to_vec()),
            ])
        };
        let head = files.add(take("new"), Revision::Head, None);
        let base = files.add(take("old"), Revision::Base, Some(&head));
        assert_eq!(head.file("a"), base.file("a"));
        assert_ne!(head.file("b"), base.file("b"));
    }

    #[test]
    fn paths_are_joined_inside_the_root() {
        assert_eq!(join("a/b", "../c/./d").as_deref(), Some("a/c/d"));
        assert_eq!(join("a", "../..").as_deref(), None);
        assert_eq!(join("a", "..").as_deref(), Some(""));
        assert_eq!(join("a", "/x/").as_deref(), Some("x"));
    }
}
