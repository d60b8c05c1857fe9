//! The tables for the terminal.

use std::io::{self, Write};

use super::View;
use crate::terminal::{Style, visible};
use crate::waves::ServiceView;

/// How a cell is coloured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Name,
    Good,
    Bad,
    Faint,
}

/// A cell: its text, and how it looks.
struct Cell(String, Look);

/// More than these are counted, not named.
const NAMED: usize = 4;

/// Every service: wave, name, where it is, the path that proves it, who waits for it.
pub(super) fn services(view: &View<'_>, style: Style, writer: &mut impl Write) -> io::Result<()> {
    let arrow = if style.unicode { " → " } else { " -> " };
    let mut rows = vec![titles(&["wave", "service", "now", "because", "blocks"])];
    let mut wrong = 0;
    for service in &view.services {
        let misplaced = service
            .wave
            .is_some_and(|wave| service.at.iter().any(|at| *at != wave));
        wrong += usize::from(misplaced);
        let chain: Vec<&str> = service.chain.iter().map(|one| view.name(*one)).collect();
        let because = match (service.wave, chain.len()) {
            (None, _) => "in or above a dependency cycle".to_owned(),
            (Some(_), 1) => "depends on no service".to_owned(),
            (Some(_), _) => chain.join(arrow),
        };
        rows.push(vec![
            Cell(
                service.wave.map_or("?".to_owned(), |wave| wave.to_string()),
                Look::Plain,
            ),
            Cell(view.name(service.service).to_owned(), Look::Name),
            now(service, misplaced, style),
            Cell(
                because,
                if chain.len() > 1 {
                    Look::Plain
                } else {
                    Look::Faint
                },
            ),
            blocks(view, service),
        ]);
    }
    write_rows(&rows, style, writer)?;
    if !style.quiet {
        let unplaced = view
            .services
            .iter()
            .filter(|service| service.at.is_empty())
            .count();
        writeln!(
            writer,
            "\n{} in {} wave {}; {wrong} in the wrong wave, {unplaced} in none",
            count(view.services.len(), "service"),
            view.waves.sets.iter().filter(|set| set.claimed).count(),
            if view.waves.sets.iter().filter(|set| set.claimed).count() == 1 {
                "set"
            } else {
                "sets"
            },
        )?;
    }
    Ok(())
}

fn now(service: &ServiceView, misplaced: bool, style: Style) -> Cell {
    let at: Vec<String> = service.at.iter().map(u64::to_string).collect();
    if at.is_empty() {
        return Cell("-".to_owned(), Look::Faint);
    }
    let at = at.join(", ");
    if misplaced {
        let mark = if style.unicode { "✗" } else { "wrong" };
        Cell(format!("{at} {mark}"), Look::Bad)
    } else {
        Cell(at, Look::Good)
    }
}

fn blocks(view: &View<'_>, service: &ServiceView) -> Cell {
    let mut names: Vec<&str> = service
        .blocks
        .iter()
        .take(NAMED)
        .map(|one| view.name(*one))
        .collect();
    let more = service.blocks.len().saturating_sub(NAMED);
    let rest = format!("{more} more");
    if more > 0 {
        names.push(&rest);
    }
    if names.is_empty() {
        return Cell("nothing".to_owned(), Look::Faint);
    }
    Cell(names.join(", "), Look::Plain)
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Without a catalog: every Kustomization with its depth, and its wave if it stands in one.
pub(super) fn kustomizations(
    view: &View<'_>,
    style: Style,
    writer: &mut impl Write,
) -> io::Result<()> {
    let mut first = true;
    for (cluster, rows) in cluster_rows(view) {
        if !std::mem::take(&mut first) {
            writeln!(writer)?;
        }
        writeln!(writer, "{}", style.bold(&visible(&cluster)))?;
        let mut cells = vec![titles(&["depth", "kustomization", "wave", "depends on"])];
        cells.extend(rows.into_iter().map(|[depth, name, wave, depends]| {
            vec![
                Cell(depth, Look::Plain),
                Cell(name, Look::Name),
                Cell(wave, Look::Good),
                Cell(depends, Look::Plain),
            ]
        }));
        write_rows(&cells, style, writer)?;
    }
    if first && !style.quiet {
        writeln!(writer, "no catalog, no cluster: there are no waves to show")?;
    }
    Ok(())
}

/// The same as Markdown, one table a cluster.
pub(super) fn kustomizations_markdown(view: &View<'_>, writer: &mut impl Write) -> io::Result<()> {
    for (index, (cluster, rows)) in cluster_rows(view).into_iter().enumerate() {
        if index > 0 {
            writeln!(writer)?;
        }
        writeln!(writer, "{cluster}\n")?;
        writeln!(writer, "| depth | kustomization | wave | depends on |")?;
        writeln!(writer, "| --- | --- | --- | --- |")?;
        for row in rows {
            writeln!(
                writer,
                "| {} |",
                row.map(|cell| cell.replace('|', "\\|")).join(" | ")
            )?;
        }
    }
    Ok(())
}

/// For each cluster its Kustomizations by depth, then by name: depth, name, wave, dependencies.
fn cluster_rows(view: &View<'_>) -> Vec<(String, Vec<[String; 4]>)> {
    view.clusters
        .iter()
        .map(|(index, cluster)| {
            let depths = cluster.graph().longest_paths();
            let mut order: Vec<usize> = (0..cluster.kustomizations.len()).collect();
            order.sort_by_key(|one| {
                let depth = depths.depth(*one);
                (
                    depth.is_none(),
                    depth,
                    cluster.kustomizations[*one].name.clone(),
                )
            });
            let rows = order
                .into_iter()
                .map(|one| {
                    let kustomization = &cluster.kustomizations[one];
                    let depends: Vec<&str> = kustomization
                        .spec
                        .depends_on
                        .iter()
                        .map(|dependency| dependency.target.name.as_str())
                        .collect();
                    [
                        depths
                            .depth(one)
                            .map_or("?".to_owned(), |depth| depth.to_string()),
                        kustomization.name.to_string(),
                        view.wave_of(*index, one)
                            .map_or("-".to_owned(), |(set, number)| format!("{set}{number}")),
                        if depends.is_empty() {
                            "-".to_owned()
                        } else {
                            depends.join(", ")
                        },
                    ]
                })
                .collect();
            let path = if cluster.path.is_empty() {
                "."
            } else {
                &cluster.path
            };
            (path.to_owned(), rows)
        })
        .collect()
}

fn titles(names: &[&str]) -> Vec<Cell> {
    names
        .iter()
        .map(|name| Cell((*name).to_owned(), Look::Faint))
        .collect()
}

/// Columns padded to their widest cell, the last one as it is.
fn write_rows(rows: &[Vec<Cell>], style: Style, writer: &mut impl Write) -> io::Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let texts: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| visible(&cell.0)).collect())
        .collect();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            texts
                .iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for (row, texts) in rows.iter().zip(&texts) {
        let mut line = String::new();
        for (column, (cell, text)) in row.iter().zip(texts).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            line.push_str(&match cell.1 {
                Look::Plain => text.clone(),
                Look::Name => style.cyan(text),
                Look::Good => style.green(text),
                Look::Bad => style.red(text),
                Look::Faint => style.dim(text),
            });
            if column + 1 < columns {
                let spare = widths[column] - text.chars().count();
                line.push_str(&" ".repeat(spare));
            }
        }
        writeln!(writer, "{line}")?;
    }
    Ok(())
}
