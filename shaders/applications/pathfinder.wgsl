// The cheapest path down a grid, `rows` rows of it: a field can be entered from the three above
// it. A group takes so many columns that, with as many more on either side as rows, it needs no
// other one: each row makes one of these worthless.
struct Params { cols: u32, rows: u32 }

@group(0) @binding(0) var<storage, read> wall: array<u32>;
@group(0) @binding(1) var<storage, read> cost: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> best: array<array<u32, GROUP_X>, 2>;

const NONE = 0xffffffffu;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn pathfinder(
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let lane = local.x;
    let group = id.x + id.y * groups.x;
    // Wraps around left of the grid, where it is no column either.
    let x = group * (GROUP_X - 2 * p.rows) + lane - p.rows;
    let inside = x < p.cols;

    var first = NONE;
    if (inside) { first = cost[x]; }
    best[0][lane] = first;
    workgroupBarrier();
    for (var row = 0u; row < p.rows; row++) {
        let above = row % 2;
        var value = NONE;
        if (inside) {
            let left = best[above][max(lane, 1u) - 1];
            let right = best[above][min(lane + 1, GROUP_X - 1)];
            value = min(min(left, right), best[above][lane]) + wall[row * p.cols + x];
        }
        best[1 - above][lane] = value;
        workgroupBarrier();
    }
    if (inside && lane >= p.rows && lane < GROUP_X - p.rows) { out[x] = best[p.rows % 2][lane]; }
}
