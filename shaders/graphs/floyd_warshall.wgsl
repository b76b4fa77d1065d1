// One pass of Floyd and Warshall's shortest paths between all pairs of nodes: each path may now
// lead through node `via`. Row and column `via` do not change in this pass (no edge is negative),
// so that all paths can be tried at once, in place.
struct Params { n: u32, via: u32 }

@group(0) @binding(0) var<storage, read_write> distance: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn floyd_warshall(@builtin(global_invocation_id) id: vec3<u32>) {
    let to = id.x;
    let source = id.y;
    if (source >= p.n || to >= p.n) { return; }

    let i = source * p.n + to;
    let through = distance[source * p.n + p.via] + distance[p.via * p.n + to];
    if (through < distance[i]) { distance[i] = through; }
}
