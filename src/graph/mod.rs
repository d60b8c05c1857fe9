//! Directed graphs over numbers: cycles, reachability, paths. Knows nothing of wavelint.
//!
//! All answers are deterministic: among equals the lowest node wins, then the edge that
//! was given first. Nothing recurses, so a chain of any length is fine.

mod closure;
mod paths;

pub use closure::{Closure, RedundantEdge};
pub use paths::LongestPaths;

/// An edge, with a number of the caller's that says what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it leaves.
    pub from: usize,
    /// The node it enters.
    pub to: usize,
    /// What it stands for: an index into something of the caller's.
    pub payload: usize,
}

/// A directed graph. Loops and parallel edges are allowed.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    edges: Vec<Edge>,
    /// For each node its outgoing edges, by target, then by index.
    outgoing: Vec<Vec<usize>>,
}

/// The strongly connected components of a graph.
#[derive(Clone, Debug)]
pub struct Components {
    /// The nodes of each component, ascending. A component stands behind all those that it reaches.
    pub members: Vec<Vec<usize>>,
    /// For each node, the index of its component in `members`.
    pub of_node: Vec<usize>,
    /// For each component, true if it holds a cycle: several nodes, or a loop.
    pub cyclic: Vec<bool>,
}

impl Graph {
    /// A graph with the nodes `0..nodes`, and any higher ones that an edge names.
    pub fn new(nodes: usize, edges: impl IntoIterator<Item = Edge>) -> Self {
        let edges: Vec<Edge> = edges.into_iter().collect();
        let nodes = edges
            .iter()
            .map(|edge| edge.from.max(edge.to) + 1)
            .fold(nodes, usize::max);
        let mut outgoing = vec![Vec::new(); nodes];
        for (index, edge) in edges.iter().enumerate() {
            outgoing[edge.from].push(index);
        }
        for list in &mut outgoing {
            list.sort_by_key(|index| (edges[*index].to, *index));
        }
        Self { edges, outgoing }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.outgoing.len()
    }

    /// The edges as given; what is called an edge index elsewhere counts in them.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The indexes of a node's outgoing edges, by target, then by index; none for a node that is not there.
    pub fn outgoing(&self, node: usize) -> &[usize] {
        self.outgoing.get(node).map_or(&[], Vec::as_slice)
    }

    /// The strongly connected components (Tarjan's algorithm, without recursion).
    pub fn components(&self) -> Components {
        const UNSEEN: usize = usize::MAX;
        let nodes = self.node_count();
        let mut order = vec![UNSEEN; nodes];
        let mut lowest = vec![UNSEEN; nodes];
        let mut of_node = vec![UNSEEN; nodes];
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut pending = Vec::new();
        let mut visiting: Vec<(usize, usize)> = Vec::new();
        let mut count = 0;
        for root in 0..nodes {
            if order[root] != UNSEEN {
                continue;
            }
            visiting.push((root, 0));
            while let Some((node, next)) = visiting.last_mut() {
                let node = *node;
                if *next == 0 && order[node] == UNSEEN {
                    order[node] = count;
                    lowest[node] = count;
                    count += 1;
                    pending.push(node);
                }
                if let Some(edge) = self.outgoing[node].get(*next) {
                    *next += 1;
                    let target = self.edges[*edge].to;
                    if order[target] == UNSEEN {
                        visiting.push((target, 0));
                    } else if of_node[target] == UNSEEN {
                        lowest[node] = lowest[node].min(order[target]);
                    }
                    continue;
                }
                visiting.pop();
                if let Some((parent, _)) = visiting.last() {
                    lowest[*parent] = lowest[*parent].min(lowest[node]);
                }
                if lowest[node] == order[node] {
                    let start = pending
                        .iter()
                        .rposition(|member| *member == node)
                        .unwrap_or_default();
                    let mut component = pending.split_off(start);
                    for member in &component {
                        of_node[*member] = members.len();
                    }
                    component.sort_unstable();
                    members.push(component);
                }
            }
        }
        let mut cyclic: Vec<bool> = members.iter().map(|nodes| nodes.len() > 1).collect();
        for edge in self.edges.iter().filter(|edge| edge.from == edge.to) {
            cyclic[of_node[edge.from]] = true;
        }
        Components {
            members,
            of_node,
            cyclic,
        }
    }

    /// The components that hold a cycle, by their lowest node; each with its nodes, ascending.
    pub fn cyclic_components(&self) -> Vec<Vec<usize>> {
        let components = self.components();
        let mut cyclic: Vec<Vec<usize>> = components
            .members
            .into_iter()
            .zip(components.cyclic)
            .filter_map(|(members, cyclic)| cyclic.then_some(members))
            .collect();
        cyclic.sort_unstable();
        cyclic
    }

    /// The nodes in layers: the first has no outgoing edges, each other one only edges into
    /// lower layers and at least one into the layer below it. Nodes that are in a cycle or
    /// reach one are in no layer.
    pub fn layers(&self) -> Vec<Vec<usize>> {
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for (node, depth) in self.longest_paths().depths().iter().enumerate() {
            let Some(depth) = *depth else { continue };
            if layers.len() <= depth {
                layers.resize_with(depth + 1, Vec::new);
            }
            layers[depth].push(node);
        }
        layers
    }
}

#[cfg(test)]
mod tests;
