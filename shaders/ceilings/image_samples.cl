// As `image_texels`, found by the image's sampler, which also takes the edge beyond the edge. With FILTERED 1 each is asked
// for where four texels meet, half a texel further along both dimensions, where a linear sampler gives the mean of the four.
typedef struct { uint n; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void image_samples(read_only image2d_t image, sampler_t image_sampler, global float4* restrict out, const Params p) {
    const uint column = get_global_id(0);
    const uint row = get_global_id(1);
    if (column >= p.n || row >= p.n) {
        return;
    }
    const float texel = 1.0f / (float)p.n;
    const float2 first = ((float2)(column, row) + 0.5f * (1 + FILTERED)) * texel;
    float4 sum = (float4)(0.0f);
    for (uint y = 0; y < SIDE; ++y) {
        for (uint x = 0; x < SIDE; ++x) {
            sum += read_imagef(image, image_sampler, first + (float2)(x, y) * texel);
        }
    }
    out[row * p.n + column] = sum;
}
