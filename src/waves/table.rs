//! The computed waves as a Markdown table.

use std::collections::{BTreeMap, BTreeSet};

use super::Waves;

/// A table of waves and services, one line each, every line with `ending`. Services stand in the
/// order of the catalog; those in or above a cycle are left out.
pub fn markdown_table(waves: &Waves, services: &BTreeSet<usize>, ending: &str) -> String {
    let mut by_wave: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for service in services {
        if let Some((number, _)) = waves.computed(*service) {
            by_wave
                .entry(number)
                .or_default()
                .push(&waves.catalog.services[*service].name);
        }
    }
    let mut table = format!("| wave | services |{ending}| --- | --- |{ending}");
    for (number, names) in by_wave {
        table.push_str(&format!("| {number} | {} |{ending}", names.join(", ")));
    }
    table
}
