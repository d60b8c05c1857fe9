//! `wavelint build`: what a directory or a Kustomization builds, as YAML.

use std::io::Write as _;

use super::open::{cluster_names, open};
use crate::cli::BuildArgs;
use crate::flux::{Cluster, Kustomization, Location, clamp};
use crate::kustomize::{BuildOptions, Gap, Kustomize, Object, kustomization_file};
use crate::near;
use crate::repo::Repo;
use crate::snapshot::BaseRequest;
use crate::source::Place;
use crate::terminal::{self, Output, Status};
use crate::tree::Files;
use crate::yaml::{Node, emit_documents};

/// What is to be printed.
struct Built {
    objects: Vec<Node>,
    /// Why it would be refused: place and reason.
    problems: Vec<(Place, String)>,
    gaps: Vec<Gap>,
}

/// Runs the command: the objects on standard output, gaps and problems on standard error.
///
/// # Errors
/// What to print when it cannot be done, also for a target that is neither a directory nor a
/// Kustomization; exit code 2.
pub fn run(args: &BuildArgs) -> Result<Status, String> {
    let input = &args.repository.input;
    let mut opened = open(
        args.repository.dir.as_deref(),
        input,
        BaseRequest::None,
        args.talk,
    )?;
    let clusters = cluster_names(input);
    let repo = opened.understand(&clusters)?;
    let directory = as_directory(&repo, &args.target);
    let named = named(&repo, &clusters, &args.target);
    let built = match &directory {
        Some(directory) if !is_shadowed(&repo, directory, &clusters, &args.target, &named) => {
            if !args.talk.quiet
                && let Some(note) = other_meaning(&args.target, &named)
            {
                terminal::note(&note);
            }
            if kustomization_file(&repo.head.tree, directory).is_none() {
                terminal::note(&without_file(&repo, directory));
                return Ok(Status::Findings);
            }
            build_directory(&repo, directory)
        }
        _ => build_kustomization(&repo, &clusters, &args.target, &named)?,
    };
    let refused = !built.problems.is_empty();
    if !refused {
        let mut out = Output::stdout();
        out.write_all(emit_documents(&built.objects).as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| format!("standard output: {error}"))?;
    }
    let at = |place: Place| {
        let line = repo.files.line(place);
        format!("{}:{line}", repo.files.path(place.file))
    };
    for (place, message) in &built.problems {
        terminal::note(&format!("{}: {message}", at(*place)));
    }
    let encrypted = built.objects.iter().filter_map(encrypted);
    if !args.talk.quiet {
        for gap in built.gaps.iter().cloned().chain(encrypted) {
            terminal::note(&format!("{}: gap: {}", at(gap.place), gap.cause));
        }
    }
    Ok(if refused {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// An object that is printed as it is encrypted.
fn encrypted(object: &Node) -> Option<Gap> {
    object.at(&["sops", "mac"])?;
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    Some(Gap {
        place: object.place,
        cause: format!("{kind} {name} is encrypted, and printed so"),
        effect: crate::kustomize::GapEffect::Content,
    })
}

/// The directory that a target names, if it is one.
fn as_directory(repo: &Repo, target: &str) -> Option<String> {
    let directory = clamp(target);
    let is_absolute = target.starts_with('/');
    (!is_absolute && repo.head.tree.is_directory(&directory)).then_some(directory)
}

/// What kustomize builds in a directory.
fn build_directory(repo: &Repo, directory: &str) -> Built {
    let build =
        Kustomize::new(repo.files, &repo.head.tree).build(directory, &BuildOptions::default());
    Built {
        objects: nodes(&build.objects),
        problems: build
            .problems
            .iter()
            .map(|problem| (problem.place, problem.message.clone()))
            .collect(),
        gaps: build.gaps,
    }
}

fn nodes(objects: &[Object]) -> Vec<Node> {
    objects.iter().map(|object| object.node.clone()).collect()
}

/// A Kustomization and its cluster.
type Named<'a> = (&'a Cluster, &'a Kustomization);

/// The Kustomizations of the considered clusters.
fn considered<'a>(repo: &'a Repo, clusters: &[String]) -> impl Iterator<Item = Named<'a>> {
    repo.head
        .flux
        .clusters
        .iter()
        .filter(|cluster| clusters.is_empty() || clusters.contains(&cluster.path))
        .flat_map(|cluster| {
            cluster
                .kustomizations
                .iter()
                .map(move |kustomization| (cluster, kustomization))
        })
}

/// The Kustomizations that a target names.
fn named<'a>(repo: &'a Repo, clusters: &[String], target: &str) -> Vec<Named<'a>> {
    considered(repo, clusters)
        .filter(|(_, kustomization)| is_named(kustomization, target))
        .collect()
}

