// Texels of an image of `n` columns and rows, by their places: each work-item adds up the SIDE × SIDE that begin at its own;
// beyond the edge is the nearest one of the edge. `image_samples` has the device's sampler find them, `image_buffer` reads
// a buffer.
typedef struct { uint n; } Params;

constant sampler_t TEXELS = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void image_texels(read_only image2d_t image, global float4* restrict out, const Params p) {
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    if (column >= p.n || row >= p.n) {
        return;
    }
    float4 sum = (float4)(0.0f);
    for (uint y = 0; y < SIDE; ++y) {
        for (uint x = 0; x < SIDE; ++x) {
            const int2 place = (int2)(min(column + x, p.n - 1), min(row + y, p.n - 1));
            sum += read_imagef(image, TEXELS, place);
        }
    }
    out[row * p.n + column] = sum;
}
