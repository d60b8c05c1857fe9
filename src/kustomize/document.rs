//! A file's documents as Kubernetes objects, read as kustomize reads them.
//!
//! Upstream: kyaml `kio/byteio_reader.go`, api `resource/factory.go`.

use std::collections::VecDeque;

use super::printed::refolded;
use super::{Problem, ProblemKind};
use crate::source::{FileId, Place, Span};
use crate::tree::Files;
use crate::yaml::{Entry, Mapping, Node, Scalar, Style, Tag, Typed, Value, YamlFile};

/// The objects of a file, and why it is refused. Objects are given as far as they can be read.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// The objects, lists replaced by their items, merge keys resolved.
    pub(super) objects: Vec<Node>,
    /// Why the file is refused.
    pub(super) problems: Vec<Problem>,
}

/// Reads a resource file.
pub(super) fn read(files: &Files, file: FileId) -> Documents {
    let yaml = files.yaml(file);
    let mut documents = read_yaml(yaml, files.text(file), Place::file_start(file));
    if yaml.error.is_none() {
        documents
            .problems
            .extend(yaml.duplicate_keys.iter().filter_map(|duplicate| {
                let seen = yaml
                    .documents
                    .get(duplicate.document)
                    .is_some_and(|document| !document.lost);
                seen.then(|| Problem {
                    kind: ProblemKind::DuplicateKey,
                    place: duplicate.second,
                    message: format!("key `{}` is there twice", duplicate.key),
                    related: vec![(
                        duplicate.first,
                        format!("`{}` is already here", duplicate.key),
                    )],
                    help: None,
                })
            }));
    }
    documents
}

/// Reads the documents of a text; `start` stands for the text as a whole.
pub(super) fn read_yaml(yaml: &YamlFile, text: &str, start: Place) -> Documents {
    let mut result = Documents::default();
    if let Some(error) = &yaml.error {
        result.problems.push(problem(
            ProblemKind::InvalidYaml,
            error.place,
            format!("no YAML: {}", error.message),
        ));
        return result;
    }
    if let Some(error) = &yaml.unreadable {
        result.problems.push(problem(
            ProblemKind::InvalidYaml,
            error.place,
            format!("kustomize does not read this: {}", error.message),
        ));
        return result;
    }
    if let Some((span, message)) = unreadable_line(text) {
        let place = if start.span == Span::default() {
            Place {
                file: start.file,
                span,
            }
        } else {
            start
        };
        result
            .problems
            .push(problem(ProblemKind::InvalidYaml, place, message));
        return result;
    }
    let mut queue = VecDeque::new();
    for document in yaml.seen() {
        let node = prepare(&document.root, &mut result.problems);
        push_checked(node, &mut queue, &mut result.problems);
    }
    while let Some(node) = queue.pop_front() {
        match list_items(&node) {
            None => result.objects.push(node),
            Some(Ok(items)) => {
                for item in items {
                    push_checked(item, &mut queue, &mut result.problems);
                }
            }
            Some(Err(problem)) => result.problems.push(problem),
        }
    }
    result
}

fn problem(kind: ProblemKind, place: Place, message: String) -> Problem {
    Problem {
        kind,
        place,
        message,
        related: Vec::new(),
        help: None,
    }
}

/// A line that kustomize refuses though YAML allows it: text behind `---` on its line, or a directive.
fn unreadable_line(text: &str) -> Option<(Span, String)> {
    let mut offset = 0;
    let mut content = false;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(rest) = bare.strip_prefix("---") {
            let rest = rest.trim();
            if index > 0 && line.ends_with('\n') && !rest.is_empty() && !rest.starts_with('#') {
                return Some((
                    Span::new(start, start + bare.len()),
                    format!(
                        "`{rest}` stands behind `---` on its line, which kustomize does not read"
                    ),
                ));
            }
            content = false;
        } else if bare.starts_with('%') && !content {
            return Some((
                Span::new(start, start + bare.len()),
                "a YAML directive, which kustomize does not read".to_owned(),
            ));
        } else if !bare.trim().is_empty() && !bare.trim_start().starts_with('#') {
            content = true;
        }
    }
    None
}

