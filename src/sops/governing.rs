//! All `.sops.yaml` of a tree, and which of their rules is for which file.

use std::collections::BTreeMap;

use super::config::{Config, Match};
use crate::source::FileId;
use crate::tree::{Files, Tree, split};

/// The name under which SOPS looks for its configuration.
pub const CONFIG_NAME: &str = ".sops.yaml";

/// The configurations of a tree, by the directory that they stand in.
#[derive(Debug, Default)]
pub struct Configs {
    by_directory: BTreeMap<String, (FileId, Config)>,
}

impl Configs {
    /// Reads every `.sops.yaml` of a tree; one that does not parse is left out.
    pub fn read(files: &Files, tree: &Tree) -> Self {
        let by_directory = tree
            .files()
            .filter(|(path, _)| split(path).1 == CONFIG_NAME)
            .filter_map(|(path, file)| {
                let yaml = files.yaml(file);
                let document = yaml.documents.first().filter(|_| yaml.error.is_none())?;
                let config = Config::read(&document.root, files.text(file));
                Some((split(path).0.to_owned(), (file, config)))
            })
            .collect();
        Self { by_directory }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.by_directory.is_empty()
    }

    /// Directory, file and content of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FileId, &Config)> {
        self.by_directory
            .iter()
            .map(|(directory, (file, config))| (directory.as_str(), *file, config))
    }

    /// What each configuration in the file's directory or above says about it, the nearest first.
    ///
    /// SOPS takes the nearest above the directory that it is run in, which may be any of them.
    pub fn matches<'a>(&'a self, path: &'a str) -> impl Iterator<Item = Match<'a>> {
        let mut directory = Some(split(path).0);
        std::iter::from_fn(move || {
            let current = directory?;
            directory = (!current.is_empty()).then(|| split(current).0);
            Some(current)
        })
        .filter_map(move |directory| {
            let (_, config) = self.by_directory.get(directory)?;
            let relative = path.strip_prefix(directory)?.trim_start_matches('/');
            Some(config.matching_rule(relative))
        })
    }

    /// What the nearest configuration says about a file; `None` if there is no configuration.
    pub fn nearest<'a>(&'a self, path: &'a str) -> Option<Match<'a>> {
        self.matches(path).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use crate::source::Revision;

    #[test]
    fn every_configuration_above_a_file_has_its_say_the_nearest_first() {
        let mut files = Files::default();
        let snapshot = Snapshot::memory(
            [
                (
                    ".sops.yaml",
                    "creation_rules: [{path_regex: ^a/b/, age: age1top}]",
                ),
                (
                    "a/.sops.yaml",
                    "creation_rules: [{path_regex: ^b/x, age: age1near}]",
                ),
                ("c/.sops.yaml", "creation_rules: [{age: age1other}]"),
            ]
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())),
        );
        let tree = files.add(snapshot, Revision::Head, None);
        let configs = Configs::read(&files, &tree);
        let said: Vec<String> = configs
            .matches("a/b/x.yaml")
            .map(|said| match said {
                Match::Rule(rule) => rule.recipients[0].id.to_string(),
                _ => "none".to_owned(),
            })
            .collect();
        assert_eq!(said, ["age1near", "age1top"]);
        assert!(matches!(configs.nearest("a/c/x.yaml"), Some(Match::None)));
        assert!(configs.nearest("c/d/e/f.yaml").is_some());
    }
}
