//! A cluster as it is drawn: its Kustomizations in the order in which Flux reconciles them.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Cluster, Kustomization, Location, NamespacedName, Tri};
use crate::graph::{Edge, Graph};
use crate::kustomize::Gap;
use crate::source::Place;
use crate::waves::Waves;

/// A cluster to be drawn.
pub struct ClusterMap<'a> {
    /// The cluster's name.
    pub path: &'a str,
    /// The Kustomizations: the entry point's own, then by depth, then by name; those that are
    /// never reconciled last.
    pub items: Vec<Item<'a>>,
    /// Names in dependsOn that are no Kustomization of the cluster, in order.
    pub missing: Vec<NamespacedName>,
    /// What cannot be known of the cluster, by place, each once.
    pub gaps: Vec<&'a Gap>,
}

/// A Kustomization to be drawn.
pub struct Item<'a> {
    /// What it is.
    pub kustomization: &'a Kustomization,
    /// True for the entry point's own.
    pub root: bool,
    /// The length of the longest way from it along dependsOn and, below the entry point, to what makes it;
    /// `None` if it is in a circle or waits for one.
    pub depth: Option<usize>,
    /// True if it is in a circle of dependsOn itself.
    pub in_cycle: bool,
    /// The position of its parent in `items`.
    pub parent: Option<usize>,
    /// Its dependsOn, in written order.
    pub depends_on: Vec<Dependency>,
    /// The positions of all that wait for it, directly or through others, ascending.
    pub blocks: Vec<usize>,
    /// The name of its wave set, and its number in it.
    pub wave: Option<(&'a str, u64)>,
    /// The number of entries in `healthChecks`.
    pub checks: usize,
    /// What keeps it from being applied, or from being known.
    pub problem: Option<Problem>,
}

/// A link to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// What it names.
    pub target: NamespacedName,
    /// The position of that in `items`; `None` if it is no Kustomization of the cluster.
    pub item: Option<usize>,
    /// True if it has a `readyExpr`.
    pub conditioned: bool,
    /// True if other links imply it.
    pub implied: bool,
}

/// What keeps a Kustomization from being applied, or from being known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It does not build.
    Fails,
    /// Nothing is at its path.
    NoPath,
    /// It is suspended.
    Suspended,
    /// What it builds is not, or not all, in the tree.
    Unknown,
}

impl Problem {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fails => "does not build",
            Self::NoPath => "path not found",
            Self::Suspended => "suspended",
            Self::Unknown => "not all known",
        }
    }
}

impl<'a> ClusterMap<'a> {
    /// Arranges a cluster; `index` is its position among the clusters of its revision.
    pub fn of(cluster: &'a Cluster, index: usize, waves: &'a Waves) -> Self {
        let graph = cluster.graph();
        let depths = cluster.order().longest_paths();
        let cyclic: BTreeSet<usize> = graph.cyclic_components().concat().into_iter().collect();
        let mut order: Vec<usize> = (0..cluster.kustomizations.len()).collect();
        order.sort_by_key(|at| {
            let kustomization = &cluster.kustomizations[*at];
            let depth = depths.depth(*at).unwrap_or(usize::MAX);
            let root = kustomization.parent.is_none();
            (!root, depth, &kustomization.name, *at)
        });
        let mut position = vec![0; order.len()];
        for (at, original) in order.iter().enumerate() {
            position[*original] = at;
        }
        // Backwards: who waits for whom.
        let waiting = Graph::new(
            order.len(),
            graph.edges().iter().map(|edge| Edge {
                from: edge.to,
                to: edge.from,
                payload: edge.payload,
            }),
        );
        let implied: BTreeSet<(usize, usize)> = graph
            .redundant_edges()
            .iter()
            .filter_map(|redundant| graph.edges().get(redundant.edge))
            .map(|edge| (edge.from, edge.payload))
            .collect();
        let numbers = wave_numbers(waves, index);
        let mut missing = BTreeSet::new();
        let items = order
            .iter()
            .map(|original| {
                let kustomization = &cluster.kustomizations[*original];
                let depends_on = kustomization
                    .spec
                    .depends_on
                    .iter()
                    .enumerate()
                    .map(|(entry, dependency)| {
                        let item = cluster.find(&dependency.target).map(|to| position[to]);
                        if item.is_none() {
                            missing.insert(dependency.target.clone());
                        }
                        Dependency {
                            target: dependency.target.clone(),
                            item,
                            conditioned: dependency.ready_expression,
                            implied: implied.contains(&(*original, entry)),
                        }
                    })
                    .collect();
                let mut blocks: Vec<usize> = waiting
                    .reachable_from(*original)
                    .into_iter()
                    .filter(|other| other != original)
                    .map(|other| position[other])
                    .collect();
                blocks.sort_unstable();
                Item {
                    kustomization,
                    root: kustomization.parent.is_none(),
                    depth: depths.depth(*original),
                    in_cycle: cyclic.contains(original),
                    parent: kustomization.parent.map(|parent| position[parent]),
                    depends_on,
                    blocks,
                    wave: numbers.get(original).copied(),
                    checks: kustomization
                        .node
                        .at(&["spec", "healthChecks"])
                        .map_or(0, |checks| checks.items().len()),
                    problem: problem(kustomization),
                }
            })
            .collect();
        let mut gaps: BTreeMap<(Place, &str), &Gap> = BTreeMap::new();
        let of_builds = cluster
            .kustomizations
            .iter()
            .flat_map(|kustomization| &kustomization.build.gaps);
        for gap in cluster.gaps.iter().chain(of_builds) {
            gaps.insert((gap.place, &gap.cause), gap);
        }
        Self {
            path: &cluster.path,
            items,
            missing: missing.into_iter().collect(),
            gaps: gaps.into_values().collect(),
        }
    }

