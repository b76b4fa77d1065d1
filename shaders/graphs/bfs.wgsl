// One level of a breadth-first search from all sides, bottom up: a node that was not reached by
// level `now` is reached now if one of its neighbours was reached just then. Every node has `degree`
// neighbours, given by any number modulo `n`.
struct Params { n: u32, degree: u32, now: u32 }

@group(0) @binding(0) var<storage, read> level: array<u32>;
@group(0) @binding(1) var<storage, read> neighbour: array<u32>;
@group(0) @binding(2) var<storage, read_write> next: array<u32>;
@group(0) @binding(3) var<uniform> p: Params;

const UNREACHED = 0xffffffffu;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn bfs(@builtin(global_invocation_id) id: vec3<u32>,
       @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.n) { return; }

    var reached = level[i];
    if (reached > p.now) {
        reached = UNREACHED;
        for (var k = 0u; k < p.degree && reached == UNREACHED; k++) {
            if (level[neighbour[i * p.degree + k] % p.n] == p.now) { reached = p.now + 1; }
        }
    }
    next[i] = reached;
}
