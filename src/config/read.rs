//! Text → configuration: places from our own tree, values through serde.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    At, BlastRadius, Cluster, Config, ConfigError, External, FluxVersion, Level, NUMBER, Overlays,
    PatternError, Patterns, PerPath, Role, RuleLevel, WaveSet, shape,
};
use crate::finding::Severity;
use crate::near;
use crate::source::{FileId, LineIndex, Place};
use crate::yaml::{self, Node};

/// The file as serde sees it. A key without a value is as good as none.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Written {
    exclude: Option<Vec<String>>,
    clusters: Option<Vec<WrittenCluster>>,
    waves: Option<Vec<WrittenWaves>>,
    external: Option<WrittenExternal>,
    overlays: Option<WrittenOverlays>,
    blast_radius: Option<WrittenBlastRadius>,
    per_path: Option<Vec<WrittenPerPath>>,
}

#[derive(Deserialize)]
struct WrittenCluster {
    path: Option<String>,
}

#[derive(Deserialize)]
struct WrittenWaves {
    dir: Option<String>,
    catalog: Option<String>,
    after: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
struct WrittenExternal {
    services: Option<Vec<String>>,
    variables: Option<Vec<String>>,
    sources: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenOverlays {
    values_only: Option<bool>,
    allow: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
struct WrittenBlastRadius {
    workloads: Option<usize>,
    namespaces: Option<usize>,
}

#[derive(Deserialize)]
struct WrittenPerPath {
    paths: Option<Vec<String>>,
}

/// The text, and how to point into it.
struct Source<'a> {
    text: &'a str,
    path: &'a str,
    lines: LineIndex,
}

impl Source<'_> {
    fn at(&self, place: Place) -> At {
        let found = self.lines.line_column(self.text, place.span.start);
        At {
            line: found.line,
            column: found.column,
        }
    }

    fn error(&self, place: Place, message: impl Into<String>) -> ConfigError {
        self.error_at(self.at(place), message)
    }

    fn error_at(&self, at: At, message: impl Into<String>) -> ConfigError {
        ConfigError {
            path: Some(self.path.to_owned()),
            at: Some(at),
            message: message.into(),
        }
    }
}

pub(super) fn parse(text: &str, path: &str) -> Result<Config, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source {
        text,
        path,
        lines: LineIndex::default(),
    };
    let file = yaml::parse(text, FileId(0));
    if let Some(error) = &file.error {
        return Err(source.error(error.place, format!("not valid YAML: {}", error.message)));
    }
    if let Some(second) = file.documents.get(1) {
        let message = "the configuration must be one document, this is a second one";
        return Err(source.error(second.root.place, message));
    }
    if let Some(key) = file.duplicate_keys.first() {
        let first = source.at(key.first).line;
        let message = format!("key `{}` stands in line {first} already", key.key);
        return Err(source.error(key.second, message));
    }
    let empty = Config {
        path: Some(path.to_owned()),
        ..Config::default()
    };
    let Some(root) = file.documents.first().map(|document| &document.root) else {
        return Ok(empty);
    };
    if root.is_null() {
        return Ok(empty);
    }
    shape::check(root, shape::ROOT, "").map_err(|(place, message)| source.error(place, message))?;
    let written: Written =
        serde_yaml::from_str(text).map_err(|error| serde_error(&source, &error))?;
    assemble(&source, root, written)
}

/// serde's message without its own account of the place.
fn serde_error(source: &Source, error: &serde_yaml::Error) -> ConfigError {
    let message = error.to_string();
    let message = message
        .rfind(" at line ")
        .map_or(message.as_str(), |end| &message[..end]);
    let at = error
        .location()
        .map_or(At { line: 1, column: 1 }, |location| At {
            line: location.line(),
            column: location.column(),
        });
    source.error_at(at, message)
}

fn assemble(source: &Source, root: &Node, written: Written) -> Result<Config, ConfigError> {
    let external = written.external.unwrap_or_default();
    let overlays = written.overlays.unwrap_or_default();
    let blast_radius = written.blast_radius.unwrap_or_default();
    let defaults = BlastRadius::default();
    Ok(Config {
        path: Some(source.path.to_owned()),
        flux_version: flux_version(source, root.get("flux-version"))?,
        exclude: patterns(
            source,
            root.get("exclude"),
            written.exclude,
            Patterns::paths,
        )?,
        clusters: clusters(source, root, written.clusters.unwrap_or_default())?,
        waves: waves(source, root, written.waves.unwrap_or_default())?,
        external: External {
            services: external.services.unwrap_or_default(),
            variables: patterns(
                source,
                root.at(&["external", "variables"]),
                external.variables,
                Patterns::names,
            )?,
            sources: external.sources.unwrap_or_default(),
        },
        overlays: Overlays {
            values_only: overlays.values_only.unwrap_or_default(),
            allow: overlays.allow.unwrap_or_default(),
        },
        blast_radius: BlastRadius {
            workloads: blast_radius.workloads.unwrap_or(defaults.workloads),
            namespaces: blast_radius.namespaces.unwrap_or(defaults.namespaces),
        },
        rules: rule_levels(source, root.get("rules"))?,
        per_path: per_path(source, root, written.per_path.unwrap_or_default())?,
    })
}

/// Read from the text, since `2.10` without quotes is the number 2.1 to every YAML reader.
fn flux_version(source: &Source, node: Option<&Node>) -> Result<FluxVersion, ConfigError> {
    let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) else {
        return Ok(FluxVersion::default());
    };
    let mut numbers = text
        .strip_prefix('v')
        .unwrap_or(text)
        .split('.')
        .map(|number| number.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) if numbers.all(|number| number.is_some()) => {
            Ok(FluxVersion { major, minor })
        }
        _ => Err(source.error(
            node.place,
            format!("flux-version `{text}` must be a version such as \"2.9\""),
        )),
    }
}

