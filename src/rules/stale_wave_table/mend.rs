//! The edits that bring a table up to date: only the rows that differ are written anew.

use std::collections::BTreeMap;

use super::markdown::{Line, Table, refill};
use super::reading::{Reading, Row};
use crate::finding::{Edit, Fix};
use crate::source::{FileId, Place, Span};

/// What a table should say.
pub(super) struct Wanted<'a> {
    /// For each service that the table should name: its wave. In the order of the catalog.
    pub(super) waves: &'a [(String, u64)],
    /// Names that are no service any more.
    pub(super) unknown: &'a dyn Fn(&str) -> bool,
}

struct Mend<'a> {
    text: &'a str,
    file: FileId,
    table: &'a Table,
    reading: &'a Reading,
    edits: Vec<Edit>,
    /// True as long as no remark of a person is lost.
    safe: bool,
}

/// The change that makes a table say what is wanted.
pub(super) fn mend(
    text: &str,
    file: FileId,
    table: &Table,
    reading: &Reading,
    wanted: &Wanted<'_>,
) -> Fix {
    let mut mend = Mend {
        text,
        file,
        table,
        reading,
        edits: Vec::new(),
        safe: true,
    };
    if reading.one_service_a_row {
        mend.services(wanted);
    } else {
        mend.waves(wanted);
    }
    Fix {
        safe: mend.safe,
        title: "bring the table up to date".to_owned(),
        edits: mend.edits,
        moves: Vec::new(),
    }
}

