//! What Flux leaves out when it packs a source: the defaults, `.sourceignore` files and `spec.ignore`.
//!
//! Upstream: fluxcd/pkg `sourceignore/`, `artifact/storage/archive.go`, and the gitignore
//! matcher of go-git that they use. It differs from git's own: every file is judged by
//! itself, so a later `!` pattern brings back what lies in an excluded directory.

use globset::{GlobBuilder, GlobMatcher};

use crate::tree::{Files, Tree, split};

/// The name of the files that hold patterns.
const FILE_NAME: &str = ".sourceignore";

/// Never packed.
const VERSION_CONTROL: [&str; 4] = [".git/", ".gitignore", ".gitmodules", ".gitattributes"];

/// Not packed as long as nobody writes a pattern.
const DEFAULTS: [&str; 20] = [
    "*.jpg",
    "*.jpeg",
    "*.gif",
    "*.png",
    "*.wmv",
    "*.flv",
    "*.tar.gz",
    "*.zip",
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
    "**/.goreleaser.yml",
    "**/.sops.yaml",
    "**/.flux.yaml",
];

/// The patterns of one source, the strongest last.
#[derive(Debug, Default)]
struct Patterns {
    patterns: Vec<Pattern>,
}

/// One pattern.
#[derive(Debug)]
struct Pattern {
    /// The directory of the file that holds it, by its parts.
    domain: Vec<String>,
    /// True for a `!` pattern: what it matches is packed.
    includes: bool,
    /// True if it ends in `/`.
    only_directories: bool,
    /// True if it has a slash elsewhere, so that it counts from the domain.
    is_path: bool,
    parts: Vec<Part>,
}

/// What one part of a path must be.
#[derive(Debug)]
enum Part {
    /// Before the first slash of an anchored pattern.
    Empty,
    /// `**`: any number of directories.
    AnyDirectories,
    /// One name, as it is.
    Word(String),
    /// A glob for one name.
    Glob(GlobMatcher),
    /// What the matcher never matches: a broken glob, or `**` in a longer name.
    Never,
}

/// A folder of the tree as Flux packs it, as a tree of its own: without what the defaults, its
/// `.sourceignore` files and the source's `spec.ignore` leave out.
pub(super) fn packed(files: &Files, tree: &Tree, root: &str, spec_ignore: Option<&str>) -> Tree {
    let folder = tree.subtree(root);
    let patterns = Patterns::gather(files, &folder, spec_ignore);
    folder.without(&|path, is_directory| patterns.leave_out(path, is_directory))
}

impl Patterns {
    fn gather(files: &Files, folder: &Tree, spec_ignore: Option<&str>) -> Self {
        let mut written = Vec::new();
        let mut ignore_files: Vec<(&str, &str)> = folder
            .files()
            .filter(|(path, _)| split(path).1 == FILE_NAME)
            .map(|(path, file)| (split(path).0, files.text(file)))
            .collect();
        // A directory's own file comes before those below it.
        ignore_files.sort_by(|a, b| parts_of(a.0).cmp(&parts_of(b.0)));
        for (directory, text) in ignore_files {
            written.extend(read(text, directory));
        }
        written.extend(read(spec_ignore.unwrap_or_default(), ""));
        let mut patterns: Vec<Pattern> = VERSION_CONTROL
            .iter()
            .map(|text| Pattern::parse(text, &[]))
            .collect();
        // Any pattern of the user's switches the defaults off.
        if written.is_empty() {
            patterns.extend(DEFAULTS.iter().map(|text| Pattern::parse(text, &[])));
        }
        patterns.extend(written);
        Self { patterns }
    }

    /// True for a path that is not packed: the last pattern that matches it decides.
    fn leave_out(&self, path: &str, is_directory: bool) -> bool {
        let parts = parts_of(path);
        self.patterns
            .iter()
            .rev()
            .find(|pattern| pattern.matches(&parts, is_directory))
            .is_some_and(|pattern| !pattern.includes)
    }
}

/// The patterns of a text; lines that start with `#` and blank ones are none.
fn read(text: &str, directory: &str) -> Vec<Pattern> {
    let domain = parts_of(directory);
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| Pattern::parse(line, &domain))
        .collect()
}

fn parts_of(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

impl Pattern {
    fn parse(text: &str, domain: &[&str]) -> Self {
        let (includes, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = if text.ends_with("\\ ") {
            text
        } else {
            text.trim_end_matches(' ')
        };
        let (only_directories, text) = match text.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Self {
            domain: domain.iter().map(|part| (*part).to_owned()).collect(),
            includes,
            only_directories,
            is_path: text.contains('/'),
            parts: text.split('/').map(Part::parse).collect(),
        }
    }

    fn matches(&self, path: &[&str], is_directory: bool) -> bool {
        if path.len() <= self.domain.len() || self.domain.iter().zip(path).any(|(a, b)| a != b) {
            return false;
        }
        let path = &path[self.domain.len()..];
        if self.is_path {
            self.matches_path(path, is_directory)
        } else {
            self.matches_name(path, is_directory)
        }
    }

    /// A pattern without a slash: any part of the path may fit; as a directory, only the last may not.
    fn matches_name(&self, path: &[&str], is_directory: bool) -> bool {
        let first = path
            .iter()
            .position(|name| self.parts.iter().any(|part| part.fits(name)));
        first.is_some_and(|at| !self.only_directories || is_directory || at + 1 < path.len())
    }

    /// A pattern with a slash: its parts are taken from the start of the path, which may go on behind them.
    fn matches_path(&self, path: &[&str], is_directory: bool) -> bool {
        let mut rest = path;
        let mut matched = false;
        let mut anywhere = false;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Empty => anywhere = false,
                Part::AnyDirectories if index + 1 == self.parts.len() => break,
                Part::AnyDirectories => anywhere = true,
                Part::Never => return false,
                Part::Word(_) | Part::Glob(_) if rest.is_empty() => return false,
                Part::Word(_) | Part::Glob(_) if anywhere => {
                    anywhere = false;
                    let found = rest.iter().position(|name| part.fits(name));
                    matched = found.is_some();
                    rest = &rest[found.map_or(rest.len(), |at| at + 1)..];
                }
                Part::Word(_) | Part::Glob(_) => {
                    if !part.fits(rest[0]) {
                        return false;
                    }
                    rest = &rest[1..];
                    matched = !rest.is_empty() || index + 1 == self.parts.len();
                }
            }
        }
        matched && !(self.only_directories && !is_directory && rest.is_empty())
    }
}

