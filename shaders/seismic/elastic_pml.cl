// One half of a time step of elastic waves in a medium of layers, as `elastic_layered`, with a convolutional
// perfectly matched layer at all six faces (D. Komatitsch and R. Martin 2007, with kappa 1): within `pml`
// cells of a face, each difference d across it becomes d + m, where `memory` keeps m = keep m + part d.
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// `memory` has three blocks an axis (for vx, vy, vz), of velocities' phase, then of stresses'. A block
// is a cube of n cells of which the layer's 2 pml cells along that axis are left.
// `damping` is d(x) dt at the outer edge, `shift` is alpha dt at the inner edge.
// STRIDED is 1 where neighbouring work-items have neighbouring planes instead of columns.

typedef struct { uint n, phase, pml; float damping, shift; } Params;

float harmonic_mean(float a, float b) { return a + b > 0.0f ? 2.0f * a * b / (a + b) : 0.0f; }

// Difference `d` at `place` along an axis, with what the layer remembers of it in `m`. `ahead` is 1 where it lies
// half a cell ahead of the place, and 0 where it lies at it.
float stretched(const Params p, float d, uint place, uint ahead, global float* m) {
    const float within = 0.5f * (float)ahead;
    const float cells = place < p.pml ? (float)(p.pml - place) - within
        : (float)(place + p.pml - p.n) + 0.5f + within;
    const float depth = cells / (float)p.pml;
    const float damping = p.damping * depth * depth;
    const float rate = damping + p.shift * (1.0f - depth);
    const float keep = exp(-rate);
    const float part = damping > 0.0f ? damping / rate * (keep - 1.0f) : 0.0f;
    *m = keep * *m + part * d;
    return d + *m;
}

// Difference of field c along an axis, from the cell to the one ahead or from the one behind to it, which
// changes velocity v or comes from it.
float along(const Params p, global const float* waves, global float* memory,
            uint axis, uint v, uint c, uint ahead, uint x, uint y, uint z)
{
    const uint n = p.n, place = axis == 0 ? x : axis == 1 ? y : z;
    const uint step = axis == 0 ? 1 : axis == 1 ? n : n * n;
    const uint i = ((c * n + z) * n + y) * n + x;
    const float d = ahead ? (place + 1 < n ? waves[i + step] : 0.0f) - waves[i]
        : waves[i] - (place > 0 ? waves[i - step] : 0.0f);
    if (place >= p.pml && place + p.pml < n) return d;

    const uint slot = place < p.pml ? place : place + 2 * p.pml - n, layer = 2 * p.pml;
    const uint j = axis == 0 ? (z * n + y) * layer + slot
        : axis == 1 ? (z * layer + slot) * n + x : (slot * n + y) * n + x;
    const uint block = (p.phase * 3 + axis) * 3 + v;
    return stretched(p, d, place, ahead, &memory[block * n * n * layer + j]);
}

#define UP(axis, v, c) along(p, waves, memory, axis, v, c, 1, x, y, z)
#define DOWN(axis, v, c) along(p, waves, memory, axis, v, c, 0, x, y, z)

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void elastic_pml(global const float* before, global const float* layers,
                        global float* memory, global float* field, const Params p)
{
    // Velocities come from the old stresses, stresses from the new velocities.
    global const float* waves = p.phase == 0 ? before : field;
    const uint x = get_global_id(STRIDED ? 2 : 0);
    const uint y = get_global_id(1);
    const uint z = get_global_id(STRIDED ? 0 : 2);
    if (x >= p.n || y >= p.n || z >= p.n) return;

    const uint next = min(z + 1, p.n - 1);
    #define UPDATE(c, change) { \
        const uint i = (((c) * p.n + z) * p.n + y) * p.n + x; \
        field[i] = before[i] + (change); \
    }
    if (p.phase == 0) {
        // dt/(rho h) of the mean density is the harmonic mean of dt/(rho h).
        const float density = layers[z], above = harmonic_mean(density, layers[next]);
        UPDATE(0, density * (UP(0, 0, 3) + DOWN(1, 0, 6) + DOWN(2, 0, 7)))
        UPDATE(1, density * (DOWN(0, 1, 6) + UP(1, 1, 4) + DOWN(2, 1, 8)))
        UPDATE(2, above * (DOWN(0, 2, 7) + DOWN(1, 2, 8) + UP(2, 2, 5)))
    } else {
        const float lambda = layers[p.n + z], mu = layers[2 * p.n + z];
        const float above = harmonic_mean(mu, layers[2 * p.n + next]);
        const float dx = DOWN(0, 0, 0), dy = DOWN(1, 1, 1), dz = DOWN(2, 2, 2);
        const float all = lambda * (dx + dy + dz);
        UPDATE(3, all + 2.0f * mu * dx)
        UPDATE(4, all + 2.0f * mu * dy)
        UPDATE(5, all + 2.0f * mu * dz)
        UPDATE(6, mu * (UP(1, 0, 0) + UP(0, 1, 1)))
        UPDATE(7, above * (UP(2, 0, 0) + UP(0, 2, 2)))
        UPDATE(8, above * (UP(2, 1, 1) + UP(1, 2, 2)))
    }
}