/// Puts an object into the queue if it is one; what is empty is dropped.
fn push_checked(node: Node, queue: &mut VecDeque<Node>, problems: &mut Vec<Problem>) {
    let empty = match &node.value {
        Value::Scalar(_) => node.is_null(),
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(mapping) => mapping.entries.is_empty(),
    };
    if empty {
        return;
    }
    let named = |path: &[&str]| node.str_at(path).is_some_and(|text| !text.is_empty());
    let message = if node.as_mapping().is_none() {
        "the document is no map, so no Kubernetes object"
    } else if !named(&["kind"]) {
        "the document has no kind, so it is no Kubernetes object"
    } else if !named(&["metadata", "name"])
        && !node
            .str_at(&["kind"])
            .is_some_and(|kind| kind.ends_with("List"))
    {
        "the object has no metadata.name"
    } else {
        queue.push_back(node);
        return;
    };
    let help = node.as_mapping().is_some().then(|| {
        "every file under `resources` must hold Kubernetes objects only: with kind and metadata.name"
            .to_owned()
    });
    problems.push(Problem {
        help,
        ..problem(ProblemKind::NotAManifest, node.place, message.to_owned())
    });
}

/// The items of an object whose kind ends in `List` and that has `items`.
fn list_items(node: &Node) -> Option<Result<Vec<Node>, Problem>> {
    let kind = node.str_at(&["kind"])?;
    if !kind.ends_with("List") {
        return None;
    }
    let items = node.get("items")?;
    if items.is_null() {
        return Some(Ok(Vec::new()));
    }
    Some(match items.as_sequence() {
        Some(list) => Ok(list.to_vec()),
        None => Err(problem(
            ProblemKind::NotAManifest,
            items.place,
            format!("`items` of a {kind} is no list"),
        )),
    })
}

/// A copy with merge keys resolved and texts as the strings that they become; what has no JSON form is a problem.
fn prepare(node: &Node, problems: &mut Vec<Problem>) -> Node {
    let mut prepared = changed(node, problems).unwrap_or_else(|| node.clone());
    // Annotations become strings as they are written: a date in them stays what it is.
    let dates: Vec<(String, Node)> = node
        .at(&["metadata", "annotations"])
        .map(Node::pairs)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry| {
            let scalar = entry.value.as_scalar()?;
            date_as_string(scalar)?;
            let text = Node::string(entry.value.place, scalar.text.clone());
            Some((entry.key.as_str()?.to_owned(), text))
        })
        .collect();
    if let Some(annotations) = prepared
        .get_mut("metadata")
        .filter(|_| !dates.is_empty())
        .and_then(|metadata| metadata.get_mut("annotations"))
    {
        for (key, text) in dates {
            let place = text.place;
            annotations.set(&key, place, text);
        }
    }
    prepared
}

/// The node as prepared, if that differs from what is written.
fn changed(node: &Node, problems: &mut Vec<Problem>) -> Option<Node> {
    match &node.value {
        Value::Scalar(scalar) => {
            if let Typed::Float(value) = scalar.typed()
                && !value.is_finite()
            {
                problems.push(problem(
                    ProblemKind::Other,
                    node.place,
                    format!("`{}` is a number that JSON does not have", scalar.text),
                ));
            }
            let text = match scalar.style {
                Style::Plain => date_as_string(scalar)?,
                Style::Folded => refolded(&scalar.text)?,
                _ => return None,
            };
            Some(Node::string(node.place, text))
        }
        Value::Sequence(items) => {
            let changes: Vec<_> = items.iter().map(|item| changed(item, problems)).collect();
            if changes.iter().all(Option::is_none) {
                return None;
            }
            let items = items
                .iter()
                .zip(changes)
                .map(|(item, change)| change.unwrap_or_else(|| item.clone()))
                .collect();
            Some(Node::sequence(node.place, items))
        }
        Value::Mapping(mapping) => {
            let merges = mapping.entries.iter().any(|entry| entry.key.is_merge_key());
            check_merges(mapping, problems);
            let mut pairs = mapping.resolved();
            // kustomize loses a key `<<` in quotes.
            let written = pairs.len();
            pairs.retain(|entry| !is_quoted_merge_key(&entry.key));
            let merges = merges || pairs.len() < written;
            let changes: Vec<_> = pairs
                .iter()
                .map(|entry| {
                    check_key(&entry.key, problems);
                    changed(&entry.value, problems)
                })
                .collect();
            if !merges && changes.iter().all(Option::is_none) {
                return None;
            }
            let entries = pairs
                .into_iter()
                .zip(changes)
                .map(|(entry, change)| Entry {
                    key: entry.key.clone(),
                    value: change.unwrap_or_else(|| entry.value.clone()),
                })
                .collect();
            Some(Node::mapping(node.place, entries))
        }
    }
}

