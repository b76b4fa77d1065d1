// One half of a time step of elastic waves in three dimensions, on a staggered grid: velocities from
// stresses (phase 0) or stresses from velocities (phase 1), in place, in one homogeneous material.
// Fields lie one after the other: vx, vy, vz, sxx, syy, szz, sxy, sxz, syz; all are 0 outside.
// `density` is dt/(rho h), `lambda` and `mu` are Lame's constants times dt/h. Within `sponge` cells
// of a face waves are damped by 1 - (loss (sponge - distance))^2.
// A group has a block with its surroundings in local memory.

typedef struct { uint n, phase, sponge; float density, lambda, mu, loss; } Params;

// What is left of a wave in a cell.
float kept(const Params p, uint x, uint y, uint z) {
    const uint near = min(min(x, y), z), far = p.n - 1 - max(max(x, y), z);
    const float deep = p.loss * (float)(p.sponge - min(min(near, far), p.sponge));
    return 1.0f - deep * deep;
}

float at(global const float* field, uint n, uint c, uint x, uint y, uint z) {
    return x < n && y < n && z < n ? field[((c * n + z) * n + y) * n + x] : 0.0f;
}

#define F(c, i, j, k) tile[(c) - first][lz + (k)][ly + (j)][lx + (i)]

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void elastic_3d(global float* restrict field, const Params p)
{
    local float tile[6][GROUP_Z + 2][GROUP_Y + 2][GROUP_X + 2];
    const uint x = get_global_id(0), lx = get_local_id(0) + 1;
    const uint y = get_global_id(1), ly = get_local_id(1) + 1;
    const uint z = get_global_id(2), lz = get_local_id(2) + 1;
    const uint first = p.phase == 0 ? 3 : 0;
    const uint fields = p.phase == 0 ? 6 : 3;
    for (uint c = 0; c < fields; c++) {
        for (uint k = get_local_id(2); k < GROUP_Z + 2; k += GROUP_Z) {
            for (uint j = get_local_id(1); j < GROUP_Y + 2; j += GROUP_Y) {
                for (uint i = get_local_id(0); i < GROUP_X + 2; i += GROUP_X) {
                    tile[c][k][j][i] =
                        at(field, p.n, first + c, x - lx + i, y - ly + j, z - lz + k);
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= p.n || y >= p.n || z >= p.n) return;

    const float keep = kept(p, x, y, z);
    #define UPDATE(c, change) { \
        const uint i = (((c) * p.n + z) * p.n + y) * p.n + x; \
        field[i] = (field[i] + (change)) * keep; \
    }
    if (p.phase == 0) {
        UPDATE(0, p.density * (F(3, 1, 0, 0) - F(3, 0, 0, 0) + F(6, 0, 0, 0) - F(6, 0, -1, 0)
                               + F(7, 0, 0, 0) - F(7, 0, 0, -1)))
        UPDATE(1, p.density * (F(6, 0, 0, 0) - F(6, -1, 0, 0) + F(4, 0, 1, 0) - F(4, 0, 0, 0)
                               + F(8, 0, 0, 0) - F(8, 0, 0, -1)))
        UPDATE(2, p.density * (F(7, 0, 0, 0) - F(7, -1, 0, 0) + F(8, 0, 0, 0) - F(8, 0, -1, 0)
                               + F(5, 0, 0, 1) - F(5, 0, 0, 0)))
    } else {
        const float dx = F(0, 0, 0, 0) - F(0, -1, 0, 0);
        const float dy = F(1, 0, 0, 0) - F(1, 0, -1, 0);
        const float dz = F(2, 0, 0, 0) - F(2, 0, 0, -1);
        const float all = p.lambda * (dx + dy + dz);
        UPDATE(3, all + 2.0f * p.mu * dx)
        UPDATE(4, all + 2.0f * p.mu * dy)
        UPDATE(5, all + 2.0f * p.mu * dz)
        UPDATE(6, p.mu * (F(0, 0, 1, 0) - F(0, 0, 0, 0) + F(1, 1, 0, 0) - F(1, 0, 0, 0)))
        UPDATE(7, p.mu * (F(0, 0, 0, 1) - F(0, 0, 0, 0) + F(2, 1, 0, 0) - F(2, 0, 0, 0)))
        UPDATE(8, p.mu * (F(1, 0, 0, 1) - F(1, 0, 0, 0) + F(2, 0, 1, 0) - F(2, 0, 0, 0)))
    }
}
