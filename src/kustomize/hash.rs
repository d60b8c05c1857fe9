//! The hash suffix of generated names (upstream: `hasher.go`).

use sha2::{Digest, Sha256};

use super::transform::names::set_name;
use super::{Gap, GapEffect, Object};
use crate::yaml::{Node, Typed, Value};

/// Appends to the name of every object with `needs_hash` the hash of its content as it is now.
/// A kind other than ConfigMap and Secret (a patch can change it) is a gap: its hash is over Go structures.
pub fn add_suffixes(objects: &mut [Object], gaps: &mut Vec<Gap>) {
    for object in objects.iter_mut().filter(|object| object.needs_hash) {
        let Some(content) = hashed_content(&object.node) else {
            gaps.push(Gap {
                place: object.origin,
                cause: format!("hash of a generated {}", object.id().kind),
                effect: GapEffect::Identities,
            });
            continue;
        };
        let place = object.name_place();
        let name = format!("{}-{}", object.id().name, suffix(&content));
        object.remember_id();
        set_name(object, Node::string(place, name));
    }
}

/// Ten characters of the SHA-256, of which those that could form words are replaced.
fn suffix(content: &str) -> String {
    let digest = Sha256::digest(content.as_bytes());
    let hex: String = digest
        .iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    hex.chars()
        .map(|digit| match digit {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        })
        .collect()
}

/// The JSON that is hashed; `None` for kinds that are neither ConfigMap nor Secret.
/// The field `name` is always empty: kustomize looks it up under a key that does not exist.
fn hashed_content(node: &Node) -> Option<String> {
    let (kind, extra) = match node.str_at(&["kind"]) {
        Some("ConfigMap") => ("ConfigMap", "binaryData"),
        Some("Secret") => ("Secret", "stringData"),
        _ => return None,
    };
    let mut fields = vec![
        ("data", field(node, "data")),
        ("kind", quoted(kind)),
        ("name", quoted("")),
    ];
    if kind == "Secret" {
        fields.push(("type", field(node, "type")));
    }
    if node
        .get(extra)
        .is_some_and(|value| value.as_mapping().is_some())
    {
        fields.push((extra, field(node, extra)));
    }
    fields.sort_by_key(|(key, _)| *key);
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(key, value)| format!("{}:{value}", quoted(key)))
        .collect();
    Some(format!("{{{}}}", fields.join(",")))
}

/// A top-level field: a scalar as text whatever its type, a missing one as empty text.
fn field(node: &Node, key: &str) -> String {
    match node.get(key) {
        None => quoted(""),
        Some(value) => match value.as_scalar() {
            Some(scalar) => quoted(&scalar.text),
            None => json(value),
        },
    }
}

/// A value as Go's `encoding/json` writes it after reading it into untyped maps: keys sorted, numbers as floats.
fn json(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => match scalar.typed() {
            Typed::Null => "null".to_owned(),
            Typed::Bool(value) => value.to_string(),
            Typed::Int(value) => number(value as f64),
            Typed::Float(value) => number(value),
            Typed::String => quoted(&scalar.text),
        },
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Mapping(mapping) => {
            let mut pairs: Vec<(&str, String)> = mapping
                .resolved()
                .into_iter()
                .map(|entry| (key_text(&entry.key), json(&entry.value)))
                .collect();
            pairs.sort_by(|left, right| left.0.cmp(right.0));
            let pairs: Vec<String> = pairs
                .into_iter()
                .map(|(key, value)| format!("{}:{value}", quoted(key)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
    }
}

fn key_text(key: &Node) -> &str {
    key.as_scalar().map_or("", |scalar| scalar.text.as_str())
}

/// A float as Go writes it: an exponent only below 1e-6 and from 1e21.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                format!("{digits}e+{exponent}")
            }
            _ => text,
        }
    } else {
        format!("{value}")
    }
}

/// A string as Go's `encoding/json` writes it: `<`, `>` and `&` are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::testing::objects;

    fn name_of(text: &str) -> String {
        let mut objects = objects(text);
        objects[0].needs_hash = true;
        let mut gaps = Vec::new();
        add_suffixes(&mut objects, &mut gaps);
        assert!(gaps.is_empty());
        objects[0].id().name.to_string()
    }

    #[test]
    fn suffixes_are_those_that_kustomize_prints() {
        let cases = [
            (
                "kind: ConfigMap\nmetadata: {name: empty}\n",
                "empty-6ct58987ht",
            ),
            (
                "kind: ConfigMap\ndata: {html: '<a href=\"x\">&</a>', a: b}\nmetadata: {name: plain}\n",
                "plain-kt4h5g6f8b",
            ),
            (
                "kind: ConfigMap\ndata: {ctl: \"a\\bb\\f\\x01\\x7f\\u2028\\\"\\\\\\t\\r\\n\"}\nmetadata: {name: ctl}\n",
                "ctl-7dg7tfm558",
            ),
            (
                "kind: ConfigMap\ndata: {a: b, big: 1e30, e: 1.0, f: 1.5, h: 12345678901234567890, i: 5, s: '5', t: true}\nmetadata: {name: plain}\n",
                "plain-5mk6hbd7h9",
            ),
            (
                "kind: ConfigMap\ndata: {e: '', f: \"{\\\"a\\\":\\\"\\u2028é<\\\"}\", k: \"tab\\there\", q: \"'x'\", s: it''s}\nmetadata: {name: q}\n",
                "q-m6h8dmfk45",
            ),
            (
                "kind: Secret\ndata: {a: Yg==}\ntype: Opaque\nmetadata: {name: opaque}\n",
                "opaque-k695gkmbtk",
            ),
            (
                "kind: Secret\ndata: {}\ntype: Opaque\nmetadata: {name: sempty}\n",
                "sempty-46f8b28mk5",
            ),
            (
                "kind: Secret\ndata: {tls.crt: eA==, tls.key: eQ==}\ntype: kubernetes.io/tls\nmetadata: {name: typed}\n",
                "typed-f4c6k54dt5",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(name_of(text), expected, "{text}");
        }
        let line = "0123456789".repeat(12);
        assert_eq!(
            name_of(&format!(
                "kind: ConfigMap\nbinaryData: {{b.bin: Ymlu//4A}}\ndata: {{t: \"{line}\\n\"}}\nmetadata: {{name: binary}}\n"
            )),
            "binary-94dg76c2bg"
        );
    }

    #[test]
    fn a_kind_that_a_patch_changed_is_a_gap() {
        let mut objects = objects("kind: Other\nmetadata: {name: a}\n");
        objects[0].needs_hash = true;
        let mut gaps = Vec::new();
        add_suffixes(&mut objects, &mut gaps);
        assert_eq!(objects[0].id().name, "a");
        assert_eq!(gaps[0].effect, GapEffect::Identities);
    }

    #[test]
    fn only_objects_that_need_one_get_a_suffix_and_the_name_before_is_remembered() {
        let mut objects = objects(
            "kind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: b}\n",
        );
        objects[1].needs_hash = true;
        add_suffixes(&mut objects, &mut Vec::new());
        assert_eq!(objects[0].id().name, "a");
        assert_eq!(objects[1].id().name, "b-6ct58987ht");
        assert_eq!(objects[1].original_id().name, "b");
    }
}
