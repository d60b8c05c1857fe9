//! `substituted-type`: a variable turns a string into something else where a string is needed.

use smol_str::SmolStr;

use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::kustomize::{Object, ObjectId};
use crate::repo::Repo;
use crate::yaml::{Node, Value};

pub(super) static RULE: Rule = Rule {
    name: "substituted-type",
    group: Group::Variables,
    summary: "a variable turns a string into something else where a string is needed",
    page: include_str!("../../rules/substituted-type.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for (index, retyped) in &kustomization.substitution.retyped {
                let object = &kustomization.build.objects[*index];
                let Some(variable) = &retyped.variable else {
                    continue;
                };
                if retyped.after.is_null() || !needs_a_string(&object.id(), &retyped.path) {
                    continue;
                }
                let is_length = retyped
                    .before
                    .as_str()
                    .is_some_and(|text| text.starts_with("${#"));
                let length = if is_length { "#" } else { "" };
                let reference = format!("${{{length}{variable}}}");
                let mut finding = Finding::new(
                    RULE.name,
                    Severity::Warning,
                    retyped.before.place,
                    format!(
                        "`{reference}` becomes {} here, and a string is needed",
                        described(&retyped.after)
                    ),
                )
                .help(format!(
                    "quotes around it are lost before Flux substitutes: write `${{q:=\"}}{reference}${{q:=\"}}` between single quotes, or make it part of a longer text"
                ))
                .cluster(&cluster.path);
                if let Some(definition) = kustomization.substitution.variables.get(variable) {
                    finding = finding.related(definition.place, "the variable is set here");
                }
                findings.push(finding.related(object_place(object), format!("in {}", object.id())));
            }
        }
    }
    findings
}

fn object_place(object: &Object) -> crate::source::Place {
    object.name_place()
}

fn described(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) if node.as_bool().is_some() => {
            format!("the boolean {}", scalar.text)
        }
        Value::Scalar(scalar) => format!("the number {}", scalar.text),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a map".to_owned(),
    }
}

/// True where the API server takes nothing but a string.
fn needs_a_string(id: &ObjectId, path: &[SmolStr]) -> bool {
    let path: Vec<&str> = path.iter().map(SmolStr::as_str).collect();
    let in_metadata = matches!(
        path.as_slice(),
        [.., "metadata", "labels" | "annotations", _] | ["metadata", "name" | "namespace"]
    );
    let of_kind = match (id.group.as_str(), id.kind.as_str()) {
        ("", "ConfigMap" | "Secret") => matches!(path.as_slice(), ["data" | "stringData", _]),
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => matches!(
            path.as_slice(),
            ["spec", "postBuild", "substitute", _] | ["spec", "path" | "targetNamespace"]
        ),
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            matches!(path.as_slice(), ["spec", "chart", "spec", "version"])
        }
        ("" | "apps" | "batch", _) => matches!(
            path.as_slice(),
            [.., "containers" | "initContainers", _, "env", _, "value"]
                | [
                    ..,
                    "containers" | "initContainers",
                    _,
                    "args" | "command",
                    _
                ]
                | [.., "containers" | "initContainers", _, "image"]
                | [.., "nodeSelector" | "matchLabels", _]
        ),
        _ => false,
    };
    in_metadata || of_kind
}
