// One half of a time step of elastic waves in a medium of layers, as `elastic_layered`, with a convolutional
// perfectly matched layer at all six faces (D. Komatitsch and R. Martin 2007, with kappa 1): within `pml`
// cells of a face, each difference d across it becomes d + m, where `memory` keeps m = keep m + part d.
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// `memory` has three blocks an axis (for vx, vy, vz), of velocities' phase, then of stresses'. A block
// is a cube of n cells of which the layer's 2 pml cells along that axis are left.
// `damping` is d(x) dt at the outer edge, `shift` is alpha dt at the inner edge.
// STRIDED is 1 where neighbouring work-items have neighbouring planes instead of columns.

struct Params { n: u32, phase: u32, pml: u32, damping: f32, shift: f32 }

@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read> layers: array<f32>;
@group(0) @binding(2) var<storage, read_write> memory: array<f32>;
@group(0) @binding(3) var<storage, read_write> field: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

// Velocities come from the old stresses, stresses from the new velocities.
fn wave(i: u32) -> f32 {
    if (p.phase == 0) { return before[i]; }
    return field[i];
}

fn harmonic_mean(a: f32, b: f32) -> f32 {
    if (a + b > 0.0) { return 2.0 * a * b / (a + b); }
    return 0.0;
}

// Difference `d` at `place` along an axis, with what the layer remembers of it in memory[m]. `ahead` is 1 where
// it lies half a cell ahead of the place, and 0 where it lies at it.
fn stretched(d: f32, place: u32, ahead: u32, m: u32) -> f32 {
    let within = 0.5 * f32(ahead);
    var cells = f32(p.pml - place) - within;
    if (place >= p.pml) { cells = f32(place + p.pml - p.n) + 0.5 + within; }
    let depth = cells / f32(p.pml);
    let damping = p.damping * depth * depth;
    let rate = damping + p.shift * (1.0 - depth);
    let keep = exp(-rate);
    var part = 0.0;
    if (damping > 0.0) { part = damping / rate * (keep - 1.0); }
    let remembered = keep * memory[m] + part * d;
    memory[m] = remembered;
    return d + remembered;
}

// Difference of field c along an axis, from the cell to the one ahead or from the one behind to it, which
// changes velocity v or comes from it.
fn along(axis: u32, v: u32, c: u32, ahead: u32, cell: vec3<u32>) -> f32 {
    let n = p.n;
    let layer = 2 * p.pml;
    let i = ((c * n + cell.z) * n + cell.y) * n + cell.x;
    var place = cell.x;
    var step = 1u;
    if (axis == 1) { place = cell.y; step = n; }
    if (axis == 2) { place = cell.z; step = n * n; }
    var low = 0.0;
    var high = 0.0;
    if (ahead == 1) {
        low = wave(i);
        if (place + 1 < n) { high = wave(i + step); }
    } else {
        high = wave(i);
        if (place > 0) { low = wave(i - step); }
    }
    let d = high - low;
    if (place >= p.pml && place + p.pml < n) { return d; }

    var slot = place;
    if (place >= p.pml) { slot = place + layer - n; }
    var j = (cell.z * n + cell.y) * layer + slot;
    if (axis == 1) { j = (cell.z * layer + slot) * n + cell.x; }
    if (axis == 2) { j = (slot * n + cell.y) * n + cell.x; }
    let block = (p.phase * 3 + axis) * 3 + v;
    return stretched(d, place, ahead, block * n * n * layer + j);
}

fn up(axis: u32, v: u32, c: u32, cell: vec3<u32>) -> f32 { return along(axis, v, c, 1, cell); }
fn down(axis: u32, v: u32, c: u32, cell: vec3<u32>) -> f32 { return along(axis, v, c, 0, cell); }

fn update(c: u32, cell: vec3<u32>, change: f32) {
    let i = ((c * p.n + cell.z) * p.n + cell.y) * p.n + cell.x;
    field[i] = before[i] + change;
}

fn advance(cell: vec3<u32>) {
    let next = min(cell.z + 1, p.n - 1);
    if (p.phase == 0) {
        // dt/(rho h) of the mean density is the harmonic mean of dt/(rho h).
        let density = layers[cell.z];
        let above = harmonic_mean(density, layers[next]);
        update(0, cell, density * (up(0, 0, 3, cell) + down(1, 0, 6, cell) + down(2, 0, 7, cell)));
        update(1, cell, density * (down(0, 1, 6, cell) + up(1, 1, 4, cell) + down(2, 1, 8, cell)));
        update(2, cell, above * (down(0, 2, 7, cell) + down(1, 2, 8, cell) + up(2, 2, 5, cell)));
    } else {
        let lambda = layers[p.n + cell.z];
        let mu = layers[2 * p.n + cell.z];
        let above = harmonic_mean(mu, layers[2 * p.n + next]);
        let dx = down(0, 0, 0, cell);
        let dy = down(1, 1, 1, cell);
        let dz = down(2, 2, 2, cell);
        let all = lambda * (dx + dy + dz);
        update(3, cell, all + 2.0 * mu * dx);
        update(4, cell, all + 2.0 * mu * dy);
        update(5, cell, all + 2.0 * mu * dz);
        update(6, cell, mu * (up(1, 0, 0, cell) + up(0, 1, 1, cell)));
        update(7, cell, above * (up(2, 0, 0, cell) + up(0, 2, 2, cell)));
        update(8, cell, above * (up(2, 1, 1, cell) + up(1, 2, 2, cell)));
    }
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn elastic_pml(@builtin(global_invocation_id) id: vec3<u32>) {
    var cell = id;
    if (STRIDED == 1) { cell = id.zyx; }
    if (any(cell >= vec3<u32>(p.n))) { return; }
    advance(cell);
}
