/* Stencils: one pass over a grid a launch. */

kernel void jacobi_1d(global const float *from, global float *to, long n) {
    const long i = 1 + get_global_id(0);
    if (i < n - 1) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3.0f;
}

kernel void jacobi_2d(global const float *from, global float *to, int n) {
    const int x = 1 + get_global_id(0), y = 1 + get_global_id(1), at = y * n + x;
    if (x < n - 1 && y < n - 1)
        to[at] = 0.2f * (from[at] + from[at - 1] + from[at + 1] + from[at - n] + from[at + n]);
}

kernel void fdtd_ey(global float *ey, global const float *hz, int rows, int cols, float source) {
    const int col = get_global_id(0), row = get_global_id(1), at = row * cols + col;
    if (row >= rows || col >= cols) return;
    ey[at] = row == 0 ? source : ey[at] - 0.5f * (hz[at] - hz[at - cols]);
}

kernel void fdtd_ex(global float *ex, global const float *hz, int rows, int cols) {
    const int col = 1 + get_global_id(0), row = get_global_id(1), at = row * cols + col;
    if (row < rows && col < cols) ex[at] -= 0.5f * (hz[at] - hz[at - 1]);
}

kernel void fdtd_hz(global const float *ex, global const float *ey, global float *hz,
                    int rows, int cols) {
    const int col = get_global_id(0), row = get_global_id(1), at = row * cols + col;
    if (row < rows - 1 && col < cols - 1)
        hz[at] -= 0.7f * (ex[at + 1] - ex[at] + ey[at + cols] - ey[at]);
}

/* Half a step of alternating directions: explicit across lines, implicit along them, each line
   solved by one work-item. Elements of a line lie `along` apart, lines `across`. */
kernel void adi_sweep(global const float *from, global float *to, global float *factor,
                      int n, int along, int across, float r) {
    const int line = 1 + get_global_id(0);
    if (line >= n - 1) return;
    const int first = line * across;
    const float diagonal = 1.0f + 2.0f * r;
    float before = 0.0f, factor_before = 0.0f;
    for (int i = 1; i < n - 1; i++) {
        const int at = first + i * along;
        const float right =
            from[at] + r * (from[at - across] - 2.0f * from[at] + from[at + across]);
        const float pivot = 1.0f / (diagonal - r * factor_before);
        factor_before = r * pivot;
        before = (right + r * before) * pivot;
        factor[at] = factor_before;
        to[at] = before;
    }
    for (int i = n - 3; i > 0; i--) {
        const int at = first + i * along;
        to[at] += factor[at] * to[at + along];
    }
}

kernel void convolution_2d(global const float *from, global float *to, int cols, int rows) {
    const float weights[9] = { 0.2f, -0.3f, 0.4f, 0.5f, 0.6f, 0.7f, -0.8f, -0.9f, 0.1f };
    const int x = 1 + get_global_id(0), y = 1 + get_global_id(1);
    if (x >= cols - 1 || y >= rows - 1) return;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += weights[3 * (dy + 1) + dx + 1] * from[(y + dy) * cols + x + dx];
    to[y * cols + x] = sum;
}

/* A cross and the corners of a cube, each with a weight that grows with its position. */
kernel void convolution_3d(global const float *from, global float *to, short n) {
    const int x = 1 + get_global_id(0), y = 1 + get_global_id(1), z = 1 + get_global_id(2);
    if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    float sum = 0.0f;
    for (int i = 0; i < 27; i++) {
        const int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
        sum += 0.05f * (float)(i - 12) * from[((z + dz) * n + y + dy) * n + x + dx];
    }
    to[(z * n + y) * n + x] = sum;
}
