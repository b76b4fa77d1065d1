// One half of a time step of elastic waves, as `elastic`, in a box of the domain: nx*ny*nz cells from
// cell (x, y, z) on, with a shell of one cell around them that holds what the boxes beside it have (0 where
// the domain ends). Velocities are changed by the stresses around them (phase 0), or stresses by
// velocities (phase 1), in place.

struct Params {
    width: u32, height: u32, depth: u32, nx: u32, ny: u32, nz: u32, x: u32, y: u32, z: u32,
    phase: u32, sponge: u32,
    density: f32, lambda: f32, mu: f32, loss: f32,
}

@group(0) @binding(0) var<storage, read_write> field: array<f32>;
@group(0) @binding(1) var<uniform> p: Params;

// What is left of a wave in a cell of the domain, which is width*height*depth cells.
fn kept(cell: vec3<u32>) -> f32 {
    let near = min(min(cell.x, cell.y), cell.z);
    let ahead = vec3<u32>(p.width - 1, p.height - 1, p.depth - 1) - cell;
    let far = min(min(ahead.x, ahead.y), ahead.z);
    let deep = p.loss * f32(p.sponge - min(min(near, far), p.sponge));
    return 1.0 - deep * deep;
}

// Of a field that begins at `c`: from the cell behind to cell i, and from it to the one ahead.
fn down(c: u32, i: u32, step: u32) -> f32 { return field[c + i] - field[c + i - step]; }
fn up(c: u32, i: u32, step: u32) -> f32 { return field[c + i + step] - field[c + i]; }
fn update(i: u32, change: f32, keep: f32) { field[i] = (field[i] + change) * keep; }

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn elastic_box(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id >= vec3<u32>(p.nx, p.ny, p.nz))) { return; }

    let row = p.nx + 2;
    let plane = row * (p.ny + 2);
    let b = plane * (p.nz + 2);
    let i = (id.z + 1) * plane + (id.y + 1) * row + id.x + 1;
    let keep = kept(id + vec3<u32>(p.x, p.y, p.z));
    if (p.phase == 0) {
        update(i, p.density * (up(3 * b, i, 1) + down(6 * b, i, row) + down(7 * b, i, plane)), keep);
        update(b + i, p.density * (down(6 * b, i, 1) + up(4 * b, i, row) + down(8 * b, i, plane)), keep);
        update(2 * b + i, p.density * (down(7 * b, i, 1) + down(8 * b, i, row) + up(5 * b, i, plane)), keep);
    } else {
        let dx = down(0, i, 1);
        let dy = down(b, i, row);
        let dz = down(2 * b, i, plane);
        let all = p.lambda * (dx + dy + dz);
        update(3 * b + i, all + 2.0 * p.mu * dx, keep);
        update(4 * b + i, all + 2.0 * p.mu * dy, keep);
        update(5 * b + i, all + 2.0 * p.mu * dz, keep);
        update(6 * b + i, p.mu * (up(0, i, row) + up(b, i, 1)), keep);
        update(7 * b + i, p.mu * (up(0, i, plane) + up(2 * b, i, 1)), keep);
        update(8 * b + i, p.mu * (up(b, i, plane) + up(2 * b, i, row)), keep);
    }
}
