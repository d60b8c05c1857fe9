//! `namePrefix` and `nameSuffix` (upstream: `PrefixTransformer.go`, `SuffixTransformer.go`).

use smol_str::SmolStr;

use crate::kustomize::Object;
use crate::yaml::Node;

/// Puts `value` before every name but those of CustomResourceDefinitions, APIServices and Namespaces.
pub fn prefix(objects: &mut [Object], value: &Node) {
    rename(objects, value, |object, name, prefix| {
        object.prefixes.push(prefix.into());
        format!("{prefix}{name}")
    });
}

/// Puts `value` behind every name but those of CustomResourceDefinitions, APIServices and Namespaces.
pub fn suffix(objects: &mut [Object], value: &Node) {
    rename(objects, value, |object, name, suffix| {
        object.suffixes.push(suffix.into());
        format!("{name}{suffix}")
    });
}

/// A new name keeps the place of the name as written.
fn rename(objects: &mut [Object], value: &Node, new: fn(&mut Object, &str, &str) -> String) {
    let Some(affix) = value.as_str().filter(|affix| !affix.is_empty()) else {
        return;
    };
    for object in objects {
        if keeps_its_name(object) {
            continue;
        }
        let Some(name) = object.node.at(&["metadata", "name"]) else {
            continue;
        };
        let (place, name) = (name.place, SmolStr::from(name.as_str().unwrap_or_default()));
        object.remember_id();
        let renamed = new(object, &name, affix);
        set_name(object, Node::string(place, renamed));
    }
}

/// Writes `metadata.name`; the caller has remembered the identity.
pub(in crate::kustomize) fn set_name(object: &mut Object, name: Node) {
    let place = name.place;
    if let Some(metadata) = object.node.get_mut("metadata") {
        metadata.set("name", place, name);
    }
}

fn keeps_its_name(object: &Object) -> bool {
    let id = object.original_id();
    match id.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => object.id().group == "apiregistration.k8s.io",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::testing::{node, objects};

    #[test]
    fn all_but_namespaces_definitions_and_api_services_are_renamed() {
        let mut objects = objects(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n---\n\
             apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c}\n---\n\
             apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: a}\n---\n\
             apiVersion: example.com/v1\nkind: APIService\nmetadata: {name: o}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
        );
        prefix(&mut objects, &node("p-"));
        suffix(&mut objects, &node("-s"));
        prefix(&mut objects, &node("q-"));
        let names: Vec<_> = objects.iter().map(|o| o.id().name).collect();
        assert_eq!(names, ["n", "c", "a", "q-p-o-s", "q-p-m-s"]);
        let map = &objects[4];
        assert_eq!(map.prefixes, ["p-", "q-"]);
        assert_eq!(map.suffixes, ["-s"]);
        let before: Vec<_> = map.previous.iter().map(|id| id.name.as_str()).collect();
        assert_eq!(before, ["m", "p-m", "p-m-s"]);
        assert!(objects[0].previous.is_empty());
    }
}
