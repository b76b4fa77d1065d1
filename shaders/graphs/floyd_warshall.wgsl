// One pass of Floyd and Warshall's shortest paths between all pairs of nodes: each path may now
// lead through node `via`. The first pass (via = 0) finds them among `edges`, which stay; the others
// work in place: row and column `via` do not change in their pass (no edge is negative), so that all
// paths can be tried at once. 2^32 - 1 says that there is no path; sums stop there.
struct Params { n: u32, via: u32 }

@group(0) @binding(0) var<storage, read> edges: array<u32>;
@group(0) @binding(1) var<storage, read_write> distance: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

fn known(i: u32) -> u32 {
    if (p.via == 0) { return edges[i]; }
    return distance[i];
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn floyd_warshall(@builtin(global_invocation_id) id: vec3<u32>) {
    let to = id.x;
    let source = id.y;
    if (source >= p.n || to >= p.n) { return; }

    let i = source * p.n + to;
    let first = known(source * p.n + p.via);
    let sum = first + known(p.via * p.n + to);
    let through = select(sum, 0xffffffffu, sum < first);
    let before = known(i);
    if (p.via == 0 || through < before) { distance[i] = min(through, before); }
}
