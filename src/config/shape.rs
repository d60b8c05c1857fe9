//! Which keys the configuration has, and which of them hold lists or maps.

use crate::near;
use crate::source::Place;
use crate::yaml::Node;

/// What may stand at a key.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A scalar, typed by the struct that receives it.
    Scalar,
    /// A list.
    List(&'static Shape),
    /// A map with these keys.
    Map(&'static [(&'static str, Shape)]),
    /// A map with keys of the user's own, which hold scalars.
    Names,
}

use Shape::{List, Map, Names, Scalar};

/// The whole file.
pub(super) const ROOT: Shape = Map(&[
    ("flux-version", Scalar),
    ("exclude", List(&Scalar)),
    ("clusters", List(&CLUSTER)),
    ("waves", List(&WAVES)),
    ("external", EXTERNAL),
    (
        "overlays",
        Map(&[("values-only", Scalar), ("allow", List(&Scalar))]),
    ),
    (
        "blast-radius",
        Map(&[("workloads", Scalar), ("namespaces", Scalar)]),
    ),
    ("rules", Names),
    ("per-path", List(&PER_PATH)),
]);

const CLUSTER: Shape = Map(&[("path", Scalar), ("role", Scalar)]);
const WAVES: Shape = Map(&[
    ("dir", Scalar),
    ("catalog", Scalar),
    ("after", List(&Scalar)),
]);
const EXTERNAL: Shape = Map(&[
    ("services", List(&Scalar)),
    ("variables", List(&Scalar)),
    ("sources", List(&Scalar)),
]);
const PER_PATH: Shape = Map(&[("paths", List(&Scalar)), ("rules", Names)]);

/// What is wrong, and where.
type Wrong = (Place, String);

/// A key, its value, and the key's text.
type Pair<'a> = (&'a Node, &'a Node, &'a str);

/// Checks a value and all below it; `name` is the key that holds it, for messages. A key
/// without a value is as good as none.
pub(super) fn check(node: &Node, shape: Shape, name: &str) -> Result<(), Wrong> {
    if node.is_null() {
        return Ok(());
    }
    match shape {
        Scalar if node.as_scalar().is_some() => Ok(()),
        Scalar => Err((
            node.place,
            format!("{name} must be a single value, not a {}", kind(node)),
        )),
        List(inner) => {
            let Some(items) = node.as_sequence() else {
                return Err((
                    node.place,
                    format!("{name} must be a list, not a {}", kind(node)),
                ));
            };
            items.iter().try_for_each(|item| {
                if item.is_null() {
                    return Err((item.place, format!("{name} has an entry without a value")));
                }
                check(item, *inner, &format!("an entry of {name}"))
            })
        }
        Map(keys) => {
            for (key, value, text) in pairs(node, name)? {
                let Some((_, inner)) = keys.iter().find(|(known, _)| *known == text) else {
                    let known = || keys.iter().map(|(known, _)| *known);
                    let hint = near::nearest(text, known()).map_or_else(
                        || format!("; known are {}", known().collect::<Vec<_>>().join(", ")),
                        |candidate| format!(", did you mean `{candidate}`?"),
                    );
                    let place = if name.is_empty() {
                        String::new()
                    } else {
                        format!(" in {name}")
                    };
                    return Err((key.place, format!("unknown key `{text}`{place}{hint}")));
                };
                check(value, *inner, text)?;
            }
            Ok(())
        }
        Names => {
            for (_, value, text) in pairs(node, name)? {
                check(value, Scalar, text)?;
            }
            Ok(())
        }
    }
}

/// The pairs of a map, with the keys' text.
fn pairs<'a>(node: &'a Node, name: &str) -> Result<Vec<Pair<'a>>, Wrong> {
    let Some(mapping) = node.as_mapping() else {
        let name = if name.is_empty() {
            "the configuration"
        } else {
            name
        };
        return Err((
            node.place,
            format!("{name} must be a map, not a {}", kind(node)),
        ));
    };
    mapping
        .entries
        .iter()
        .map(|entry| match entry.key.as_str() {
            Some(text) => Ok((&entry.key, &entry.value, text)),
            None => Err((entry.key.place, "a key must be a word".to_owned())),
        })
        .collect()
}

fn kind(node: &Node) -> &'static str {
    if node.as_mapping().is_some() {
        "map"
    } else if node.as_sequence().is_some() {
        "list"
    } else {
        "single value"
    }
}
