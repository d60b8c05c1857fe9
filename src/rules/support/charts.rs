//! Which well-known Helm charts install which CustomResourceDefinitions.
//!
//! Charts of container networks are not here on purpose: a cluster has its network, and so the
//! network's definitions, before Flux runs in it.

use std::collections::BTreeSet;

use super::gates::HELM_GROUP;
use super::is_set_aside;
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::yaml::{self, Node};

use Installs::{Always, OnlyIf, Unless};

/// How a chart's definitions are switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Installs {
    /// Always.
    Always,
    /// Unless one of these values is false.
    Unless(&'static [&'static [&'static str]]),
    /// Only if one of these values is true.
    OnlyIf(&'static [&'static [&'static str]]),
}

/// A chart, and the API groups of which it installs definitions.
struct Chart {
    name: &'static str,
    groups: &'static [&'static str],
    /// True if they lie in the chart's `crds` folder, which `install.crds: Skip` leaves out.
    folder: bool,
    installs: Installs,
}

/// A chart with its definitions in its `crds` folder.
const fn folder(name: &'static str, groups: &'static [&'static str]) -> Chart {
    Chart {
        name,
        groups,
        folder: true,
        installs: Always,
    }
}

/// A chart with its definitions among its templates.
const fn templates(
    name: &'static str,
    groups: &'static [&'static str],
    installs: Installs,
) -> Chart {
    Chart {
        name,
        groups,
        folder: false,
        installs,
    }
}

const ARGO: &[&str] = &["argoproj.io"];
const PROMETHEUS: &[&str] = &["monitoring.coreos.com"];
const VICTORIA: &[&str] = &["operator.victoriametrics.com"];

/// The charts, by name.
static CHARTS: &[Chart] = &[
    folder("actions-runner-controller", &["actions.summerwind.net"]),
    folder("alloy", &["monitoring.grafana.com"]),
    templates("argo-cd", ARGO, Unless(&[&["crds", "install"]])),
    templates("argo-events", ARGO, Unless(&[&["crds", "install"]])),
    templates("argo-rollouts", ARGO, Unless(&[&["installCRDs"]])),
    templates("argo-workflows", ARGO, Unless(&[&["crds", "install"]])),
    folder("aws-load-balancer-controller", &["elbv2.k8s.aws"]),
    templates(
        "base",
        &[
            "extensions.istio.io",
            "networking.istio.io",
            "security.istio.io",
            "telemetry.istio.io",
        ],
        Always,
    ),
    templates(
        "cert-manager",
        &["acme.cert-manager.io", "cert-manager.io"],
        OnlyIf(&[&["crds", "enabled"], &["installCRDs"]]),
    ),
    templates(
        "cloudnative-pg",
        &["postgresql.cnpg.io"],
        Unless(&[&["crds", "create"]]),
    ),
    templates(
        "crossplane",
        &[
            "apiextensions.crossplane.io",
            "ops.crossplane.io",
            "pkg.crossplane.io",
            "protection.crossplane.io",
        ],
        Always,
    ),
    templates(
        "dragonfly-operator",
        &["dragonflydb.io"],
        Unless(&[&["crds", "install"]]),
    ),
    templates(
        "eck-operator",
        &[
            "agent.k8s.elastic.co",
            "apm.k8s.elastic.co",
            "beat.k8s.elastic.co",
            "elasticsearch.k8s.elastic.co",
            "kibana.k8s.elastic.co",
            "logstash.k8s.elastic.co",
        ],
        Unless(&[&["installCRDs"]]),
    ),
    templates(
        "external-secrets",
        &["external-secrets.io", "generators.external-secrets.io"],
        Unless(&[&["installCRDs"]]),
    ),
    folder(
        "gatekeeper",
        &[
            "config.gatekeeper.sh",
            "mutations.gatekeeper.sh",
            "templates.gatekeeper.sh",
        ],
    ),
    folder(
        "gateway-helm",
        &["gateway.envoyproxy.io", "gateway.networking.k8s.io"],
    ),
    folder("gha-runner-scale-set-controller", &["actions.github.com"]),
    folder("grafana-operator", &["grafana.integreatly.org"]),
    folder("karpenter", &["karpenter.k8s.aws", "karpenter.sh"]),
    templates(
        "karpenter-crd",
        &["karpenter.k8s.aws", "karpenter.sh"],
        Always,
    ),
    templates(
        "keda",
        &["eventing.keda.sh", "keda.sh"],
        Unless(&[&["crds", "install"]]),
    ),
    folder("kong", &["configuration.konghq.com"]),
    Chart {
        name: "kube-prometheus-stack",
        groups: PROMETHEUS,
        folder: true,
        installs: Unless(&[&["crds", "enabled"]]),
    },
    templates(
        "kyverno",
        &["kyverno.io", "policies.kyverno.io"],
        Unless(&[&["crds", "install"]]),
    ),
    templates("linkerd-crds", &["linkerd.io", "policy.linkerd.io"], Always),
    templates("longhorn", &["longhorn.io"], Always),
    templates(
        "mariadb-operator",
        &["k8s.mariadb.com"],
        OnlyIf(&[&["crds", "enabled"]]),
    ),
    templates("mariadb-operator-crds", &["k8s.mariadb.com"], Always),
    templates("metallb", &["metallb.io"], Unless(&[&["crds", "enabled"]])),
    folder("node-feature-discovery", &["nfd.k8s-sigs.io"]),
    templates(
        "opentelemetry-operator",
        &["opentelemetry.io"],
        Unless(&[&["crds", "create"]]),
    ),
    folder("pgo", &["postgres-operator.crunchydata.com"]),
    templates(
        "plugin-barman-cloud",
        &["barmancloud.cnpg.io"],
        Unless(&[&["crds", "create"]]),
    ),
    folder("postgres-operator", &["acid.zalan.do"]),
    templates("prometheus-operator-crds", PROMETHEUS, Always),
    templates(
        "rook-ceph",
        &["ceph.rook.io", "objectbucket.io"],
        Unless(&[&["crds", "enabled"]]),
    ),
    folder("sealed-secrets", &["bitnami.com"]),
    folder("secrets-store-csi-driver", &["secrets-store.csi.x-k8s.io"]),
    folder("strimzi-kafka-operator", &["kafka.strimzi.io"]),
    templates(
        "tailscale-operator",
        &["tailscale.com"],
        Unless(&[&["installCRDs"]]),
    ),
    folder("tofu-controller", &["infra.contrib.fluxcd.io"]),
    folder("traefik", &["hub.traefik.io", "traefik.io"]),
    templates("traefik-crds", &["hub.traefik.io", "traefik.io"], Always),
    folder("trivy-operator", &["aquasecurity.github.io"]),
    templates(
        "trust-manager",
        &["trust.cert-manager.io"],
        Unless(&[&["crds", "enabled"]]),
    ),
    folder("vault-secrets-operator", &["secrets.hashicorp.com"]),
    folder("velero", &["velero.io"]),
    templates(
        "victoria-metrics-k8s-stack",
        VICTORIA,
        Unless(&[&["victoria-metrics-operator", "crds", "enabled"]]),
    ),
    templates(
        "victoria-metrics-operator",
        VICTORIA,
        Unless(&[&["crds", "enabled"], &["createCRD"]]),
    ),
    templates("victoria-metrics-operator-crds", VICTORIA, Always),
    templates("volsync", &["volsync.backube"], Unless(&[&["manageCRDs"]])),
];

/// Whether a HelmRelease installs the definitions of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Provides {
    /// A well-known chart does.
    Surely,
    /// A chart that is not known is named like the group.
    Likely,
    /// No.
    No,
}

/// True for a HelmRelease.
pub(in crate::rules) fn is_release(object: &Object) -> bool {
    let id = object.id();
    id.group == HELM_GROUP && id.kind == "HelmRelease"
}

/// The chart of a HelmRelease, without what stands before its name: `cert-manager`. None if it cannot be known.
pub(in crate::rules) fn chart_name(
    cluster: &Cluster,
    kustomization: &Kustomization,
    release: &Object,
) -> Option<String> {
    let spec = release.node.get("spec")?;
    if let Some(chart) = spec.at(&["chart", "spec", "chart"]) {
        let known = !kustomization.unknowns.contains(chart);
        return last_segment(chart.as_str().filter(|_| known)?);
    }
    let reference = spec.get("chartRef")?;
    let kind = reference.str_at(&["kind"])?;
    let name = reference.str_at(&["name"])?;
    let own = release.id().namespace;
    let namespace = reference.str_at(&["namespace"]).unwrap_or(&own);
    let (_, source) = cluster.objects().find(|(_, object)| {
        let is = |path: &[&str], text: &str| object.node.str_at(path) == Some(text);
        is(&["kind"], kind)
            && is(&["metadata", "name"], name)
            && is(&["metadata", "namespace"], namespace)
            && object.id().group == "source.toolkit.fluxcd.io"
    })?;
    let field = if kind == "HelmChart" { "chart" } else { "url" };
    last_segment(source.node.str_at(&["spec", field])?)
}

/// What stands behind the last slash.
fn last_segment(path: &str) -> Option<String> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    (!name.is_empty() && !name.contains("${")).then(|| name.to_owned())
}

