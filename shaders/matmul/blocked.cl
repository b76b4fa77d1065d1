// C = A·B for tuning: ROWS rows by VECTORS vectors of type V a work-item, held in registers. With STAGE 1 a
// group brings STEP rows of its columns of B into local memory first. No edge is guarded: a group's
// block divides C, and STEP divides k.
#define TILE (GROUP_X * VECTORS)

// Computes the `count` rows of C from row `first` on.
typedef struct { uint m, k, n, first, count; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void blocked(global const float* restrict a, global const V* restrict b,
                    global V* restrict c, const Params p)
{
    const uint x = get_local_id(0);
    const uint pitch = p.n / V_WIDTH;
    const uint left = get_group_id(0) * TILE;
    const uint top = p.first + (get_group_id(1) * GROUP_Y + get_local_id(1)) * ROWS;
#if STAGE
    local V b_tile[STEP * TILE];
#endif

    V sum[ROWS][VECTORS];
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        #pragma unroll
        for (uint v = 0; v < VECTORS; v++) sum[r][v] = (V)(0.0f);
    }
    for (uint at = 0; at < p.k; at += STEP) {
#if STAGE
        for (uint i = get_local_id(1) * GROUP_X + x; i < STEP * TILE; i += GROUP_X * GROUP_Y) {
            b_tile[i] = b[(at + i / TILE) * pitch + left + i % TILE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        #pragma unroll
        for (uint i = 0; i < STEP; i++) {
            V from_b[VECTORS];
            #pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
#if STAGE
                from_b[v] = b_tile[i * TILE + x + v * GROUP_X];
#else
                from_b[v] = b[(at + i) * pitch + left + x + v * GROUP_X];
#endif
            }
            #pragma unroll
            for (uint r = 0; r < ROWS; r++) {
                const V from_a = (V)(a[(top + r) * p.k + at + i]);
                #pragma unroll
                for (uint v = 0; v < VECTORS; v++) sum[r][v] = mad(from_a, from_b[v], sum[r][v]);
            }
        }
#if STAGE
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        #pragma unroll
        for (uint v = 0; v < VECTORS; v++) {
            c[(top + r) * pitch + left + x + v * GROUP_X] = sum[r][v];
        }
    }
}
