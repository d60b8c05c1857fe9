//! `--verbose`: what is read and compared, and what cannot be known, as notes on standard error.

use crate::flux::Location;
use crate::repo::Repo;
use crate::report::SnapshotInfo;
use crate::snapshot::Kind;

/// One note a line: the snapshot and its base, each cluster, and each gap of it with its place.
pub fn notes(repo: &Repo, info: &SnapshotInfo) -> Vec<String> {
    let short = |id: &str| id.chars().take(10).collect::<String>();
    let what = match (info.kind, &info.revision) {
        (Kind::Worktree, _) => "the work tree".to_owned(),
        (Kind::Index, _) => "the index".to_owned(),
        (Kind::Revision, Some(id)) => format!("commit {}", short(id)),
        (Kind::Revision, None) => "a revision".to_owned(),
        (Kind::Folder, _) => "a folder outside git".to_owned(),
        (Kind::Memory, _) => "files in memory".to_owned(),
    };
    let base = match &info.base {
        Some(id) => format!("compared with commit {}", short(id)),
        None => "compared with nothing".to_owned(),
    };
    let mut notes = vec![format!("linting {what}, {base}")];
    for cluster in &repo.head.flux.clusters {
        notes.push(format!(
            "cluster `{}`: {} Kustomizations, {} objects",
            cluster.path,
            cluster.kustomizations.len(),
            cluster.objects().count()
        ));
        let mut unknown: Vec<String> = cluster
            .kustomizations
            .iter()
            .flat_map(|kustomization| &kustomization.build.gaps)
            .chain(&cluster.gaps)
            .map(|gap| {
                let file = gap.place.file;
                let line = repo.files.line(gap.place);
                format!("{} ({}:{line})", gap.cause, repo.files.path(file))
            })
            .collect();
        for kustomization in &cluster.kustomizations {
            let what = match kustomization.location {
                Location::OtherRepository => "another repository",
                Location::Unknown => "a path that is not known",
                _ => continue,
            };
            unknown.push(format!("what `{}` applies: {what}", kustomization.name));
        }
        unknown.sort();
        unknown.dedup();
        notes.extend(
            unknown
                .into_iter()
                .map(|gap| format!("not known in `{}`: {gap}", cluster.path)),
        );
    }
    notes
}
