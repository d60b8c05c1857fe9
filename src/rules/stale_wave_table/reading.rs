//! What a table says of services and waves.

use super::markdown::{Line, Table};
use super::names::{Name, names};
use crate::source::Span;
use crate::waves::says_wave;

/// A table of waves and services.
#[derive(Debug)]
pub(super) struct Reading {
    /// The column of the waves.
    pub(super) wave_column: usize,
    /// The column of the services.
    pub(super) service_column: usize,
    /// What each row says, by index of the row; rows that say nothing are left out.
    pub(super) rows: Vec<Row>,
    /// True if each row is about one service; else each is about one wave.
    pub(super) one_service_a_row: bool,
}

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    /// Its index in the table.
    pub(super) index: usize,
    /// The wave.
    pub(super) number: u64,
    /// Where the number is written; `None` where the cell is empty and the row above counts.
    pub(super) number_span: Option<Span>,
    /// The services.
    pub(super) names: Vec<Name>,
    /// What stands between two of them.
    pub(super) between: String,
}

/// Titles of the column of services, and of those that name other services.
const SERVICE_TITLES: [&str; 6] = [
    "service",
    "app",
    "application",
    "name",
    "workload",
    "release",
];
const OTHER_TITLES: [&str; 10] = [
    "depend", "need", "require", "after", "before", "block", "chain", "path", "behind", "note",
];

/// Reads a table, if it is one of waves and services, most of which `is_known`.
pub(super) fn read(text: &str, table: &Table, is_known: &dyn Fn(&str) -> bool) -> Option<Reading> {
    let titles: Vec<String> = table
        .header
        .cells
        .iter()
        .map(|cell| text[cell.range()].trim().to_lowercase())
        .collect();
    let says = |title: &str| {
        title
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| says_wave(word.trim_end_matches(|c: char| c.is_ascii_digit())))
    };
    let has_number = |column: usize| {
        table
            .rows
            .iter()
            .any(|row| cell(row, column).is_some_and(|cell| number(text, cell).is_some()))
    };
    let wave_column =
        (0..titles.len()).find(|column| says(&titles[*column]) && has_number(*column))?;
    let service_column = service_column(text, table, &titles, wave_column, is_known)?;
    let mut rows: Vec<Row> = Vec::new();
    for (index, line) in table.rows.iter().enumerate() {
        let (Some(wave_cell), Some(service_cell)) =
            (cell(line, wave_column), cell(line, service_column))
        else {
            continue;
        };
        let (number, number_span) = match number(text, wave_cell) {
            Some((number, span)) => (number, Some(span)),
            None if text[wave_cell.range()].trim().is_empty() && !rows.is_empty() => {
                (rows.last()?.number, None)
            }
            None => continue,
        };
        let (names, between) = names(text, service_cell, is_known);
        rows.push(Row {
            index,
            number,
            number_span,
            names,
            between,
        });
    }
    let repeated = rows
        .iter()
        .enumerate()
        .any(|(index, row)| rows[..index].iter().any(|other| other.number == row.number));
    let single = rows.iter().all(|row| row.names.len() <= 1);
    Some(Reading {
        wave_column,
        service_column,
        one_service_a_row: single && (repeated || service_column < wave_column),
        rows,
    })
}

/// The column that names most services; titles that say so win, those that say otherwise are left out.
fn service_column(
    text: &str,
    table: &Table,
    titles: &[String],
    wave_column: usize,
    is_known: &dyn Fn(&str) -> bool,
) -> Option<usize> {
    let starts_with = |title: &str, words: &[&str]| {
        title
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| words.iter().any(|known| word.starts_with(known)))
    };
    (0..titles.len())
        .filter(|column| *column != wave_column && !starts_with(&titles[*column], &OTHER_TITLES))
        .filter_map(|column| {
            let all: Vec<Name> = table
                .rows
                .iter()
                .filter_map(|row| cell(row, column))
                .flat_map(|cell| names(text, cell, is_known).0)
                .collect();
            let known = all.iter().filter(|name| is_known(&name.name)).count();
            let least = if table.marked { 1 } else { 2 };
            (known >= least && known * 2 > all.len()).then_some((
                starts_with(&titles[column], &SERVICE_TITLES),
                known,
                column,
            ))
        })
        .max_by_key(|(titled, known, column)| (*titled, *known, usize::MAX - column))
        .map(|(.., column)| column)
}

fn cell(line: &Line, column: usize) -> Option<Span> {
    line.cells.get(column).copied()
}

/// The one number in a cell, and its bytes; `None` if there is none or several.
fn number(text: &str, cell: Span) -> Option<(u64, Span)> {
    let content = &text[cell.range()];
    let start = content.find(|c: char| c.is_ascii_digit())?;
    let length = content[start..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(content.len() - start);
    if content[start + length..].contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let span = Span::new(
        cell.start as usize + start,
        cell.start as usize + start + length,
    );
    Some((content[start..start + length].parse().ok()?, span))
}
