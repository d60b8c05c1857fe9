//! `labels` and `commonLabels` (upstream: `filters/labels`, `builtinpluginconsts/commonlabels.go`).

use crate::kustomize::fieldspec::{self, Creation, FieldError, FieldSpec, Leaf, for_each_field};
use crate::kustomize::{Object, Problem};
use crate::source::Place;
use crate::yaml::{Entry, Node, Value};

use super::{field_refusal, refusal, written, written_bool};

/// Applies the entries of `labels`: to `metadata.labels`, the entry's own `fields`, and with
/// `includeTemplates` or `includeSelectors` to the templates and selectors of built-in kinds.
///
/// # Errors
/// When two field specs of an entry contradict each other, or a field has the wrong shape.
pub fn labels(objects: &mut [Object], field: &Node) -> Result<(), Problem> {
    for entry in field.items() {
        let Some(pairs) = written(entry, "pairs") else {
            continue;
        };
        let specs = entry_specs(entry).map_err(|path| {
            refusal(
                entry.place,
                format!("labels: the field specs for {path} contradict each other in create"),
            )
        })?;
        set_pairs(objects, pairs, &specs, "labels")?;
    }
    Ok(())
}

/// Applies `commonLabels`: to metadata, templates and selectors.
///
/// # Errors
/// When a field has the wrong shape.
pub fn common_labels(objects: &mut [Object], field: &Node) -> Result<(), Problem> {
    set_pairs(objects, field, &common_label_specs(), "commonLabels")
}

fn entry_specs(entry: &Node) -> Result<Vec<FieldSpec>, smol_str::SmolStr> {
    let mut specs: Vec<FieldSpec> = written(entry, "fields")
        .map(|fields| fields.items().iter().map(FieldSpec::read).collect())
        .unwrap_or_default();
    if written_bool(entry, "includeSelectors") {
        fieldspec::merge(&mut specs, &common_label_specs())?;
    } else {
        if written_bool(entry, "includeTemplates") {
            fieldspec::merge(&mut specs, &template_label_specs())?;
        }
        let metadata = FieldSpec::of_kind("", "metadata/labels").created();
        fieldspec::merge(&mut specs, &[metadata])?;
    }
    Ok(specs)
}

/// Sets each pair in the maps that `specs` name; keys and values keep their places.
pub(super) fn set_pairs(
    objects: &mut [Object],
    pairs: &Node,
    specs: &[FieldSpec],
    transformer: &str,
) -> Result<(), Problem> {
    let pairs: Vec<(&str, Place, Node)> = pairs
        .pairs()
        .into_iter()
        .filter_map(|Entry { key, value }| {
            let text = value.as_str().unwrap_or_default();
            Some((key.as_str()?, key.place, Node::string(value.place, text)))
        })
        .collect();
    let Some((_, place, _)) = pairs.first() else {
        return Ok(());
    };
    let creation = Some(Creation {
        leaf: Leaf::Mapping,
        place: *place,
    });
    for object in objects {
        let id = object.id();
        for spec in specs.iter().filter(|spec| spec.fits(&id)) {
            for_each_field(&mut object.node, spec, creation, &mut |map| {
                if !matches!(map.value, Value::Mapping(_)) {
                    return Err(FieldError::new(map, format!("{} is no map", spec.path)));
                }
                for (key, key_place, value) in &pairs {
                    set_string(map, key, *key_place, value.clone());
                }
                Ok(())
            })
            .map_err(|error| field_refusal(transformer, *place, object, error))?;
        }
    }
    Ok(())
}

/// Sets a key that is a string whatever it looks like.
fn set_string(map: &mut Node, key: &str, key_place: Place, value: Node) {
    if map.get(key).is_some() {
        map.set(key, key_place, value);
    } else if let Some(mapping) = map.mapping_mut() {
        let key = Node::string(key_place, key);
        mapping.entries.push(Entry { key, value });
    }
}

/// Labels of objects and of the templates in them.
fn template_label_specs() -> Vec<FieldSpec> {
    let spec = |kind, path: &'static str| FieldSpec::of_kind(kind, path).created();
    let template = "spec/template/metadata/labels";
    vec![
        spec("", "metadata/labels"),
        spec("ReplicationController", template).in_version("v1"),
        spec("Deployment", template),
        spec("ReplicaSet", template),
        spec("DaemonSet", template),
        spec("StatefulSet", template).in_group("apps"),
        spec("StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels").in_group("apps"),
        spec("Job", template).in_group("batch"),
        spec("CronJob", "spec/jobTemplate/metadata/labels").in_group("batch"),
        spec("CronJob", "spec/jobTemplate/spec/template/metadata/labels").in_group("batch"),
    ]
}

