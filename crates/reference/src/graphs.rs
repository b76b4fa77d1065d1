//! Paths in graphs.

use super::{Data, Problem, for_each_chunk};
use gpubench_core::error::Result;

/// One pass of Floyd and Warshall: every entry of the `n`×`n` matrix `distance` becomes the way
/// through node `via`, where that is shorter (R. W. Floyd, *Algorithm 97: Shortest path*, 1962). The
/// first pass (`via` is 0) takes them from `edges`. 2^32 − 1 says that there is no path.
///
/// # Errors
/// As [`super::Reference`].
pub fn floyd_warshall(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, via) = (problem.size("n")?, problem.size("via")?);
    let entries = n.saturating_mul(n);
    let mut after = problem.u32("distance", entries)?.to_vec();
    let before = problem.u32(if via == 0 { "edges" } else { "distance" }, entries)?;
    if via < n {
        after[..entries].copy_from_slice(&before[..entries]);
        let onward = &before[via * n..(via + 1) * n];
        for_each_chunk(&mut after[..n * n], n, |first, piece| {
            for (row, from) in piece.chunks_mut(n).zip(first..) {
                let there = before[from * n + via];
                for (distance, &onward) in row.iter_mut().zip(onward) {
                    *distance = there.saturating_add(onward).min(*distance);
                }
            }
        });
    }
    Ok(vec![("distance", Data::U32(after))])
}

/// One level of a breadth-first search among `n` nodes with `degree` neighbours each, which
/// `neighbour` gives modulo `n`: `next` is the level of every node reached by level `now`, the level
/// after it of those with a neighbour reached just then, and 2^32 − 1 for the others. Numbers above
/// `now` in `level` are of nodes that are not reached yet.
///
/// # Errors
/// As [`super::Reference`].
pub fn bfs(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let (n, degree) = (problem.size("n")?, problem.size("degree")?);
    let now = problem.size("now")? as u32;
    let level = &problem.u32("level", n)?[..n];
    let neighbours = problem.u32("neighbour", n.saturating_mul(degree))?;
    let next = level.iter().enumerate().map(|(i, &level_of)| {
        let mut mine = neighbours[i * degree..(i + 1) * degree].iter();
        match level_of {
            reached if reached <= now => reached,
            _ if mine.any(|&other| level[other as usize % n] == now) => now + 1,
            _ => u32::MAX,
        }
    });
    Ok(vec![("next", Data::U32(next.collect()))])
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use gpubench_core::gpu::Scalar;
    use gpubench_core::workload::Fill;

    fn all_passes(n: usize, edges: &[u32]) -> Vec<u32> {
        (0..n).fold(vec![0; n * n], |distance, via| {
            let numbers = vec![("n".to_owned(), n as f64), ("via".to_owned(), via as f64)];
            let buffers = vec![
                ("edges".to_owned(), Data::U32(edges.to_vec())),
                ("distance".to_owned(), Data::U32(distance)),
            ];
            match floyd_warshall(&Problem::new(numbers, buffers)).unwrap().remove(0) {
                ("distance", Data::U32(v)) => v,
                other => panic!("{other:?}"),
            }
        })
    }

    /// Bellman and Ford: edges are relaxed until nothing changes.
    fn relaxed(n: usize, edges: &[u32], from: usize) -> Vec<u32> {
        let mut distance = edges[from * n..(from + 1) * n].to_vec();
        loop {
            let before = distance.clone();
            for (i, &edge) in edges.iter().enumerate() {
                distance[i % n] = distance[i % n].min(distance[i / n].saturating_add(edge));
            }
            if distance == before {
                return distance;
            }
        }
    }

    #[test]
    fn all_passes_find_the_shortest_paths() {
        let n = 23;
        let edges = match fill(&Fill::Uniform([1.0, 1000.0]), Scalar::U32, n * n, 5) {
            Data::U32(v) => v,
            other => panic!("{other:?}"),
        };
        let found = all_passes(n, &edges);
        assert_ne!(found, edges);
        for from in 0..n {
            assert_eq!(found[from * n..(from + 1) * n], relaxed(n, &edges, from));
        }
    }

    #[test]
    fn where_no_edge_leads_there_is_no_path() {
        const NONE: u32 = u32::MAX;
        // From node 0 to 1 to 2 and no way back; node 3 by itself.
        let edges = [0, 5, NONE, NONE, NONE, 0, 7, NONE, NONE, NONE, 0, NONE, NONE, NONE, NONE, 0];
        let mut paths = edges;
        paths[2] = 12;
        assert_eq!(all_passes(4, &edges), paths);
    }

    #[test]
    fn a_level_reaches_the_neighbours_of_the_last() {
        let numbers = [("n", 5.0), ("degree", 2.0), ("now", 1.0)];
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![
                ("level".to_owned(), Data::U32(vec![0, 1, 7, 9, 2])),
                // The last but one names node 1 as 6.
                ("neighbour".to_owned(), Data::U32(vec![1, 1, 0, 0, 0, 4, 2, 6, 0, 3])),
            ],
        );
        let next = vec![0, 1, u32::MAX, 2, u32::MAX];
        assert_eq!(bfs(&problem).unwrap(), [("next", Data::U32(next))]);
    }

    #[test]
    fn hand_computed_three_nodes() {
        let edges = [0, 1, 9, 9, 0, 1, 1, 9, 0];
        assert_eq!(all_passes(3, &edges), [0, 1, 2, 2, 0, 1, 1, 2, 0]);
    }
}
