//! Lists in YAML text, changed in place: every byte outside the change stays as it is.
//!
//! Each change is checked: the new text must read as the old one with just that item more or
//! less. What is written in a way that is not understood here is left alone, with `None`.

use super::node::Node;
use super::parse::parse;
use crate::source::FileId;

/// Where the items of a block list stand in a text.
struct Lines {
    /// For each item the offsets of its first line and of the line behind it.
    items: Vec<(usize, usize)>,
    /// What stands before the dash of an item.
    indent: String,
}

/// The text with an item in the list of a top-level key, before item `index` or at the end.
/// `item` is written as an item of a list without its dash; its further lines are indented by
/// what fits behind the dash. A `comment` gets a line of its own above it.
pub fn insert_item(
    text: &str,
    key: &str,
    index: usize,
    item: &str,
    comment: Option<&str>,
) -> Option<String> {
    let root = root(text)?;
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = text.to_owned();
    let count = match root.get(key) {
        None => {
            if !new.is_empty() && !new.ends_with('\n') {
                new.push_str(ending);
            }
            new.push_str(&format!("{key}:{ending}"));
            new.push_str(&item_lines("  ", item, comment, ending));
            0
        }
        Some(list) if list.as_sequence().is_some_and(<[Node]>::is_empty) || list.is_null() => {
            let entry = root.entry(key)?;
            let start = entry.key.place.span.end as usize;
            let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
            let value = text[start..end].trim_end_matches('\r');
            if !matches!(value.replace(' ', "").as_str(), ":" | ":[]") {
                return None;
            }
            let lines = item_lines("  ", item, comment, ending);
            let lines = lines.strip_suffix(ending)?;
            new.replace_range(start..start + value.len(), &format!(":{ending}{lines}"));
            0
        }
        Some(list) if is_flow(text, list) => {
            if comment.is_some() || item.contains(['\n', '\r']) {
                return None;
            }
            match list.items().get(index) {
                Some(next) => {
                    new.insert_str(next.place.span.start as usize, &format!("{item}, "));
                }
                None => {
                    let last = list.items().last()?.place.span.end as usize;
                    new.insert_str(last, &format!(", {item}"));
                }
            }
            let at = index.min(list.items().len());
            let inserted = self::root(&new)?.get(key)?.items().get(at)?.clone();
            if inserted.as_str() != Some(item) {
                return None;
            }
            list.items().len()
        }
        Some(list) => {
            let lines = lines(text, list)?;
            let items = item_lines(&lines.indent, item, comment, ending);
            let at = match lines.items.get(index) {
                Some((start, _)) => *start,
                None => lines.items.last()?.1,
            };
            if at > 0 && !new[..at].ends_with('\n') {
                new.insert_str(at, &format!("{ending}{}", items.strip_suffix(ending)?));
            } else {
                new.insert_str(at, &items);
            }
            list.items().len()
        }
    };
    let after = self::root(&new)?;
    let item_at = index.min(count);
    let mut expected = items_of(&root, key);
    let inserted = after.get(key)?.items().get(item_at)?.clone();
    expected.insert(item_at, inserted);
    same(&root, &after, key, &expected).then_some(new)
}

/// The text without item `index` of the list of a top-level key, and without the comment on the
/// line above it if that begins with `comment`. The last item leaves `key: []`, or nothing with `drop_key`.
pub fn remove_item(
    text: &str,
    key: &str,
    index: usize,
    comment: Option<&str>,
    drop_key: bool,
) -> Option<String> {
    let root = root(text)?;
    let list = root.get(key)?;
    if is_flow(text, list) && comment.is_none() {
        return remove_flow_item(text, &root, key, index, drop_key);
    }
    let lines = lines(text, list)?;
    let (mut start, end) = *lines.items.get(index)?;
    if let Some(comment) = comment {
        let above = line_above(text, start);
        if text[above..start].trim_start().starts_with(comment) {
            start = above;
        }
    }
    let mut new = text.to_owned();
    let mut expected = items_of(&root, key);
    if index >= expected.len() {
        return None;
    }
    expected.remove(index);
    new.replace_range(start..end, "");
    if expected.is_empty() {
        let entry = root.entry(key)?;
        let key_start = entry.key.place.span.start as usize;
        let key_end = entry.key.place.span.end as usize;
        if drop_key {
            new.replace_range(key_start..start, "");
        } else {
            let colon = key_end + text[key_end..].find(':')? + 1;
            new.insert_str(colon, " []");
        }
    }
    let after = self::root(&new)?;
    same(&root, &after, key, &expected).then_some(new)
}

