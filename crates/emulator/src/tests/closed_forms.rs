//! Counts of shipped kernels against what one can work out with a pencil.

use super::super::{Class, Launch};
use super::{counts, kernel, shipped};

#[test]
fn tiled_matmul() {
    let (n, tile) = (64u64, 16u64);
    let kernel = shipped!("matmul/tiled.wgsl", [16, 16, 1], &[]);
    let words = (n * n) as usize;
    let mut launch = Launch {
        groups: [4, 4, 1],
        buffers: [1.0, 2.0, 0.0].map(|x: f32| vec![x.to_bits(); words].into()).to_vec(),
        params: [n, n, n, 0, n].map(|x| x as u32).to_vec(),
    };
    let counts = counts(&kernel, &mut launch, [1, 2, 0]);
    let (items, tiles, warps) = (tile * tile, n / tile, tile * tile / 32);
    assert_eq!(counts.of(Class::FloatFma).items, items * n);
    assert_eq!(counts.of(Class::FloatFma).warps, warps * n);
    assert_eq!(counts.global_reads.items, 2 * items * tiles);
    assert_eq!(counts.global_reads.bytes, 4 * 2 * items * tiles);
    // A warp is two rows of the tile, each half a segment of another row of the matrix.
    assert_eq!(counts.global_reads.transactions, 2 * 2 * warps * tiles);
    assert_eq!(counts.global_writes.items, items);
    assert_eq!(counts.local_reads.items, 2 * items * n);
    assert_eq!(counts.local_writes.items, 2 * items * tiles);
    assert_eq!((counts.local_reads.conflicts, counts.local_reads.worst), (0, 1));
    assert_eq!(counts.barriers, 2 * tiles);
    assert_eq!(counts.of(Class::Barrier).items, 2 * tiles * items);
    assert_eq!(counts.local_bytes, 2 * 4 * 16 * 16);
    assert_eq!((counts.idle, counts.branches.divergent), (0.0, 0));
    // Each tile is a period with one read of A and one with one of B, and the store comes last.
    let reads: u64 = counts.periods.iter().map(|p| p.reads * p.times).sum();
    let writes: u64 = counts.periods.iter().map(|p| p.writes * p.times).sum();
    assert_eq!((reads, writes), (2 * tiles, 1));
    let fma = |p: &super::super::Period| {
        p.compute
            .iter()
            .filter(|(c, _)| *c == Class::FloatFma)
            .map(|(_, n)| n * p.times)
            .sum::<u64>()
    };
    assert_eq!(counts.periods.iter().map(fma).sum::<u64>(), n);
    // The group's tile of the result, and nothing else.
    let result = launch.buffers.remove(2).into_words();
    let is = |x: usize, y: usize| f32::from_bits(result[y * 64 + x]);
    assert_eq!((is(16, 32), is(31, 47), is(15, 32), is(16, 48)), (128.0, 128.0, 0.0, 0.0));
}

fn transpose(kernel: &gpubench_core::gpu::KernelSource) -> super::Counts {
    let mut launch = Launch {
        groups: [4, 4, 1],
        buffers: vec![(0..128 * 128).collect(), vec![0; 128 * 128].into()],
        params: vec![128, 128],
    };
    let counts = counts(kernel, &mut launch, [1, 2, 0]);
    assert_eq!(*launch.buffers[1].word(32 * 128 + 64), 64 * 128 + 32);
    counts
}

#[test]
fn transposes() {
    // 32 × 32 elements each, in warps of 32.
    let naive = transpose(&shipped!("transpose/transpose_naive.wgsl", [32, 32, 1], &[]));
    assert_eq!((naive.global_reads.items, naive.global_reads.transactions), (1024, 32));
    assert_eq!((naive.global_writes.items, naive.global_writes.transactions), (1024, 32 * 32));
    assert_eq!(naive.barriers, 0);
    for (pad, worst) in [(0, 32), (1, 1)] {
        let constants = [("TILE", 32), ("PAD", pad)];
        let kernel = shipped!("transpose/transpose_tiled.wgsl", [32, 8, 1], &constants);
        let tiled = transpose(&kernel);
        assert_eq!((tiled.global_reads.items, tiled.global_reads.transactions), (1024, 32));
        assert_eq!((tiled.global_writes.items, tiled.global_writes.transactions), (1024, 32));
        assert_eq!((tiled.local_writes.rounds, tiled.local_writes.worst), (32, 1));
        assert_eq!((tiled.local_reads.warps, tiled.local_reads.worst), (32, worst));
        assert_eq!(tiled.local_reads.rounds, 32 * worst);
        assert_eq!(tiled.local_reads.conflicts, 32 * (worst - 1));
        assert_eq!(tiled.barriers, 1);
        assert_eq!(u64::from(tiled.local_bytes), 4 * 32 * (32 + pad as u64));
    }
}

