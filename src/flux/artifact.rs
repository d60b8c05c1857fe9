//! Which sources are this repository, and which folder of it is the root of their artifact.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::kustomization::SourceReference;
use super::raw::RawObjects;
use crate::tree::{Tree, join};

/// Where the paths of a source's Kustomizations start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArtifactRoot {
    /// A folder of this repository; `""` is its top.
    Folder(String),
    /// The source is another repository.
    OtherRepository,
    /// Not to be known from the tree.
    Unknown,
}

/// What is known of the sources of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// URLs of this repository, normalised.
    own_urls: BTreeSet<String>,
    /// URLs by kind and name as written; `None` for a URL that is not known.
    urls: BTreeMap<(SmolStr, SmolStr), Vec<Option<String>>>,
    /// `spec.ignore` by kind and name as written; sources of one name that differ have none.
    ignores: BTreeMap<(SmolStr, SmolStr), Option<String>>,
    /// Sources whose artifact is not the tree alone: `include`, `sparseCheckout`.
    mixed: BTreeSet<(SmolStr, SmolStr)>,
    /// Paths of the Kustomizations that name a source, by its kind and name as written.
    paths: BTreeMap<(SmolStr, SmolStr), Vec<String>>,
}

impl Sources {
    /// Reads the sources of a tree. `remotes` are the URLs of the checkout's git remotes.
    pub(super) fn new(raw: &RawObjects, remotes: &[String]) -> Self {
        let mut sources = Self {
            own_urls: remotes.iter().map(|url| normalise_url(url)).collect(),
            ..Self::default()
        };
        for object in &raw.sources {
            let field = |path: &[&str]| SmolStr::new(object.node.str_at(path).unwrap_or_default());
            let url = object
                .node
                .str_at(&["spec", "url"])
                .filter(|url| !url.contains("${"))
                .map(normalise_url);
            let key = (field(&["kind"]), field(&["metadata", "name"]));
            let ignore = object.node.str_at(&["spec", "ignore"]).map(str::to_owned);
            sources
                .ignores
                .entry(key.clone())
                .and_modify(|known| {
                    if *known != ignore {
                        *known = None;
                    }
                })
                .or_insert(ignore);
            let is_mixed = ["include", "sparseCheckout"].iter().any(|field| {
                let list = object.node.at(&["spec", field]);
                list.is_some_and(|list| !list.items().is_empty())
            });
            if is_mixed {
                sources.mixed.insert(key.clone());
            }
            sources.urls.entry(key).or_default().push(url);
        }
        for object in &raw.kustomizations {
            let field = |path: &[&str]| SmolStr::new(object.node.str_at(path).unwrap_or_default());
            let path = field(&["spec", "path"]);
            if path.contains("${") {
                continue;
            }
            sources
                .paths
                .entry((
                    field(&["spec", "sourceRef", "kind"]),
                    field(&["spec", "sourceRef", "name"]),
                ))
                .or_default()
                .push(clamp(&path));
        }
        sources
    }

    /// Adds a URL that is known to be this repository's: of the source that an entry point syncs.
    pub(super) fn add_own_url(&mut self, url: &str) {
        self.own_urls.insert(normalise_url(url));
    }

    /// Adds the URLs of the sources of that kind and name.
    pub(super) fn add_own_source(&mut self, kind: &str, name: &str) {
        if let Some(urls) = self.urls.get(&(kind.into(), name.into())) {
            self.own_urls.extend(urls.iter().flatten().cloned());
        }
    }

    /// What a source's `spec.ignore` says; nothing where it has none or cannot be known.
    pub(super) fn ignore(&self, source: &SourceReference) -> &str {
        let key = (source.kind.clone(), source.target.name.clone());
        self.ignores
            .get(&key)
            .and_then(Option::as_deref)
            .unwrap_or_default()
    }

    /// The `spec.ignore` of every source that may be this repository.
    pub(super) fn own_ignores(&self) -> BTreeSet<String> {
        self.ignores
            .iter()
            .filter(|(key, _)| {
                let urls = self.urls.get(*key).map(Vec::as_slice).unwrap_or_default();
                urls.iter().flatten().any(|url| self.own_urls.contains(url))
                    || urls.iter().all(Option::is_none)
            })
            .filter_map(|(_, ignore)| ignore.clone())
            .collect()
    }

    /// True if a source's artifact holds other than this tree: what is missing here may be there.
    pub(super) fn is_mixed(&self, source: &SourceReference) -> bool {
        let key = (source.kind.clone(), source.target.name.clone());
        self.mixed.contains(&key)
    }

    /// The roots that [`Sources::root`] may find by looking where paths exist.
    pub(super) fn likely_roots(&self, tree: &Tree) -> Vec<String> {
        self.paths
            .values()
            .filter_map(|paths| likely_root(tree, paths))
            .collect()
    }

