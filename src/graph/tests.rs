//! Examples, and every answer against brute force on small graphs.

use proptest::prelude::*;

use super::*;

fn graph(nodes: usize, pairs: &[(usize, usize)]) -> Graph {
    Graph::new(
        nodes,
        pairs.iter().enumerate().map(|(payload, (from, to))| Edge {
            from: *from,
            to: *to,
            payload,
        }),
    )
}

/// The nodes along a path of edges, the first included.
fn nodes_along(graph: &Graph, path: &[usize]) -> Vec<usize> {
    let mut nodes: Vec<usize> = path
        .first()
        .map(|edge| graph.edges()[*edge].from)
        .into_iter()
        .collect();
    for edge in path {
        assert_eq!(nodes.last(), Some(&graph.edges()[*edge].from));
        nodes.push(graph.edges()[*edge].to);
    }
    nodes
}

#[test]
fn a_cycle_is_shown_by_its_shortest_form() {
    let graph = graph(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 1), (4, 0), (5, 5)]);
    assert_eq!(graph.cyclic_components(), [vec![0, 1, 2, 3], vec![5]]);
    let cycle = graph.shortest_cycle(&[0, 1, 2, 3]).unwrap();
    assert_eq!(nodes_along(&graph, &cycle), [1, 2, 1]);
    assert_eq!(graph.shortest_cycle(&[5]), Some(vec![6]));
    assert_eq!(graph.shortest_cycle(&[4]), None);
    let through = graph.shortest_cycle_through(0).unwrap();
    assert_eq!(nodes_along(&graph, &through), [0, 1, 2, 3, 0]);
}

#[test]
fn depth_is_the_longest_path_and_comes_with_a_witness() {
    let graph = graph(7, &[(3, 2), (3, 0), (2, 1), (1, 0), (4, 5), (5, 4), (6, 4)]);
    let longest = graph.longest_paths();
    assert_eq!(
        longest.depths(),
        [Some(0), Some(1), Some(2), Some(3), None, None, None]
    );
    assert_eq!(nodes_along(&graph, &longest.path(3)), [3, 2, 1, 0]);
    assert!(longest.path(6).is_empty());
    assert_eq!(graph.layers(), [[0], [1], [2], [3]]);
}

#[test]
fn an_edge_beside_a_longer_path_is_redundant() {
    let graph = graph(4, &[(2, 0), (2, 1), (1, 0), (2, 1), (3, 2)]);
    let redundant = graph.redundant_edges();
    assert_eq!(
        redundant,
        [
            RedundantEdge {
                edge: 0,
                path: vec![1, 2]
            },
            RedundantEdge {
                edge: 3,
                path: vec![1]
            },
        ]
    );
}

#[test]
fn a_chain_of_any_length_is_walked_without_recursion() {
    let length = 200_000;
    let pairs: Vec<_> = (1..length).map(|node| (node, node - 1)).collect();
    let graph = graph(length, &pairs);
    assert_eq!(graph.longest_paths().depth(length - 1), Some(length - 1));
    assert_eq!(
        graph.shortest_path(length - 1, 0).map(|path| path.len()),
        Some(length - 1)
    );
    assert!(graph.cyclic_components().is_empty());
}

#[test]
fn nodes_that_are_not_there_have_no_answers() {
    let graph = graph(0, &[(0, 2)]);
    assert_eq!(graph.node_count(), 3);
    assert_eq!(graph.shortest_path(0, 9), None);
    assert_eq!(graph.shortest_path(9, 0), None);
    assert!(graph.reachable_from(9).is_empty());
    assert!(!graph.closure().reaches(9, 0));
    assert_eq!(graph.longest_paths().depth(9), None);
}

/// `matrix[a][b]`: a path of at least one edge leads from a to b.
fn brute_closure(nodes: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut matrix = vec![vec![false; nodes]; nodes];
    for (from, to) in pairs {
        matrix[*from][*to] = true;
    }
    for middle in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                matrix[from][to] |= matrix[from][middle] && matrix[middle][to];
            }
        }
    }
    matrix
}

/// Length of the shortest walk of at least one edge.
fn brute_distance(nodes: usize, pairs: &[(usize, usize)], from: usize, to: usize) -> Option<usize> {
    let mut at = vec![false; nodes];
    at[from] = true;
    for length in 1..=nodes {
        let mut next = vec![false; nodes];
        for (a, b) in pairs {
            next[*b] |= at[*a];
        }
        if next[to] {
            return Some(length);
        }
        at = next;
    }
    None
}

/// Length of the longest walk, `None` if it is endless.
fn brute_depth(nodes: usize, pairs: &[(usize, usize)], from: usize) -> Option<usize> {
    let mut at = vec![false; nodes];
    at[from] = true;
    for length in 0..=nodes {
        let mut next = vec![false; nodes];
        for (a, b) in pairs {
            next[*b] |= at[*a];
        }
        if !next.contains(&true) {
            return Some(length);
        }
        at = next;
    }
    None
}

