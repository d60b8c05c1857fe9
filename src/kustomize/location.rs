//! What an entry of a kustomization file names: a file, a directory, something remote, or nothing.
//!
//! Upstream: api `internal/loader/fileloader.go`, `internal/git/repospec.go`.

use super::{Problem, ProblemKind};
use crate::near;
use crate::source::FileId;
use crate::tree::{Child, Tree, join, split};
use crate::yaml::Node;

/// What an entry leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A file of the tree.
    File(FileId),
    /// A directory of the tree.
    Directory(String),
    /// Something that is fetched at build time.
    Remote,
    /// In a submodule, whose content is not in the repository.
    Submodule(String),
}

/// Which kinds of thing an entry may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `resources`: a file, else a directory.
    FileOrDirectory,
    /// `components`.
    Directory,
    /// Patches, generator inputs, configurations.
    File,
}

/// Follows an entry from the directory of its kustomization file.
///
/// # Errors
/// If there is nothing, with what may be meant.
pub(super) fn locate(
    tree: &Tree,
    directory: &str,
    entry: &Node,
    wanted: Wanted,
) -> Result<Location, Problem> {
    let text = entry.as_scalar().map_or("", |scalar| scalar.text.as_str());
    if text.is_empty() {
        return Err(problem(entry, "an entry is empty".to_owned(), None));
    }
    if has_scheme(text, "http://") || has_scheme(text, "https://") {
        return Ok(Location::Remote);
    }
    if text.starts_with('/') {
        return Err(problem(
            entry,
            format!("`{text}` is an absolute path, which is not in the artifact"),
            Some("write a path relative to this directory".to_owned()),
        ));
    }
    let path = join(directory, text);
    if wanted != Wanted::Directory
        && let Some(file) = path.as_deref().and_then(|path| tree.file(path))
    {
        return Ok(Location::File(file));
    }
    if wanted != Wanted::File && is_repository(text) {
        return Ok(Location::Remote);
    }
    let Some(path) = path else {
        return Err(problem(
            entry,
            format!("`{text}` leads out of the repository"),
            None,
        ));
    };
    if wanted != Wanted::File && tree.is_directory(&path) {
        return Ok(Location::Directory(path));
    }
    if let Some((at, special)) = special_part(tree, &path) {
        return match special {
            Child::Submodule => Ok(Location::Submodule(at)),
            _ => Err(problem(
                entry,
                format!(
                    "`{text}` is not there: `{at}` is a symbolic link, and Flux's artifact has none"
                ),
                Some("list what the link points to".to_owned()),
            )),
        };
    }
    Err(not_found(tree, directory, &path, entry, text, wanted))
}

fn problem(entry: &Node, message: String, help: Option<String>) -> Problem {
    Problem {
        kind: ProblemKind::ResourceNotFound,
        place: entry.place,
        message,
        related: Vec::new(),
        help,
    }
}

/// The symbolic link or submodule that a path goes through.
fn special_part(tree: &Tree, path: &str) -> Option<(String, Child)> {
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([path.len()]);
    ends.map(|end| &path[..end])
        .find_map(|part| match tree.child(part) {
            Some(child @ (Child::Symlink | Child::Submodule)) => Some((part.to_owned(), child)),
            _ => None,
        })
}

fn not_found(
    tree: &Tree,
    directory: &str,
    path: &str,
    entry: &Node,
    text: &str,
    wanted: Wanted,
) -> Problem {
    if wanted == Wanted::File && tree.is_directory(path) {
        return problem(entry, format!("`{text}` is a directory, not a file"), None);
    }
    if wanted == Wanted::Directory && tree.file(path).is_some() {
        return problem(
            entry,
            format!("`{text}` is a file, and a component is a directory"),
            None,
        );
    }
    if tree.is_left_out(path) {
        return problem(
            entry,
            format!("`{text}` is in the repository, and not in what Flux packs of it"),
            Some(
                "bring it back in `.sourceignore` (`!` and its path), or in the source's `spec.ignore`: without a pattern there, images, archives and CI files are left out"
                    .to_owned(),
            ),
        );
    }
    let help = if text.contains(['*', '?', '[']) {
        Some("kustomize knows no patterns here: list each file".to_owned())
    } else {
        suggestion(tree, directory, path, text).map(|near| format!("write `{near}`"))
    };
    problem(entry, format!("`{text}` is not there"), help)
}

/// The path in the tree of what an entry that is not there may mean.
pub fn meant(tree: &Tree, directory: &str, text: &str) -> Option<String> {
    let path = join(directory, text)?;
    join(directory, &suggestion(tree, directory, &path, text)?)
}

