/* Columns of data as samples of as many variables. */

/* A work-group a column: its items add up parts of it in local memory. */
kernel void column_mean(global const float *data, global float *mean, int rows, int cols,
                        local float *parts) {
    const int col = get_group_id(0), item = get_local_id(0), items = get_local_size(0);
    float sum = 0.0f;
    for (int row = item; row < rows; row += items) sum += data[row * cols + col];
    parts[item] = sum;
    for (int reach = items / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach) parts[item] += parts[item + reach];
    }
    if (item == 0) mean[col] = parts[0] / (float)rows;
}

kernel void column_deviation(global const float *data, global const float *mean,
                             global float *deviation, int rows, int cols, double least) {
    const int col = get_global_id(0);
    if (col >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) {
        const float distance = data[row * cols + col] - mean[col];
        sum += distance * distance;
    }
    const float found = sqrt(sum / (float)rows);
    deviation[col] = found <= (float)least ? 1.0f : found;
}

kernel void centre(global float *data, global const float *mean, int rows, int cols) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < rows && col < cols) data[row * cols + col] -= mean[col];
}

kernel void normalise(global float *data, global const float *mean,
                      global const float *deviation, int rows, int cols) {
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= rows || col >= cols) return;
    const float distance = data[row * cols + col] - mean[col];
    data[row * cols + col] = distance / (sqrt((float)rows) * deviation[col]);
}

/* result = scale data' data */
kernel void column_products(global const float *data, global float *result, float scale,
                            int rows, int cols) {
    const int b = get_global_id(0), a = get_global_id(1);
    if (a >= cols || b >= cols) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += data[row * cols + a] * data[row * cols + b];
    result[a * cols + b] = scale * sum;
}