    /// The name of a Kustomization as it is drawn: with its namespace where that is not the entry point's.
    pub fn name(&self, name: &NamespacedName) -> String {
        let own = self
            .items
            .first()
            .map(|root| &root.kustomization.name.namespace);
        if own == Some(&name.namespace) {
            crate::terminal::visible(&name.name)
        } else {
            crate::terminal::visible(&name.to_string())
        }
    }

    /// The number of layers below the entry point.
    pub fn layers(&self) -> usize {
        self.items
            .iter()
            .filter(|item| !item.root)
            .filter_map(|item| item.depth)
            .max()
            .map_or(0, |deepest| deepest + 1)
    }

    /// The number of objects that are applied.
    pub fn objects(&self) -> usize {
        self.items
            .iter()
            .map(|item| item.kustomization.build.objects.len())
            .sum()
    }
}

impl Item<'_> {
    /// The position of what makes it, where that is another than the entry point.
    pub fn made_by(&self, map: &ClusterMap<'_>) -> Option<usize> {
        let parent = self.parent?;
        map.items
            .get(parent)
            .is_some_and(|item| !item.root)
            .then_some(parent)
    }

    /// Its path: the directory of the tree where it is known, else as written; `None` if unknown.
    pub fn path(&self) -> Option<&str> {
        match &self.kustomization.location {
            Location::Directory(path) | Location::Missing(path) | Location::File(path) => {
                Some(path)
            }
            Location::OtherRepository | Location::Unknown => self
                .kustomization
                .spec
                .path
                .as_ref()
                .map(smol_str::SmolStr::as_str),
        }
    }

    /// How many objects of each kind it applies, the most frequent first.
    pub fn kinds(&self) -> Vec<(String, usize)> {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for object in &self.kustomization.build.objects {
            *kinds.entry(object.id().kind.to_string()).or_default() += 1;
        }
        let mut kinds: Vec<(String, usize)> = kinds.into_iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kinds
    }

    /// Short words for what it does and waits for: `prune`, `wait`, `2 checks`, `sops`.
    pub fn flags(&self) -> Vec<String> {
        let spec = &self.kustomization.spec;
        let word = |tri: Tri, word: &str| match tri {
            Tri::Yes => Some(word.to_owned()),
            Tri::No => None,
            Tri::Unknown => Some(format!("{word}?")),
        };
        let checks = match self.checks {
            _ if spec.wait.is_yes() => None,
            0 => None,
            1 => Some("1 check".to_owned()),
            more => Some(format!("{more} checks")),
        };
        [
            Some(word(spec.prune, "prune").unwrap_or_else(|| "keep".to_owned())),
            word(spec.wait, "wait"),
            checks,
            word(spec.decryption, "sops"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// For each Kustomization in a wave directory of a cluster, the set's name and the number.
fn wave_numbers(waves: &Waves, cluster: usize) -> BTreeMap<usize, (&str, u64)> {
    let mut numbers = BTreeMap::new();
    for set in &waves.sets {
        for (number, wave) in &set.waves {
            let members = [&wave.kustomizations, &wave.below]
                .into_iter()
                .filter_map(|members| members.get(&cluster))
                .flatten();
            for member in members {
                numbers
                    .entry(*member)
                    .or_insert((set.name.as_str(), *number));
            }
        }
    }
    numbers
}

fn problem(kustomization: &Kustomization) -> Option<Problem> {
    if matches!(
        kustomization.location,
        Location::Missing(_) | Location::File(_)
    ) {
        Some(Problem::NoPath)
    } else if kustomization.fails() {
        Some(Problem::Fails)
    } else if kustomization.spec.suspend.is_yes() {
        Some(Problem::Suspended)
    } else if kustomization.unknown_objects() {
        Some(Problem::Unknown)
    } else {
        None
    }
}
