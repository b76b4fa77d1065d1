// One half of a time step of elastic waves, as `elastic`, in a box of the domain: nx*ny*nz cells from
// cell (x, y, z) on, with a shell of one cell around them that holds what the boxes beside it have (0 where
// the domain ends). Velocities are changed by the stresses around them (phase 0), or stresses by
// velocities (phase 1), in place.

typedef struct {
    uint width, height, depth, nx, ny, nz, x, y, z, phase, sponge;
    float density, lambda, mu, loss;
} Params;

// What is left of a wave in a cell of the domain, which is width*height*depth cells.
float kept(const Params p, uint x, uint y, uint z) {
    const uint near = min(min(x, y), z);
    const uint far = min(min(p.width - 1 - x, p.height - 1 - y), p.depth - 1 - z);
    const float deep = p.loss * (float)(p.sponge - min(min(near, far), p.sponge));
    return 1.0f - deep * deep;
}

// Field c at a cell, and from the one behind to it (DOWN) or from it to the one ahead (UP).
#define F(c, j) field[(c) * box + (j)]
#define DOWN(c, step) (F(c, i) - F(c, i - (step)))
#define UP(c, step) (F(c, i + (step)) - F(c, i))
#define UPDATE(c, change) F(c, i) = (F(c, i) + (change)) * keep;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void elastic_box(global float* field, const Params p)
{
    const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= p.nx || y >= p.ny || z >= p.nz) return;

    const uint row = p.nx + 2, plane = row * (p.ny + 2), box = plane * (p.nz + 2);
    const uint i = (z + 1) * plane + (y + 1) * row + x + 1;
    const float keep = kept(p, p.x + x, p.y + y, p.z + z);
    if (p.phase == 0) {
        UPDATE(0, p.density * (UP(3, 1) + DOWN(6, row) + DOWN(7, plane)))
        UPDATE(1, p.density * (DOWN(6, 1) + UP(4, row) + DOWN(8, plane)))
        UPDATE(2, p.density * (DOWN(7, 1) + DOWN(8, row) + UP(5, plane)))
    } else {
        const float dx = DOWN(0, 1), dy = DOWN(1, row), dz = DOWN(2, plane);
        const float all = p.lambda * (dx + dy + dz);
        UPDATE(3, all + 2.0f * p.mu * dx)
        UPDATE(4, all + 2.0f * p.mu * dy)
        UPDATE(5, all + 2.0f * p.mu * dz)
        UPDATE(6, p.mu * (UP(0, row) + UP(1, 1)))
        UPDATE(7, p.mu * (UP(0, plane) + UP(2, 1)))
        UPDATE(8, p.mu * (UP(1, plane) + UP(2, row)))
    }
}
