// Sepia tone of an RGBA image: every colour becomes a weighted sum of the three, at most 1;
// alpha stays.

// Computes the `count` rows from row `first` on.
typedef struct { uint rows, cols, first, count; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void sepia(global const float4* restrict image, global float4* restrict result,
                  const Params p)
{
    const uint x = get_global_id(0);
    const uint y = p.first + get_global_id(1);
    if (x >= p.cols || y >= p.first + p.count) return;

    const float4 from_red = (float4)(0.393f, 0.349f, 0.272f, 0.0f);
    const float4 from_green = (float4)(0.769f, 0.686f, 0.534f, 0.0f);
    const float4 from_blue = (float4)(0.189f, 0.168f, 0.131f, 0.0f);
    const uint i = y * p.cols + x;
    const float4 pixel = image[i];
    float4 toned = from_red * pixel.xxxx;
    toned = mad(from_green, pixel.yyyy, toned);
    toned = mad(from_blue, pixel.zzzz, toned);
    toned = min(toned, 1.0f);
    toned.w = pixel.w;
    result[i] = toned;
}
