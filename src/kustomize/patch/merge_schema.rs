//! Which lists of built-in kinds a strategic merge patch merges, and by which keys.
//!
//! The facts are those of the OpenAPI schema of Kubernetes 1.21 that kustomize embeds
//! (upstream: kyaml `openapi/kubernetesapi`): `x-kubernetes-patch-strategy` and the
//! merge keys. A list that is not named here is replaced whole.

/// What is known about the type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    /// Nothing: a custom kind.
    Unknown,
    /// A type of the table.
    Known(Type),
}

/// How a list merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListMerge {
    /// The fields that name an item; none for a list of plain values.
    pub(super) keys: &'static [&'static str],
    /// The type of the items.
    pub(super) item: Type,
}

/// The types below which there is a list that merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Known, and without such a list.
    Plain,
    /// A kind with nothing but its metadata.
    Metadata,
    ObjectMeta,
    Workload,
    WorkloadSpec,
    CronJob,
    CronJobSpec,
    JobTemplate,
    Pod,
    PodTemplateKind,
    PodTemplate,
    PodSpec,
    PodStatus,
    Container,
    EphemeralContainer,
    Volume,
    EphemeralVolume,
    ClaimTemplate,
    Service,
    ServiceSpec,
    ServiceAccount,
    Webhooks,
    WithConditions,
    ComponentStatus,
    Conditions,
    Node,
    NodeSpec,
    NodeStatus,
    CsiNode,
    CsiNodeSpec,
}

