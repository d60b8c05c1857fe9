//! `images` (upstream: `filters/imagetag`, `internal/image`).

use regex::Regex;

use crate::go_regex::compile;
use crate::kustomize::fieldspec::{FieldError, FieldSpec, for_each_field};
use crate::kustomize::{Object, Problem};
use crate::source::Place;
use crate::yaml::{Node, Value};

use super::{field_refusal, refusal, written, written_text};

/// Applies the entries of `images` to all kinds but CustomResourceDefinition.
///
/// kustomize goes over an object twice: first every list `containers` or `initContainers` at any
/// depth, then the fields of pods and pod templates; so a `tagSuffix` is added twice there.
/// An entry that fits nothing is no error.
///
/// # Errors
/// When an entry's name is no regular expression, or an image or container has the wrong shape.
pub fn apply(objects: &mut [Object], field: &Node) -> Result<(), Problem> {
    let specs = [
        "spec/containers[]/image",
        "spec/initContainers[]/image",
        "spec/volumes[]/image/reference",
        "spec/template/spec/containers[]/image",
        "spec/template/spec/initContainers[]/image",
        "spec/template/spec/volumes[]/image/reference",
    ]
    .map(|path| FieldSpec::of_kind("", path).created());
    for entry in field.items() {
        let change = Change::read(entry)?;
        for object in objects.iter_mut() {
            if object.id().kind == "CustomResourceDefinition" {
                continue;
            }
            let outcome = (|| {
                if mentions_containers(&object.node) {
                    change.in_containers(&mut object.node)?;
                }
                for spec in &specs {
                    for_each_field(&mut object.node, spec, None, &mut |image| {
                        change.set_image(image)
                    })?;
                }
                Ok(())
            })();
            outcome.map_err(|error| field_refusal("images", entry.place, object, error))?;
        }
    }
    Ok(())
}

/// One entry of `images`.
struct Change<'a> {
    pattern: Regex,
    new_name: &'a str,
    new_tag: &'a str,
    digest: &'a str,
    tag_suffix: &'a str,
    /// The place that a changed image gets: that of the new tag, or of what else is new.
    place: Place,
}

impl<'a> Change<'a> {
    fn read(entry: &'a Node) -> Result<Self, Problem> {
        let name = written_text(entry, "name");
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        let pattern = compile(&pattern).map_err(|_| {
            let place = written(entry, "name").map_or(entry.place, |node| node.place);
            refusal(
                place,
                format!("images: the name {name} is no regular expression"),
            )
        })?;
        let place = ["newTag", "digest", "newName", "tagSuffix"]
            .into_iter()
            .find_map(|key| written(entry, key))
            .map_or(entry.place, |node| node.place);
        Ok(Self {
            pattern,
            new_name: written_text(entry, "newName"),
            new_tag: written_text(entry, "newTag"),
            digest: written_text(entry, "digest"),
            tag_suffix: written_text(entry, "tagSuffix"),
            place,
        })
    }