impl Part {
    fn parse(text: &str) -> Self {
        match text {
            "" => Self::Empty,
            "**" => Self::AnyDirectories,
            _ if text.contains("**") => Self::Never,
            _ if !text.contains(['*', '?', '[', '\\']) => Self::Word(text.to_owned()),
            _ => GlobBuilder::new(&text.replace('{', "[{]").replace('}', "[}]"))
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_or(Self::Never, |glob| Self::Glob(glob.compile_matcher())),
        }
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Word(word) => word == name,
            Self::Glob(glob) => glob.is_match(name),
            Self::Empty | Self::AnyDirectories | Self::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use crate::source::Revision;

    fn kept(paths: &[&str], ignores: &[(&str, &str)], spec_ignore: Option<&str>) -> Vec<String> {
        let mut files = Files::default();
        let entries = paths
            .iter()
            .map(|path| ((*path).to_owned(), b"a: 1\n".to_vec()))
            .chain(
                ignores
                    .iter()
                    .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
            );
        let tree = files.add(Snapshot::memory(entries), Revision::Head, None);
        packed(&files, &tree, "", spec_ignore)
            .files()
            .map(|(path, _)| path.to_owned())
            .filter(|path| !path.ends_with(FILE_NAME))
            .collect()
    }

    #[test]
    fn images_ci_files_and_the_sops_configuration_are_left_out_by_default() {
        let paths = [
            ".github/workflows/ci.yaml",
            ".gitignore",
            ".sops.yaml",
            "apps/.sops.yaml",
            "apps/a.yaml",
            "apps/logo.png",
        ];
        assert_eq!(kept(&paths, &[], None), ["apps/a.yaml"]);
    }

    #[test]
    fn one_pattern_switches_all_defaults_off_but_those_of_version_control() {
        let paths = [
            ".github/ci.yaml",
            ".gitignore",
            ".sops.yaml",
            "a.png",
            "docs/x.yaml",
        ];
        let ignores = [(".sourceignore", "# only this\n\ndocs/\n")];
        let expected = [".github/ci.yaml", ".sops.yaml", "a.png"];
        assert_eq!(kept(&paths, &ignores, None), expected);
        assert_eq!(kept(&paths, &[], Some("/docs\n")), expected);
    }

    #[test]
    fn a_later_pattern_brings_back_what_an_earlier_one_excludes() {
        let paths = ["apps/a.yaml", "apps/b/c.yaml", "docs/x.yaml", "top.yaml"];
        let ignores = [(".sourceignore", "/*\n!/apps/\n")];
        assert_eq!(
            kept(&paths, &ignores, None),
            ["apps/a.yaml", "apps/b/c.yaml"]
        );
        let deep = [(".sourceignore", "/*\n!/apps/b\n")];
        assert_eq!(kept(&paths, &deep, None), ["apps/b/c.yaml"]);
    }

    #[test]
    fn the_specs_patterns_win_over_the_files() {
        let paths = ["apps/a.yaml", "docs/x.yaml"];
        let ignores = [(".sourceignore", "docs/\n")];
        assert_eq!(kept(&paths, &ignores, Some("!docs\n")), paths);
    }

    #[test]
    fn a_file_in_a_directory_counts_from_there() {
        let paths = ["a/x.yaml", "b/x.yaml", "b/c/x.yaml"];
        let ignores = [("b/.sourceignore", "/x.yaml\n")];
        assert_eq!(kept(&paths, &ignores, None), ["a/x.yaml", "b/c/x.yaml"]);
        let ignores = [("b/.sourceignore", "x.yaml\n")];
        assert_eq!(kept(&paths, &ignores, None), ["a/x.yaml"]);
    }

    #[test]
    fn two_stars_stand_for_any_number_of_directories() {
        let paths = ["k/a/secrets/x.yaml", "k/secrets/x.yaml", "k/x.yaml"];
        assert_eq!(kept(&paths, &[], Some("/k/**/secrets/\n")), ["k/x.yaml"]);
        let brought_back = Some("/k/**/secrets/\n!/k/**/secrets/x.yaml\n");
        assert_eq!(kept(&paths, &[], brought_back), paths);
    }

    #[test]
    fn a_directory_stays_though_all_its_files_are_left_out() {
        let mut files = Files::default();
        let entries = [
            ("a/logo.png".to_owned(), Vec::new()),
            ("b.yaml".to_owned(), Vec::new()),
        ];
        let tree = files.add(Snapshot::memory(entries), Revision::Head, None);
        let packed_tree = packed(&files, &tree, "", None);
        assert!(packed_tree.is_directory("a"));
        assert!(packed_tree.is_left_out("a/logo.png"));
        assert!(!packed_tree.is_left_out("a/other.png"));
        assert!(!packed(&files, &tree, "", Some("a/\n")).is_directory("a"));
    }
}