/// The built-in kinds of each API version.
const BUILT_IN: &[(&str, &[&str])] = &[
    (
        "admissionregistration.k8s.io/v1",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io/v1", &["CustomResourceDefinition"]),
    (
        "apiextensions.k8s.io/v1beta1",
        &["CustomResourceDefinition"],
    ),
    ("apiregistration.k8s.io/v1", &["APIService"]),
    ("apiregistration.k8s.io/v1beta1", &["APIService"]),
    (
        "apps/v1",
        &[
            "ControllerRevision",
            "DaemonSet",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
        ],
    ),
    ("authentication.k8s.io/v1", &["TokenRequest", "TokenReview"]),
    ("authentication.k8s.io/v1beta1", &["TokenReview"]),
    (
        "authorization.k8s.io/v1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    (
        "authorization.k8s.io/v1beta1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
    ),
    ("autoscaling/v1", &["HorizontalPodAutoscaler", "Scale"]),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"]),
    ("batch/v1", &["CronJob", "Job"]),
    ("batch/v1beta1", &["CronJob"]),
    ("certificates.k8s.io/v1", &["CertificateSigningRequest"]),
    (
        "certificates.k8s.io/v1beta1",
        &["CertificateSigningRequest"],
    ),
    ("coordination.k8s.io/v1", &["Lease"]),
    ("coordination.k8s.io/v1beta1", &["Lease"]),
    ("discovery.k8s.io/v1", &["EndpointSlice"]),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    ("events.k8s.io/v1", &["Event"]),
    ("events.k8s.io/v1beta1", &["Event"]),
    ("extensions/v1beta1", &["Ingress"]),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        &["FlowSchema", "PriorityLevelConfiguration"],
    ),
    (
        "networking.k8s.io/v1",
        &["Ingress", "IngressClass", "NetworkPolicy"],
    ),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    ("node.k8s.io/v1", &["RuntimeClass"]),
    ("node.k8s.io/v1beta1", &["RuntimeClass"]),
    ("policy/v1", &["PodDisruptionBudget"]),
    (
        "policy/v1beta1",
        &["Eviction", "PodDisruptionBudget", "PodSecurityPolicy"],
    ),
    (
        "rbac.authorization.k8s.io/v1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
    ),
    (
        "rbac.authorization.k8s.io/v1beta1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
    ),
    ("scheduling.k8s.io/v1", &["PriorityClass"]),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"]),
    (
        "storage.k8s.io/v1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
    ),
    (
        "storage.k8s.io/v1beta1",
        &[
            "CSIDriver",
            "CSINode",
            "CSIStorageCapacity",
            "StorageClass",
            "VolumeAttachment",
        ],
    ),
    (
        "v1",
        &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
];

/// The schema of a kind; [`Schema::Unknown`] for a kind that is not built in.
pub(super) fn of_kind(api_version: &str, kind: &str) -> Schema {
    let built_in = BUILT_IN
        .iter()
        .any(|(version, kinds)| *version == api_version && kinds.contains(&kind));
    if !built_in {
        return Schema::Unknown;
    }
    Schema::Known(match kind {
        "DaemonSet"
        | "Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "ReplicationController"
        | "Job" => Type::Workload,
        "CronJob" => Type::CronJob,
        "Pod" => Type::Pod,
        "PodTemplate" => Type::PodTemplateKind,
        "Service" => Type::Service,
        "ServiceAccount" => Type::ServiceAccount,
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => Type::Webhooks,
        "Namespace" | "PersistentVolumeClaim" | "PodDisruptionBudget" | "APIService" => {
            Type::WithConditions
        }
        "ComponentStatus" => Type::ComponentStatus,
        "Node" => Type::Node,
        "CSINode" => Type::CsiNode,
        _ => Type::Metadata,
    })
}

impl Type {
    /// The type of a field that holds a map.
    pub(super) fn field(self, name: &str) -> Type {
        match (self, name) {
            (
                Type::Metadata
                | Type::Workload
                | Type::CronJob
                | Type::JobTemplate
                | Type::Pod
                | Type::PodTemplateKind
                | Type::PodTemplate
                | Type::ClaimTemplate
                | Type::Service
                | Type::ServiceAccount
                | Type::Webhooks
                | Type::WithConditions
                | Type::ComponentStatus
                | Type::Node
                | Type::CsiNode,
                "metadata",
            ) => Type::ObjectMeta,
            (Type::Workload | Type::JobTemplate, "spec") => Type::WorkloadSpec,
            (Type::Workload | Type::WithConditions | Type::Service, "status") => Type::Conditions,
            (Type::WorkloadSpec | Type::PodTemplateKind, "template") => Type::PodTemplate,
            (Type::CronJob, "spec") => Type::CronJobSpec,
            (Type::CronJobSpec, "jobTemplate") => Type::JobTemplate,
            (Type::Pod | Type::PodTemplate, "spec") => Type::PodSpec,
            (Type::Pod, "status") => Type::PodStatus,
            (Type::Volume, "ephemeral") => Type::EphemeralVolume,
            (Type::EphemeralVolume, "volumeClaimTemplate") => Type::ClaimTemplate,
            (Type::Service, "spec") => Type::ServiceSpec,
            (Type::Node, "spec") => Type::NodeSpec,
            (Type::Node, "status") => Type::NodeStatus,
            (Type::CsiNode, "spec") => Type::CsiNodeSpec,
            _ => Type::Plain,
        }
    }

    /// How the list in a field merges; `None` where it is replaced.
    pub(super) fn list(self, name: &str) -> Option<ListMerge> {
        let by = |keys: &'static [&'static str], item| Some(ListMerge { keys, item });
        match (self, name) {
            (Type::ObjectMeta, "finalizers") | (Type::NodeSpec, "podCIDRs") => by(&[], Type::Plain),
            (Type::ObjectMeta, "ownerReferences") => by(&["uid"], Type::Plain),
            (Type::PodSpec, "containers" | "initContainers") => by(&["name"], Type::Container),
            (Type::PodSpec, "ephemeralContainers") => by(&["name"], Type::EphemeralContainer),
            (Type::PodSpec, "hostAliases") | (Type::PodStatus, "podIPs") => {
                by(&["ip"], Type::Plain)
            }
            (Type::PodSpec, "imagePullSecrets") => by(&["name"], Type::Plain),
            (Type::PodSpec, "topologySpreadConstraints") => {
                by(&["topologyKey", "whenUnsatisfiable"], Type::Plain)
            }
            (Type::PodSpec, "volumes") => by(&["name"], Type::Volume),
            (Type::Container, "ports") => by(&["containerPort", "protocol"], Type::Plain),
            (Type::Container | Type::EphemeralContainer, "env") => by(&["name"], Type::Plain),
            (Type::Container | Type::EphemeralContainer, "volumeDevices") => {
                by(&["devicePath"], Type::Plain)
            }
            (Type::Container | Type::EphemeralContainer, "volumeMounts") => {
                by(&["mountPath"], Type::Plain)
            }
            (Type::ServiceSpec, "ports") => by(&["port", "protocol"], Type::Plain),
            (Type::ServiceAccount, "secrets")
            | (Type::Webhooks, "webhooks")
            | (Type::CsiNodeSpec, "drivers") => by(&["name"], Type::Plain),
            (
                Type::Conditions | Type::ComponentStatus | Type::PodStatus | Type::NodeStatus,
                "conditions",
            )
            | (Type::NodeStatus, "addresses") => by(&["type"], Type::Plain),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_built_in_kinds_have_their_keys() {
        let Schema::Known(deployment) = of_kind("apps/v1", "Deployment") else {
            panic!("a Deployment is built in");
        };
        let pod = deployment.field("spec").field("template").field("spec");
        assert_eq!(
            pod.list("containers").map(|list| list.keys),
            Some(&["name"][..])
        );
        assert_eq!(pod.list("tolerations"), None);
        assert_eq!(of_kind("apps/v1beta1", "Deployment"), Schema::Unknown);
        assert_eq!(
            of_kind("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
            Schema::Unknown
        );
    }
}
