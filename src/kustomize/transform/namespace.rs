//! `namespace`, and Flux's `targetNamespace` (upstream: `filters/namespace`, `NamespaceTransformer.go`).

use crate::kustomize::fieldspec::{Creation, FieldError, FieldSpec, Leaf, for_each_field};
use crate::kustomize::scope::is_certainly_cluster_scoped;
use crate::kustomize::{Object, Problem, RenamedNamespace};
use crate::yaml::{Node, Value};

use super::field_refusal;

/// Moves every object to a namespace, and renames Namespace objects to it.
///
/// Kinds that Kubernetes 1.21 does not know count as namespaced. Of the subjects of a
/// (Cluster)RoleBinding only those named `default` are moved; ServiceAccounts of the build
/// follow as name references. Two objects may end with one identity: kustomize refuses
/// that, the caller checks it. An empty value does nothing.
///
/// # Errors
/// When a field that holds a namespace has another shape than the transformer expects.
pub fn apply(
    objects: &mut [Object],
    value: &Node,
    renamed: &mut Vec<RenamedNamespace>,
) -> Result<(), Problem> {
    let Some(namespace) = value.as_str().filter(|namespace| !namespace.is_empty()) else {
        return Ok(());
    };
    let specs = [
        FieldSpec::of_kind("Namespace", "metadata/name").created(),
        FieldSpec::of_kind("APIService", "spec/service/namespace")
            .in_group("apiregistration.k8s.io")
            .created(),
        FieldSpec::of_kind(
            "CustomResourceDefinition",
            "spec/conversion/webhook/clientConfig/service/namespace",
        )
        .in_group("apiextensions.k8s.io"),
    ];
    let everywhere = FieldSpec::of_kind("", "metadata/namespace").created();
    let creation = Some(Creation {
        leaf: Leaf::Scalar,
        place: value.place,
    });
    let mut set = |field: &mut Node| match &field.value {
        Value::Scalar(_) => {
            *field = Node::string(value.place, namespace);
            Ok(())
        }
        _ => Err(FieldError::new(
            field,
            "a namespace is to be set on a map or list",
        )),
    };
    for object in objects {
        object.remember_id();
        let id = object.id();
        let outcome = (|| {
            if !is_certainly_cluster_scoped(&id) {
                for_each_field(&mut object.node, &everywhere, creation, &mut set)?;
            }
            if matches!(id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding") {
                move_default_subjects(&mut object.node, value, namespace)?;
            }
            for spec in specs.iter().filter(|spec| spec.fits(&id)) {
                if spec.kind == "Namespace" {
                    if !id.group.is_empty() || id.version != "v1" {
                        continue;
                    }
                    if id.name != namespace {
                        renamed.push(RenamedNamespace {
                            transformer: value.place,
                            object: object.name_place(),
                            from: id.name.to_string(),
                            to: namespace.to_owned(),
                        });
                    }
                }
                for_each_field(&mut object.node, spec, creation, &mut set)?;
            }
            Ok(())
        })();
        outcome.map_err(|error| field_refusal("namespace", value.place, object, error))?;
    }
    Ok(())
}

fn move_default_subjects(
    binding: &mut Node,
    value: &Node,
    namespace: &str,
) -> Result<(), FieldError> {
    let Some(subjects) = binding.get("subjects").filter(|node| !node.is_null()) else {
        return Ok(());
    };
    if subjects.as_sequence().is_none() {
        return Err(FieldError::new(subjects, "subjects is no list"));
    }
    if let Some(wrong) = subjects
        .items()
        .iter()
        .find(|subject| subject.as_mapping().is_none())
    {
        return Err(FieldError::new(wrong, "a subject is no map"));
    }
    for subject in binding
        .get_mut("subjects")
        .and_then(Node::items_mut)
        .into_iter()
        .flatten()
    {
        if subject.str_at(&["name"]) == Some("default") {
            let moved = Node::string(value.place, namespace);
            subject.set("namespace", value.place, moved);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::testing::{node, objects, text};

    fn moved(input: &str) -> (Vec<Object>, Vec<RenamedNamespace>) {
        let mut objects = objects(input);
        let mut renamed = Vec::new();
        apply(&mut objects, &node("x"), &mut renamed).unwrap();
        (objects, renamed)
    }

    #[test]
    fn namespaced_and_unknown_kinds_are_moved_and_known_cluster_scoped_ones_are_not() {
        let (moved, renamed) = moved(
            "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata: {name: t}\n---\n\
             apiVersion: v1\nkind: Node\nmetadata: {name: t}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t, namespace: old}\n",
        );
        assert_eq!(
            text(&moved),
            "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata:\n  name: t\n  namespace: x\n---\n\
             apiVersion: v1\nkind: Node\nmetadata:\n  name: t\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: t\n  namespace: x\n"
        );
        assert!(renamed.is_empty());
        assert_eq!(moved[2].original_id().namespace, "old");
        let namespace = moved[2].node.at(&["metadata", "namespace"]).unwrap();
        assert_eq!(namespace.place.file, crate::source::FileId(1));
    }

    #[test]
    fn a_namespace_object_is_renamed_and_one_of_another_group_is_moved() {
        let (moved, renamed) = moved(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: apps}\n---\n\
             apiVersion: example.com/v1\nkind: Namespace\nmetadata: {name: apps}\n",
        );
        assert_eq!(
            text(&moved),
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n---\n\
             apiVersion: example.com/v1\nkind: Namespace\nmetadata:\n  name: apps\n  namespace: x\n"
        );
        assert_eq!(renamed.len(), 1);
        assert_eq!(
            (renamed[0].from.as_str(), renamed[0].to.as_str()),
            ("apps", "x")
        );
    }

    #[test]
    fn only_subjects_named_default_are_moved() {
        let (moved, _) = moved(
            "kind: RoleBinding\nmetadata: {name: t}\nsubjects:\n- {kind: ServiceAccount, name: default}\n\
             - {kind: ServiceAccount, name: other}\n- {kind: User, name: default, namespace: q}\n",
        );
        let subjects = moved[0].node.get("subjects").unwrap().items();
        let namespaces: Vec<_> = subjects.iter().map(|s| s.str_at(&["namespace"])).collect();
        assert_eq!(namespaces, [Some("x"), None, Some("x")]);
    }

    #[test]
    fn an_api_service_gets_the_namespace_of_its_service() {
        let (moved, _) =
            moved("apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: t}\n");
        assert_eq!(
            moved[0].node.str_at(&["spec", "service", "namespace"]),
            Some("x")
        );
    }

    #[test]
    fn subjects_of_the_wrong_shape_are_refused() {
        let mut objects = objects("kind: RoleBinding\nmetadata: {name: t}\nsubjects: [a]\n");
        let problem = apply(&mut objects, &node("x"), &mut Vec::new()).unwrap_err();
        assert_eq!(
            problem.message,
            "namespace fails on RoleBinding x/t: a subject is no map"
        );
    }
}