/// Labels, selectors and templates.
fn common_label_specs() -> Vec<FieldSpec> {
    let spec = FieldSpec::of_kind;
    let mut specs = vec![
        spec("Service", "spec/selector").in_version("v1").created(),
        spec("ReplicationController", "spec/selector")
            .in_version("v1")
            .created(),
        spec("Deployment", "spec/selector/matchLabels").created(),
        spec("ReplicaSet", "spec/selector/matchLabels").created(),
        spec("DaemonSet", "spec/selector/matchLabels").created(),
        spec("StatefulSet", "spec/selector/matchLabels")
            .in_group("apps")
            .created(),
        spec("Job", "spec/selector/matchLabels").in_group("batch"),
        spec("CronJob", "spec/jobTemplate/spec/selector/matchLabels").in_group("batch"),
        spec("PodDisruptionBudget", "spec/selector/matchLabels").in_group("policy"),
    ];
    for path in [
        "spec/podSelector/matchLabels",
        "spec/ingress/from/podSelector/matchLabels",
        "spec/egress/to/podSelector/matchLabels",
    ] {
        specs.push(spec("NetworkPolicy", path).in_group("networking.k8s.io"));
    }
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm";
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    for kind in ["Deployment", "StatefulSet"] {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            for term in [preferred, required] {
                let path = format!(
                    "spec/template/spec/affinity/{affinity}/{term}/labelSelector/matchLabels"
                );
                specs.push(spec(kind, &path).in_group("apps"));
            }
        }
        let spread = "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels";
        specs.push(spec(kind, spread).in_group("apps"));
    }
    specs.extend(template_label_specs());
    specs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::transform::annotations::common_annotations;
    use crate::kustomize::transform::testing::{node, objects, text};

    const ENTRIES: &str = "\
- pairs: {one: '1'}
- pairs: {two: '2'}
  includeTemplates: true
- pairs: {three: '3'}
  includeSelectors: yes
- pairs: {four: '4'}
  fields:
  - {path: spec/extra/labels, kind: Custom, create: true}
";

    fn labelled(input: &str) -> String {
        let mut objects = objects(input);
        labels(&mut objects, &node(ENTRIES)).unwrap();
        common_annotations(&mut objects, &node("note: 'n'")).unwrap();
        text(&objects)
    }

    const METADATA: &str = "  labels:
    one: \"1\"
    two: \"2\"
    three: \"3\"
    four: \"4\"
  annotations:
    note: \"n\"
";

    #[test]
    fn selectors_and_templates_are_labelled_where_asked_for() {
        let input = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n\
             spec:\n  template:\n    spec:\n      topologySpreadConstraints:\n      - labelSelector: {matchLabels: {a: b}}\n      - x: z\n";
        assert_eq!(
            labelled(input),
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n{METADATA}\
spec:
  template:
    spec:
      topologySpreadConstraints:
      - labelSelector:
          matchLabels:
            a: b
            three: \"3\"
      - x: z
    metadata:
      labels:
        two: \"2\"
        three: \"3\"
      annotations:
        note: \"n\"
  selector:
    matchLabels:
      three: \"3\"
"
            )
        );
    }

    #[test]
    fn a_cron_job_has_two_templates_and_no_selector() {
        assert_eq!(
            labelled("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\n"),
            format!(
                "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: c\n{METADATA}\
spec:
  jobTemplate:
    metadata:
      labels:
        two: \"2\"
        three: \"3\"
      annotations:
        note: \"n\"
    spec:
      template:
        metadata:
          labels:
            two: \"2\"
            three: \"3\"
          annotations:
            note: \"n\"
"
            )
        );
    }

    #[test]
    fn own_fields_of_an_entry_are_labelled_too() {
        assert_eq!(
            labelled("apiVersion: example.com/v1\nkind: Custom\nmetadata: {name: u}\n"),
            format!(
                "apiVersion: example.com/v1\nkind: Custom\nmetadata:\n  name: u\n{METADATA}\
spec:\n  extra:\n    labels:\n      four: \"4\"\n"
            )
        );
    }

    #[test]
    fn existing_selectors_of_network_policies_and_budgets_are_labelled() {
        let mut objects = objects(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n, labels: {c: old}}\n\
             spec:\n  podSelector: {matchLabels: {a: b}}\n  ingress:\n  - from:\n    - podSelector: {matchLabels: {a: b}}\n---\n\
             apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {selector: {}}\n---\n\
             apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
        );
        common_labels(&mut objects, &node("c: d")).unwrap();
        assert_eq!(
            text(&objects),
            "\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: \"n\"
  labels:
    c: d
spec:
  podSelector:
    matchLabels:
      a: b
      c: d
  ingress:
  - from:
    - podSelector:
        matchLabels:
          a: b
          c: d
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: b
  labels:
    c: d
spec:
  selector: {}
---
apiVersion: v1
kind: Service
metadata:
  name: s
  labels:
    c: d
spec:
  selector:
    c: d
"
        );
        let label = objects[2].node.at(&["metadata", "labels", "c"]).unwrap();
        assert_eq!(label.place.file, crate::source::FileId(1));
    }

    #[test]
    fn labels_on_a_scalar_are_refused() {
        let mut objects = objects("kind: A\nmetadata: {name: a, labels: x}\n");
        let problem = common_labels(&mut objects, &node("c: d")).unwrap_err();
        assert_eq!(
            problem.message,
            "commonLabels fails on A a: metadata/labels is no map"
        );
        let mut objects = Vec::new();
        let contradiction = node("- pairs: {a: b}\n  fields: [{path: metadata/labels}]\n");
        assert!(labels(&mut objects, &contradiction).is_err());
    }
}