    /// The source whose Kustomizations' paths are in this tree most often, if most of them are.
    pub(super) fn most_likely_own(&self, tree: &Tree) -> Option<(SmolStr, SmolStr)> {
        self.paths
            .iter()
            .map(|(source, paths)| {
                let present = paths.iter().filter(|path| tree.is_directory(path)).count();
                (present, paths.len(), source)
            })
            .filter(|(present, all, _)| *present > 0 && present * 2 > *all)
            .max_by(|a, b| a.0.cmp(&b.0).then(b.2.cmp(a.2)))
            .map(|(_, _, source)| source.clone())
    }

    /// The root of a source's artifact. `synced` is the source that the entry point syncs,
    /// `entry_root` the root of its artifact.
    pub(super) fn root(
        &self,
        tree: &Tree,
        source: &SourceReference,
        synced: Option<&SourceReference>,
        entry_root: &str,
    ) -> ArtifactRoot {
        if synced == Some(source) {
            return ArtifactRoot::Folder(entry_root.to_owned());
        }
        let key = (source.kind.clone(), source.target.name.clone());
        let urls = self.urls.get(&key).map(Vec::as_slice).unwrap_or_default();
        let is_own = urls.iter().flatten().any(|url| self.own_urls.contains(url));
        if !is_own && urls.iter().any(Option::is_some) {
            return ArtifactRoot::OtherRepository;
        }
        if is_own && source.kind == "GitRepository" {
            return ArtifactRoot::Folder(entry_root.to_owned());
        }
        let paths = self.paths.get(&key).map(Vec::as_slice).unwrap_or_default();
        likely_root(tree, paths).map_or(ArtifactRoot::Unknown, ArtifactRoot::Folder)
    }
}

/// The folder below which most of the paths exist; the top if it is as good as any; `None` if no folder has most.
pub(super) fn likely_root(tree: &Tree, paths: &[String]) -> Option<String> {
    let paths: BTreeSet<&str> = paths
        .iter()
        .map(String::as_str)
        .filter(|path| !path.is_empty())
        .collect();
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    let directories = tree.directories();
    for path in &paths {
        for directory in &directories {
            if let Some(root) = directory.strip_suffix(path)
                && (root.is_empty() || root.ends_with('/'))
            {
                *votes
                    .entry(root.trim_end_matches('/').to_owned())
                    .or_default() += 1;
            }
        }
    }
    votes
        .into_iter()
        .filter(|(_, count)| count * 2 > paths.len())
        .max_by(|a, b| {
            a.1.cmp(&b.1)
                .then(b.0.len().cmp(&a.0.len()))
                .then(b.0.cmp(&a.0))
        })
        .map(|(root, _)| root)
}

/// A path inside an artifact as Flux joins it: relative to the root, `..` clamped there
/// (upstream: securejoin in kustomize-controller).
pub fn clamp(path: &str) -> String {
    path.split('/')
        .fold(String::new(), |directory, part| match part {
            ".." => join(&directory, "..").unwrap_or_default(),
            part => join(&directory, part).unwrap_or_default(),
        })
}

/// One spelling for the URLs of one repository: scheme, user and `.git` do not count.
fn normalise_url(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest
        .split_once('@')
        .filter(|(user, _)| !user.contains('/'))
        .map_or(rest, |(_, rest)| rest);
    let (host, path) = match (rest.find('/'), rest.find(':')) {
        (slash, Some(colon)) if slash.is_none_or(|slash| colon < slash) => {
            let (host, path) = (&rest[..colon], &rest[colon + 1..]);
            // A port is no part of the path.
            let port = path.split('/').next().unwrap_or_default();
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) {
                (host, path[port.len()..].trim_start_matches('/'))
            } else {
                (host, path)
            }
        }
        (Some(slash), _) => (&rest[..slash], &rest[slash + 1..]),
        (None, _) => (rest, ""),
    };
    format!(
        "{}/{}",
        host.to_ascii_lowercase(),
        path.trim_start_matches('/').to_ascii_lowercase()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_repository_are_equal() {
        let expected = "git.example.dev/home/network";
        for url in [
            "ssh://git@git.example.dev/home/network.git",
            "git@git.example.dev:home/network",
            "https://git.example.dev/home/network/",
            "ssh://git@git.example.dev:2222/home/network.git",
            "https://user:token@GIT.example.dev/home/Network",
        ] {
            assert_eq!(normalise_url(url), expected, "{url}");
        }
    }

    #[test]
    fn a_path_is_clamped_at_the_root() {
        assert_eq!(clamp("../apps"), "apps");
        assert_eq!(clamp("./a/../../b//c/"), "b/c");
        assert_eq!(clamp("/"), "");
    }
}