/// Whether a HelmRelease of a chart installs the definitions of an API group.
pub(in crate::rules) fn provides(
    kustomization: &Kustomization,
    release: &Object,
    chart: &str,
    group: &str,
) -> Provides {
    if release
        .node
        .at(&["spec", "suspend"])
        .and_then(Node::as_bool)
        == Some(true)
    {
        return Provides::No;
    }
    let skips = release.node.str_at(&["spec", "install", "crds"]) == Some("Skip")
        || release
            .node
            .at(&["spec", "install", "skipCRDs"])
            .and_then(Node::as_bool)
            == Some(true);
    match CHARTS.iter().find(|known| known.name == chart) {
        Some(known) => {
            let switched_on = match known.installs {
                Always => true,
                Unless(paths) => !paths
                    .iter()
                    .any(|path| value(kustomization, release, path) == Some(false)),
                OnlyIf(paths) => paths
                    .iter()
                    .any(|path| value(kustomization, release, path) == Some(true)),
            };
            if known.groups.contains(&group) && switched_on && !(known.folder && skips) {
                Provides::Surely
            } else {
                Provides::No
            }
        }
        None if !skips && is_named_like(chart, group) => Provides::Likely,
        None => Provides::No,
    }
}

/// True for an operator's chart that bears the name of the group's owner: `keep-operator` and `keep.example.com`.
fn is_named_like(chart: &str, group: &str) -> bool {
    let Some(owner) = chart
        .strip_suffix("-operator")
        .or_else(|| chart.strip_prefix("operator-"))
        .filter(|owner| owner.len() >= 3)
    else {
        return false;
    };
    group.split('.').any(|label| label == owner)
}

