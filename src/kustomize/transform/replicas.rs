//! `replicas` (upstream: `ReplicaCountTransformer.go`).

use crate::kustomize::fieldspec::{Creation, FieldError, FieldSpec, Leaf, fits, for_each_field};
use crate::kustomize::scope::all_ids;
use crate::kustomize::{Object, Problem};
use crate::yaml::{Node, Typed, Value};

use super::{field_refusal, refusal, written, written_text};

/// Applies the entries of `replicas`: the count goes to every Deployment, ReplicationController,
/// ReplicaSet and StatefulSet that has, or ever had, the entry's name.
///
/// # Errors
/// When an entry fits nothing, or `spec.replicas` has the wrong shape.
pub fn apply(objects: &mut [Object], field: &Node) -> Result<(), Problem> {
    let specs = [
        "Deployment",
        "ReplicationController",
        "ReplicaSet",
        "StatefulSet",
    ]
    .map(|kind| FieldSpec::of_kind(kind, "spec/replicas").created());
    for entry in field.items() {
        let name = written_text(entry, "name");
        let count = count_node(entry);
        let creation = Some(Creation {
            leaf: Leaf::Scalar,
            place: count.place,
        });
        let mut found = false;
        for object in objects.iter_mut() {
            let ids = all_ids(object);
            let now = object.id();
            for spec in &specs {
                let named = |id: &crate::kustomize::ObjectId| {
                    id.name == name && fits("", "", &spec.kind, id)
                };
                if !ids.iter().any(named) {
                    continue;
                }
                found = true;
                if !spec.fits(&now) {
                    continue;
                }
                for_each_field(&mut object.node, spec, creation, &mut |replicas| {
                    if !matches!(replicas.value, Value::Scalar(_)) {
                        return Err(FieldError::new(replicas, "spec.replicas is no scalar"));
                    }
                    *replicas = count.clone();
                    Ok(())
                })
                .map_err(|error| field_refusal("replicas", count.place, object, error))?;
            }
        }
        if !found {
            let place = written(entry, "name").map_or(entry.place, |node| node.place);
            return Err(refusal(
                place,
                format!(
                    "replicas: no Deployment, StatefulSet, ReplicaSet or ReplicationController named {name} in this build"
                ),
            ));
        }
    }
    Ok(())
}

/// The count as kustomize writes it; a missing one is 0.
fn count_node(entry: &Node) -> Node {
    match written(entry, "count") {
        Some(node) => match node.as_scalar().map(|scalar| scalar.typed()) {
            Some(Typed::Int(count)) => Node::plain(node.place, count.to_string()),
            Some(Typed::Float(count)) => Node::plain(node.place, (count as i64).to_string()),
            _ => Node::plain(node.place, "0"),
        },
        None => Node::plain(entry.place, "0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::names::prefix;
    use crate::kustomize::transform::testing::{node, objects};

    #[test]
    fn the_count_goes_to_every_scaled_kind_of_that_name_even_an_earlier_one() {
        let mut objects = objects(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\n\
             apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {replicas: 1}\n---\n\
             apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\n",
        );
        prefix(&mut objects, &node("p-"));
        apply(&mut objects, &node("- {name: a, count: 3}")).unwrap();
        let counts: Vec<_> = objects
            .iter()
            .map(|object| object.node.str_at(&["spec", "replicas"]))
            .collect();
        assert_eq!(counts, [Some("3"), Some("3"), None]);
        let replicas = objects[0].node.at(&["spec", "replicas"]).unwrap();
        assert_eq!(
            replicas.as_scalar().map(|scalar| scalar.typed()),
            Some(Typed::Int(3))
        );
    }

    #[test]
    fn an_entry_that_fits_nothing_is_refused_at_its_name() {
        let mut objects = objects("kind: DaemonSet\nmetadata: {name: a}\n");
        let field = node("- {name: a, count: 3}");
        let problem = apply(&mut objects, &field).unwrap_err();
        assert_eq!(problem.place, field.items()[0].get("name").unwrap().place);
    }
}
