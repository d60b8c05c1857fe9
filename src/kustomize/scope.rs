//! Which built-in kinds are cluster-scoped, as kustomize knows them (upstream:
//! kyaml `openapi.go`, the table of Kubernetes 1.21), and what follows for identities.

use super::{Object, ObjectId};

/// What kustomize calls the namespace of a cluster-scoped object.
pub const NO_NAMESPACE: &str = "_non_namespaceable_";

/// Cluster-scoped kinds of Kubernetes 1.21: group, versions, kind.
const CLUSTER_SCOPED: &[(&str, &[&str], &str)] = &[
    ("", &["v1"], "ComponentStatus"),
    ("", &["v1"], "Namespace"),
    ("", &["v1"], "Node"),
    ("", &["v1"], "NodeProxyOptions"),
    ("", &["v1"], "PersistentVolume"),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        "ValidatingWebhookConfiguration",
    ),
    (
        "apiextensions.k8s.io",
        &["v1", "v1beta1"],
        "CustomResourceDefinition",
    ),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], "APIService"),
    (
        "certificates.k8s.io",
        &["v1", "v1beta1"],
        "CertificateSigningRequest",
    ),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], "FlowSchema"),
    (
        "flowcontrol.apiserver.k8s.io",
        &["v1beta1"],
        "PriorityLevelConfiguration",
    ),
    ("networking.k8s.io", &["v1", "v1beta1"], "IngressClass"),
    ("node.k8s.io", &["v1", "v1beta1"], "RuntimeClass"),
    ("policy", &["v1beta1"], "PodSecurityPolicy"),
    (
        "rbac.authorization.k8s.io",
        &["v1", "v1beta1"],
        "ClusterRole",
    ),
    (
        "rbac.authorization.k8s.io",
        &["v1", "v1beta1"],
        "ClusterRoleBinding",
    ),
    ("scheduling.k8s.io", &["v1", "v1beta1"], "PriorityClass"),
    ("storage.k8s.io", &["v1", "v1beta1"], "CSIDriver"),
    ("storage.k8s.io", &["v1", "v1beta1"], "CSINode"),
    ("storage.k8s.io", &["v1", "v1beta1"], "StorageClass"),
    ("storage.k8s.io", &["v1", "v1beta1"], "VolumeAttachment"),
];

/// Namespaced kinds of Kubernetes.
const NAMESPACED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
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
    (
        "apps",
        &[
            "ControllerRevision",
            "DaemonSet",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
        ],
    ),
    ("autoscaling", &["HorizontalPodAutoscaler", "Scale"]),
    ("batch", &["CronJob", "Job"]),
    ("coordination.k8s.io", &["Lease"]),
    ("discovery.k8s.io", &["EndpointSlice"]),
    ("events.k8s.io", &["Event"]),
    ("extensions", &["Ingress"]),
    ("networking.k8s.io", &["Ingress", "NetworkPolicy"]),
    ("policy", &["PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io", &["Role", "RoleBinding"]),
    ("storage.k8s.io", &["CSIStorageCapacity"]),
];

/// API groups all of whose kinds are namespaced: Flux's own.
const NAMESPACED_GROUPS: &[&str] = &[
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "source.toolkit.fluxcd.io",
    "source.extensions.fluxcd.io",
    "notification.toolkit.fluxcd.io",
    "image.toolkit.fluxcd.io",
    "fluxcd.controlplane.io",
];

/// True for the cluster-scoped kinds of Kubernetes 1.21, in whatever version.
pub fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    CLUSTER_SCOPED
        .iter()
        .any(|(known_group, _, known_kind)| *known_kind == kind && *known_group == group)
}

/// True where kustomize takes the object for cluster-scoped: only in the versions
/// of Kubernetes 1.21, so `flowcontrol.apiserver.k8s.io/v1` is not.
pub fn is_certainly_cluster_scoped(id: &ObjectId) -> bool {
    CLUSTER_SCOPED.iter().any(|(group, versions, kind)| {
        id.kind == *kind && id.group == *group && versions.contains(&id.version.as_str())
    })
}

/// True for the namespaced kinds of Kubernetes and for all kinds of Flux; false where it cannot be known.
pub fn known_namespaced(group: &str, kind: &str) -> bool {
    NAMESPACED_GROUPS.contains(&group)
        || NAMESPACED
            .iter()
            .any(|(known, kinds)| *known == group && kinds.contains(&kind))
}

/// The namespace that counts for identity (upstream: `ResId.EffectiveNamespace`):
/// `default` for none, [`NO_NAMESPACE`] for a cluster-scoped kind.
pub fn effective_namespace(id: &ObjectId) -> &str {
    if is_certainly_cluster_scoped(id) {
        NO_NAMESPACE
    } else {
        id.effective_namespace()
    }
}

/// True if kustomize takes two ids for one (upstream: `ResId.Equals`).
pub fn same_identity(left: &ObjectId, right: &ObjectId) -> bool {
    left.name == right.name
        && left.kind == right.kind
        && left.group == right.group
        && left.version == right.version
        && effective_namespace(left) == effective_namespace(right)
}

/// Every identity an object has or had, the oldest first and the present one last. As in
/// kustomize, the group and version are always those it has now (upstream: `utils.PrevIds`).
pub fn all_ids(object: &Object) -> Vec<ObjectId> {
    let now = object.id();
    let mut ids: Vec<ObjectId> = object
        .previous
        .iter()
        .map(|id| ObjectId {
            group: now.group.clone(),
            version: now.version.clone(),
            ..id.clone()
        })
        .collect();
    ids.push(now);
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(group: &str, version: &str, kind: &str) -> ObjectId {
        ObjectId {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            namespace: "".into(),
            name: "n".into(),
        }
    }

    #[test]
    fn only_the_versions_of_kubernetes_1_21_are_cluster_scoped() {
        assert!(is_certainly_cluster_scoped(&id("", "v1", "Namespace")));
        assert!(!is_certainly_cluster_scoped(&id(
            "example.com",
            "v1",
            "Namespace"
        )));
        let group = "flowcontrol.apiserver.k8s.io";
        assert!(is_certainly_cluster_scoped(&id(
            group,
            "v1beta1",
            "FlowSchema"
        )));
        assert!(!is_certainly_cluster_scoped(&id(group, "v1", "FlowSchema")));
        assert!(is_cluster_scoped(group, "FlowSchema"));
        let review = id("authentication.k8s.io", "v1", "TokenReview");
        assert!(!is_certainly_cluster_scoped(&review));
    }

    #[test]
    fn namespaced_kinds_of_kubernetes_and_flux_are_known() {
        assert!(known_namespaced("apps", "Deployment"));
        assert!(known_namespaced(
            "kustomize.toolkit.fluxcd.io",
            "Kustomization"
        ));
        assert!(!known_namespaced("", "Namespace"));
        assert!(!known_namespaced("example.com", "Deployment"));
    }

    #[test]
    fn no_namespace_and_default_are_one() {
        let left = id("", "v1", "ConfigMap");
        let mut right = left.clone();
        right.namespace = "default".into();
        assert!(same_identity(&left, &right));
        right.namespace = "other".into();
        assert!(!same_identity(&left, &right));
        let mut node = id("", "v1", "Node");
        node.namespace = "x".into();
        assert!(same_identity(&node, &id("", "v1", "Node")));
    }
}
