// C = A·B with 4×4 results per work-item, held in registers.
//
// A square group of g×g work-items computes a block of 4g×4g and walks along k in steps of g:
// then every work-item brings one quad (four numbers) of A and one of B per step, and fetches
// the next while it multiplies. Two sets of tiles need one barrier per step. A's tile lies
// transposed, so that both operands are read as quads; one quad of padding per row puts
// the writes of neighbours into different banks. Unrolled by hand, since not every WGSL compiler
// keeps a private array in registers.

#if GROUP_X != GROUP_Y
#error "matmul/register_4x4 needs a square group"
#endif
#define STEP GROUP_X
#define QUADS GROUP_X

// Computes the `count` rows of C from row `first` on.
typedef struct { uint m, k, n, first, count; } Params;

// Four numbers of one column of A. `rows` are the offsets of their rows. Zero beyond k, so that
// whatever B holds there adds nothing.
float4 quad_of_a(global const float* a, uint4 rows, uint col, uint k)
{
    if (col >= k) return (float4)(0.0f);
    return (float4)(a[rows.x + col], a[rows.y + col], a[rows.z + col], a[rows.w + col]);
}

// Four numbers of one row of B.
float4 quad_of_b(global const float* b, uint row, uint4 cols, Params p)
{
    const uint start = min(row, p.k - 1) * p.n;
    return (float4)(b[start + cols.x], b[start + cols.y], b[start + cols.z], b[start + cols.w]);
}

void store(global float* c, uint row, uint col, float4 value, Params p)
{
    if (row >= p.first + p.count) return;
    global float* to = c + row * p.n;
    if (col < p.n) to[col] = value.x;
    if (col + 1 < p.n) to[col + 1] = value.y;
    if (col + 2 < p.n) to[col + 2] = value.z;
    if (col + 3 < p.n) to[col + 3] = value.w;
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void register_4x4(global const float* restrict a, global const float* restrict b,
                         global float* restrict c, const Params p)
{
    local float4 a_tile[2][STEP][QUADS + 1];
    local float4 b_tile[2][STEP][QUADS];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint top = p.first + 4 * QUADS * get_group_id(1);
    const uint left = 4 * QUADS * get_group_id(0);

    // Rows and columns beyond the edge repeat the last one; their results are not stored.
    const uint4 quad = (uint4)(0, 1, 2, 3);
    const uint4 rows = min(top + 4 * y + quad, p.first + p.count - 1) * p.k;
    const uint4 cols = min(left + 4 * x + quad, p.n - 1);

    float4 c0 = (float4)(0.0f), c1 = c0, c2 = c0, c3 = c0;
    a_tile[0][x][y] = quad_of_a(a, rows, x, p.k);
    b_tile[0][y][x] = quad_of_b(b, y, cols, p);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint now = 0;
    for (uint at = 0; at < p.k; at += STEP) {
        const float4 next_a = quad_of_a(a, rows, at + STEP + x, p.k);
        const float4 next_b = quad_of_b(b, at + STEP + y, cols, p);
        #pragma unroll
        for (uint i = 0; i < STEP; i++) {
            const float4 from_a = a_tile[now][i][y];
            const float4 from_b = b_tile[now][i][x];
            c0 = mad(from_a.xxxx, from_b, c0);
            c1 = mad(from_a.yyyy, from_b, c1);
            c2 = mad(from_a.zzzz, from_b, c2);
            c3 = mad(from_a.wwww, from_b, c3);
        }
        now = 1 - now;
        a_tile[now][x][y] = next_a;
        b_tile[now][y][x] = next_b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const uint row = top + 4 * y;
    const uint col = left + 4 * x;
    store(c, row, col, c0, p);
    store(c, row + 1, col, c1, p);
    store(c, row + 2, col, c2, p);
    store(c, row + 3, col, c3, p);
}
