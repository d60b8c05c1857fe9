//! The built-in name references (upstream: `builtinpluginconsts/namereference.go`).

use super::NameReference;
use crate::kustomize::fieldspec::FieldSpec;

/// Where the pod spec stands in the kinds whose references to ConfigMaps and Secrets are known.
const POD_SPECS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// The same for ServiceAccounts, PersistentVolumeClaims and PriorityClasses.
const WORKLOADS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
];

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

/// All references that kustomize knows by itself.
///
/// That of an Ingress to its IngressClass is left out: upstream's entry has a group that no object can have.
pub(super) fn built_in() -> Vec<NameReference> {
    let mut references: Vec<NameReference> = [
        "Deployment",
        "ReplicationController",
        "ReplicaSet",
        "StatefulSet",
    ]
    .map(|kind| {
        let scaler = field("HorizontalPodAutoscaler", "spec/scaleTargetRef/name");
        reference("", "", kind, vec![scaler])
    })
    .into();
    references.extend([
        reference("", "v1", "ConfigMap", config_map_fields()),
        reference("", "v1", "Secret", secret_fields()),
        reference("", "v1", "Service", service_fields()),
        reference(RBAC, "", "Role", vec![role_ref("RoleBinding")]),
        reference(
            RBAC,
            "",
            "ClusterRole",
            vec![role_ref("RoleBinding"), role_ref("ClusterRoleBinding")],
        ),
        reference("", "v1", "ServiceAccount", service_account_fields()),
        reference(
            "",
            "v1",
            "PersistentVolumeClaim",
            in_workloads("volumes/persistentVolumeClaim/claimName"),
        ),
        reference(
            "",
            "v1",
            "PersistentVolume",
            vec![
                field("PersistentVolumeClaim", "spec/volumeName"),
                field("ClusterRole", "rules/resourceNames"),
            ],
        ),
        reference(
            "storage.k8s.io",
            "v1",
            "StorageClass",
            vec![
                field("PersistentVolume", "spec/storageClassName"),
                field("PersistentVolumeClaim", "spec/storageClassName"),
                field(
                    "StatefulSet",
                    "spec/volumeClaimTemplates/spec/storageClassName",
                ),
            ],
        ),
        reference(
            "scheduling.k8s.io",
            "v1",
            "PriorityClass",
            in_workloads("priorityClassName"),
        ),
        reference(
            ADMISSION,
            "",
            "ValidatingAdmissionPolicy",
            vec![field("ValidatingAdmissionPolicyBinding", "spec/policyName").in_group(ADMISSION)],
        ),
    ]);
    references
}

fn field(kind: &str, path: &str) -> FieldSpec {
    FieldSpec::of_kind(kind, path)
}

fn reference(group: &str, version: &str, kind: &str, fields: Vec<FieldSpec>) -> NameReference {
    NameReference {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        fields,
    }
}

fn role_ref(kind: &str) -> FieldSpec {
    field(kind, "roleRef/name").in_group(RBAC)
}

/// Paths below the pod specs that may name ConfigMaps and Secrets.
fn in_pod_specs(paths: &[&str]) -> Vec<FieldSpec> {
    let mut fields = Vec::new();
    for (kind, pod) in POD_SPECS {
        for path in paths {
            let spec = field(kind, &format!("{pod}/{path}"));
            fields.push(match *kind {
                "Pod" => spec.in_version("v1"),
                _ => spec,
            });
        }
    }
    fields
}

fn in_workloads(path: &str) -> Vec<FieldSpec> {
    WORKLOADS
        .iter()
        .map(|(kind, pod)| field(kind, &format!("{pod}/{path}")))
        .collect()
}

fn config_map_fields() -> Vec<FieldSpec> {
    let mut fields = in_pod_specs(&[
        "volumes/configMap/name",
        "containers/env/valueFrom/configMapKeyRef/name",
        "initContainers/env/valueFrom/configMapKeyRef/name",
        "containers/envFrom/configMapRef/name",
        "initContainers/envFrom/configMapRef/name",
        "volumes/projected/sources/configMap/name",
    ]);
    fields.extend([
        field("Node", "spec/configSource/configMap"),
        field("Role", "rules/resourceNames"),
        field("ClusterRole", "rules/resourceNames"),
        field(
            "Ingress",
            r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap",
        ),
    ]);
    fields
}

fn secret_fields() -> Vec<FieldSpec> {
    let mut fields = in_pod_specs(&[
        "volumes/secret/secretName",
        "containers/env/valueFrom/secretKeyRef/name",
        "initContainers/env/valueFrom/secretKeyRef/name",
        "containers/envFrom/secretRef/name",
        "initContainers/envFrom/secretRef/name",
        "imagePullSecrets/name",
        "volumes/projected/sources/secret/name",
    ]);
    fields.extend([
        field("Ingress", "spec/tls/secretName"),
        field(
            "Ingress",
            r"metadata/annotations/ingress.kubernetes.io\/auth-secret",
        ),
        field(
            "Ingress",
            r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret",
        ),
        field(
            "Ingress",
            r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret",
        ),
        field("ServiceAccount", "imagePullSecrets/name"),
        field("StorageClass", "parameters/secretName"),
        field("StorageClass", "parameters/adminSecretName"),
        field("StorageClass", "parameters/userSecretName"),
        field("StorageClass", "parameters/secretRef"),
        field("Role", "rules/resourceNames"),
        field("ClusterRole", "rules/resourceNames"),
        field(
            "Service",
            "spec/template/spec/containers/env/valueFrom/secretKeyRef/name",
        )
        .in_group("serving.knative.dev")
        .in_version("v1"),
        field("PersistentVolume", "spec/azureFile/secretName"),
    ]);
    fields
}

fn service_fields() -> Vec<FieldSpec> {
    vec![
        field("StatefulSet", "spec/serviceName").in_group("apps"),
        field("Ingress", "spec/rules/http/paths/backend/serviceName"),
        field("Ingress", "spec/backend/serviceName"),
        field("Ingress", "spec/rules/http/paths/backend/service/name"),
        field("Ingress", "spec/defaultBackend/service/name"),
        field("APIService", "spec/service/name").in_group("apiregistration.k8s.io"),
        field(
            "ValidatingWebhookConfiguration",
            "webhooks/clientConfig/service",
        )
        .in_group(ADMISSION),
        field(
            "MutatingWebhookConfiguration",
            "webhooks/clientConfig/service",
        )
        .in_group(ADMISSION),
    ]
}

fn service_account_fields() -> Vec<FieldSpec> {
    let mut fields = vec![
        field("RoleBinding", "subjects").in_group(RBAC),
        field("ClusterRoleBinding", "subjects").in_group(RBAC),
    ];
    fields.extend(in_workloads("serviceAccountName"));
    fields
}