impl Mend<'_> {
    /// One row a wave: lists are rewritten.
    fn waves(&mut self, wanted: &Wanted<'_>) {
        let computed: BTreeMap<&str, u64> = wanted
            .waves
            .iter()
            .map(|(name, number)| (name.as_str(), *number))
            .collect();
        let mut written: BTreeMap<&str, String> = BTreeMap::new();
        let mut kept: Vec<Vec<(&str, String)>> = Vec::new();
        let mut settled: Vec<&str> = Vec::new();
        for row in &self.reading.rows {
            let mut stays = Vec::new();
            for name in &row.names {
                let text = self.text[name.span.range()].to_owned();
                let here = computed.get(name.name.as_str()) == Some(&row.number);
                written.entry(&name.name).or_insert_with(|| text.clone());
                let foreign =
                    !computed.contains_key(name.name.as_str()) && !(wanted.unknown)(&name.name);
                if foreign || here && !settled.contains(&name.name.as_str()) {
                    settled.push(&name.name);
                    stays.push((name.name.as_str(), text));
                }
            }
            kept.push(stays);
        }
        let mut missing: BTreeMap<u64, Vec<(&str, String)>> = BTreeMap::new();
        for (name, number) in wanted.waves {
            if !settled.contains(&name.as_str()) {
                let text = written
                    .get(name.as_str())
                    .cloned()
                    .unwrap_or_else(|| self.in_style(name));
                missing.entry(*number).or_default().push((name, text));
            }
        }
        for (row, mut names) in self.reading.rows.iter().zip(kept) {
            let added = missing.remove(&row.number).unwrap_or_default();
            if added.is_empty() && names.len() == row.names.len() {
                continue;
            }
            let sorted = row.names.len() > 1 && row.names.is_sorted_by_key(|name| &name.name);
            for one in added {
                let at = if sorted {
                    names.partition_point(|(name, _)| *name < one.0)
                } else {
                    names.len()
                };
                names.insert(at, one);
            }
            if names.is_empty() {
                self.delete(row);
            } else {
                let list: Vec<String> = names.into_iter().map(|(_, text)| text).collect();
                self.rewrite(row, self.reading.service_column, &list.join(&row.between));
            }
        }
        for (number, names) in missing {
            let list: Vec<String> = names.into_iter().map(|(_, text)| text).collect();
            self.insert(number, &list);
        }
    }

    /// One row a service: numbers are rewritten.
    fn services(&mut self, wanted: &Wanted<'_>) {
        let computed: BTreeMap<&str, u64> = wanted
            .waves
            .iter()
            .map(|(name, number)| (name.as_str(), *number))
            .collect();
        let mut named: Vec<&str> = Vec::new();
        for row in &self.reading.rows {
            let Some(name) = row.names.first() else {
                continue;
            };
            match computed.get(name.name.as_str()) {
                Some(_) if named.contains(&name.name.as_str()) => self.delete(row),
                Some(number) if *number != row.number => {
                    let cell = self.cell(row, self.reading.wave_column);
                    let content = match row.number_span {
                        Some(span) => format!(
                            "{}{number}{}",
                            &self.text[cell.start as usize..span.start as usize],
                            &self.text[span.end as usize..cell.end as usize]
                        ),
                        None => number.to_string(),
                    };
                    self.rewrite(row, self.reading.wave_column, content.trim());
                }
                None if (wanted.unknown)(&name.name) => self.delete(row),
                _ => {}
            }
            named.push(&name.name);
        }
        for (name, number) in wanted.waves {
            if !named.contains(&name.as_str()) {
                let list = [self.in_style(name)];
                self.insert(*number, &list);
            }
        }
    }

    /// A name written as the first one of the table is, where that is plain or in backticks.
    fn in_style(&self, name: &str) -> String {
        let first = self.reading.rows.iter().find_map(|row| row.names.first());
        let written = first.map_or("", |first| &self.text[first.span.range()]);
        for quote in ["`", "**"] {
            if written.len() > 2 * quote.len()
                && written.starts_with(quote)
                && written.ends_with(quote)
            {
                return format!("{quote}{name}{quote}");
            }
        }
        name.to_owned()
    }

    fn cell(&self, row: &Row, column: usize) -> Span {
        self.line(row).cells[column]
    }

    fn line(&self, row: &Row) -> &Line {
        &self.table.rows[row.index]
    }

    fn edit(&mut self, span: Span, text: String) {
        self.edits.push(Edit {
            place: Place {
                file: self.file,
                span,
            },
            text,
        });
    }

    fn rewrite(&mut self, row: &Row, column: usize, content: &str) {
        let cell = self.cell(row, column);
        let aligned = self.table.is_aligned(self.text, self.line(row), column);
        let text = refill(&self.text[cell.range()], content, aligned);
        self.edit(cell, text);
    }

    fn delete(&mut self, row: &Row) {
        let line = self.line(row);
        let remarks = line.cells.iter().enumerate().any(|(column, cell)| {
            column != self.reading.wave_column
                && column != self.reading.service_column
                && !self.text[cell.range()].trim().is_empty()
        });
        let span = Span::new(line.span.start as usize, line.next);
        self.safe &= !remarks;
        self.edit(span, String::new());
    }

    /// A row for a wave, made like its neighbour; all other cells are empty.
    fn insert(&mut self, number: u64, names: &[String]) {
        let above = self.reading.rows.iter().rfind(|row| row.number <= number);
        let Some(model) = above.or_else(|| {
            self.reading
                .rows
                .iter()
                .find(|row| row.number_span.is_some())
        }) else {
            return;
        };
        let line = self.line(model);
        let mut text = String::new();
        let mut at = line.span.start as usize;
        for (column, cell) in line.cells.iter().enumerate() {
            text.push_str(&self.text[at..cell.start as usize]);
            let old = &self.text[cell.range()];
            let aligned = self.table.is_aligned(self.text, line, column);
            if column == self.reading.service_column {
                text.push_str(&refill(old, &names.join(&model.between), aligned));
            } else if column == self.reading.wave_column {
                let content = match model.number_span {
                    Some(span) => format!(
                        "{}{number}{}",
                        &self.text[cell.start as usize..span.start as usize],
                        &self.text[span.end as usize..cell.end as usize]
                    ),
                    None => number.to_string(),
                };
                text.push_str(&refill(old, content.trim(), aligned));
            } else {
                text.push_str(&" ".repeat(old.chars().count()));
            }
            at = cell.end as usize;
        }
        text.push_str(&self.text[at..line.span.end as usize]);
        let header = &self.table.header;
        let ending = &self.text[header.span.end as usize..header.next];
        let (start, next) = (line.span.start as usize, line.next);
        let ends = self.text[..next].ends_with('\n');
        match above {
            Some(_) if ends => self.edit(Span::new(next, next), format!("{text}{ending}")),
            Some(_) => self.edit(Span::new(next, next), format!("{ending}{text}")),
            None => self.edit(Span::new(start, start), format!("{text}{ending}")),
        }
    }
}