/// True for a list in brackets.
fn is_flow(text: &str, list: &Node) -> bool {
    let written = text.get(list.place.span.range()).unwrap_or_default();
    list.as_sequence().is_some() && written.starts_with('[')
}

/// Takes an item and the comma between it and its neighbour out of a list in brackets.
fn remove_flow_item(
    text: &str,
    root: &Node,
    key: &str,
    index: usize,
    drop_key: bool,
) -> Option<String> {
    let mut expected = items_of(root, key);
    let own = expected.get(index)?.place.span.range();
    let range = match (expected.get(index + 1), index.checked_sub(1)) {
        (Some(next), _) => own.start..next.place.span.start as usize,
        (None, Some(before)) => expected.get(before)?.place.span.end as usize..own.end,
        (None, None) if drop_key => return None,
        (None, None) => own,
    };
    if text.get(range.clone())?.contains('#') {
        return None;
    }
    expected.remove(index);
    let mut new = text.to_owned();
    new.replace_range(range, "");
    let after = self::root(&new)?;
    same(root, &after, key, &expected).then_some(new)
}

/// The lines of item `index` of the list of a top-level key, as they stand, without indentation
/// of their own beyond that of the first.
pub fn item_text(text: &str, key: &str, index: usize) -> Option<String> {
    let root = root(text)?;
    let lines = lines(text, root.get(key)?)?;
    let (start, end) = *lines.items.get(index)?;
    let deep = lines.indent.len() + 2;
    let words = text[start..end].lines().enumerate().map(|(number, line)| {
        if number == 0 {
            return line
                .get(lines.indent.len() + 1..)
                .unwrap_or_default()
                .trim_start();
        }
        line.get(deep..).unwrap_or_default()
    });
    Some(words.collect::<Vec<_>>().join("\n").trim_end().to_owned())
}

/// The start of the line before the one that starts at an offset.
fn line_above(text: &str, start: usize) -> usize {
    let before = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
    before.rfind('\n').map_or(0, |at| at + 1)
}

fn item_lines(indent: &str, item: &str, comment: Option<&str>, ending: &str) -> String {
    let mut lines = String::new();
    if let Some(comment) = comment {
        lines += &format!("{indent}{comment}{ending}");
    }
    for (number, line) in item.lines().enumerate() {
        lines += &match (number, line) {
            (0, line) => format!("{indent}- {line}{ending}"),
            (_, "") => ending.to_owned(),
            (_, line) => format!("{indent}  {line}{ending}"),
        };
    }
    lines
}

/// The only document of a text, a map.
fn root(text: &str) -> Option<Node> {
    let mut yaml = parse(text, FileId(0));
    if yaml.error.is_some() || yaml.documents.len() != 1 {
        return None;
    }
    let root = yaml.documents.pop()?.root;
    root.as_mapping().is_some().then_some(root)
}

fn items_of(root: &Node, key: &str) -> Vec<Node> {
    root.get(key).map(Node::items).unwrap_or_default().to_vec()
}

/// True if two documents agree in everything but one list, which is as expected.
fn same(before: &Node, after: &Node, key: &str, expected: &[Node]) -> bool {
    let rest = |node: &Node| {
        let mut node = node.clone();
        node.remove(key);
        node
    };
    let items = items_of(after, key);
    items.len() == expected.len()
        && items
            .iter()
            .zip(expected)
            .all(|(left, right)| left.same_content(right))
        && rest(before).same_content(&rest(after))
}

/// The lines of a block list whose every item begins on a line of its own.
fn lines(text: &str, list: &Node) -> Option<Lines> {
    let mut starts = Vec::new();
    let mut indent: Option<&str> = None;
    for item in list.items() {
        let value = item.place.span.start as usize;
        let start = text.get(..value)?.rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(start..value)?;
        let own = before.strip_suffix(before.trim_start())?;
        if before.trim() != "-" || indent.is_some_and(|indent| indent != own) {
            return None;
        }
        indent = Some(own);
        starts.push(start);
    }
    let indent = indent?.to_owned();
    let items = starts
        .iter()
        .map(|start| (*start, item_end(text, *start, indent.len())))
        .collect();
    Some(Lines { items, indent })
}

