/* Products of matrices and vectors. */

/* y = a x + keep y */
kernel void mat_vec(global const float *a, global const float *x, global float *y,
                    float keep, int rows, int cols) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0.0f;
    for (int col = 0; col < cols; col++) sum += a[row * cols + col] * x[col];
    y[row] = keep == 0.0f ? sum : sum + keep * y[row];
}

/* y = a' x + keep y */
kernel void transposed_vec(global const float *a, global const float *x, global float *y,
                           float keep, int rows, int cols) {
    const int col = get_global_id(0);
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += a[row * cols + col] * x[row];
    y[col] = keep == 0.0f ? sum : sum + keep * y[col];
}

/* y = alpha a x + beta b x */
kernel void gesummv(int n, float2 scale, global const float *a, global const float *b,
                    global const float *x, global float *y) {
    const int row = get_global_id(0);
    if (row >= n) return;
    float first = 0.0f, second = 0.0f;
    for (int col = 0; col < n; col++) {
        first += a[row * n + col] * x[col];
        second += b[row * n + col] * x[col];
    }
    y[row] = scale.x * first + scale.y * second;
}

/* a = a + u1 v1' + u2 v2' */
kernel void gemver_update(global float *a, global const float *u1, global const float *v1,
                          global const float *u2, global const float *v2, int n) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) a[row * n + col] += u1[row] * v1[col] + u2[row] * v2[col];
}

/* x = beta a' y + z */
kernel void gemver_x(float beta, global const float *a, global const float *y,
                     global const float *z, global float *x, int n) {
    const int col = get_global_id(0);
    if (col >= n) return;
    float sum = 0.0f;
    for (int row = 0; row < n; row++) sum += a[row * n + col] * y[row];
    x[col] = beta * sum + z[col];
}

/* w = alpha a x */
kernel void gemver_w(float alpha, global const float *a, global const float *x,
                     global float *w, int n) {
    const int row = get_global_id(0);
    if (row >= n) return;
    float sum = 0.0f;
    for (int col = 0; col < n; col++) sum += a[row * n + col] * x[col];
    w[row] = alpha * sum;
}
