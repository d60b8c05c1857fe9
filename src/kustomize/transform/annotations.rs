//! `commonAnnotations` (upstream: `builtinpluginconsts/commonannotations.go`).

use crate::kustomize::fieldspec::FieldSpec;
use crate::kustomize::{Object, Problem};
use crate::yaml::Node;

use super::labels::set_pairs;

/// Applies `commonAnnotations`: to metadata and to the pod templates of built-in kinds.
///
/// # Errors
/// When a field has the wrong shape.
pub fn common_annotations(objects: &mut [Object], field: &Node) -> Result<(), Problem> {
    let spec = |kind, path| FieldSpec::of_kind(kind, path).created();
    let template = "spec/template/metadata/annotations";
    let specs = [
        spec("", "metadata/annotations"),
        spec("ReplicationController", template).in_version("v1"),
        spec("Deployment", template),
        spec("ReplicaSet", template),
        spec("DaemonSet", template),
        spec("StatefulSet", template),
        spec("Job", template).in_group("batch"),
        spec("CronJob", "spec/jobTemplate/metadata/annotations").in_group("batch"),
        spec(
            "CronJob",
            "spec/jobTemplate/spec/template/metadata/annotations",
        )
        .in_group("batch"),
    ];
    set_pairs(objects, field, &specs, "commonAnnotations")
}