    /// Changes `image` in the items of every list `containers` or `initContainers`, at any depth.
    fn in_containers(&self, node: &mut Node) -> Result<(), FieldError> {
        match &node.value {
            Value::Scalar(_) => Ok(()),
            Value::Sequence(_) => {
                for item in node.items_mut().into_iter().flatten() {
                    if mentions_containers(item) {
                        self.in_containers(item)?;
                    }
                }
                Ok(())
            }
            Value::Mapping(_) => {
                for entry in node
                    .mapping_mut()
                    .into_iter()
                    .flat_map(|map| &mut map.entries)
                {
                    if mentions_containers(&entry.value) {
                        self.in_containers(&mut entry.value)?;
                    }
                    if is_containers_key(&entry.key) {
                        for item in entry.value.items_mut().into_iter().flatten() {
                            self.in_container(item)?;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn in_container(&self, container: &mut Node) -> Result<(), FieldError> {
        if container.is_null() {
            return Ok(());
        }
        if container.as_mapping().is_none() {
            return Err(FieldError::new(container, "a container is no map"));
        }
        match container.get_mut("image") {
            Some(image) => self.set_image(image),
            None => Ok(()),
        }
    }

    fn set_image(&self, image: &mut Node) -> Result<(), FieldError> {
        let Value::Scalar(scalar) = &image.value else {
            return Err(FieldError::new(image, "an image is no scalar"));
        };
        if !self.pattern.is_match(&scalar.text) {
            return Ok(());
        }
        let (mut name, mut tag, mut digest) = split(&scalar.text);
        let suffixed;
        if !self.new_name.is_empty() {
            name = self.new_name;
        }
        if !self.new_tag.is_empty() || !self.digest.is_empty() {
            (tag, digest) = (self.new_tag, self.digest);
        } else if !self.tag_suffix.is_empty() {
            suffixed = format!("{tag}{}", self.tag_suffix);
            (tag, digest) = (&suffixed, "");
        }
        let mut new = name.to_owned();
        for (separator, part) in [(':', tag), ('@', digest)] {
            if !part.is_empty() {
                new.push(separator);
                new.push_str(part);
            }
        }
        *image = Node::string(self.place, new);
        Ok(())
    }
}

fn is_containers_key(key: &Node) -> bool {
    key.is_key("containers") || key.is_key("initContainers")
}

/// True if a list of containers is somewhere in the node; asked before a node is opened for change.
fn mentions_containers(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => false,
        Value::Sequence(items) => items.iter().any(mentions_containers),
        Value::Mapping(mapping) => mapping
            .entries
            .iter()
            .any(|entry| is_containers_key(&entry.key) || mentions_containers(&entry.value)),
    }
}

/// Name, tag and digest of an image; a colon before the first slash belongs to the name.
fn split(image: &str) -> (&str, &str, &str) {
    let from = image.find('/').unwrap_or(0);
    let colon = image[from..].find(':').map(|at| at + from);
    let at = image[from..].find('@').map(|at| at + from);
    match (colon, at) {
        (None, None) => (image, "", ""),
        (Some(colon), Some(at)) if colon < at => {
            (&image[..colon], &image[colon + 1..at], &image[at + 1..])
        }
        (_, Some(at)) => (&image[..at], "", &image[at + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::testing::{node, objects};

    fn image_after(image: &str, entry: &str) -> String {
        let mut objects = objects(&format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: a}}, {{image: '{image}'}}]}}\n"
        ));
        apply(&mut objects, &node(entry)).unwrap();
        let containers = objects[0].node.at(&["spec", "containers"]).unwrap();
        containers.items()[1].str_at(&["image"]).unwrap().to_owned()
    }

    #[test]
    fn name_tag_and_digest_are_replaced() {
        let cases = [
            ("nginx:1", "- {name: nginx, newTag: '2'}", "nginx:2"),
            ("nginx", "- {name: nginx, newName: other/n}", "other/n"),
            (
                "nginx:1",
                "- {name: nginx, newName: h:5000/n}",
                "h:5000/n:1",
            ),
            ("foo@sha256:abc", "- {name: foo, newTag: '9'}", "foo:9"),
            ("foo:1", "- {name: foo, digest: sha256:d}", "foo@sha256:d"),
            (
                "foo:1@sha256:a",
                "- {name: foo, newTag: v, digest: sha256:d}",
                "foo:v@sha256:d",
            ),
            (
                "h:5000/foo",
                "- {name: h:5000/foo, newTag: v}",
                "h:5000/foo:v",
            ),
            ("nginx-x:1", "- {name: nginx, newTag: v}", "nginx-x:1"),
            ("anything:1", "- {name: '.*', newTag: v}", "anything:v"),
        ];
        for (image, entry, expected) in cases {
            assert_eq!(image_after(image, entry), expected, "{image} {entry}");
        }
    }

    #[test]
    fn a_tag_suffix_is_added_twice_in_pods_and_once_elsewhere() {
        let entry = "- {name: nginx, tagSuffix: -s}";
        assert_eq!(image_after("nginx:1", entry), "nginx:1-s-s");
        let mut objects = objects(
            "apiVersion: example.com/v1\nkind: Custom\nmetadata: {name: t}\n\
             spec: {deep: {initContainers: [{image: 'nginx:1'}, {name: n}]}}\n",
        );
        apply(&mut objects, &node(entry)).unwrap();
        let deep = objects[0].node.at(&["spec", "deep", "initContainers"]);
        assert_eq!(
            deep.unwrap().items()[0].str_at(&["image"]),
            Some("nginx:1-s")
        );
    }

    #[test]
    fn containers_of_the_wrong_shape_are_refused_but_not_in_definitions() {
        let input = "kind: A\nmetadata: {name: t}\nx: {containers: [a]}\n";
        let field = node("- {name: n, newTag: v}");
        assert!(apply(&mut objects(input), &field).is_err());
        let definition = input.replace("kind: A", "kind: CustomResourceDefinition");
        apply(&mut objects(&definition), &field).unwrap();
        let problem = apply(&mut objects(input), &node("- {name: '[', newTag: v}")).unwrap_err();
        assert!(problem.message.contains("no regular expression"));
    }
}
