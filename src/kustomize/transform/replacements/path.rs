//! Field paths of replacements (upstream: kyaml `pathsplitter.go`, `match.go`, `fns.go` PathGetter).

use super::value::untyped;
use crate::go_regex::compile;
use crate::kustomize::fieldspec::{FieldError, split_path};
use crate::source::Place;
use crate::yaml::{Entry, Node, Value};

/// Why a path cannot be followed.
pub(super) enum Stop {
    /// Something has the wrong shape.
    Error(FieldError),
    /// The path goes on inside the text of a scalar.
    InsideScalar(Place),
}

fn stop(node: &Node, message: impl Into<String>) -> Stop {
    Stop::Error(FieldError::new(node, message))
}

/// Splits a path at dots. `\.` does not split, nor does a dot in brackets; brackets without
/// `=` are taken off.
pub(super) fn split(path: &str) -> Vec<String> {
    let pieces = split_path(path, '.');
    let mut parts = Vec::new();
    let mut pieces = pieces.into_iter();
    while let Some(mut part) = pieces.next() {
        if part.starts_with('[') && !part.ends_with(']') {
            for piece in pieces.by_ref() {
                part.push('.');
                part.push_str(&piece);
                if piece.ends_with(']') {
                    break;
                }
            }
            if !part.contains('=') {
                part = part.trim_matches(['[', ']']).to_owned();
            }
        }
        parts.push(part);
    }
    parts
}

/// Field and value of a part `[field=value]`, with no field for `[=value]`.
fn list_condition(part: &str) -> Option<(&str, Option<&str>)> {
    let inner = part.strip_prefix('[')?.strip_suffix(']')?;
    Some(match inner.split_once('=') {
        Some((field, value)) => (field, Some(value)),
        None => (inner, None),
    })
}

const BAD_CONDITION: &str = "a list item is to be named as [field=value]";