/// What helmfiles of the tree install before Flux runs: names of releases and of charts.
pub(in crate::rules) fn installed_before_flux(repo: &Repo) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, file) in repo.head.tree.files() {
        let is_helmfile = path.to_ascii_lowercase().contains("helmfile");
        if !is_helmfile || is_set_aside(path) || repo.head.live.files.contains(&file) {
            continue;
        }
        // Read by lines, for a helmfile is a template and seldom YAML.
        for line in repo.files.text(file).lines() {
            let line = line.trim_start_matches(['-', ' ', '\t']);
            let value = ["name:", "chart:"]
                .iter()
                .find_map(|key| line.strip_prefix(key))
                .map(|value| value.trim().trim_matches(['"', '\'']));
            names.extend(value.and_then(last_segment));
        }
    }
    names
}

/// True if one of some names is a chart that installs the definitions of a group.
pub(in crate::rules) fn any_provides(names: &BTreeSet<String>, group: &str) -> bool {
    CHARTS
        .iter()
        .any(|chart| chart.groups.contains(&group) && names.contains(chart.name))
}

/// A boolean among the values of a HelmRelease; what stands in it wins over a ConfigMap of the same build.
fn value(kustomization: &Kustomization, release: &Object, path: &[&str]) -> Option<bool> {
    let written = release
        .node
        .at(&["spec", "values"])
        .and_then(|values| values.at(path))
        .and_then(Node::as_bool);
    written.or_else(|| {
        let from = release.node.at(&["spec", "valuesFrom"])?;
        from.items().iter().rev().find_map(|entry| {
            let key = entry.str_at(&["valuesKey"]).unwrap_or("values.yaml");
            let name = entry.str_at(&["name"])?;
            let object = kustomization.build.objects.iter().find(|object| {
                let id = object.id();
                id.kind == "ConfigMap" && id.group.is_empty() && id.name == name
            })?;
            let text = object.node.at(&["data", key])?.as_str()?;
            let file = yaml::parse(text, object.origin.file);
            file.documents.first()?.root.at(path)?.as_bool()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_each_chart_once() {
        let names: Vec<&str> = CHARTS.iter().map(|chart| chart.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
    }

    #[test]
    fn every_group_is_a_domain_and_every_chart_has_one() {
        for chart in CHARTS {
            assert!(!chart.groups.is_empty(), "{}", chart.name);
            for group in chart.groups {
                assert!(group.contains('.') && !group.contains('/'), "{group}");
            }
        }
    }

    #[test]
    fn an_unknown_operator_is_matched_by_its_name_alone() {
        assert!(is_named_like("keep-operator", "keep.example.com"));
        assert!(!is_named_like("keep-operator", "castle.example.com"));
        assert!(!is_named_like("grafana", "grafana.integreatly.org"));
        assert!(!is_named_like("operator", "operator.example.com"));
    }

    #[test]
    fn a_chart_is_named_by_the_last_segment() {
        assert_eq!(
            last_segment("oci://registry.example.com/charts/traefik/").as_deref(),
            Some("traefik")
        );
        assert_eq!(last_segment("./charts/app").as_deref(), Some("app"));
        assert_eq!(last_segment("oci://example.com/${CHART}"), None);
        assert_eq!(last_segment(""), None);
    }
}