/// What may be meant: the same name with another ending or in other letters, a near name, or the path from the root.
fn suggestion(tree: &Tree, directory: &str, path: &str, text: &str) -> Option<String> {
    let (parent, name) = split(path);
    if tree.is_directory(parent) {
        let stem = |name: &str| {
            name.strip_suffix(".yaml")
                .or_else(|| name.strip_suffix(".yml"))
                .unwrap_or(name)
                .to_lowercase()
        };
        let names: Vec<&str> = tree
            .children(parent)
            .filter(|(_, child)| matches!(child, Child::File(_) | Child::Directory))
            .map(|(name, _)| name)
            .collect();
        let near = names
            .iter()
            .find(|other| stem(other) == stem(name))
            .copied()
            .or_else(|| near::nearest(name, names));
        if let Some(near) = near {
            let start = text.len() - text.trim_end_matches('/').rsplit('/').next()?.len();
            let start = start - (text.len() - text.trim_end_matches('/').len());
            return Some(format!("{}{near}", text.get(..start)?));
        }
    }
    // Written from the root instead of from here.
    let from_root = text.trim_start_matches("./").trim_end_matches('/');
    let there =
        tree.file(from_root).is_some() || tree.is_directory(from_root) && !from_root.is_empty();
    there.then(|| relative(directory, from_root))
}

/// `path` as written from `directory`.
pub(super) fn relative(directory: &str, path: &str) -> String {
    let from: Vec<&str> = directory
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let to: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec![".."; from.len() - common];
    parts.extend(&to[common..]);
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// True if kustomize takes the text for the address of a git repository.
pub(super) fn is_repository(text: &str) -> bool {
    let text = text.split_once('?').map_or(text, |(address, _)| address);
    let rest = if has_scheme(text, "git::") {
        &text[5..]
    } else {
        text
    };
    let scheme = ["ssh://", "https://", "http://", "file://"]
        .into_iter()
        .find(|scheme| has_scheme(rest, scheme));
    let rest = &rest[scheme.map_or(0, str::len)..];
    if scheme == Some("file://") {
        return !rest.is_empty();
    }
    let user = rest.split_once('@').filter(|(user, _)| {
        user.starts_with(|c: char| c.is_ascii_alphabetic())
            && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    let host_and_path = user.map_or(rest, |(_, rest)| rest);
    let github =
        has_scheme(host_and_path, "github.com/") || has_scheme(host_and_path, "github.com:");
    let short_form = scheme.is_none() && (user.is_some() || github);
    if scheme.is_none() && !short_form {
        return false;
    }
    let slash = host_and_path.find('/');
    let colon = host_and_path.find(':').filter(|_| short_form);
    let separator = match (slash, colon) {
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (None, colon) => colon,
        (slash, _) => slash,
    };
    let Some(separator) = separator else {
        return false;
    };
    is_repository_path(&host_and_path[separator + 1..])
}

/// The part behind the host: a repository and, behind it, a directory that does not leave it.
fn is_repository_path(path: &str) -> bool {
    let (repository, directory) = if let Some(at) = path.find("_git/") {
        let rest = &path[at + 5..];
        let end = rest.find('/').map_or(path.len(), |end| at + 5 + end);
        (&path[..end], path.get(end + 1..).unwrap_or_default())
    } else if let Some(at) = path.find("//") {
        (&path[..at], &path[at + 2..])
    } else if let Some(at) = path.find(".git") {
        (&path[..at + 4], &path[at + 4..])
    } else {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        if slashes.next().is_none() {
            return false;
        }
        match slashes.next() {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (path, ""),
        }
    };
    !repository.is_empty() && join("", directory.trim_start_matches('/')).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_repositories_are_told_from_paths() {
        for remote in [
            "https://github.com/a/b",
            "https://github.com/a/b//c?ref=v1",
            "github.com/a/b/c",
            "git@github.com:a/b.git",
            "ssh://git@host/a/b",
            "git::https://host/a/b",
            "file:///srv/repo",
        ] {
            assert!(is_repository(remote), "{remote}");
        }
        for local in [
            "../base",
            "github.com",
            "base.git/x",
            "a/b",
            "./github.com/a",
        ] {
            assert!(!is_repository(local), "{local}");
        }
    }

    #[test]
    fn a_path_is_written_from_another_directory() {
        assert_eq!(relative("a/b", "a/c/d"), "../c/d");
        assert_eq!(relative("", "a"), "a");
        assert_eq!(relative("a", "a"), ".");
    }
}
