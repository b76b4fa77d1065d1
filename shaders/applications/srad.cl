// One step of speckle-reducing anisotropic diffusion: an image is smoothed where it varies no more
// than speckle does (`speckle`: the squared variation of such a part), and kept where it has edges.
// How well a point conducts is computed where it is needed: by itself and by its neighbours north
// and west of it.
typedef struct { uint rows, cols; float speckle, rate; } Params;

// What the neighbours north, south, west and east have more than a point.
float4 differences(global const float* image, const Params p, uint y, uint x) {
    const float4 sides = (float4)(
        image[(max(y, 1u) - 1) * p.cols + x], image[min(y + 1, p.rows - 1) * p.cols + x],
        image[y * p.cols + max(x, 1u) - 1], image[y * p.cols + min(x + 1, p.cols - 1)]);
    return sides - image[y * p.cols + x];
}

float conduction(global const float* image, const Params p, uint y, uint x) {
    const float here = image[y * p.cols + x];
    const float4 more = differences(image, p, y, x);
    const float gradient = dot(more, more) / (here * here);
    const float laplacian = (more.x + more.y + more.z + more.w) / here;
    const float scale = 1.0f + 0.25f * laplacian;
    const float varied = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (scale * scale);
    const float edge = (varied - p.speckle) / (p.speckle * (1.0f + p.speckle));
    return clamp(1.0f / (1.0f + edge), 0.0f, 1.0f);
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void srad(global const float* restrict image, global float* restrict smoothed, const Params p)
{
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    if (x >= p.cols || y >= p.rows) return;

    const float own = conduction(image, p, y, x);
    const float south = conduction(image, p, min(y + 1, p.rows - 1), x);
    const float east = conduction(image, p, y, min(x + 1, p.cols - 1));
    const float flow = dot((float4)(own, south, own, east), differences(image, p, y, x));
    smoothed[y * p.cols + x] = image[y * p.cols + x] + p.rate * flow;
}
