// Products of small matrices that matrix units add to sums, `steps` times: CHAINS sums a subgroup, none
// waiting for another. A group has SUBGROUPS shares of the work, which its subgroups take in turn,
// however many it has. A share has its own B, and with each step another A, so that no product stays
// the same and could be kept. To matrix i of `out`, which begins as matrix i of `start`, over and over,
// those products are added. All numbers are small and whole, so that every type is exact; n are in
// `out`, a multiple of a share's.
struct Params { n: u32, steps: u32 }

@group(0) @binding(0) var<storage, read> a: array<M_FACTOR>;
@group(0) @binding(1) var<storage, read> b: array<M_FACTOR>;
@group(0) @binding(2) var<storage, read> start: array<M_SUM>;
@group(0) @binding(3) var<storage, read_write> out: array<M_SUM>;
@group(0) @binding(4) var<uniform> p: Params;

const SIZE = M_ROWS * M_ROWS;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn matrix_chains(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(subgroup_id) subgroup: u32, @builtin(num_subgroups) subgroups: u32) {
    let first = (group.x + group.y * groups.x) * SUBGROUPS;
    for (var k = subgroup; k < SUBGROUPS; k += subgroups) {
        let share = first + k;
        if (share >= p.n / (CHAINS * SIZE)) {
            break;
        }
        let y = coopLoadT<M_B>(&b[share % MATRICES * SIZE], M_ROWS);
        let at = share * CHAINS;
        var c0 = coopLoadT<M_C>(&start[at % MATRICES * SIZE], M_ROWS);
        var c1 = coopLoadT<M_C>(&start[(at + 1u) % MATRICES * SIZE], M_ROWS);
        var c2 = coopLoadT<M_C>(&start[(at + 2u) % MATRICES * SIZE], M_ROWS);
        var c3 = coopLoadT<M_C>(&start[(at + 3u) % MATRICES * SIZE], M_ROWS);
        var c4 = coopLoadT<M_C>(&start[(at + 4u) % MATRICES * SIZE], M_ROWS);
        var c5 = coopLoadT<M_C>(&start[(at + 5u) % MATRICES * SIZE], M_ROWS);
        var c6 = coopLoadT<M_C>(&start[(at + 6u) % MATRICES * SIZE], M_ROWS);
        var c7 = coopLoadT<M_C>(&start[(at + 7u) % MATRICES * SIZE], M_ROWS);
        for (var step = 0u; step < p.steps; step++) {
            let x = coopLoadT<M_A>(&a[(share + step) % MATRICES * SIZE], M_ROWS);
            c0 = coopMultiplyAdd(x, y, c0);
            if (CHAINS > 1u) {
                c1 = coopMultiplyAdd(x, y, c1);
            }
            if (CHAINS > 2u) {
                c2 = coopMultiplyAdd(x, y, c2);
                c3 = coopMultiplyAdd(x, y, c3);
            }
            if (CHAINS > 4u) {
                c4 = coopMultiplyAdd(x, y, c4);
                c5 = coopMultiplyAdd(x, y, c5);
                c6 = coopMultiplyAdd(x, y, c6);
                c7 = coopMultiplyAdd(x, y, c7);
            }
        }
        coopStoreT(c0, &out[at * SIZE], M_ROWS);
        if (CHAINS > 1u) {
            coopStoreT(c1, &out[(at + 1u) * SIZE], M_ROWS);
        }
        if (CHAINS > 2u) {
            coopStoreT(c2, &out[(at + 2u) * SIZE], M_ROWS);
            coopStoreT(c3, &out[(at + 3u) * SIZE], M_ROWS);
        }
        if (CHAINS > 4u) {
            coopStoreT(c4, &out[(at + 4u) * SIZE], M_ROWS);
            coopStoreT(c5, &out[(at + 5u) * SIZE], M_ROWS);
            coopStoreT(c6, &out[(at + 6u) * SIZE], M_ROWS);
            coopStoreT(c7, &out[(at + 7u) * SIZE], M_ROWS);
        }
    }
}
