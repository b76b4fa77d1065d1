// One half of a time step of elastic waves, as `elastic`, in a medium of layers: `layers` holds dt/(rho h)
// of each of the n planes, then lambda dt/h, then mu dt/h. What lies half a cell above a plane (vz, sxz
// and syz) has the mean density and the harmonic mean of mu of the two planes (P. Moczo et al. 2002).
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// Within `sponge` cells of a face waves are damped by 1 - (loss (sponge - distance))^2.
// STRIDED is 1 where neighbouring work-items have neighbouring planes instead of columns.

struct Params { n: u32, phase: u32, sponge: u32, loss: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read> layers: array<f32>;
@group(0) @binding(2) var<storage, read_write> field: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

// What is left of a wave in a cell.
fn kept(cell: vec3<u32>) -> f32 {
    let near = min(min(cell.x, cell.y), cell.z);
    let far = p.n - 1 - max(max(cell.x, cell.y), cell.z);
    let deep = p.loss * f32(p.sponge - min(min(near, far), p.sponge));
    return 1.0 - deep * deep;
}

// Velocities come from the old stresses, stresses from the new velocities.
fn at(c: u32, cell: vec3<u32>) -> f32 {
    if (any(cell >= vec3<u32>(p.n))) { return 0.0; }
    let i = ((c * p.n + cell.z) * p.n + cell.y) * p.n + cell.x;
    if (p.phase == 0) { return before[i]; }
    return field[i];
}

fn f(c: u32, cell: vec3<u32>, way: vec3<i32>) -> f32 { return at(c, cell + vec3<u32>(way)); }

const OWN = vec3<i32>(0, 0, 0);
const EAST = vec3<i32>(1, 0, 0);
const WEST = vec3<i32>(-1, 0, 0);
const NORTH = vec3<i32>(0, 1, 0);
const SOUTH = vec3<i32>(0, -1, 0);
const UP = vec3<i32>(0, 0, 1);
const DOWN = vec3<i32>(0, 0, -1);

fn update(c: u32, cell: vec3<u32>, change: f32) {
    let i = ((c * p.n + cell.z) * p.n + cell.y) * p.n + cell.x;
    field[i] = (before[i] + change) * kept(cell);
}

// From one cell of field c to another.
fn rise(c: u32, cell: vec3<u32>, low: vec3<i32>, high: vec3<i32>) -> f32 {
    return f(c, cell, high) - f(c, cell, low);
}

fn harmonic_mean(a: f32, b: f32) -> f32 {
    if (a + b > 0.0) { return 2.0 * a * b / (a + b); }
    return 0.0;
}

fn advance(cell: vec3<u32>) {
    let next = min(cell.z + 1, p.n - 1);
    if (p.phase == 0) {
        // dt/(rho h) of the mean density is the harmonic mean of dt/(rho h).
        let density = layers[cell.z];
        let above = harmonic_mean(density, layers[next]);
        update(0, cell, density * (rise(3, cell, OWN, EAST) + rise(6, cell, SOUTH, OWN) + rise(7, cell, DOWN, OWN)));
        update(1, cell, density * (rise(6, cell, WEST, OWN) + rise(4, cell, OWN, NORTH) + rise(8, cell, DOWN, OWN)));
        update(2, cell, above * (rise(7, cell, WEST, OWN) + rise(8, cell, SOUTH, OWN) + rise(5, cell, OWN, UP)));
    } else {
        let lambda = layers[p.n + cell.z];
        let mu = layers[2 * p.n + cell.z];
        let above = harmonic_mean(mu, layers[2 * p.n + next]);
        let dx = rise(0, cell, WEST, OWN);
        let dy = rise(1, cell, SOUTH, OWN);
        let dz = rise(2, cell, DOWN, OWN);
        let all = lambda * (dx + dy + dz);
        update(3, cell, all + 2.0 * mu * dx);
        update(4, cell, all + 2.0 * mu * dy);
        update(5, cell, all + 2.0 * mu * dz);
        update(6, cell, mu * (rise(0, cell, OWN, NORTH) + rise(1, cell, OWN, EAST)));
        update(7, cell, above * (rise(0, cell, OWN, UP) + rise(2, cell, OWN, EAST)));
        update(8, cell, above * (rise(1, cell, OWN, UP) + rise(2, cell, OWN, NORTH)));
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn elastic_layered(@builtin(global_invocation_id) id: vec3<u32>) {
    var cell = id;
    if (STRIDED == 1) { cell = id.zyx; }
    if (any(cell >= vec3<u32>(p.n))) { return; }
    advance(cell);
}
