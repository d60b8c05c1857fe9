//! `wavelint init`: a starter configuration, and how to run wavelint by itself.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::config::FILE_NAME;

/// The starter: prose behind `# `, settings behind `#`.
const STARTER: &str = include_str!("init.yaml");

/// What is told after writing it.
const NEXT_STEPS: &str = include_str!("init.txt");

/// Why there is no starter configuration.
#[derive(Debug)]
pub enum InitError {
    /// There is a configuration; it is never overwritten.
    Exists(String),
    /// The file cannot be written.
    Create(String, io::Error),
    /// The writer refused.
    Write(io::Error),
}

impl std::fmt::Display for InitError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exists(path) => write!(formatter, "{path} exists already and is left as it is"),
            Self::Create(path, error) => write!(formatter, "cannot write {path}: {error}"),
            Self::Write(error) => write!(formatter, "cannot write: {error}"),
        }
    }
}

impl std::error::Error for InitError {}

/// Writes `.wavelint.yaml` into a directory, and to `writer` how to run wavelint in hooks and in CI.
///
/// # Errors
/// A configuration that exists, or a directory or writer that cannot be written to.
pub fn run(directory: &Path, writer: &mut impl Write) -> Result<(), InitError> {
    let path = directory.join(FILE_NAME);
    let shown = if directory == Path::new(".") {
        FILE_NAME.to_owned()
    } else {
        path.display().to_string()
    };
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(InitError::Exists(shown));
        }
        Err(error) => return Err(InitError::Create(shown, error)),
    };
    file.write_all(STARTER.as_bytes())
        .map_err(|error| InitError::Create(shown.clone(), error))?;
    write!(
        writer,
        "wrote {}: everything in it is optional\n\n{NEXT_STEPS}",
        crate::terminal::visible(&shown)
    )
    .map_err(InitError::Write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, FluxVersion};

    #[test]
    fn the_starter_is_valid_as_it_is_and_with_every_example_switched_on() {
        let config = Config::parse(STARTER, FILE_NAME).unwrap();
        assert!(config.rules.is_empty() && config.exclude.is_empty());

        let switched_on: String = STARTER
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') || rest.starts_with("  ") => {
                    format!("{rest}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let config = Config::parse(&switched_on, FILE_NAME).unwrap();
        assert_eq!(config.flux_version, FluxVersion { major: 2, minor: 9 });
        assert_eq!(config.clusters.len(), 1);
        assert_eq!(config.waves.len(), 1);
        assert!(config.external.variables.matches("CLUSTER_SECRET_X"));
        assert!(config.overlays.values_only);
        assert_eq!(config.rules.len(), 2);
        assert_eq!(config.per_path.len(), 1);
    }

    #[test]
    fn a_configuration_is_never_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let mut said = Vec::new();
        run(directory.path(), &mut said).unwrap();
        assert!(
            String::from_utf8(said)
                .unwrap()
                .contains("wavelint --staged")
        );
        let path = directory.path().join(FILE_NAME);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), STARTER);
        std::fs::write(&path, "exclude: []\n").unwrap();
        let error = run(directory.path(), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("exists already"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "exclude: []\n");
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let error = run(&missing, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "));
    }
}
