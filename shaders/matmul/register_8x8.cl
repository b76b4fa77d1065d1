// C = A·B with 8×8 results per work-item, held in registers: four quads of operands feed 64
// multiply-adds, which is what it takes to be bound by arithmetic on most GPUs.
//
// A square group of g×g work-items computes a block of 8g×8g and walks along k in steps of g/2:
// then every work-item brings one quad (four numbers) of A and one of B per step, and fetches
// the next while it multiplies. Two sets of tiles need one barrier per step. A's tile lies
// transposed, so that both operands are read as quads; one quad of padding per row puts
// the writes of neighbours into different banks. A work-item's rows and columns are two quads
// half a block apart, so that neighbours read neighbouring quads of local memory. Unrolled by
// hand, since not every WGSL compiler keeps a private array in registers.

#if GROUP_X != GROUP_Y || GROUP_X % 2
#error "matmul/register_8x8 needs a square group of even sides"
#endif
#define STEP (GROUP_X / 2)
#define QUADS (2 * GROUP_X)

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
kernel void register_8x8(global const float* restrict a, global const float* restrict b,
                         global float* restrict c, const Params p)
{
    local float4 a_tile[2][STEP][QUADS + 1];
    local float4 b_tile[2][STEP][QUADS];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const uint top = p.first + 4 * QUADS * get_group_id(1);
    const uint left = 4 * QUADS * get_group_id(0);

    // Which quad of each tile this work-item brings: neighbours read along a row of A and of B.
    const uint item = y * GROUP_X + x;
    const uint a_step = item % STEP;
    const uint a_quad = item / STEP;
    const uint b_step = item / QUADS;
    const uint b_quad = item % QUADS;

    // Rows and columns beyond the edge repeat the last one; their results are not stored.
    const uint4 quad = (uint4)(0, 1, 2, 3);
    const uint4 rows = min(top + 4 * a_quad + quad, p.first + p.count - 1) * p.k;
    const uint4 cols = min(left + 4 * b_quad + quad, p.n - 1);

    // Rows 0 to 3 of the results belong to `upper`, 4 to 7 to `lower`.
    float4 w0 = (float4)(0.0f), w1 = w0, w2 = w0, w3 = w0, w4 = w0, w5 = w0, w6 = w0, w7 = w0;
    float4 e0 = w0, e1 = w0, e2 = w0, e3 = w0, e4 = w0, e5 = w0, e6 = w0, e7 = w0;
    a_tile[0][a_step][a_quad] = quad_of_a(a, rows, a_step, p.k);
    b_tile[0][b_step][b_quad] = quad_of_b(b, b_step, cols, p);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint now = 0;
    for (uint at = 0; at < p.k; at += STEP) {
        const float4 next_a = quad_of_a(a, rows, at + STEP + a_step, p.k);
        const float4 next_b = quad_of_b(b, at + STEP + b_step, cols, p);
        #pragma unroll
        for (uint i = 0; i < STEP; i++) {
            const float4 upper = a_tile[now][i][y];
            const float4 lower = a_tile[now][i][y + GROUP_Y];
            const float4 west = b_tile[now][i][x];
            const float4 east = b_tile[now][i][x + GROUP_X];
            w0 = mad(upper.xxxx, west, w0);
            e0 = mad(upper.xxxx, east, e0);
            w1 = mad(upper.yyyy, west, w1);
            e1 = mad(upper.yyyy, east, e1);
            w2 = mad(upper.zzzz, west, w2);
            e2 = mad(upper.zzzz, east, e2);
            w3 = mad(upper.wwww, west, w3);
            e3 = mad(upper.wwww, east, e3);
            w4 = mad(lower.xxxx, west, w4);
            e4 = mad(lower.xxxx, east, e4);
            w5 = mad(lower.yyyy, west, w5);
            e5 = mad(lower.yyyy, east, e5);
            w6 = mad(lower.zzzz, west, w6);
            e6 = mad(lower.zzzz, east, e6);
            w7 = mad(lower.wwww, west, w7);
            e7 = mad(lower.wwww, east, e7);
        }
        now = 1 - now;
        a_tile[now][a_step][a_quad] = next_a;
        b_tile[now][b_step][b_quad] = next_b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const uint upper_row = top + 4 * y;
    const uint lower_row = upper_row + 4 * GROUP_Y;
    const uint west_col = left + 4 * x;
    const uint east_col = west_col + 4 * GROUP_X;
    store(c, upper_row, west_col, w0, p);
    store(c, upper_row, east_col, e0, p);
    store(c, upper_row + 1, west_col, w1, p);
    store(c, upper_row + 1, east_col, e1, p);
    store(c, upper_row + 2, west_col, w2, p);
    store(c, upper_row + 2, east_col, e2, p);
    store(c, upper_row + 3, west_col, w3, p);
    store(c, upper_row + 3, east_col, e3, p);
    store(c, lower_row, west_col, w4, p);
    store(c, lower_row, east_col, e4, p);
    store(c, lower_row + 1, west_col, w5, p);
    store(c, lower_row + 1, east_col, e5, p);
    store(c, lower_row + 2, west_col, w6, p);
    store(c, lower_row + 2, east_col, e6, p);
    store(c, lower_row + 3, west_col, w7, p);
    store(c, lower_row + 3, east_col, e7, p);
}
