//! `missing-depends-on`: a wave does not wait for what it stands on.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{document_at, field_place, list, removing_patch};
use super::{Group, Rule};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::flux::{Cluster, Kustomization, Location, NamespacedName};
use crate::graph::Closure;
use crate::repo::Repo;
use crate::source::{FileId, Place, Span};
use crate::waves::{WaveSet, Waves};

pub(super) static RULE: Rule = Rule {
    name: "missing-depends-on",
    group: Group::Order,
    summary: "a wave does not wait for the wave below it, or for what it stands on",
    page: include_str!("../../rules/missing-depends-on.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let waves = &repo.head.waves;
    for (cluster_index, cluster) in repo.head.flux.clusters.iter().enumerate() {
        let closure = cluster.graph().closure();
        for set in &waves.sets {
            let view = View {
                repo,
                cluster_index,
                cluster,
                closure: &closure,
                set,
            };
            if set.one_kustomization_a_wave(cluster_index) {
                let chain = view.chain();
                let broken = !chain.is_empty();
                findings.extend(chain);
                findings.extend(view.footing());
                if broken {
                    continue;
                }
            }
            findings.extend(view.services(waves));
        }
    }
    findings
}

/// A wave set as one cluster applies it.
struct View<'a> {
    repo: &'a Repo<'a>,
    cluster_index: usize,
    cluster: &'a Cluster,
    closure: &'a Closure,
    set: &'a WaveSet,
}