/// True if a target that is a directory means a Kustomization all the same: a cluster is chosen, or it is a
/// bare name and kustomize could not build the directory.
fn is_shadowed(
    repo: &Repo,
    directory: &str,
    clusters: &[String],
    target: &str,
    named: &[Named<'_>],
) -> bool {
    let is_bare = !target.contains('/') && !target.starts_with('.');
    !named.is_empty()
        && (!clusters.is_empty()
            || is_bare && kustomization_file(&repo.head.tree, directory).is_none())
}

/// What to say where a directory is built and a Kustomization has that name too.
fn other_meaning(target: &str, named: &[Named<'_>]) -> Option<String> {
    let (cluster, first) = named.first()?;
    let how = if first.name.to_string() == target {
        format!("`--cluster {}`", cluster.path)
    } else {
        format!("`wavelint build {}`", first.name)
    };
    Some(format!(
        "`{target}` is taken as the directory; Kustomization `{}` is built with {how}",
        first.name
    ))
}

/// What to say of a directory that kustomize cannot build.
fn without_file(repo: &Repo, directory: &str) -> String {
    let at = if directory.is_empty() { "." } else { directory };
    let owner = considered(repo, &[])
        .find(|(_, kustomization)| kustomization.directory() == Some(directory))
        .map_or_else(
            || "NAMESPACE/NAME".to_owned(),
            |(_, kustomization)| kustomization.name.to_string(),
        );
    format!(
        "directory `{at}` has no kustomization file, so kustomize does not build it; for a Kustomization Flux would generate one: `wavelint build {owner}`"
    )
}

/// What Flux makes of the Kustomization that a target names.
fn build_kustomization(
    repo: &Repo,
    clusters: &[String],
    target: &str,
    named: &[Named<'_>],
) -> Result<Built, String> {
    match named {
        [] => {
            let names = considered(repo, clusters).flat_map(|(_, kustomization)| {
                [
                    kustomization.name.name.to_string(),
                    kustomization.name.to_string(),
                ]
            });
            let directories = repo.head.tree.directories().into_iter().map(str::to_owned);
            let candidates: Vec<String> = names.chain(directories).collect();
            Err(format!(
                "`{target}` is neither a directory nor a Kustomization{}",
                near::suggestion(target, candidates.iter().map(String::as_str))
            ))
        }
        [(_, kustomization)] => Ok(built(repo.files, kustomization)),
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|(cluster, kustomization)| {
                    format!("`{}` in `{}`", kustomization.name, cluster.path)
                })
                .collect();
            let (first_cluster, first) = several[0];
            let in_clusters = several
                .iter()
                .any(|(cluster, _)| cluster.path != first_cluster.path);
            let in_namespaces = several
                .iter()
                .any(|(_, kustomization)| kustomization.name != first.name);
            let how = match (in_clusters, in_namespaces) {
                (true, true) => "--cluster or NAMESPACE/NAME",
                (false, _) => "NAMESPACE/NAME",
                (true, false) => "--cluster",
            };
            Err(format!(
                "`{target}` is more than one Kustomization: {}; choose one with {how}",
                names.join(", ")
            ))
        }
    }
}

fn is_named(kustomization: &Kustomization, target: &str) -> bool {
    kustomization.name.name == target || kustomization.name.to_string() == target
}

fn built(files: &Files, kustomization: &Kustomization) -> Built {
    let build = &kustomization.build;
    let mut problems: Vec<(Place, String)> = build
        .problems
        .iter()
        .map(|problem| (problem.place, problem.message.clone()))
        .collect();
    let substitution = &kustomization.substitution;
    for (_, fault) in &substitution.faults {
        let place = fault.place(files.text(fault.scalar.place.file));
        problems.push((place, fault.message.clone()));
    }
    if substitution.fails() {
        for (place, name, _) in &substitution.variables.invalid_names {
            problems.push((*place, format!("`{name}` is no name for a variable")));
        }
    }
    let mut gaps = build.gaps.clone();
    let mut gap = |place, cause: String| {
        gaps.push(Gap {
            place,
            cause,
            effect: crate::kustomize::GapEffect::Identities,
        });
    };
    let path = kustomization.spec.path.as_deref().unwrap_or_default();
    let place = kustomization.spec.path_place;
    match &kustomization.location {
        Location::Directory(_) => {}
        Location::Missing(_) => problems.push((place, format!("path `{path}` is not there"))),
        Location::File(_) => problems.push((place, format!("path `{path}` is a file"))),
        Location::OtherRepository => gap(
            kustomization.spec.source_place,
            "its source is another repository".to_owned(),
        ),
        Location::Unknown => gap(
            place,
            "its path or source depends on what is not in the tree".to_owned(),
        ),
    }
    for (place, what) in &substitution.variables.unknown_sources {
        gap(
            *place,
            format!("the variables of {what} are not in the tree"),
        );
    }
    Built {
        objects: nodes(&build.objects),
        problems,
        gaps,
    }
}
