//! `waves --format json`, version 1.

use std::io::{self, Write};

use serde::Serialize;

use super::View;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    sets: Vec<Set<'a>>,
    services: Vec<Service<'a>>,
}

#[derive(Serialize)]
struct Set<'a> {
    name: &'a str,
    waves: Vec<Wave>,
}

#[derive(Serialize)]
struct Wave {
    number: u64,
    path: String,
    kustomizations: Vec<String>,
}

#[derive(Serialize)]
struct Service<'a> {
    name: &'a str,
    wave: Option<u64>,
    at: &'a [u64],
    chain: Vec<&'a str>,
    blocks: Vec<&'a str>,
}

/// Writes it, sets by name, services by wave.
pub(super) fn write(view: &View<'_>, writer: &mut impl Write) -> io::Result<()> {
    let names = |services: &[usize]| services.iter().map(|service| view.name(*service)).collect();
    let output = Output {
        version: 1,
        sets: view
            .waves
            .sets
            .iter()
            .map(|set| Set {
                name: &set.name,
                waves: set
                    .waves
                    .keys()
                    .map(|number| Wave {
                        number: *number,
                        path: set.directory(*number),
                        kustomizations: view.kustomizations(set, *number).into_iter().collect(),
                    })
                    .collect(),
            })
            .collect(),
        services: view
            .services
            .iter()
            .map(|service| Service {
                name: view.name(service.service),
                wave: service.wave,
                at: &service.at,
                chain: names(&service.chain),
                blocks: names(&service.blocks),
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *writer, &output)?;
    writeln!(writer)
}