#[test]
fn five_point_stencil() {
    let (cols, rows) = (128u32, 64u32);
    let kernel = shipped!("stencils/stencil_2d_5.wgsl", [32, 4, 1], &[("ROWS", 4)]);
    let words = (cols * rows) as usize;
    let mut launch = Launch {
        groups: [4, 4, 1],
        buffers: [1.0, 0.0].map(|x: f32| vec![x.to_bits(); words].into()).to_vec(),
        params: vec![rows, cols, 0, rows, 0.5f32.to_bits(), 0.125f32.to_bits()],
    };
    // A group in the middle: each of 128 work-items walks 4 points.
    let inner = counts(&kernel, &mut launch, [1, 1, 0]);
    let items = 128;
    assert_eq!(inner.global_reads.items, items * (2 + 4 * (1 + 2)));
    assert_eq!(inner.global_writes.items, items * 4);
    assert_eq!(inner.of(Class::FloatFma).items, items * 4);
    assert_eq!(inner.of(Class::FloatMul).items, items * 4);
    assert_eq!(inner.of(Class::FloatAdd).items, items * 4 * 3);
    // A warp is one row: what lies one to the left or right touches a second segment.
    assert_eq!(inner.global_reads.transactions, 4 * (2 + 4 * (1 + 2 + 2)));
    assert_eq!((inner.idle, inner.branches.divergent), (0.0, 0));
    // At the left edge one lane of each warp copies its point.
    let edge = counts(&kernel, &mut launch, [0, 1, 0]);
    assert_eq!(edge.global_reads.items, items * (2 + 4) + (items - 4) * 4 * 2);
    assert_eq!(edge.branches.divergent, 4 * 4);
    assert_eq!(f32::from_bits(*launch.buffers[1].word(20 * 128 + 40)), 1.0);
}

const REDUCTION: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> sums: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) i: u32) {
    sums[i] = data[i];
    workgroupBarrier();
    for (var s = FIRST; s > 0u && s < 256u; s = NEXT) {
        if (TAKES_PART) { sums[i] += sums[i + s]; }
        workgroupBarrier();
    }
    if (i == 0u) { data[0] = sums[0]; }
}";

fn reduction(first: &str, next: &str, takes_part: &str) -> super::Counts {
    let text = REDUCTION.replace("FIRST", first).replace("NEXT", next);
    let kernel = kernel("main.wgsl", &text.replace("TAKES_PART", takes_part), [256, 1, 1], &[]);
    let mut launch = Launch { groups: [1; 3], buffers: vec![vec![3; 256].into()], params: vec![] };
    let counts = counts(&kernel, &mut launch, [0; 3]);
    assert_eq!(*launch.buffers[0].word(0), 768);
    counts
}

#[test]
fn reductions_diverge_as_they_are_written() {
    // Neighbours take part: whole warps rest, and only the last five steps part a warp.
    let good = reduction("128u", "s >> 1u", "i < s");
    // Every 2s-th takes part: warps part in every step.
    let bad = reduction("1u", "s << 1u", "i % (2u * s) == 0u");
    for counts in [&good, &bad] {
        assert_eq!(counts.of(Class::LocalRead).items, 2 * 255 + 1);
        assert_eq!(counts.barriers, 1 + 8);
        // The branch inside and the loop's own in 8 steps, the loop's last, the store.
        assert_eq!(counts.branches.warps, 8 * (8 + 8 + 1 + 1));
    }
    // And one in both: work-item 0 stores.
    assert_eq!(good.branches.divergent, 5 + 1);
    assert_eq!(bad.branches.divergent, 5 * 8 + 4 + 2 + 1 + 1);
    let idle = 16 + 24 + 28 + 30 + 31 + 31;
    let slots = 128 + 64 + 32 + 5 * 32 + 32;
    assert_eq!(good.branches.idle, f64::from(idle) / f64::from(slots));
    let slots = 5 * 256 + 4 * 32 + 2 * 32 + 32 + 32;
    let busy = 128 + 64 + 32 + 16 + 8 + 4 + 2 + 1 + 1;
    assert_eq!(bad.branches.idle, f64::from(slots - busy) / f64::from(slots));
    assert!(bad.idle > good.idle);
}

#[test]
fn the_middle_group_of_two_is_the_first() {
    assert_eq!([[0, 1, 2], [3, 4, 5]].map(crate::middle), [[0, 0, 0], [1, 1, 2]]);
}
