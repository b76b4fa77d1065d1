//! What the kernels for matrix units leave behind.

use super::{Data, Problem};
use gpubench_core::error::{Error, Result};

/// Products of matrices of M x M_DEPTH and M_DEPTH x M_COLUMNS numbers: number `i` of `out` is number `i` of `start`
/// and, of `steps` of `a` from number `i/CHAINS` on, the products with that number of `b`. Each of those has MATRICES,
/// which come over and over; `out` has `n` scalars.
pub fn matrix_chains(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let size = |name| problem.size(name).map(|size| size.max(1));
    let (rows, columns, depth) = (size("M")?, size("M_COLUMNS")?, size("M_DEPTH")?);
    let (chains, matrices, steps) = (size("CHAINS")?, size("MATRICES")?, problem.size("steps")?);
    let (area, of_a, of_b) =
        (rows.saturating_mul(columns), rows.saturating_mul(depth), depth.saturating_mul(columns));
    let numbers = |name, area| {
        let count = problem.room(name, matrices.saturating_mul(area))?;
        let data = problem.data(name)?;
        let all = data.as_bytes().chunks_exact(data.scalar().size()).take(count);
        Ok::<Vec<f64>, Error>(all.map(|bytes| data.scalar().number(bytes)).collect())
    };
    let (a, b, start) = (numbers("a", of_a)?, numbers("b", of_b)?, numbers("start", area)?);
    // All of `a` so often, and so many of them once more.
    let (rounds, rest) = ((steps / matrices) as f64, steps % matrices);
    let all = |at: usize| (0..matrices).map(|matrix| a[matrix * of_a + at]).sum::<f64>();
    let all: Vec<f64> = (0..of_a).map(all).collect();
    let gained = |share: usize| {
        let once = |at: usize| (share..share + rest).map(move |of| of % matrices * of_a + at);
        let added = |at: usize| rounds * all[at] + once(at).map(|of| a[of]).sum::<f64>();
        let added: Vec<f64> = (0..of_a).map(added).collect();
        let term = |at: usize, k: usize| {
            let of_b = share * of_b + k * columns + at % columns;
            added[at / columns * depth + k] * b[of_b]
        };
        (0..area).map(|at| (0..depth).map(|k| term(at, k)).sum()).collect::<Vec<f64>>()
    };
    let gained: Vec<_> = (0..matrices).map(gained).collect();
    let sum = problem.data("out")?.scalar();
    let number = |i: usize| {
        let (matrix, at) = (i / area, i % area);
        let gained = gained[matrix / chains % matrices][at];
        sum.bytes(start[matrix % matrices * area + at] + gained)
    };
    let n = problem.room("out", problem.size("n")?)?;
    // Behind so many all come again.
    let period = n.min(chains.saturating_mul(matrices).saturating_mul(area));
    let bytes: Vec<u8> = (0..period).flat_map(number).collect();
    let bytes: Vec<u8> = bytes.into_iter().cycle().take(n * sum.size()).collect();
    Ok(vec![("out", Data::from_bytes(sum, &bytes))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::testing::problem;
    use gpubench_core::gpu::Scalar;

    #[test]
    fn a_matrix_gains_another_product_every_step() {
        let matrices = |first: [f32; 4], second: [f32; 4]| Data::F32([first, second].concat());
        let sizes = [("M", 2.0), ("M_COLUMNS", 2.0), ("M_DEPTH", 2.0)];
        let others = [("n", 16.0), ("CHAINS", 2.0), ("MATRICES", 2.0), ("steps", 3.0)];
        let numbers = [&sizes[..], &others].concat();
        let buffers = vec![
            ("a", matrices([1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0])),
            ("b", matrices([5.0, 6.0, 7.0, 8.0], [0.0, 1.0, 1.0, 0.0])),
            ("start", matrices([0.0; 4], [1.0; 4])),
            ("out", Data::Other(Scalar::F64, vec![0; 16 * 8])),
        ];
        let ends = matrix_chains(&problem(&numbers, buffers)).unwrap().remove(0).1;
        let ends: Vec<f64> = (0..16).map(|i| ends.get(i).unwrap()).collect();
        // Twice the first A and once the second times the first B; once and twice times the second.
        let [first, second] = [[43.0, 50.0, 86.0, 100.0], [2.0, 3.0, 4.0, 3.0]];
        let more = |all: [f64; 4]| all.map(|x| x + 1.0);
        assert_eq!(ends, [first, more(first), second, more(second)].concat());
    }

    #[test]
    fn matrices_may_be_oblong() {
        let sizes = [("M", 1.0), ("M_COLUMNS", 2.0), ("M_DEPTH", 3.0)];
        let others = [("n", 4.0), ("CHAINS", 1.0), ("MATRICES", 1.0), ("steps", 2.0)];
        let buffers = vec![
            ("a", Data::Other(Scalar::I8, vec![1, 2, 255])),
            ("b", Data::Other(Scalar::I8, vec![1, 2, 3, 4, 5, 6])),
            ("start", Data::Other(Scalar::I32, [10_i32, 20].map(i32::to_ne_bytes).concat())),
            ("out", Data::Other(Scalar::I32, vec![0; 16])),
        ];
        let numbers = [&sizes[..], &others].concat();
        let ends = matrix_chains(&problem(&numbers, buffers)).unwrap().remove(0).1;
        let ends: Vec<f64> = (0..4).map(|i| ends.get(i).unwrap()).collect();
        // Twice 1*1 + 2*3 - 5 and twice 1*2 + 2*4 - 6.
        assert_eq!(ends, [14.0, 28.0, 14.0, 28.0]);
    }

    #[test]
    fn matrices_larger_than_their_buffers_are_rejected() {
        let found = |rows: f64, matrices: f64| {
            let buffers = ["a", "b", "start", "out"].map(|name| (name, Data::F32(vec![1.0; 4])));
            let sizes = [("M", rows), ("M_COLUMNS", rows), ("M_DEPTH", rows)];
            let others = [("n", 4.0), ("CHAINS", 0.0), ("MATRICES", matrices), ("steps", 1e15)];
            let numbers = [&sizes[..], &others].concat();
            matrix_chains(&problem(&numbers, buffers.to_vec())).is_ok()
        };
        assert!(found(2.0, 1.0) && found(0.0, 0.0), "none counts as one");
        assert!(!found(4_294_967_296.0, 1.0) && !found(2.0, 1e19) && !found(2.0, 2.0));
    }
}
