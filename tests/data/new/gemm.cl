typedef float real;

// c = alpha a b + beta c
kernel void product(global real *a, global real *b, global real *c, real alpha, real beta,
                    int rows, int cols, int inner) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= rows || col >= cols) return;
    real sum = 0;
    for (int k = 0; k < inner; k++) sum += a[row * inner + k] * b[k * cols + col];
    c[row * cols + col] = alpha * sum + beta * c[row * cols + col];
}
