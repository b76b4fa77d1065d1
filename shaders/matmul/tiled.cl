// C = A·B through square tiles in local memory: each number of A and B is read from global
// memory once per tile instead of once per work-item. The group is the tile, so it is square.

#if GROUP_X != GROUP_Y
#error "matmul/tiled needs a square group"
#endif
#define TILE GROUP_X

// Computes the `count` rows of C from row `first` on.
typedef struct { uint m, k, n, first, count; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void tiled(global const float* restrict a, global const float* restrict b,
                  global float* restrict c, const Params p)
{
    local float a_tile[TILE][TILE];
    local float b_tile[TILE][TILE];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint col = get_global_id(0);
    const uint row = p.first + get_global_id(1);
    const uint bottom = p.first + p.count;

    float sum = 0.0f;
    for (uint step = 0; step < p.k; step += TILE) {
        // Zeros beyond the edges add nothing, and every work-item reaches the barriers.
        a_tile[y][x] = row < bottom && step + x < p.k ? a[row * p.k + step + x] : 0.0f;
        b_tile[y][x] = step + y < p.k && col < p.n ? b[(step + y) * p.n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint i = 0; i < TILE; i++) {
            sum = mad(a_tile[y][i], b_tile[i][x], sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < bottom && col < p.n) c[row * p.n + col] = sum;
}