fn is_quoted_merge_key(key: &Node) -> bool {
    key.as_scalar()
        .is_some_and(|scalar| scalar.style != Style::Plain && scalar.text == "<<")
}

/// A map has one merge key at most, with a map or a list of maps.
fn check_merges(mapping: &Mapping, problems: &mut Vec<Problem>) {
    let merges = mapping
        .entries
        .iter()
        .filter(|entry| entry.key.is_merge_key());
    for (index, entry) in merges.enumerate() {
        let message = if index > 0 {
            "a second merge key `<<` in one map, which kustomize refuses: write `<<: [*a, *b]`"
        } else if entry.value.as_scalar().is_some()
            || entry
                .value
                .items()
                .iter()
                .any(|item| item.as_mapping().is_none())
        {
            "a merge key `<<` takes a map or a list of maps"
        } else {
            continue;
        };
        problems.push(problem(
            ProblemKind::InvalidYaml,
            entry.key.place,
            message.to_owned(),
        ));
    }
}

fn check_key(key: &Node, problems: &mut Vec<Problem>) {
    let text = match key.as_scalar() {
        Some(scalar) if scalar.typed() == Typed::String && date_as_string(scalar).is_none() => {
            return;
        }
        Some(scalar) => scalar.text.as_str(),
        None => "",
    };
    let (message, help) = if text.is_empty() {
        ("a key is no string".to_owned(), None)
    } else {
        (
            format!("key `{text}` is no string"),
            Some(format!("write `\"{text}\":`")),
        )
    };
    problems.push(Problem {
        help,
        ..problem(ProblemKind::Other, key.place, message)
    });
}

/// A plain date or time as the RFC 3339 string that yaml.v3 and JSON make of it.
pub(super) fn date_as_string(scalar: &Scalar) -> Option<String> {
    if scalar.style != Style::Plain || !matches!(scalar.tag, Tag::None | Tag::Core) {
        return None;
    }
    let text = scalar.text.as_str();
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (
            &text[..at],
            Some((&text[at..=at], text[at + 1..].trim_start())),
        ),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let month = short_number(month, 1, 12)?;
    let day = short_number(day, 1, days_in(year.parse().ok()?, month))?;
    let Some((separator, time)) = time else {
        return Some(format!("{year}-{month:02}-{day:02}T00:00:00Z"));
    };
    let zone_at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let zone = match (separator, zone) {
        (" ", "") => "Z".to_owned(),
        (" ", _) => return None,
        (_, "Z") => "Z".to_owned(),
        (_, zone) => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            if hours.len() != 2 || minutes.len() != 2 {
                return None;
            }
            let hours = short_number(hours, 0, 23)?;
            let minutes = short_number(minutes, 0, 59)?;
            if hours == 0 && minutes == 0 {
                "Z".to_owned()
            } else {
                zone.to_owned()
            }
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let hour = short_number(parts.next()?, 0, 23)?;
    let minute = short_number(parts.next()?, 0, 59)?;
    let second = short_number(parts.next()?, 0, 59)?;
    if parts.next().is_some() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() {
        String::new()
    } else {
        format!(".{fraction}")
    };
    Some(format!(
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"
    ))
}

/// A number of one or two digits within bounds.
fn short_number(text: &str, least: u32, most: u32) -> Option<u32> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok()?;
    (digits && (least..=most).contains(&value)).then_some(value)
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_rfc_3339_strings() {
        let cases = [
            ("2020-01-01", Some("2020-01-01T00:00:00Z")),
            ("2020-1-2", Some("2020-01-02T00:00:00Z")),
            ("2020-02-30", None),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14T21:59:43.1-05:00"),
            ),
            ("2001-12-14 21:59:43.10", Some("2001-12-14T21:59:43.1Z")),
            ("2020-01-01-beta", None),
            ("1234-5", None),
        ];
        for (text, expected) in cases {
            assert_eq!(
                date_as_string(&Scalar::plain(text)).as_deref(),
                expected,
                "{text}"
            );
        }
        assert_eq!(date_as_string(&Scalar::string("2020-01-01")), None);
    }
}
