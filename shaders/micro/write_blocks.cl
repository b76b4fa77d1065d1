// Every scalar of `out` becomes its number / 16: all of a vector get the same, so that one operation
// makes it in both languages. A group writes a contiguous block, ITEMS vectors of type V a
// work-item, neighbours side by side. n, in scalars, is a multiple of V's width.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void write_blocks(global V* restrict out, const Params p) {
    const uint vectors = p.n / V_WIDTH;
    const uint group = get_group_id(0) + get_group_id(1) * get_num_groups(0);
    const uint first = group * (GROUP_X * ITEMS) + get_local_id(0);
    for (uint k = 0; k < ITEMS; ++k) {
        const uint i = first + k * GROUP_X;
        if (i < vectors) {
            out[i] = (V)(i / (16 / V_WIDTH));
        }
    }
}
