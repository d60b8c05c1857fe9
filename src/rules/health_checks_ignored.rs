//! `health-checks-ignored`: `wait` makes Flux ignore `healthChecks`.

use super::support::gates::health_checks;
use super::support::{list, shortened};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::repo::Repo;
use crate::yaml::Node;

pub(super) static RULE: Rule = Rule {
    name: "health-checks-ignored",
    group: Group::Order,
    summary: "`wait` makes Flux ignore `healthChecks` that name something else",
    page: include_str!("../../rules/health-checks-ignored.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    repo.head
        .flux
        .clusters
        .iter()
        .flat_map(|cluster| {
            cluster
                .kustomizations
                .iter()
                .filter_map(|kustomization| report(cluster, kustomization))
        })
        .collect()
}

fn report(cluster: &Cluster, kustomization: &Kustomization) -> Option<Finding> {
    if !kustomization.spec.wait.is_yes()
        || !kustomization.build.problems.is_empty()
        || kustomization.unknown_objects()
        || kustomization.directory().is_none()
    {
        return None;
    }
    let lost: Vec<&Node> = health_checks(kustomization)
        .iter()
        .filter(|entry| !kustomization.unknowns.contains(entry) && !applies(kustomization, entry))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let field = kustomization.node.get("spec")?.entry("healthChecks")?;
    let wait = kustomization.node.at(&["spec", "wait"])?;
    let names: Vec<String> = lost
        .iter()
        .map(|entry| format!("`{}`", described(entry)))
        .collect();
    let mut finding = Finding::new(
        RULE.name,
        Severity::Warning,
        field.key.place,
        format!(
            "`{}` waits for what it applies, so its healthChecks are ignored and {} {} never checked",
            kustomization.name,
            list(&shortened(&names)),
            if names.len() == 1 { "is" } else { "are" }
        ),
    )
    .help("remove `wait: true` and list in `healthChecks` all that has to run, or remove `healthChecks`")
    .cluster(&cluster.path)
    .related(wait.place, "this makes Flux ignore the list");
    for entry in lost {
        finding = finding.related(
            entry.place,
            format!("`{}` is not applied here", described(entry)),
        );
    }
    Some(finding)
}

/// True if an entry names something that the Kustomization applies, and so waits for. A
/// namespace that is missing on one side does not tell them apart.
fn applies(kustomization: &Kustomization, entry: &Node) -> bool {
    let field = |key: &str| entry.str_at(&[key]).unwrap_or_default();
    // Without an apiVersion the controller takes apps/v1.
    let group = match field("apiVersion") {
        "" => "apps",
        version => version.split_once('/').map_or("", |(group, _)| group),
    };
    kustomization.build.objects.iter().any(|object| {
        let id = object.id();
        id.group == group
            && id.kind == field("kind")
            && (id.name == field("name") || kustomization.unknowns.contains(&object.node))
            && (id.namespace.is_empty()
                || field("namespace").is_empty()
                || id.namespace == field("namespace")
                || kustomization.unknowns.contains(&object.node))
    })
}

/// `Kind namespace/name`.
fn described(entry: &Node) -> String {
    let field = |key: &str| entry.str_at(&[key]).unwrap_or_default();
    match field("namespace") {
        "" => format!("{} {}", field("kind"), field("name")),
        namespace => format!("{} {namespace}/{}", field("kind"), field("name")),
    }
}
