//! `.wavelint.yaml`: what it may say. Rule and group names are kept as written, with their
//! places; [`crate::levels`] resolves them.

mod read;
mod shape;

use globset::GlobSet;

use crate::finding::Severity;

/// The name of the configuration file at the root of the tree.
pub const FILE_NAME: &str = ".wavelint.yaml";

/// The configuration; its default is that of a repository without a file.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file it was read from, for messages; `None` where there is none.
    pub path: Option<String>,
    /// The version of Flux that reconciles the repository.
    pub flux_version: FluxVersion,
    /// Files that no rule reports about.
    pub exclude: Patterns,
    /// Entry points beside those found in the tree, or remarks on these.
    pub clusters: Vec<Cluster>,
    /// Wave sets, where they are not to be guessed.
    pub waves: Vec<WaveSet>,
    /// Names that are defined outside the tree.
    pub external: External,
    /// What overlays may do to their base.
    pub overlays: Overlays,
    /// When `blast-radius` fires.
    pub blast_radius: BlastRadius,
    /// Levels of rules and groups, for all files.
    pub rules: Vec<RuleLevel>,
    /// Levels of rules and groups, for some files; later entries win.
    pub per_path: Vec<PerPath>,
}

/// A version of Flux, of which two numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FluxVersion {
    /// `2` of 2.9.
    pub major: u32,
    /// `9` of 2.9.
    pub minor: u32,
}

impl Default for FluxVersion {
    /// The newest that wavelint knows.
    fn default() -> Self {
        Self { major: 2, minor: 9 }
    }
}

impl FluxVersion {
    /// True if an undefined variable without a default fails the build: from Flux 2.9 on
    /// (kustomize-controller: feature gate `StrictPostBuildSubstitutions`).
    pub fn strict_substitution(self) -> bool {
        self >= Self { major: 2, minor: 9 }
    }
}

/// Glob patterns over paths (or names), with the text they were written as.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// As written, in order.
    pub written: Vec<String>,
    set: GlobSet,
}

/// A pattern that is no glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// Which of the patterns, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Patterns {
    /// Path patterns: `*` stops at `/`, `**` does not. A pattern that names a directory holds for all below it.
    ///
    /// # Errors
    /// The first pattern that is no glob.
    pub fn paths(written: Vec<String>) -> Result<Self, PatternError> {
        Self::compile(written, true)
    }

    /// Name patterns: `*` matches anything.
    ///
    /// # Errors
    /// As [`Patterns::paths`].
    pub fn names(written: Vec<String>) -> Result<Self, PatternError> {
        Self::compile(written, false)
    }

    fn compile(written: Vec<String>, paths: bool) -> Result<Self, PatternError> {
        let mut set = globset::GlobSetBuilder::new();
        for (index, pattern) in written.iter().enumerate() {
            let mut add = |pattern: &str| match globset::GlobBuilder::new(pattern)
                .literal_separator(paths)
                .build()
            {
                Ok(glob) => {
                    set.add(glob);
                    Ok(())
                }
                Err(error) => Err(PatternError {
                    index,
                    reason: error.kind().to_string(),
                }),
            };
            if paths {
                let clean = pattern
                    .strip_prefix("./")
                    .or(pattern.strip_prefix('/'))
                    .unwrap_or(pattern)
                    .trim_end_matches('/');
                add(clean)?;
                add(&format!("{clean}/**"))?;
            } else {
                add(pattern)?;
            }
        }
        let set = set.build().map_err(|error| PatternError {
            index: 0,
            reason: error.kind().to_string(),
        })?;
        Ok(Self { written, set })
    }

    /// True if one of the patterns matches.
    pub fn matches(&self, path_or_name: &str) -> bool {
        self.set.is_match(path_or_name)
    }

    /// True if there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }
}

/// A configured entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The directory that Flux is pointed at, relative to the root of the tree.
    pub path: String,
    /// Whether Flux really reconciles it.
    pub role: Role,
    /// Where the path is written.
    pub at: At,
}

/// Whether a cluster is reconciled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It is.
    #[default]
    Active,
    /// It is not (yet): decryption and moves do not matter.
    DesignOnly,
}

/// A configured wave set.
#[derive(Clone, Debug)]
pub struct WaveSet {
    /// The directory of wave n, with `{n}` once.
    pub dir: String,
    /// Where the ServiceDefinitions are; empty: anywhere.
    pub catalog: Patterns,
    /// The Kustomizations that the first wave stands on.
    pub after: Vec<String>,
    /// Where `dir` is written.
    pub at: At,
    /// Where `catalog` is written, if it is.
    pub catalog_at: Option<At>,
    /// Where each name of `after` is written.
    pub after_at: Vec<At>,
}

impl WaveSet {
    /// What stands before and behind the number.
    pub fn around_number(&self) -> (&str, &str) {
        self.dir.split_once(NUMBER).unwrap_or((&self.dir, ""))
    }
}

/// What stands for the number in a wave directory.
pub(crate) const NUMBER: &str = "{n}";

/// Names that are defined outside the tree.
#[derive(Clone, Debug, Default)]
pub struct External {
    /// Services that `dependencies:` may name.
    pub services: Vec<String>,
    /// Patterns of variables that substitution gets from elsewhere.
    pub variables: Patterns,
    /// Sources that `sourceRef` may name.
    pub sources: Vec<String>,
}

/// What overlays may do to their base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// True if they may change nothing but the data of variables ConfigMaps and what `allow` names.
    pub values_only: bool,
    /// Field paths that they may change all the same, such as `spec.decryption`.
    pub allow: Vec<String>,
}

/// From how many workloads in how many namespaces on `blast-radius` fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlastRadius {
    /// Workloads behind one gate.
    pub workloads: usize,
    /// Namespaces that they are in.
    pub namespaces: usize,
}

impl Default for BlastRadius {
    fn default() -> Self {
        Self {
            workloads: 5,
            namespaces: 3,
        }
    }
}

/// A rule's or group's name and its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLevel {
    /// As written.
    pub name: String,
    /// Its level.
    pub level: Level,
    /// Where the name is written.
    pub at: At,
}

/// What a rule is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It does not run.
    Off,
    /// It runs with its own severities.
    On,
    /// It runs, and all its findings have this severity.
    Severity(Severity),
}

/// Levels for some files.
#[derive(Clone, Debug)]
pub struct PerPath {
    /// The files.
    pub paths: Patterns,
    /// Their levels.
    pub rules: Vec<RuleLevel>,
}

/// Where something is written in the configuration; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// Why a configuration cannot be used. Shown as `path:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file; `None` for a name from the command line.
    pub path: Option<String>,
    /// Where in it; `None` for a name from the command line.
    pub at: Option<At>,
    /// What is wrong; lower case, no full stop.
    pub message: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(path) = &self.path {
            write!(formatter, "{path}:")?;
            if let Some(at) = self.at {
                write!(formatter, "{}:{}:", at.line, at.column)?;
            }
            formatter.write_str(" ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a configuration. `path` is the file's name, for messages.
    ///
    /// # Errors
    /// The first of: text that is no YAML, more than one document, a key written twice, an
    /// unknown key, a value of the wrong type or form; with its place.
    pub fn parse(text: &str, path: &str) -> Result<Self, ConfigError> {
        read::parse(text, path)
    }
}
