//! `redundant-depends-on`: a dependency that another one implies.

use std::collections::BTreeMap;

use super::{Group, Rule};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::flux::{Cluster, Dependency, Kustomization};
use crate::graph::{Edge, Graph};
use crate::repo::Repo;
use crate::source::{Place, Span};

pub(super) static RULE: Rule = Rule {
    name: "redundant-depends-on",
    group: Group::Order,
    summary: "a dependency is implied by another one",
    page: include_str!("../../rules/redundant-depends-on.md"),
    off_by_default: true,
    compares: false,
    check,
};

/// What is known of one entry as written, over all Kustomizations and clusters that get it.
#[derive(Default)]
struct Entry {
    uses: usize,
    redundant: usize,
    finding: Option<Finding>,
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut entries: BTreeMap<Place, Entry> = BTreeMap::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for dependency in &kustomization.spec.depends_on {
                entries.entry(dependency.entry).or_default().uses += 1;
            }
        }
        for (owner, dependency, way) in implied(cluster) {
            let entry = entries.entry(dependency.entry).or_default();
            entry.redundant += 1;
            match &mut entry.finding {
                Some(finding) => finding.clusters.push(cluster.path.clone()),
                none => *none = Some(report(repo, cluster, owner, dependency, &way)),
            }
        }
    }
    // An entry that one cluster needs stays in all.
    entries
        .into_values()
        .filter(|entry| entry.uses == entry.redundant)
        .filter_map(|entry| entry.finding)
        .collect()
}

/// Links that can all be left out at once, each with the way that implies it; only links
/// without a condition of their own count, on both sides.
fn implied(cluster: &Cluster) -> Vec<(&Kustomization, &Dependency, Vec<&Dependency>)> {
    let mut links: Vec<(&Kustomization, &Dependency)> = Vec::new();
    let mut edges = Vec::new();
    for (from, kustomization) in cluster.kustomizations.iter().enumerate() {
        for dependency in &kustomization.spec.depends_on {
            let plain = !dependency.unknown && !dependency.ready_expression;
            if let Some(to) = cluster.find(&dependency.target).filter(|_| plain) {
                edges.push(Edge {
                    from,
                    to,
                    payload: links.len(),
                });
                links.push((kustomization, dependency));
            }
        }
    }
    let graph = Graph::new(cluster.kustomizations.len(), edges);
    let link = |edge: usize| {
        graph
            .edges()
            .get(edge)
            .and_then(|edge| links.get(edge.payload))
            .copied()
    };
    graph
        .redundant_edges()
        .iter()
        .filter_map(|redundant| {
            let (owner, dependency) = link(redundant.edge)?;
            let way = redundant
                .path
                .iter()
                .filter_map(|edge| link(*edge))
                .map(|(_, dependency)| dependency)
                .collect();
            Some((owner, dependency, way))
        })
        .collect()
}

fn report(
    repo: &Repo,
    cluster: &Cluster,
    owner: &Kustomization,
    dependency: &Dependency,
    way: &[&Dependency],
) -> Finding {
    let names: Vec<&str> = std::iter::once(owner.name.name.as_str())
        .chain(way.iter().map(|link| link.target.name.as_str()))
        .collect();
    let message = if way.len() == 1 {
        format!("`{}` dependsOn `{}` twice", owner.name, dependency.target)
    } else {
        format!(
            "`{}` dependsOn `{}` anyway: {}",
            owner.name,
            dependency.target,
            names.join(" → ")
        )
    };
    let mut finding = Finding::new(RULE.name, Severity::Info, dependency.place, message)
        .help("remove the entry")
        .cluster(&cluster.path);
    for link in way {
        finding = finding.related(link.place, format!("dependsOn `{}`", link.target));
    }
    match removal(repo, cluster, owner, dependency) {
        Some(edit) => finding.fix(Fix {
            safe: true,
            title: format!("remove `{}` from dependsOn", dependency.target.name),
            edits: vec![edit],
            moves: Vec::new(),
        }),
        None => finding,
    }
}

/// Takes the lines of a list entry away, where the entry stands on lines of its own, no other
/// text refers to it, and no patch counts entries.
fn removal(
    repo: &Repo,
    cluster: &Cluster,
    owner: &Kustomization,
    dependency: &Dependency,
) -> Option<Edit> {
    let written_here = dependency.entry.file == owner.origin.file
        && owner.origin.span.contains(dependency.entry.span);
    let counted =
        owner
            .parent
            .and_then(|parent| cluster.kustomizations.get(parent))
            .is_some_and(|parent| {
                parent.build.patches.iter().any(|patch| {
                    !patch.merge && repo.files.slice(patch.content).contains("dependsOn")
                })
            });
    if !written_here || counted || owner.spec.depends_on.len() < 2 {
        return None;
    }
    let text = repo.files.text(dependency.entry.file);
    let span = dependency.entry.span.range();
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(start..span.start)?.trim();
    let content = text.get(span.clone())?;
    let rest = text.get(span.end..)?;
    let line_rest = rest.split('\n').next().unwrap_or_default().trim();
    let alone = before == "-"
        && (line_rest.is_empty() || line_rest.starts_with('#'))
        && !content.contains(['&', '*'])
        && !content.trim_end().is_empty();
    if !alone {
        return None;
    }
    let end = rest.find('\n').map_or(text.len(), |at| span.end + at + 1);
    Some(Edit {
        place: Place {
            file: dependency.entry.file,
            span: Span::new(start, end),
        },
        text: String::new(),
    })
}
