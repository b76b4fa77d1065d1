/* Factors of a matrix, a pivot a step. */

/* The length of column k, into the diagonal of r. */
kernel void column_length(global const float *a, global float *r, int rows, int cols, int k) {
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += a[row * cols + k] * a[row * cols + k];
    r[k * cols + k] = sqrt(sum);
}

kernel void unit_column(global const float *a, global const float *r, global float *q,
                        int rows, int cols, int k) {
    const int row = get_global_id(0);
    if (row < rows) q[row * cols + k] = a[row * cols + k] / r[k * cols + k];
}

/* What column k leaves of each column behind it. */
kernel void project(global float *a, global float *r, global const float *q,
                    int rows, int cols, int k) {
    const int col = k + 1 + get_global_id(0);
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += q[row * cols + k] * a[row * cols + col];
    r[k * cols + col] = sum;
    for (int row = 0; row < rows; row++) a[row * cols + col] -= q[row * cols + k] * sum;
}

/* A diagonal that outweighs its row needs no other pivots. */
kernel void strengthen(global float *a, float by, int n) {
    const int i = get_global_id(0);
    if (i < n) a[i * n + i] += by;
}

kernel void lu_column(global float *a, uchar unused, int n, int k) {
    const int row = k + 1 + get_global_id(0);
    if (row < n) a[row * n + k] /= a[k * n + k];
}

kernel void lu_rest(global float *a, int n, int k) {
    const int col = k + 1 + get_global_id(0), row = k + 1 + get_global_id(1);
    if (row < n && col < n) a[row * n + col] -= a[row * n + k] * a[k * n + col];
}
