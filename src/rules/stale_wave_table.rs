//! `stale-wave-table`: a Markdown table of waves differs from the computed one.

mod markdown;
mod mend;
mod names;
mod reading;

use std::collections::BTreeSet;

use super::support::list;
use super::{Group, Rule, unknown_dependency};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::repo::Repo;
use crate::source::{FileId, Place, Span};
use crate::waves::{Service, Waves, markdown_table};
use markdown::{EmptyMarks, Table};
use mend::Wanted;
use reading::Reading;

pub(super) static RULE: Rule = Rule {
    name: "stale-wave-table",
    group: Group::Waves,
    summary: "a Markdown table of waves and services differs from the computed waves",
    page: include_str!("../../rules/stale-wave-table.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// More than these are counted, not named.
const NAMED: usize = 3;

fn check(repo: &Repo) -> Vec<Finding> {
    let waves = &repo.head.waves;
    if waves.catalog.is_empty() {
        return Vec::new();
    }
    let external = unknown_dependency::external_names(repo);
    let mut findings = Vec::new();
    for (path, file) in repo.head.tree.files() {
        if !is_markdown(path) {
            continue;
        }
        let text = repo.files.text(file);
        let (tables, empty) = markdown::tables(text);
        for table in &tables {
            findings.extend(judge(waves, &external, text, file, table));
        }
        findings.extend(empty.iter().map(|marks| unfilled(waves, text, file, marks)));
    }
    // Where a definition is not read as it is meant, the table may be right.
    let misread = |service: &Service| service.misspelt_dependencies().is_some();
    if waves.catalog.services.iter().any(misread) {
        for fix in findings
            .iter_mut()
            .filter_map(|finding| finding.fix.as_mut())
        {
            fix.safe = false;
        }
    }
    findings
}

fn is_markdown(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".md", ".markdown", ".mdx"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// What a table says wrongly: where, and in words.
struct Difference {
    span: Span,
    message: String,
    /// The service that is meant, if there is one.
    service: Option<usize>,
}

fn judge(
    waves: &Waves,
    external: &BTreeSet<&str>,
    text: &str,
    file: FileId,
    table: &Table,
) -> Option<Finding> {
    let known = |name: &str| waves.catalog.find(name).is_some();
    let reading = reading::read(text, table, &known)?;
    let wanted = wanted(waves, &reading, table.marked);
    let unknown = |name: &str| names::is_plain(name) && !known(name) && !external.contains(name);
    let differences = differences(waves, &reading, table, &wanted, &unknown);
    let first = differences
        .iter()
        .min_by_key(|difference| difference.span)?;
    let wanted_names: Vec<(String, u64)> = wanted
        .iter()
        .map(|(service, number)| {
            let name = waves.catalog.services[*service].name.to_string();
            (name, *number)
        })
        .collect();
    let fix = mend::mend(
        text,
        file,
        table,
        &reading,
        &Wanted {
            waves: &wanted_names,
            unknown: &unknown,
        },
    );
    let mut said: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(|difference| difference.message.clone())
        .collect();
    if differences.len() > NAMED {
        said.push(format!("{} more", differences.len() - NAMED));
    }
    let mut finding = Finding::new(
        RULE.name,
        Severity::Warning,
        Place {
            file,
            span: first.span,
        },
        format!("this table of waves is out of date: {}", list(&said)),
    )
    .help("`wavelint waves --format markdown` prints the computed table")
    .fix(fix);
    for service in differences
        .iter()
        .filter_map(|difference| difference.service)
        .take(NAMED)
    {
        let definition = &waves.catalog.services[service];
        finding = finding.related(definition.place, proof(waves, service));
    }
    Some(finding)
}

/// The path that gives a service its wave.
fn proof(waves: &Waves, service: usize) -> String {
    let name = |service: usize| waves.catalog.services[service].name.as_str();
    match waves.computed(service) {
        Some((number, depth)) if depth.chain.len() > 1 => {
            let chain: Vec<&str> = depth.chain.iter().map(|service| name(*service)).collect();
            format!("{} gives wave {number}", chain.join(" → "))
        }
        Some((number, _)) => format!(
            "`{}` depends on no service, which gives wave {number}",
            name(service)
        ),
        None => format!("`{}` is in or above a dependency cycle", name(service)),
    }
}

/// The services that a table should name, with their waves. All of them, if it stands between marks or
/// names most of its set's; else those that it names.
fn wanted(waves: &Waves, reading: &Reading, marked: bool) -> Vec<(usize, u64)> {
    let named: BTreeSet<usize> = reading
        .rows
        .iter()
        .flat_map(|row| &row.names)
        .filter_map(|name| waves.catalog.find(&name.name))
        .collect();
    let sets: BTreeSet<Option<usize>> = named.iter().map(|name| waves.set_of(*name)).collect();
    let all: Vec<usize> = (0..waves.catalog.services.len())
        .filter(|service| sets.contains(&waves.set_of(*service)))
        .collect();
    let complete = marked || named.len() * 2 > all.len();
    all.into_iter()
        .filter(|service| complete || named.contains(service))
        .filter_map(|service| Some((service, waves.computed(service)?.0)))
        .collect()
}

fn differences(
    waves: &Waves,
    reading: &Reading,
    table: &Table,
    wanted: &[(usize, u64)],
    unknown: &dyn Fn(&str) -> bool,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut named = BTreeSet::new();
    for row in &reading.rows {
        for name in &row.names {
            let Some(service) = waves.catalog.find(&name.name) else {
                if unknown(&name.name) {
                    differences.push(Difference {
                        span: name.span,
                        message: format!("`{}` is no service of the catalog", name.name),
                        service: None,
                    });
                }
                continue;
            };
            let number = wanted
                .iter()
                .find(|(other, _)| *other == service)
                .map(|(_, number)| *number);
            let first = named.insert(service);
            let Some(number) = number else { continue };
            if number != row.number {
                differences.push(Difference {
                    span: name.span,
                    message: format!("`{}` is in wave {number}, not {}", name.name, row.number),
                    service: Some(service),
                });
            } else if !first {
                differences.push(Difference {
                    span: name.span,
                    message: format!("`{}` is named twice", name.name),
                    service: None,
                });
            }
        }
    }
    for (service, number) in wanted {
        if named.contains(service) {
            continue;
        }
        let row = reading
            .rows
            .iter()
            .find(|row| row.number == *number)
            .or(reading.rows.last());
        let line = row.map_or(&table.header, |row| &table.rows[row.index]);
        let name = &waves.catalog.services[*service].name;
        differences.push(Difference {
            span: line.span,
            message: format!("`{name}` of wave {number} is missing"),
            service: Some(*service),
        });
    }
    differences
}

/// Marks with nothing between them: the table goes there.
fn unfilled(waves: &Waves, text: &str, file: FileId, marks: &EmptyMarks) -> Finding {
    let all: BTreeSet<usize> = (0..waves.catalog.services.len()).collect();
    let ending = &text[marks.mark.end as usize..marks.next];
    let place = |span| Place { file, span };
    Finding::new(
        RULE.name,
        Severity::Warning,
        place(marks.mark),
        "no table of waves stands between these marks",
    )
    .help("`wavelint waves --format markdown` prints it")
    .fix(Fix {
        safe: true,
        title: "write the table of waves".to_owned(),
        edits: vec![Edit {
            place: place(Span::new(marks.next, marks.next)),
            text: markdown_table(waves, &all, ending),
        }],
        moves: Vec::new(),
    })
}