/// Where the lines of an item end that starts at an offset: before the next line that is not
/// indented deeper than its dash, blank lines before that not counted.
fn item_end(text: &str, start: usize, indent: usize) -> usize {
    let mut end = start;
    let mut at = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let depth = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        if number > 0 && !is_blank && depth <= indent {
            break;
        }
        at += line.len();
        if !is_blank {
            end = at;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# head\nresources:\n  - a.yaml  # first\n  # about b\n  - b.yaml\n\npatches:\n  # mine\n  - target:\n      kind: X\n    patch: |\n      a: b\n\n      c: d\n";

    #[test]
    fn items_come_and_go_and_every_other_byte_stays() {
        let new = insert_item(TEXT, "resources", 9, "c.yaml", None).unwrap();
        assert_eq!(
            new,
            TEXT.replace("  - b.yaml\n", "  - b.yaml\n  - c.yaml\n")
        );
        let back = remove_item(&new, "resources", 2, None, false).unwrap();
        assert_eq!(back, TEXT);
        let first = insert_item(TEXT, "resources", 0, "0.yaml", None).unwrap();
        assert_eq!(first, TEXT.replace("  - a.yaml", "  - 0.yaml\n  - a.yaml"));
        let one = remove_item(TEXT, "patches", 0, Some("# mine"), true).unwrap();
        assert_eq!(one, TEXT[..TEXT.find("patches").unwrap()]);
        assert_eq!(
            item_text(TEXT, "patches", 0).unwrap(),
            "target:\n    kind: X\n  patch: |\n    a: b\n\n    c: d".replace("\n  ", "\n")
        );
    }

    #[test]
    fn lists_begin_and_end_empty() {
        let text = "resources: []\r\nnamespace: x\r\n";
        let new = insert_item(text, "resources", 0, "a.yaml", None).unwrap();
        assert_eq!(new, "resources:\r\n  - a.yaml\r\nnamespace: x\r\n");
        let back = remove_item(&new, "resources", 0, None, false).unwrap();
        assert_eq!(back, "resources: []\r\nnamespace: x\r\n");
        let added = insert_item(
            "kind: X",
            "patches",
            0,
            "path: p\ntarget:\n  kind: Y",
            Some("# c"),
        );
        assert_eq!(
            added.unwrap(),
            "kind: X\npatches:\n  # c\n  - path: p\n    target:\n      kind: Y\n"
        );
    }

    #[test]
    fn lists_in_brackets_stay_in_brackets() {
        let text = "resources: [a, \"b\"]  # two\nnamespace: x\n";
        let with = |list: &str| text.replace("[a, \"b\"]", list);
        for (index, list) in [
            (0, "[c, a, \"b\"]"),
            (1, "[a, c, \"b\"]"),
            (9, "[a, \"b\", c]"),
        ] {
            let new = insert_item(text, "resources", index, "c", None).unwrap();
            assert_eq!(new, with(list));
            let back = remove_item(&new, "resources", index.min(2), None, false).unwrap();
            assert_eq!(back, text);
        }
        let one = remove_item(text, "resources", 0, None, false).unwrap();
        assert_eq!(one, with("[\"b\"]"));
        let none = remove_item(&one, "resources", 0, None, false).unwrap();
        assert_eq!(none, with("[]"));
        let lines = "resources: [\n  a,\n  b,\n]\n";
        let new = insert_item(lines, "resources", 2, "c", None).unwrap();
        assert_eq!(new, "resources: [\n  a,\n  b, c,\n]\n");
        assert_eq!(
            remove_item(&new, "resources", 2, None, false).unwrap(),
            lines
        );
    }

    #[test]
    fn what_is_written_otherwise_is_left_alone() {
        for (item, comment) in [
            ("path: c\ntarget: d", None),
            ("c", Some("# c")),
            ("c, d", None),
        ] {
            assert_eq!(
                insert_item("resources: [a, b]\n", "resources", 0, item, comment),
                None
            );
        }
        assert_eq!(
            remove_item("resources: [a, # why\n  b]\n", "resources", 0, None, false),
            None
        );
        assert_eq!(
            remove_item(
                "resources: &x\n- a\n---\nb: c\n",
                "resources",
                0,
                None,
                false
            ),
            None
        );
    }
}
