// C = A·B, deliberately uncoalesced: neighbouring work-items take neighbouring rows, so that
// their reads of A lie k apart and their writes of C lie n apart.

// Computes the `count` rows of C from row `first` on.
typedef struct { uint m, k, n, first, count; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void naive(global const float* restrict a, global const float* restrict b,
                  global float* restrict c, const Params p)
{
    const uint row = p.first + get_global_id(0);
    const uint col = get_global_id(1);
    if (row >= p.first + p.count || col >= p.n) return;

    float sum = 0.0f;
    for (uint i = 0; i < p.k; i++) {
        sum = mad(a[row * p.k + i], b[i * p.n + col], sum);
    }
    c[row * p.n + col] = sum;
}
