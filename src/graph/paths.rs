//! Shortest paths, shortest cycles, longest paths: each as the edges it goes along.

use std::collections::VecDeque;

use super::Graph;

/// For each node the longest path that starts at it.
#[derive(Clone, Debug)]
pub struct LongestPaths {
    depths: Vec<Option<usize>>,
    /// The first edge of that path.
    first: Vec<Option<usize>>,
    /// The node that edge enters.
    next: Vec<usize>,
}

impl LongestPaths {
    /// The number of edges of the longest path from each node; `None` for a node that is in
    /// a cycle or reaches one, since there is no longest path then.
    pub fn depths(&self) -> &[Option<usize>] {
        &self.depths
    }

    /// The number of edges of the longest path from a node.
    pub fn depth(&self, node: usize) -> Option<usize> {
        self.depths.get(node).copied().flatten()
    }

    /// The edge indexes of the longest path from a node, in order; empty at depth 0 and without a depth.
    pub fn path(&self, node: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = node;
        while let Some(edge) = self.first.get(at).copied().flatten() {
            path.push(edge);
            at = self.next[at];
        }
        path
    }
}

impl Graph {
    /// The edge indexes of a shortest path, in order; empty if both nodes are one, `None` if there is no path.
    pub fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        if from == to {
            return Some(Vec::new());
        }
        self.shortest_walk(from, to, usize::MAX, |_| true)
    }

    /// The edge indexes of a shortest cycle through a node, starting there.
    pub fn shortest_cycle_through(&self, node: usize) -> Option<Vec<usize>> {
        self.shortest_walk(node, node, usize::MAX, |_| true)
    }

    /// The edge indexes of the shortest cycle inside a component, in order. It starts at its
    /// lowest node; among equally short ones that with the lowest node is taken.
    pub fn shortest_cycle(&self, component: &[usize]) -> Option<Vec<usize>> {
        let mut inside = vec![false; self.node_count()];
        for node in component {
            if let Some(flag) = inside.get_mut(*node) {
                *flag = true;
            }
        }
        let mut starts = component.to_vec();
        starts.sort_unstable();
        let mut best: Option<Vec<usize>> = None;
        for start in starts {
            let limit = best.as_ref().map_or(usize::MAX, |best| best.len() - 1);
            if limit == 0 {
                break;
            }
            let found = self.shortest_walk(start, start, limit, |node| inside[node]);
            best = found.or(best);
        }
        best
    }

    /// The nodes that can be reached along at least one edge, ascending; the start is among
    /// them only if it is in a cycle.
    pub fn reachable_from(&self, start: usize) -> Vec<usize> {
        let mut seen = vec![false; self.node_count()];
        let mut queue = vec![start];
        while let Some(node) = queue.pop() {
            for edge in self.outgoing(node) {
                let target = self.edges()[*edge].to;
                if !std::mem::replace(&mut seen[target], true) {
                    queue.push(target);
                }
            }
        }
        (0..seen.len()).filter(|node| seen[*node]).collect()
    }

    /// A shortest walk of 1 to `limit` edges through allowed nodes.
    fn shortest_walk(
        &self,
        from: usize,
        to: usize,
        limit: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut entered_by: Vec<Option<usize>> = vec![None; self.node_count()];
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((node, length)) = queue.pop_front() {
            if length == limit {
                break;
            }
            for edge in self.outgoing(node) {
                let target = self.edges()[*edge].to;
                if entered_by[target].is_some() || !allowed(target) {
                    continue;
                }
                entered_by[target] = Some(*edge);
                if target == to {
                    return Some(self.walk_back(from, to, &entered_by));
                }
                if target != from {
                    queue.push_back((target, length + 1));
                }
            }
        }
        None
    }

    fn walk_back(&self, from: usize, to: usize, entered_by: &[Option<usize>]) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = to;
        while let Some(edge) = entered_by[at] {
            path.push(edge);
            at = self.edges()[edge].from;
            if at == from {
                break;
            }
        }
        path.reverse();
        path
    }

    /// The longest path from every node; nodes in a cycle, and those that reach one, have none.
    pub fn longest_paths(&self) -> LongestPaths {
        let components = self.components();
        let nodes = self.node_count();
        let mut result = LongestPaths {
            depths: vec![None; nodes],
            first: vec![None; nodes],
            next: vec![0; nodes],
        };
        for (members, cyclic) in components.members.iter().zip(&components.cyclic) {
            let ([node], false) = (members.as_slice(), cyclic) else {
                continue;
            };
            // Every target has been settled before, since components come after what they reach.
            let mut depth = Some(0);
            let mut first = None;
            for edge in self.outgoing(*node) {
                match (result.depths[self.edges()[*edge].to], depth) {
                    (Some(below), Some(so_far)) if below + 1 > so_far => {
                        depth = Some(below + 1);
                        first = Some(*edge);
                    }
                    (Some(_), _) => {}
                    (None, _) => depth = None,
                }
            }
            if let (Some(_), Some(edge)) = (depth, first) {
                result.first[*node] = first;
                result.next[*node] = self.edges()[edge].to;
            }
            result.depths[*node] = depth;
        }
        result
    }
}