fn patterns(
    source: &Source,
    node: Option<&Node>,
    written: Option<Vec<String>>,
    compile: fn(Vec<String>) -> Result<Patterns, PatternError>,
) -> Result<Patterns, ConfigError> {
    let written = written.unwrap_or_default();
    let texts = written.clone();
    compile(written).map_err(|PatternError { index, reason }| {
        let pattern = texts.get(index).map_or("", String::as_str);
        let message = format!("pattern `{pattern}` is no glob: {reason}");
        let item = node.and_then(|node| node.items().get(index).or(Some(node)));
        match item {
            Some(item) => source.error(item.place, message),
            None => source.error_at(At { line: 1, column: 1 }, message),
        }
    })
}

fn clusters(
    source: &Source,
    root: &Node,
    written: Vec<WrittenCluster>,
) -> Result<Vec<Cluster>, ConfigError> {
    let nodes = root.get("clusters").map(Node::items).unwrap_or_default();
    let mut seen = BTreeSet::new();
    nodes
        .iter()
        .zip(written)
        .map(|(node, cluster)| {
            let (Some(path), Some(path_node)) = (cluster.path, node.get("path")) else {
                return Err(source.error(node.place, "a cluster needs a `path`"));
            };
            let role = match node
                .get("role")
                .and_then(|role| Some((role, role.as_str()?)))
            {
                None | Some((_, "active")) => Role::Active,
                Some((_, "design-only")) => Role::DesignOnly,
                Some((role, other)) => {
                    let hint = near::suggestion(other, ["active", "design-only"]);
                    return Err(source.error(
                        role.place,
                        format!("role `{other}` must be active or design-only{hint}"),
                    ));
                }
            };
            let path = inside(source, path_node, &path)?;
            if !seen.insert(path.clone()) {
                return Err(
                    source.error(path_node.place, format!("cluster `{path}` is listed twice"))
                );
            }
            Ok(Cluster {
                path,
                role,
                at: source.at(path_node.place),
            })
        })
        .collect()
}

/// A path inside the tree, without `./` and a slash at its end.
fn inside(source: &Source, node: &Node, path: &str) -> Result<String, ConfigError> {
    let clean: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if path.starts_with('/') || clean.contains(&"..") {
        return Err(source.error(
            node.place,
            format!("path `{path}` must be relative to the root of the tree and inside it"),
        ));
    }
    Ok(clean.join("/"))
}

fn waves(
    source: &Source,
    root: &Node,
    written: Vec<WrittenWaves>,
) -> Result<Vec<WaveSet>, ConfigError> {
    let nodes = root.get("waves").map(Node::items).unwrap_or_default();
    nodes
        .iter()
        .zip(written)
        .map(|(node, waves)| {
            let (Some(dir), Some(dir_node)) = (waves.dir, node.get("dir")) else {
                return Err(source.error(node.place, "a wave set needs a `dir`"));
            };
            if dir.matches(NUMBER).count() != 1 {
                return Err(source.error(
                    dir_node.place,
                    format!("dir `{dir}` must have {NUMBER} once, where the wave's number stands"),
                ));
            }
            Ok(WaveSet {
                dir: inside(source, dir_node, &dir)?,
                catalog: patterns(
                    source,
                    node.get("catalog"),
                    waves.catalog.map(|catalog| vec![catalog]),
                    Patterns::paths,
                )?,
                after: waves.after.unwrap_or_default(),
                at: source.at(dir_node.place),
                catalog_at: node
                    .get("catalog")
                    .filter(|catalog| !catalog.is_null())
                    .map(|catalog| source.at(catalog.place)),
                after_at: node
                    .get("after")
                    .map(Node::items)
                    .unwrap_or_default()
                    .iter()
                    .map(|name| source.at(name.place))
                    .collect(),
            })
        })
        .collect()
}

const LEVELS: [(&str, Level); 5] = [
    ("off", Level::Off),
    ("info", Level::Severity(Severity::Info)),
    ("warning", Level::Severity(Severity::Warning)),
    ("error", Level::Severity(Severity::Error)),
    ("on", Level::On),
];

fn rule_levels(source: &Source, node: Option<&Node>) -> Result<Vec<RuleLevel>, ConfigError> {
    let entries = node
        .and_then(Node::as_mapping)
        .map(|mapping| mapping.entries.as_slice())
        .unwrap_or_default();
    entries
        .iter()
        .map(|entry| {
            let name = entry.key.as_str().unwrap_or_default();
            let written = entry.value.as_str().unwrap_or_default();
            let level = LEVELS.iter().find(|(word, _)| *word == written);
            let Some((_, level)) = level else {
                let hint = near::suggestion(written, LEVELS.map(|(word, _)| word));
                let message = format!(
                    "{name} must be off, info, warning, error or on, not `{written}`{hint}"
                );
                return Err(source.error(entry.value.place, message));
            };
            Ok(RuleLevel {
                name: name.to_owned(),
                level: *level,
                at: source.at(entry.key.place),
            })
        })
        .collect()
}

fn per_path(
    source: &Source,
    root: &Node,
    written: Vec<WrittenPerPath>,
) -> Result<Vec<PerPath>, ConfigError> {
    let nodes = root.get("per-path").map(Node::items).unwrap_or_default();
    nodes
        .iter()
        .zip(written)
        .map(|(node, entry)| {
            if entry.paths.as_ref().is_none_or(Vec::is_empty) {
                return Err(source.error(node.place, "an entry of per-path needs `paths`"));
            }
            Ok(PerPath {
                paths: patterns(source, node.get("paths"), entry.paths, Patterns::paths)?,
                rules: rule_levels(source, node.get("rules"))?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
