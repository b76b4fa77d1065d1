// One half of a time step of elastic waves in three dimensions, on a staggered grid: velocities from
// stresses (phase 0) or stresses from velocities (phase 1), in place, in one homogeneous material.
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// `density` is dt/(rho h), `lambda` and `mu` are Lame's constants times dt/h. Within `sponge` cells
// of a face waves are damped by 1 - (loss (sponge - distance))^2.
// A group has a block with its surroundings in local memory.

struct Params { n: u32, phase: u32, sponge: u32, density: f32, lambda: f32, mu: f32, loss: f32 }

@group(0) @binding(0) var<storage, read_write> field: array<f32>;
@group(0) @binding(1) var<uniform> p: Params;

// What is left of a wave in a cell.
fn kept(cell: vec3<u32>) -> f32 {
    let near = min(min(cell.x, cell.y), cell.z);
    let far = p.n - 1 - max(max(cell.x, cell.y), cell.z);
    let deep = p.loss * f32(p.sponge - min(min(near, far), p.sponge));
    return 1.0 - deep * deep;
}

fn at(c: u32, cell: vec3<u32>) -> f32 {
    if (any(cell >= vec3<u32>(p.n))) { return 0.0; }
    return field[((c * p.n + cell.z) * p.n + cell.y) * p.n + cell.x];
}

var<workgroup> tile: array<array<array<array<f32, GROUP_X + 2>, GROUP_Y + 2>, GROUP_Z + 2>, 6>;

fn first() -> u32 { return select(0u, 3u, p.phase == 0); }

fn f(c: u32, lane: vec3<u32>, way: vec3<i32>) -> f32 {
    let place = lane + vec3<u32>(way);
    return tile[c - first()][place.z][place.y][place.x];
}

const OWN = vec3<i32>(0, 0, 0);
const EAST = vec3<i32>(1, 0, 0);
const WEST = vec3<i32>(-1, 0, 0);
const NORTH = vec3<i32>(0, 1, 0);
const SOUTH = vec3<i32>(0, -1, 0);
const UP = vec3<i32>(0, 0, 1);
const DOWN = vec3<i32>(0, 0, -1);

fn update(c: u32, cell: vec3<u32>, change: f32) {
    let i = ((c * p.n + cell.z) * p.n + cell.y) * p.n + cell.x;
    field[i] = (field[i] + change) * kept(cell);
}

// From one cell of field c to another.
fn rise(c: u32, lane: vec3<u32>, low: vec3<i32>, high: vec3<i32>) -> f32 {
    return f(c, lane, high) - f(c, lane, low);
}

fn advance(cell: vec3<u32>, lane: vec3<u32>) {
    if (p.phase == 0) {
        update(0, cell, p.density * (rise(3, lane, OWN, EAST) + rise(6, lane, SOUTH, OWN) + rise(7, lane, DOWN, OWN)));
        update(1, cell, p.density * (rise(6, lane, WEST, OWN) + rise(4, lane, OWN, NORTH) + rise(8, lane, DOWN, OWN)));
        update(2, cell, p.density * (rise(7, lane, WEST, OWN) + rise(8, lane, SOUTH, OWN) + rise(5, lane, OWN, UP)));
    } else {
        let dx = rise(0, lane, WEST, OWN);
        let dy = rise(1, lane, SOUTH, OWN);
        let dz = rise(2, lane, DOWN, OWN);
        let all = p.lambda * (dx + dy + dz);
        update(3, cell, all + 2.0 * p.mu * dx);
        update(4, cell, all + 2.0 * p.mu * dy);
        update(5, cell, all + 2.0 * p.mu * dz);
        update(6, cell, p.mu * (rise(0, lane, OWN, NORTH) + rise(1, lane, OWN, EAST)));
        update(7, cell, p.mu * (rise(0, lane, OWN, UP) + rise(2, lane, OWN, EAST)));
        update(8, cell, p.mu * (rise(1, lane, OWN, UP) + rise(2, lane, OWN, NORTH)));
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn elastic_3d(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local + 1;
    let fields = select(3u, 6u, p.phase == 0);
    for (var c = 0u; c < fields; c++) {
        for (var k = local.z; k < GROUP_Z + 2; k += GROUP_Z) {
            for (var j = local.y; j < GROUP_Y + 2; j += GROUP_Y) {
                for (var i = local.x; i < GROUP_X + 2; i += GROUP_X) {
                    tile[c][k][j][i] = at(first() + c, id - lane + vec3<u32>(i, j, k));
                }
            }
        }
    }
    workgroupBarrier();
    if (any(id >= vec3<u32>(p.n))) { return; }
    advance(id, lane);
}