/// The field that a source's path leads to; list items by number, by `-` for the last, or by
/// the exact value of a field.
pub(super) fn lookup<'a>(node: &'a Node, path: &[String]) -> Result<Option<&'a Node>, FieldError> {
    let mut node = node;
    for part in path.iter().map(|part| part.trim()) {
        if part.is_empty() {
            continue;
        }
        if node.is_null() {
            return Ok(None);
        }
        let list = |node: &'a Node| {
            node.as_sequence()
                .ok_or_else(|| FieldError::new(node, format!("{part} is asked of what is no list")))
        };
        let found = if let Ok(index) = part.parse::<i64>() {
            let index = usize::try_from(index)
                .map_err(|_| FieldError::new(node, "a list index is negative"))?;
            list(node)?.get(index)
        } else if part == "-" {
            list(node)?.last()
        } else if part == "*" {
            return Err(FieldError::new(node, "a source path cannot have *"));
        } else if let Some((field, value)) = list_condition(part) {
            let value = value.ok_or_else(|| FieldError::new(node, BAD_CONDITION))?;
            list(node)?.iter().find(|item| {
                let text = if field.is_empty() {
                    item.as_str()
                } else {
                    item.str_at(&[field])
                };
                text == Some(value)
            })
        } else if node.as_mapping().is_some() {
            node.get(part)
        } else {
            return Err(FieldError::new(
                node,
                format!("{part} is asked of what is no map"),
            ));
        };
        match found {
            Some(found) => node = found,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// What is called on a found field; true says that it was just created.
pub(super) type Set<'a> = dyn FnMut(&mut Node, bool) -> Result<(), FieldError> + 'a;

/// Calls `set` on every field that a target's path leads to, and counts them. List items are
/// named by number, `*`, or a regular expression for the value of a field. With `create` (the
/// value to be written, which decides what is made) missing parts are created.
pub(super) fn visit(
    node: &mut Node,
    path: &[String],
    create: Option<&Node>,
    set: &mut Set<'_>,
) -> Result<usize, Stop> {
    walk(node, path, create, false, set)
}

fn walk(
    node: &mut Node,
    path: &[String],
    create: Option<&Node>,
    created: bool,
    set: &mut Set<'_>,
) -> Result<usize, Stop> {
    let Some((part, rest)) = path.split_first() else {
        return set(node, created).map(|()| 1).map_err(Stop::Error);
    };
    if let Ok(index) = part.parse::<usize>() {
        return walk_index(node, index, rest, create, set);
    }
    if let Some((field, value)) = list_condition(part) {
        let Some(value) = value else {
            return Err(stop(node, BAD_CONDITION));
        };
        return walk_matching(node, field, value, rest, create, set);
    }
    if part == "*" {
        let mut count = 0;
        for item in list_of(node)? {
            count += walk(item, rest, create, false, set)?;
        }
        return Ok(count);
    }
    walk_field(node, part, rest, create, set)
}

fn list_of(node: &mut Node) -> Result<&mut Vec<Node>, Stop> {
    let missing = FieldError::new(node, "a list is expected");
    node.items_mut().ok_or(Stop::Error(missing))
}

fn walk_index(
    node: &mut Node,
    index: usize,
    rest: &[String],
    create: Option<&Node>,
    set: &mut Set<'_>,
) -> Result<usize, Stop> {
    let place = node.place;
    let items = list_of(node)?;
    let count = items.len();
    let mut created = false;
    if let Some(value) = create.filter(|_| index == count) {
        items.push(new_node(rest.first(), value));
        created = true;
    }
    match items.get_mut(index) {
        Some(item) => walk(item, rest, create, created, set),
        None => Err(Stop::Error(FieldError {
            place,
            message: format!("item {index} is asked of a list of {count}"),
        })),
    }
}

fn walk_matching(
    node: &mut Node,
    field: &str,
    value: &str,
    rest: &[String],
    create: Option<&Node>,
    set: &mut Set<'_>,
) -> Result<usize, Stop> {
    let Ok(pattern) = compile(value) else {
        return Err(stop(node, format!("{value} is no regular expression")));
    };
    let matches = |item: &Node| {
        let text = if field.is_empty() {
            item.as_scalar()
        } else {
            item.get(field).and_then(Node::as_scalar)
        };
        text.is_some_and(|scalar| pattern.is_match(scalar.text.trim()))
    };
    // Items without a field are values themselves: what follows in the path does not count.
    let rest = if field.is_empty() { &[] } else { rest };
    let items = list_of(node)?;
    let mut count = 0;
    for item in items.iter_mut().filter(|item| matches(item)) {
        count += walk(item, rest, create, false, set)?;
    }
    if let (0, Some(new)) = (count, create) {
        let text = Node {
            place: new.place,
            value: Value::Scalar(untyped(value)),
        };
        let mut item = if field.is_empty() {
            text
        } else {
            let key = Node::string(new.place, field);
            Node::mapping(new.place, vec![Entry { key, value: text }])
        };
        count += walk(&mut item, rest, create, false, set)?;
        items.push(item);
    }
    Ok(count)
}

fn walk_field(
    node: &mut Node,
    key: &str,
    rest: &[String],
    create: Option<&Node>,
    set: &mut Set<'_>,
) -> Result<usize, Stop> {
    if node.is_null() && create.is_none() {
        return Ok(0);
    }
    let mut created = false;
    match (node.as_mapping().map(|map| map.entry(key)), create) {
        (None, _) => return Err(stop(node, format!("{key} is asked of what is no map"))),
        (Some(None), None) => return Ok(0),
        (Some(None), Some(value)) => {
            if let Some(mapping) = node.mapping_mut() {
                mapping.entries.push(Entry {
                    key: Node::string(value.place, key),
                    value: new_node(rest.first(), value),
                });
            }
            created = true;
        }
        (Some(Some(entry)), _) => {
            if matches!(entry.value.value, Value::Scalar(_)) && !rest.is_empty() {
                return if entry.value.is_null() {
                    Ok(0)
                } else {
                    Err(Stop::InsideScalar(entry.value.place))
                };
            }
        }
    }
    match node.get_mut(key) {
        Some(field) => walk(field, rest, create, created, set),
        None => Ok(0),
    }
}

/// A node to be filled: a list or map as the next part of the path needs it, at the end one like the value.
fn new_node(next: Option<&String>, value: &Node) -> Node {
    let place = value.place;
    match next {
        Some(part) if part.parse::<usize>().is_ok() || list_condition(part).is_some() => {
            Node::sequence(place, Vec::new())
        }
        Some(_) => Node::mapping(place, Vec::new()),
        None => match &value.value {
            Value::Scalar(_) => Node::plain(place, ""),
            Value::Sequence(_) => Node::sequence(place, Vec::new()),
            Value::Mapping(_) => Node::mapping(place, Vec::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn dots_split_but_not_when_escaped_or_in_brackets() {
        assert_eq!(split("a.b"), ["a", "b"]);
        assert_eq!(split(r"a.n\.io/k"), ["a", "n.io/k"]);
        assert_eq!(split("a.[n.io/k].c"), ["a", "n.io/k", "c"]);
        assert_eq!(split("a.[name=n.x].c"), ["a", "[name=n.x]", "c"]);
        assert_eq!(split("a.[b"), ["a", "b"]);
    }
}
