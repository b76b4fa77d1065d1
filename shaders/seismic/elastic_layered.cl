// One half of a time step of elastic waves, as `elastic`, in a medium of layers: `layers` holds dt/(rho h)
// of each of the n planes, then lambda dt/h, then mu dt/h. What lies half a cell above a plane (vz, sxz
// and syz) has the mean density and the harmonic mean of mu of the two planes (P. Moczo et al. 2002).
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// Within `sponge` cells of a face waves are damped by 1 - (loss (sponge - distance))^2.
// STRIDED is 1 where neighbouring work-items have neighbouring planes instead of columns.

typedef struct { uint n, phase, sponge; float loss; } Params;

// What is left of a wave in a cell.
float kept(const Params p, uint x, uint y, uint z) {
    const uint near = min(min(x, y), z), far = p.n - 1 - max(max(x, y), z);
    const float deep = p.loss * (float)(p.sponge - min(min(near, far), p.sponge));
    return 1.0f - deep * deep;
}

float at(global const float* field, uint n, uint c, uint x, uint y, uint z) {
    return x < n && y < n && z < n ? field[((c * n + z) * n + y) * n + x] : 0.0f;
}

float harmonic_mean(float a, float b) { return a + b > 0.0f ? 2.0f * a * b / (a + b) : 0.0f; }

#define F(c, i, j, k) at(waves, p.n, c, x + (i), y + (j), z + (k))

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void elastic_layered(global const float* before, global const float* layers,
                            global float* field, const Params p)
{
    // Velocities come from the old stresses, stresses from the new velocities.
    global const float* waves = p.phase == 0 ? before : field;
    const uint x = get_global_id(STRIDED ? 2 : 0);
    const uint y = get_global_id(1);
    const uint z = get_global_id(STRIDED ? 0 : 2);
    if (x >= p.n || y >= p.n || z >= p.n) return;

    const float keep = kept(p, x, y, z);
    const uint next = min(z + 1, p.n - 1);
    #define UPDATE(c, change) { \
        const uint i = (((c) * p.n + z) * p.n + y) * p.n + x; \
        field[i] = (before[i] + (change)) * keep; \
    }
    if (p.phase == 0) {
        // dt/(rho h) of the mean density is the harmonic mean of dt/(rho h).
        const float density = layers[z], above = harmonic_mean(density, layers[next]);
        UPDATE(0, density * (F(3, 1, 0, 0) - F(3, 0, 0, 0) + F(6, 0, 0, 0) - F(6, 0, -1, 0)
                             + F(7, 0, 0, 0) - F(7, 0, 0, -1)))
        UPDATE(1, density * (F(6, 0, 0, 0) - F(6, -1, 0, 0) + F(4, 0, 1, 0) - F(4, 0, 0, 0)
                             + F(8, 0, 0, 0) - F(8, 0, 0, -1)))
        UPDATE(2, above * (F(7, 0, 0, 0) - F(7, -1, 0, 0) + F(8, 0, 0, 0) - F(8, 0, -1, 0)
                           + F(5, 0, 0, 1) - F(5, 0, 0, 0)))
    } else {
        const float lambda = layers[p.n + z], mu = layers[2 * p.n + z];
        const float above = harmonic_mean(mu, layers[2 * p.n + next]);
        const float dx = F(0, 0, 0, 0) - F(0, -1, 0, 0);
        const float dy = F(1, 0, 0, 0) - F(1, 0, -1, 0);
        const float dz = F(2, 0, 0, 0) - F(2, 0, 0, -1);
        const float all = lambda * (dx + dy + dz);
        UPDATE(3, all + 2.0f * mu * dx)
        UPDATE(4, all + 2.0f * mu * dy)
        UPDATE(5, all + 2.0f * mu * dz)
        UPDATE(6, mu * (F(0, 0, 1, 0) - F(0, 0, 0, 0) + F(1, 1, 0, 0) - F(1, 0, 0, 0)))
        UPDATE(7, above * (F(0, 0, 0, 1) - F(0, 0, 0, 0) + F(2, 1, 0, 0) - F(2, 0, 0, 0)))
        UPDATE(8, above * (F(1, 0, 0, 1) - F(1, 0, 0, 0) + F(2, 0, 1, 0) - F(2, 0, 0, 0)))
    }
}
