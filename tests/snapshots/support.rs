//! Temporary repositories made by the real git, and requests for them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use wavelint::snapshot::take;
use wavelint::snapshot::{
    BaseRequest, EntryKind, Environment, Request, Snapshot, Source, TakeError, Taken,
};

/// A folder that may hold repositories.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty folder, outside git.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    /// A repository without commits.
    pub(crate) fn repository() -> Self {
        Self::repository_with(&[])
    }

    /// A repository without commits, with more options for `git init`.
    pub(crate) fn repository_with(options: &[&str]) -> Self {
        let place = Self::new();
        place.git(&[&["init", "-q"], options].concat());
        for (key, value) in LOCAL {
            place.git(&["config", key, value]);
        }
        place
    }

    /// The folder's path, without symbolic links.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder")
    }

    /// What git prints in this folder, without the last line feed; git must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.path(), arguments)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, content).expect("a file");
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path().join(path)).expect("a file to remove");
    }

    /// Writes, adds and commits a file; the commit's id.
    pub(crate) fn commit(&self, path: &str, content: impl AsRef<[u8]>) -> String {
        self.write(path, content);
        self.git(&["add", "--", path]);
        self.git(&["commit", "-q", "-m", path]);
        self.head()
    }

    /// A tree with these entries, as `git ls-tree` would print them; its id.
    pub(crate) fn make_tree(&self, lines: &str) -> String {
        self.write(".git/lines", lines);
        let lines = std::fs::File::open(self.path().join(".git/lines")).expect("a file");
        let output = git_command(&self.path())
            .arg("mktree")
            .stdin(lines)
            .output()
            .expect("git runs");
        assert!(output.status.success());
        let id = String::from_utf8(output.stdout).expect("an id");
        id.trim_end().to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// A request for the work tree, without a base.
    pub(crate) fn request(&self) -> Request {
        Request {
            directory: None,
            current_directory: self.path(),
            source: Source::WorkTree,
            base: BaseRequest::None,
            environment: Environment::default(),
        }
    }

    pub(crate) fn take(&self, change: impl FnOnce(&mut Request)) -> Result<Taken, TakeError> {
        let mut request = self.request();
        change(&mut request);
        take(&request)
    }

    pub(crate) fn work_tree(&self) -> Taken {
        self.take(|_| {}).expect("a work tree")
    }

    pub(crate) fn index(&self) -> Taken {
        self.take(|request| request.source = Source::Index)
            .expect("an index")
    }

    pub(crate) fn revision(&self, revision: &str) -> Taken {
        self.take(|request| request.source = Source::Revision(revision.to_owned()))
            .expect("a revision")
    }
}

/// Keeps the machine's own configuration out: the library under test reads it as git does.
const LOCAL: [(&str, &str); 5] = [
    ("core.autocrlf", "false"),
    ("core.excludesFile", "/nonexistent/excludes"),
    ("core.attributesFile", "/nonexistent/attributes"),
    ("user.name", "Somebody"),
    ("user.email", "somebody@example.org"),
];

pub(crate) fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Somebody")
        .env("GIT_AUTHOR_EMAIL", "somebody@example.org")
        .env("GIT_COMMITTER_NAME", "Somebody")
        .env("GIT_COMMITTER_EMAIL", "somebody@example.org")
        .args(["-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"]);
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn git_in(directory: &Path, arguments: &[&str]) -> String {
    let output = git_command(directory)
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end_matches('\n')
        .to_owned()
}

pub(crate) fn paths(snapshot: &Snapshot) -> Vec<&str> {
    let entries = snapshot.entries.iter();
    entries.map(|entry| entry.path.as_str()).collect()
}

pub(crate) fn position(snapshot: &Snapshot, path: &str) -> usize {
    let mut entries = snapshot.entries.iter();
    entries
        .position(|entry| entry.path == path)
        .unwrap_or_else(|| panic!("{path} among {:?}", paths(snapshot)))
}

pub(crate) fn kind(snapshot: &Snapshot, path: &str) -> EntryKind {
    snapshot.entries[position(snapshot, path)].kind
}

pub(crate) fn text(snapshot: &Snapshot, path: &str) -> String {
    let bytes = snapshot.read(position(snapshot, path));
    String::from_utf8(bytes.expect("readable")).expect("text")
}

pub(crate) fn blob_id(snapshot: &Snapshot, path: &str) -> Option<String> {
    let id = snapshot.blob_id(position(snapshot, path));
    id.map(|id| id.to_string())
}

/// Path, and id in `git ls-files --stage`, of all entries in the index.
pub(crate) fn staged(place: &Place) -> Vec<(String, String)> {
    let listed = place.git(&["-c", "core.quotePath=false", "ls-files", "--stage"]);
    let parse = |line: &str| {
        let (front, path) = line.split_once('\t').expect("a tab");
        let id = front.split(' ').nth(1).expect("an id");
        (path.to_owned(), id.to_owned())
    };
    let mut entries: Vec<_> = listed.lines().map(parse).collect();
    entries.sort();
    entries
}

/// Path and blob id of all entries of a snapshot.
pub(crate) fn ids(snapshot: &Snapshot) -> Vec<(String, String)> {
    let entries = snapshot.entries.iter().enumerate();
    entries
        .map(|(index, entry)| {
            let id = snapshot.blob_id(index).expect("an id");
            (entry.path.clone(), id.to_string())
        })
        .collect()
}
