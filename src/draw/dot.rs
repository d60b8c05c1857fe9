//! Graphviz: one cluster box a cluster, an edge from each Kustomization to what it dependsOn,
//! a dotted one to what makes it, where that is not the entry point.

use std::io::{self, Write};

use super::map::ClusterMap;
use crate::terminal::visible;

/// Draws clusters. What is reconciled first stands on top.
///
/// # Errors
/// When the writer refuses.
pub fn dot(clusters: &[ClusterMap], writer: &mut impl Write) -> io::Result<()> {
    writeln!(writer, "digraph reconciled {{")?;
    writeln!(writer, "  rankdir=BT;")?;
    writeln!(writer, "  node [shape=box, fontname=\"sans-serif\"];")?;
    for (index, map) in clusters.iter().enumerate() {
        writeln!(writer, "  subgraph cluster_{index} {{")?;
        writeln!(writer, "    label=\"{}\";", text(map.path))?;
        for (position, item) in map.items.iter().enumerate() {
            let path = item.path().unwrap_or("?");
            writeln!(
                writer,
                "    c{index}k{position} [label=\"{}\\n{}\"{}];",
                text(&map.name(&item.kustomization.name)),
                text(if path.is_empty() { "." } else { path }),
                if item.in_cycle { ", color=red" } else { "" }
            )?;
        }
        for (position, name) in map.missing.iter().enumerate() {
            writeln!(
                writer,
                "    c{index}m{position} [label=\"{}\\nnot found\", style=dashed, color=red];",
                text(&map.name(name))
            )?;
        }
        for (position, item) in map.items.iter().enumerate() {
            for dependency in &item.depends_on {
                let target = match dependency.item {
                    Some(target) => format!("k{target}"),
                    None => match map.missing.binary_search(&dependency.target) {
                        Ok(target) => format!("m{target}"),
                        Err(_) => continue,
                    },
                };
                let in_cycle = item.in_cycle
                    && dependency
                        .item
                        .and_then(|target| map.items.get(target))
                        .is_some_and(|target| target.in_cycle);
                let look = match (
                    in_cycle || dependency.item.is_none(),
                    dependency.conditioned,
                ) {
                    (true, _) => " [color=red]",
                    (false, true) => " [style=dashed, label=\"readyExpr\"]",
                    (false, false) => "",
                };
                writeln!(writer, "    c{index}k{position} -> c{index}{target}{look};")?;
            }
            if let Some(parent) = item.made_by(map) {
                writeln!(
                    writer,
                    "    c{index}k{position} -> c{index}k{parent} [style=dotted, label=\"made by\"];"
                )?;
            }
        }
        writeln!(writer, "  }}")?;
    }
    writeln!(writer, "}}")
}

/// Text inside a quoted string.
fn text(raw: &str) -> String {
    visible(raw).replace('\\', "\\\\").replace('"', "\\\"")
}
