// LU factors of the blocks on a matrix's diagonal, each by one group in local memory: L below the
// diagonal (its own is 1), U on it and above. `shift` is added to the diagonal, so that no pivot is
// small. A work-item has a row; one number behind each row puts a column into different banks.
#define N GROUP_X

typedef struct { uint blocks, width; float shift; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void lud(global const float* restrict block, global float* restrict factors, const Params p)
{
    local float a[N][N + 1];
    const uint lane = get_local_id(0);
    const uint first = (get_group_id(0) + get_group_id(1) * get_num_groups(0)) * N * N;
    const bool inside = first < p.blocks * N * N;
    for (uint row = 0; inside && row < N; row++) {
        a[row][lane] = block[first + row * N + lane] + (row == lane ? p.shift : 0.0f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k + 1 < N; k++) {
        if (lane > k) {
            const float factor = a[lane][k] / a[k][k];
            a[lane][k] = factor;
            for (uint col = k + 1; col < N; col++) a[lane][col] -= factor * a[k][col];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint row = 0; inside && row < N; row++) factors[first + row * N + lane] = a[row][lane];
}
