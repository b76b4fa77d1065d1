/* Products of matrices; all lie row after row. */

/* c = alpha a b + beta c */
kernel void gemm(global const float *a, global const float *b, global float *c,
                 float alpha, float beta, int rows, int cols, int inner) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= rows || col >= cols) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; k++) sum += a[row * inner + k] * b[k * cols + col];
    c[row * cols + col] = alpha * sum + beta * c[row * cols + col];
}

/* c = alpha a b */
kernel void product(global const float *a, global const float *b, global float *c,
                    float alpha, int rows, int cols, int inner) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= rows || col >= cols) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; k++) sum += a[row * inner + k] * b[k * cols + col];
    c[row * cols + col] = alpha * sum;
}

/* c = alpha a a' + beta c */
kernel void syrk(global const float *a, global float *c, float alpha, float beta, int n, int m) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++) sum += a[row * m + k] * a[col * m + k];
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

/* c = alpha (a b' + b a') + beta c */
kernel void syr2k(float alpha, float beta, int n, int m,
                  global const float *a, global const float *b, global float *c) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        sum += a[row * m + k] * b[col * m + k] + b[row * m + k] * a[col * m + k];
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

/* Every row of length n of a cube, times a matrix. */
kernel void doitgen_sum(global const float *cube, global const float *c4, global float *sum,
                        int rows, int n) {
    const int p = get_global_id(0), row = get_global_id(1);
    if (row >= rows || p >= n) return;
    float all = 0.0f;
    for (int s = 0; s < n; s++) all += cube[row * n + s] * c4[s * n + p];
    sum[row * n + p] = all;
}

kernel void doitgen_copy(global const float *sum, global float *cube, uint count) {
    const uint i = get_global_id(0);
    if (i < count) cube[i] = sum[i];
}
