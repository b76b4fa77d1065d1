// Scatters a contiguous buffer into a box of an array of several fields, one element a
// work-item: nx*ny*nz elements of each of nc fields from element `first` on. From one element to the next it
// is 1 along x, sy along y, sz along z and sc from field to field.

typedef struct { uint nx, ny, nz, nc, first, sy, sz, sc; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void unpack_box(global const float* restrict face, global float* restrict field, const Params p)
{
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.nx * p.ny * p.nz * p.nc) return;
    const uint row = i / p.nx, plane = row / p.ny;
    const uint x = i % p.nx, y = row % p.ny, z = plane % p.nz, c = plane / p.nz;
    const uint j = p.first + x + y * p.sy + z * p.sz + c * p.sc;
    field[j] = face[i];
}
