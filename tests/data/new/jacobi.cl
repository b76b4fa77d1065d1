kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void jacobi(const int n, const global float *a, global float *b) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    const int i = y * n + x;
    b[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
}