fn arbitrary_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..9).prop_flat_map(|nodes| {
        (
            Just(nodes),
            prop::collection::vec((0..nodes, 0..nodes), 0..20),
        )
    })
}

proptest! {
    #[test]
    fn reachability_and_components_agree_with_brute_force((nodes, pairs) in arbitrary_graph()) {
        let graph = graph(nodes, &pairs);
        let matrix = brute_closure(nodes, &pairs);
        let reaches = |from: usize, to: usize| matrix[from][to];
        let closure = graph.closure();
        let components = graph.components();
        for from in 0..nodes {
            let row: Vec<usize> = (0..nodes).filter(|to| reaches(from, *to)).collect();
            prop_assert_eq!(graph.reachable_from(from), row);
            for to in 0..nodes {
                prop_assert_eq!(closure.reaches(from, to), reaches(from, to));
                let together = from == to || reaches(from, to) && reaches(to, from);
                prop_assert_eq!(components.of_node[from] == components.of_node[to], together);
                if !together && reaches(from, to) {
                    prop_assert!(components.of_node[to] < components.of_node[from]);
                }
            }
        }
        for component in graph.cyclic_components() {
            prop_assert!(component.iter().all(|node| reaches(*node, *node)));
        }
    }

    #[test]
    fn paths_and_cycles_are_the_shortest((nodes, pairs) in arbitrary_graph()) {
        let graph = graph(nodes, &pairs);
        for from in 0..nodes {
            for to in (0..nodes).filter(|to| *to != from) {
                let path = graph.shortest_path(from, to);
                let length = path.as_ref().map(Vec::len);
                prop_assert_eq!(length, brute_distance(nodes, &pairs, from, to));
                if let Some(path) = path {
                    let along = nodes_along(&graph, &path);
                    prop_assert_eq!((along[0], along[along.len() - 1]), (from, to));
                }
            }
        }
        for component in graph.cyclic_components() {
            let cycle = graph.shortest_cycle(&component).unwrap();
            let along = nodes_along(&graph, &cycle);
            prop_assert_eq!(along[0], along[along.len() - 1]);
            let shortest = component
                .iter()
                .filter_map(|node| brute_distance(nodes, &pairs, *node, *node))
                .min();
            prop_assert_eq!(Some(cycle.len()), shortest);
            prop_assert_eq!(along.iter().min(), Some(&along[0]));
        }
    }

    #[test]
    fn depths_and_witnesses_are_the_longest((nodes, pairs) in arbitrary_graph()) {
        let graph = graph(nodes, &pairs);
        let longest = graph.longest_paths();
        for node in 0..nodes {
            let depth = brute_depth(nodes, &pairs, node);
            prop_assert_eq!(longest.depth(node), depth);
            let path = longest.path(node);
            prop_assert_eq!(path.len(), depth.unwrap_or(0));
            let along = nodes_along(&graph, &path);
            prop_assert!(along.is_empty() || along[0] == node);
        }
        let layered: usize = graph.layers().iter().map(Vec::len).sum();
        let settled = longest.depths().iter().filter(|depth| depth.is_some()).count();
        prop_assert_eq!(layered, settled);
        for (depth, layer) in graph.layers().iter().enumerate() {
            prop_assert!(layer.iter().all(|node| longest.depth(*node) == Some(depth)));
        }
    }

    #[test]
    fn redundant_edges_can_be_left_out_at_once((nodes, pairs) in arbitrary_graph()) {
        let graph = graph(nodes, &pairs);
        let redundant = graph.redundant_edges();
        for one in &redundant {
            let along = nodes_along(&graph, &one.path);
            let edge = graph.edges()[one.edge];
            prop_assert_eq!((along[0], along[along.len() - 1]), (edge.from, edge.to));
            prop_assert!(!one.path.contains(&one.edge));
        }
        let kept: Vec<(usize, usize)> = pairs
            .iter()
            .enumerate()
            .filter(|(index, _)| redundant.iter().all(|one| one.edge != *index))
            .map(|(_, pair)| *pair)
            .collect();
        prop_assert_eq!(brute_closure(nodes, &kept), brute_closure(nodes, &pairs));
    }

    #[test]
    fn without_cycles_every_implied_edge_is_found((nodes, pairs) in arbitrary_graph()) {
        let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|(a, b)| a > b).collect();
        let graph = graph(nodes, &pairs);
        let redundant: Vec<usize> = graph.redundant_edges().iter().map(|one| one.edge).collect();
        for (index, pair) in pairs.iter().enumerate() {
            let others: Vec<_> = pairs.iter().copied().filter(|other| other != pair).collect();
            let implied = brute_closure(nodes, &others)[pair.0][pair.1]
                || pairs[..index].contains(pair);
            prop_assert_eq!(redundant.contains(&index), implied);
        }
    }
}