impl View<'_> {
    /// Wave N does not, even through others, dependOn wave N−1.
    fn chain(&self) -> Vec<Finding> {
        let applied = self.set.applied(self.cluster_index);
        applied
            .windows(2)
            .filter(|pair| !self.closure.reaches(pair[1].1, pair[0].1))
            .filter_map(|pair| {
                let ((below_number, below), (number, index)) = (pair[0], pair[1]);
                let target = self.cluster.kustomizations[below].name.clone();
                self.report(
                    index,
                    format!("wave {number}"),
                    &[(target, format!("wave {below_number}"))],
                )
            })
            .collect()
    }

    /// The first wave does not dependOn what `after:` names, what it stood on at the base, or what it stands on elsewhere.
    fn footing(&self) -> Option<Finding> {
        let (number, index) = *self.set.applied(self.cluster_index).first()?;
        let mut wanted: Vec<(NamespacedName, String)> = Vec::new();
        for name in &self.set.after {
            let found = self
                .cluster
                .kustomizations
                .iter()
                .find(|kustomization| kustomization.name.name == *name);
            match found {
                Some(found) => wanted.push((found.name.clone(), "the configured footing".into())),
                None => continue,
            }
        }
        if wanted.is_empty() {
            wanted = self.footing_at_base(number, index);
        }
        if wanted.is_empty() {
            wanted = self.footing_elsewhere(number);
        }
        wanted.retain(|(name, _)| {
            // Where the order was turned round, waiting would close a circle.
            self.cluster.find(name).is_some_and(|target| {
                target != index
                    && !self.closure.reaches(index, target)
                    && !self.closure.reaches(target, index)
            })
        });
        self.report(index, format!("wave {number}"), &wanted)
    }

    /// What this wave's Kustomization, or the one that it replaces, stood on at the base.
    fn footing_at_base(&self, number: u64, index: usize) -> Vec<(NamespacedName, String)> {
        let Some(base) = &self.repo.base else {
            return Vec::new();
        };
        let clusters = &base.picture.flux.clusters;
        let Some(cluster) = clusters
            .iter()
            .find(|cluster| cluster.path == self.cluster.path)
        else {
            return Vec::new();
        };
        let own = &self.cluster.kustomizations[index];
        let before = cluster
            .find(&own.name)
            .or_else(|| self.replaced(cluster, number));
        let Some(before) = before else {
            return Vec::new();
        };
        let before = &cluster.kustomizations[before];
        before
            .spec
            .depends_on
            .iter()
            .filter(|dependency| !dependency.unknown)
            .map(|dependency| {
                (
                    dependency.target.clone(),
                    format!("what `{}` stood on at the base", before.name.name),
                )
            })
            .collect()
    }

    /// The Kustomization of the base, gone since, whose path held this set: `apps` before `apps/wave-0`.
    fn replaced(&self, base: &Cluster, number: u64) -> Option<usize> {
        let directory = self.set.directory(number);
        base.kustomizations
            .iter()
            .enumerate()
            .filter(|(_, kustomization)| self.cluster.find(&kustomization.name).is_none())
            .find(|(_, kustomization)| match &kustomization.location {
                Location::Directory(path) => {
                    *path == self.set.parent
                        || *path == directory
                        || path.starts_with(&format!("{directory}/"))
                }
                _ => false,
            })
            .map(|(index, _)| index)
    }

    /// What the first wave stands on in the other clusters, where they agree and this one has it too.
    fn footing_elsewhere(&self, number: u64) -> Vec<(NamespacedName, String)> {
        let mut common: Option<BTreeSet<NamespacedName>> = None;
        let mut seen_in = Vec::new();
        for (other_index, other) in self.repo.head.flux.clusters.iter().enumerate() {
            if other_index == self.cluster_index || !self.set.one_kustomization_a_wave(other_index)
            {
                continue;
            }
            let Some((_, index)) = self
                .set
                .applied(other_index)
                .into_iter()
                .next()
                .filter(|(first, _)| *first == number)
            else {
                continue;
            };
            let names: BTreeSet<NamespacedName> = other.kustomizations[index]
                .spec
                .depends_on
                .iter()
                .map(|dependency| dependency.target.clone())
                .collect();
            seen_in.push(other.path.as_str());
            common = Some(match common {
                None => names,
                Some(common) => common.intersection(&names).cloned().collect(),
            });
        }
        common
            .unwrap_or_default()
            .into_iter()
            .map(|name| (name, format!("as in {}", list(&seen_in))))
            .collect()
    }

    /// A dependency of the catalog whose two services' owners are not ordered so, both in their computed wave.
    fn services(&self, waves: &Waves) -> Vec<Finding> {
        if !self.set.claimed {
            return Vec::new();
        }
        let mut by_file: BTreeMap<FileId, BTreeSet<usize>> = BTreeMap::new();
        for (index, object) in self.cluster.objects() {
            by_file.entry(object.origin.file).or_default().insert(index);
        }
        // The one Kustomization that applies a service; none while the service is on the move.
        let owner = |service: usize| {
            let number = self.set.computed(service)?;
            let mut owners = BTreeSet::new();
            for (at, wave) in &self.set.waves {
                let placements = wave.placements.iter();
                for placement in placements.filter(|placement| placement.service == Some(service)) {
                    (*at == number).then_some(())?;
                    let files = placement.files.iter().filter_map(|file| by_file.get(file));
                    owners.extend(files.flatten().copied());
                }
            }
            (owners.len() == 1).then_some((number, *owners.first()?))
        };
        let mut findings = Vec::new();
        let mut reported = BTreeSet::new();
        for (index, service) in waves.catalog.services.iter().enumerate() {
            let Some((number, from)) = owner(index) else {
                continue;
            };
            for dependency in &service.dependencies {
                let Some((lower, to)) = waves.catalog.find(&dependency.name).and_then(owner) else {
                    continue;
                };
                if self.is_ordered(from, to) || !reported.insert((from, to)) {
                    continue;
                }
                let target = self.cluster.kustomizations[to].name.clone();
                if let Some(finding) = self.report(
                    from,
                    format!("wave {number} with `{}`", service.name),
                    &[(target, format!("wave {lower} with `{}`", dependency.name))],
                ) {
                    findings.push(finding.related(
                        dependency.place,
                        format!("`{}` depends on `{}`", service.name, dependency.name),
                    ));
                }
            }
        }
        findings
    }

    /// True if one Kustomization waits for another, or for one that makes it, or if what makes it does.
    fn is_ordered(&self, from: usize, to: usize) -> bool {
        let with_parents =
            |index: usize| std::iter::once(index).chain(self.cluster.ancestors(index));
        from == to
            || with_parents(from)
                .any(|from| with_parents(to).any(|to| from != to && self.closure.reaches(from, to)))
    }

    /// A Kustomization should dependOn some others. Nothing is said where its dependencies
    /// are not known, or name something that is not there: that is another rule's, and the chain may be whole.
    fn report(
        &self,
        index: usize,
        what: String,
        wanted: &[(NamespacedName, String)],
    ) -> Option<Finding> {
        let kustomization = &self.cluster.kustomizations[index];
        let is_unsure = |index: &usize| {
            let depends_on = &self.cluster.kustomizations[*index].spec.depends_on;
            depends_on.iter().any(|dependency| {
                dependency.unknown || self.cluster.find(&dependency.target).is_none()
            })
        };
        let unsure = (0..self.cluster.kustomizations.len())
            .filter(|other| *other == index || self.closure.reaches(index, *other))
            .any(|other| is_unsure(&other));
        if wanted.is_empty()
            || unsure
            || matches!(kustomization.location, Location::Missing(_))
            || kustomization.spec.suspend.is_yes()
        {
            return None;
        }
        let names: Vec<String> = wanted
            .iter()
            .map(|(name, why)| format!("`{}` ({why})", name.name))
            .collect();
        let entries: Vec<String> = wanted
            .iter()
            .map(|(name, _)| {
                if name.namespace == kustomization.name.namespace {
                    format!("- name: {}", name.name)
                } else {
                    format!("- name: {}\n  namespace: {}", name.name, name.namespace)
                }
            })
            .collect();
        let entries = entries.join("\n");
        let place = field_place(self.repo, self.cluster, kustomization, "dependsOn");
        let absent = kustomization.node.at(&["spec", "dependsOn"]).is_none();
        let removed =
            absent && removing_patch(self.repo, self.cluster, kustomization, "dependsOn").is_some();
        let help = if removed {
            format!(
                "this patch takes dependsOn away: leave it out, or let it leave these entries:\n{entries}"
            )
        } else if absent {
            let indented = entries.replace('\n', "\n  ");
            format!("add to its `spec`:\ndependsOn:\n  {indented}")
        } else {
            format!("add to its `dependsOn`:\n{entries}")
        };
        let mut finding = Finding::new(
            RULE.name,
            Severity::Error,
            place,
            format!(
                "`{}` ({what}) does not dependOn {}",
                kustomization.name.name,
                list(&names)
            ),
        )
        .help(help)
        .cluster(&self.cluster.path);
        if absent
            && !removed
            && let Some(fix) = self.adding(kustomization, wanted, &entries)
        {
            finding = finding.fix(fix);
        }
        for (name, _) in wanted {
            if let Some(target) = self.cluster.find(name) {
                finding = finding.related(
                    self.cluster.kustomizations[target].place,
                    format!("`{name}` must be ready first"),
                );
            }
        }
        Some(finding)
    }

    /// Writes dependsOn into a block-style `spec` that has none. Only where it is right in every
    /// cluster that gets the Kustomization from this document.
    fn adding(
        &self,
        kustomization: &Kustomization,
        wanted: &[(NamespacedName, String)],
        entries: &str,
    ) -> Option<Fix> {
        let right_everywhere = self.repo.head.flux.clusters.iter().all(|cluster| {
            cluster
                .kustomizations
                .iter()
                .filter(|other| other.origin == kustomization.origin)
                .all(|other| {
                    other.spec.depends_on.is_empty()
                        && wanted.iter().all(|(name, _)| cluster.find(name).is_some())
                })
        });
        let written = document_at(self.repo, kustomization.origin)?;
        if !right_everywhere || written.at(&["spec", "dependsOn"]).is_some() {
            return None;
        }
        let spec = written.entry("spec")?.value.as_mapping()?;
        let file = kustomization.origin.file;
        let first = spec.entries.first()?.key.place;
        let text = self.repo.files.text(file);
        let above = text.get(..first.span.start as usize)?;
        let start = above.rfind('\n')? + 1;
        let indent = &above[start..];
        if first.file != file || indent.is_empty() || !indent.bytes().all(|byte| byte == b' ') {
            return None;
        }
        let ending = if above.ends_with(&format!("\r\n{indent}")) {
            "\r\n"
        } else {
            "\n"
        };
        let mut lines = format!("{indent}dependsOn:{ending}");
        for entry in entries.lines() {
            lines.push_str(&format!("{indent}  {entry}{ending}"));
        }
        Some(Fix {
            safe: true,
            title: format!("add dependsOn to `{}`", kustomization.name.name),
            edits: vec![Edit {
                place: Place {
                    file,
                    span: Span::new(start, start),
                },
                text: lines,
            }],
            moves: Vec::new(),
        })
    }
}
