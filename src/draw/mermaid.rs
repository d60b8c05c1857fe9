//! A Mermaid flowchart: one subgraph a cluster, an arrow from each Kustomization to what it dependsOn,
//! a dotted one to what makes it, where that is not the entry point.

use std::io::{self, Write};

use super::map::ClusterMap;
use crate::terminal::visible;

/// Draws clusters. What is reconciled first stands on top.
///
/// # Errors
/// When the writer refuses.
pub fn mermaid(clusters: &[ClusterMap], writer: &mut impl Write) -> io::Result<()> {
    writeln!(writer, "flowchart BT")?;
    writeln!(
        writer,
        "  classDef bad stroke:#c0392b,stroke-width:2px,color:#c0392b"
    )?;
    writeln!(
        writer,
        "  classDef missing stroke:#c0392b,stroke-dasharray:4 3,color:#c0392b"
    )?;
    let mut links = 0;
    let mut bad_links = Vec::new();
    for (index, map) in clusters.iter().enumerate() {
        writeln!(writer, "  subgraph c{index}[\"{}\"]", text(map.path))?;
        for (position, item) in map.items.iter().enumerate() {
            let path = item.path().unwrap_or("?");
            writeln!(
                writer,
                "    c{index}k{position}[\"{}<br/>{}\"]",
                text(&map.name(&item.kustomization.name)),
                text(if path.is_empty() { "." } else { path })
            )?;
            if item.in_cycle {
                writeln!(writer, "    class c{index}k{position} bad")?;
            }
        }
        for (position, name) in map.missing.iter().enumerate() {
            writeln!(
                writer,
                "    c{index}m{position}[\"{}<br/>not found\"]",
                text(&map.name(name))
            )?;
            writeln!(writer, "    class c{index}m{position} missing")?;
        }
        for (position, item) in map.items.iter().enumerate() {
            for dependency in &item.depends_on {
                let target = match dependency.item {
                    Some(target) => format!("c{index}k{target}"),
                    None => match map.missing.binary_search(&dependency.target) {
                        Ok(target) => format!("c{index}m{target}"),
                        Err(_) => continue,
                    },
                };
                let arrow = if dependency.conditioned {
                    "-. readyExpr .->"
                } else {
                    "-->"
                };
                writeln!(writer, "    c{index}k{position} {arrow} {target}")?;
                let in_cycle = item.in_cycle
                    && dependency
                        .item
                        .and_then(|target| map.items.get(target))
                        .is_some_and(|target| target.in_cycle);
                if in_cycle || dependency.item.is_none() {
                    bad_links.push(links.to_string());
                }
                links += 1;
            }
            if let Some(parent) = item.made_by(map) {
                writeln!(
                    writer,
                    "    c{index}k{position} -. made by .-> c{index}k{parent}"
                )?;
                links += 1;
            }
        }
        writeln!(writer, "  end")?;
    }
    if !bad_links.is_empty() {
        writeln!(writer, "  linkStyle {} stroke:#c0392b", bad_links.join(","))?;
    }
    Ok(())
}

/// Text inside a quoted label: what could end it or mean something becomes an entity.
fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for character in visible(raw).chars() {
        match character {
            '"' | '#' | '<' | '>' | '&' | '`' | ';' | '\\' | '[' | ']' | '{' | '}' => {
                escaped += &format!("#{};", character as u32);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
