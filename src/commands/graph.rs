//! `wavelint graph`: what each cluster reconciles, in order.

use std::io::{self, Write};

use serde::Serialize;

use super::open::{cluster_names, open};
use crate::cli::{GraphArgs, GraphFormat};
use crate::draw::{self, ClusterMap, Item};
use crate::flux::Tri;
use crate::kustomize::Object;
use crate::report::location::{Location, location};
use crate::snapshot::BaseRequest;
use crate::terminal::Style;
use crate::tree::Files;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    clusters: Vec<ClusterOut<'a>>,
}

#[derive(Serialize)]
struct ClusterOut<'a> {
    path: &'a str,
    kustomizations: Vec<KustomizationOut<'a>>,
    gaps: Vec<GapOut<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KustomizationOut<'a> {
    namespace: &'a str,
    name: &'a str,
    path: Option<&'a str>,
    parent: Option<String>,
    depends_on: Vec<String>,
    wait: Option<bool>,
    prune: Option<bool>,
    depth: Option<usize>,
    objects: Vec<String>,
    location: Location<'a>,
}

#[derive(Serialize)]
struct GapOut<'a> {
    cause: &'a str,
    location: Location<'a>,
}

/// Runs the command.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn run(args: &GraphArgs, writer: &mut impl Write) -> Result<(), String> {
    let input = &args.repository.input;
    let mut opened = open(
        args.repository.dir.as_deref(),
        input,
        BaseRequest::None,
        args.talk,
    )?;
    let wanted = cluster_names(input);
    let repo = opened.understand(&wanted)?;
    let maps: Vec<ClusterMap> = repo
        .head
        .flux
        .clusters
        .iter()
        .enumerate()
        .filter(|(_, cluster)| wanted.is_empty() || wanted.contains(&cluster.path))
        .map(|(index, cluster)| ClusterMap::of(cluster, index, &repo.head.waves))
        .collect();
    match args.format {
        GraphFormat::Tree => draw::tree(
            &maps,
            repo.files,
            Style::detect(args.talk),
            args.talk.verbose,
            writer,
        ),
        GraphFormat::Mermaid => draw::mermaid(&maps, writer),
        GraphFormat::Dot => draw::dot(&maps, writer),
        GraphFormat::Svg => draw::svg(&maps, writer),
        GraphFormat::Json => json(&maps, repo.files, writer),
    }
    .map_err(|error| error.to_string())
}

/// Writes the machine-readable form, version 1. What cannot be known from the tree is null.
fn json(maps: &[ClusterMap], files: &Files, writer: &mut impl Write) -> io::Result<()> {
    let output = Output {
        version: 1,
        clusters: maps
            .iter()
            .map(|map| ClusterOut {
                path: map.path,
                kustomizations: map
                    .items
                    .iter()
                    .map(|item| kustomization(map, item, files))
                    .collect(),
                gaps: map
                    .gaps
                    .iter()
                    .map(|gap| GapOut {
                        cause: &gap.cause,
                        location: location(files, gap.place),
                    })
                    .collect(),
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *writer, &output)?;
    writeln!(writer)
}

fn kustomization<'a>(
    map: &ClusterMap<'a>,
    item: &'a Item<'a>,
    files: &'a Files,
) -> KustomizationOut<'a> {
    let kustomization = item.kustomization;
    KustomizationOut {
        namespace: &kustomization.name.namespace,
        name: &kustomization.name.name,
        path: item.path(),
        parent: item
            .parent
            .and_then(|parent| map.items.get(parent))
            .map(|parent| parent.kustomization.name.to_string()),
        depends_on: item
            .depends_on
            .iter()
            .map(|dependency| dependency.target.to_string())
            .collect(),
        wait: known(kustomization.spec.wait),
        prune: known(kustomization.spec.prune),
        depth: item.depth,
        objects: kustomization
            .build
            .objects
            .iter()
            .map(object_name)
            .collect(),
        location: location(files, kustomization.place),
    }
}

fn known(tri: Tri) -> Option<bool> {
    match tri {
        Tri::Yes => Some(true),
        Tri::No => Some(false),
        Tri::Unknown => None,
    }
}

/// `apiVersion/Kind/namespace/name`, the namespace empty where there is none.
fn object_name(object: &Object) -> String {
    let id = object.id();
    format!(
        "{}/{}/{}/{}",
        id.api_version(),
        id.kind,
        id.namespace,
        id.name
    )
}
