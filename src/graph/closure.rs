//! Who reaches whom, as bit sets over components; and the edges that others imply.

use super::{Components, Graph};

/// The transitive closure of a graph.
#[derive(Clone, Debug)]
pub struct Closure {
    components: Components,
    /// For each component the other components that it reaches, 64 a word.
    reached: Vec<Vec<u64>>,
}

/// An edge that another path implies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedundantEdge {
    /// Its index.
    pub edge: usize,
    /// The edge indexes of a path that leads to the same node.
    pub path: Vec<usize>,
}

impl Closure {
    /// True if a path of at least one edge leads from one node to the other. A node
    /// reaches itself only through a cycle.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        let component = |node: usize| self.components.of_node.get(node).copied();
        match (component(from), component(to)) {
            (Some(from), Some(to)) if from == to => self.components.cyclic[from],
            (Some(from), Some(to)) => contains(&self.reached[from], to),
            _ => false,
        }
    }

    /// The components that the closure is made of.
    pub fn components(&self) -> &Components {
        &self.components
    }
}

impl Graph {
    /// Who reaches whom. Takes a bit for each pair of components.
    pub fn closure(&self) -> Closure {
        let components = self.components();
        let words = components.members.len().div_ceil(64);
        let mut reached: Vec<Vec<u64>> = Vec::with_capacity(components.members.len());
        for (own, members) in components.members.iter().enumerate() {
            let mut set = vec![0; words];
            for edge in members.iter().flat_map(|node| self.outgoing(*node)) {
                let target = components.of_node[self.edges()[*edge].to];
                if target != own && !contains(&set, target) {
                    insert(&mut set, target);
                    unite(&mut set, &reached[target]);
                }
            }
            reached.push(set);
        }
        Closure {
            components,
            reached,
        }
    }

    /// The edges that can all be left out at once without changing who reaches whom: a later
    /// parallel of an edge, and an edge beside a longer path. Edges inside a cycle, and those
    /// implied only by way of their own ends' cycles, are not among them.
    pub fn redundant_edges(&self) -> Vec<RedundantEdge> {
        let closure = self.closure();
        let of_node = &closure.components.of_node;
        let mut redundant = Vec::new();
        for node in 0..self.node_count() {
            let own = of_node[node];
            let mut implied = vec![0; closure.reached.len().div_ceil(64)];
            let mut previous: Option<usize> = None;
            for edge in self.outgoing(node) {
                let target = self.edges()[*edge].to;
                let target_component = of_node[target];
                if target_component != own && previous != Some(target) {
                    unite(&mut implied, &closure.reached[target_component]);
                }
                previous = Some(target);
            }
            let mut first_to_target: Option<(usize, usize)> = None;
            for edge in self.outgoing(node) {
                let target = self.edges()[*edge].to;
                let path = match first_to_target {
                    Some((known, first)) if known == target => Some(vec![first]),
                    _ => {
                        first_to_target = Some((target, *edge));
                        contains(&implied, of_node[target])
                            .then(|| self.path_around(node, target, &closure))
                            .flatten()
                    }
                };
                redundant.extend(path.map(|path| RedundantEdge { edge: *edge, path }));
            }
        }
        redundant.sort_by_key(|one| one.edge);
        redundant
    }

    /// A shortest path that starts with an edge to another node, outside both ends' components.
    fn path_around(&self, from: usize, to: usize, closure: &Closure) -> Option<Vec<usize>> {
        let of_node = &closure.components.of_node;
        self.outgoing(from)
            .iter()
            .filter(|edge| {
                let target = of_node[self.edges()[**edge].to];
                target != of_node[from] && contains(&closure.reached[target], of_node[to])
            })
            .filter_map(|edge| {
                let mut path = vec![*edge];
                path.extend(self.shortest_path(self.edges()[*edge].to, to)?);
                Some(path)
            })
            .min_by_key(Vec::len)
    }
}

fn contains(set: &[u64], index: usize) -> bool {
    set.get(index / 64)
        .is_some_and(|word| word >> (index % 64) & 1 == 1)
}

fn insert(set: &mut [u64], index: usize) {
    if let Some(word) = set.get_mut(index / 64) {
        *word |= 1 << (index % 64);
    }
}

fn unite(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}
