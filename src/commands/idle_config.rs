//! What the configuration names and the repository does not have, as notes on standard error: an
//! entry that matches nothing does nothing, and is mistyped or left over.

use crate::config::{At, WaveSet};
use crate::near;
use crate::repo::Repo;

/// One note a line, each with the place of the entry, in the order of the file.
pub fn notes(repo: &Repo) -> Vec<String> {
    let config = repo.config;
    let path = config.path.as_deref().unwrap_or_default();
    let mut found: Vec<(At, String)> = Vec::new();
    for cluster in &config.clusters {
        if !repo.head.tree.is_directory(&cluster.path) {
            let hint = near::suggestion(&cluster.path, repo.head.tree.directories());
            let what = format!("cluster `{}` is no directory{hint}", cluster.path);
            found.push((cluster.at, what));
        }
    }
    for waves in &config.waves {
        found.extend(of_waves(repo, waves));
    }
    found.sort_by_key(|(at, _)| (at.line, at.column));
    found
        .into_iter()
        .map(|(at, what)| format!("{path}:{}:{}: {what}", at.line, at.column))
        .collect()
}

fn of_waves(repo: &Repo, waves: &WaveSet) -> Vec<(At, String)> {
    let mut found = Vec::new();
    let sets = &repo.head.waves.sets;
    let (before, _) = waves.around_number();
    if !sets.iter().any(|set| set.name == before) {
        let names = sets.iter().map(|set| set.name.as_str());
        let hint = near::nearest(before, names)
            .map(|name| format!(", did you mean `{name}{{n}}`?"))
            .unwrap_or_default();
        found.push((
            waves.at,
            format!("dir `{}` matches no directory{hint}", waves.dir),
        ));
    }
    let catalog = &repo.head.waves.catalog;
    let is_used = catalog
        .services
        .iter()
        .chain(catalog.duplicates.iter().map(|(_, service)| service))
        .any(|service| waves.catalog.matches(repo.files.path(service.file)));
    if let Some(at) = waves.catalog_at.filter(|_| !is_used) {
        found.push((
            at,
            format!(
                "catalog `{}` matches no file with a ServiceDefinition",
                waves.catalog.written.join(", ")
            ),
        ));
    }
    let names: Vec<&str> = repo
        .head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.kustomizations)
        .map(|kustomization| kustomization.name.name.as_str())
        .collect();
    for (name, at) in waves.after.iter().zip(&waves.after_at) {
        if !names.contains(&name.as_str()) {
            let hint = near::suggestion(name, names.iter().copied());
            found.push((
                *at,
                format!("after `{name}` is no Kustomization of any cluster{hint}"),
            ));
        }
    }
    found
}
