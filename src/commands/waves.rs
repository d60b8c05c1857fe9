//! `wavelint waves`: each service's computed wave, the path that proves it, where it is now, and who waits for it.

mod json;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::open::{cluster_names, open};
use crate::cli::{WavesArgs, WavesFormat};
use crate::flux::Cluster;
use crate::repo::Repo;
use crate::snapshot::BaseRequest;
use crate::terminal::Style;
use crate::waves::{self, ServiceView, WaveSet, Waves};

/// Runs the command.
///
/// # Errors
/// What to print when it cannot be done; exit code 2.
pub fn run(args: &WavesArgs, style: Style, writer: &mut impl Write) -> Result<(), String> {
    let input = &args.repository.input;
    let directory = args.repository.dir.as_deref();
    let mut opened = open(directory, input, BaseRequest::None, args.talk)?;
    let clusters = cluster_names(input);
    let repo = opened.understand(&clusters)?;
    write(&repo, &clusters, args.format, style, writer).map_err(|error| error.to_string())
}

/// Writes what the command shows of a repository. With `clusters`, only those count.
///
/// # Errors
/// When the writer refuses.
pub fn write(
    repo: &Repo,
    clusters: &[String],
    format: WavesFormat,
    style: Style,
    writer: &mut impl Write,
) -> io::Result<()> {
    let view = View::new(repo, clusters);
    match format {
        WavesFormat::Json => json::write(&view, writer),
        WavesFormat::Table if view.services.is_empty() => {
            table::kustomizations(&view, style, writer)
        }
        WavesFormat::Table => table::services(&view, style, writer),
        WavesFormat::Markdown if view.services.is_empty() => {
            table::kustomizations_markdown(&view, writer)
        }
        WavesFormat::Markdown => markdown(&view, writer),
    }
}

/// What is shown.
struct View<'a> {
    waves: &'a Waves,
    /// The clusters that count, with their indices.
    clusters: Vec<(usize, &'a Cluster)>,
    /// Every service, by computed wave (those without one last), then in the order of the catalog.
    services: Vec<ServiceView>,
}

impl<'a> View<'a> {
    fn new(repo: &'a Repo, wanted: &[String]) -> Self {
        let waves = &repo.head.waves;
        let all = &repo.head.flux.clusters;
        let clusters: Vec<(usize, &Cluster)> = all
            .iter()
            .enumerate()
            .filter(|(_, cluster)| wanted.is_empty() || wanted.contains(&cluster.path))
            .collect();
        let shown: Vec<&Cluster> = clusters.iter().map(|(_, cluster)| *cluster).collect();
        let mut services = waves::survey(waves, &shown);
        services.sort_by_key(|view| (view.wave.is_none(), view.wave, view.service));
        Self {
            waves,
            clusters,
            services,
        }
    }

    /// The name of a service.
    fn name(&self, service: usize) -> &str {
        &self.waves.catalog.services[service].name
    }

    /// The names of the Kustomizations that apply a wave, in all clusters that count, each once.
    fn kustomizations(&self, set: &WaveSet, number: u64) -> BTreeSet<String> {
        let Some(wave) = set.waves.get(&number) else {
            return BTreeSet::new();
        };
        self.clusters
            .iter()
            .flat_map(|(index, cluster)| {
                let direct = wave.kustomizations.get(index).into_iter();
                let beside = wave.beside.get(index).into_iter();
                direct
                    .chain(beside)
                    .flatten()
                    .map(|kustomization| cluster.kustomizations[*kustomization].name.to_string())
            })
            .collect()
    }

    /// The set and wave in which a Kustomization of a cluster stands, by its path.
    fn wave_of(&self, cluster: usize, kustomization: usize) -> Option<(&str, u64)> {
        self.waves.sets.iter().find_map(|set| {
            set.waves.iter().find_map(|(number, wave)| {
                [&wave.kustomizations, &wave.below]
                    .into_iter()
                    .filter_map(|members| members.get(&cluster))
                    .any(|members| members.contains(&kustomization))
                    .then_some((set.name.as_str(), *number))
            })
        })
    }
}

/// One table a wave set, to be pasted between the marks of a document.
fn markdown(view: &View<'_>, writer: &mut impl Write) -> io::Result<()> {
    let mut by_set: BTreeMap<Option<usize>, BTreeSet<usize>> = BTreeMap::new();
    for service in &view.services {
        by_set
            .entry(view.waves.set_of(service.service))
            .or_default()
            .insert(service.service);
    }
    let several = by_set.len() > 1;
    for (index, (set, services)) in by_set.into_iter().enumerate() {
        if index > 0 {
            writeln!(writer)?;
        }
        if several {
            let name = set.map_or("no wave set", |set| view.waves.sets[set].name.as_str());
            writeln!(writer, "{name}\n")?;
        }
        writer.write_all(waves::markdown_table(view.waves, &services, "\n").as_bytes())?;
    }
    Ok(())
}
