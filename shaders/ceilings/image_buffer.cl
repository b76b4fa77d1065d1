// As `image_texels`, from a buffer. With FILTERED 1 the mean of four neighbours in place of each, which arithmetic makes.
typedef struct { uint n; } Params;

inline float4 texel(global const float4* restrict image, const uint n, const uint column, const uint row) {
    return image[min(row, n - 1) * n + min(column, n - 1)];
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void image_buffer(global const float4* restrict image, global float4* restrict out, const Params p) {
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    if (column >= p.n || row >= p.n) {
        return;
    }
    float4 sum = (float4)(0.0f);
    for (uint y = row; y < row + SIDE; ++y) {
        for (uint x = column; x < column + SIDE; ++x) {
#if FILTERED
            const float4 above = mix(texel(image, p.n, x, y), texel(image, p.n, x + 1, y), 0.5f);
            const float4 below = mix(texel(image, p.n, x, y + 1), texel(image, p.n, x + 1, y + 1), 0.5f);
            sum += mix(above, below, 0.5f);
#else
            sum += texel(image, p.n, x, y);
#endif
        }
    }
    out[row * p.n + column] = sum;
}
