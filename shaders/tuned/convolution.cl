// A filter of FILTER×FILTER weights over an image with a rim of FILTER − 1: result(x, y) = Σ w(i, j)·image(x + j, y + i).
//
// A work-item computes TILE_X×TILE_Y outputs, one group apart. With LOCAL the group first brings what it reads into
// local memory, whose rows PADDING lets begin in the bank after the one in which the work-items of the row above end.
// With READ_ONLY the compiler may load the image through the read-only path.

#define RIM (FILTER - 1)
#define WIDE (GROUP_X * TILE_X + RIM)
#define HIGH (GROUP_Y * TILE_Y + RIM)
#define PITCH (WIDE + PADDING * ((GROUP_X + 32 - WIDE % 32) % 32))

#if READ_ONLY
#define IMAGE global const float* restrict
#else
#define IMAGE global const float*
#endif

typedef struct { uint width, height; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void convolution(IMAGE image, constant const float* weights, global float* result, const Params p)
{
    const uint left = get_group_id(0) * GROUP_X * TILE_X;
    const uint top = get_group_id(1) * GROUP_Y * TILE_Y;
    const uint lx = get_local_id(0);
    const uint ly = get_local_id(1);
    const uint pitch = p.width + RIM;

#if LOCAL
    local float staged[HIGH * PITCH];
    for (uint y = ly; y < HIGH; y += GROUP_Y) {
        for (uint x = lx; x < WIDE; x += GROUP_X) {
            if (left + x < pitch && top + y < p.height + RIM) {
                staged[y * PITCH + x] = image[(top + y) * pitch + left + x];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    float sums[TILE_Y][TILE_X];
    for (uint ty = 0; ty < TILE_Y; ty++) {
        for (uint tx = 0; tx < TILE_X; tx++) sums[ty][tx] = 0.0f;
    }
    for (uint i = 0; i < FILTER; i++) {
        for (uint j = 0; j < FILTER; j++) {
            const float weight = weights[i * FILTER + j];
            #pragma unroll
            for (uint ty = 0; ty < TILE_Y; ty++) {
                #pragma unroll
                for (uint tx = 0; tx < TILE_X; tx++) {
                    const uint x = lx + tx * GROUP_X;
                    const uint y = ly + ty * GROUP_Y;
                    if (left + x < p.width && top + y < p.height) {
#if LOCAL
                        const float value = staged[(y + i) * PITCH + x + j];
#else
                        const float value = image[(top + y + i) * pitch + left + x + j];
#endif
                        sums[ty][tx] = fma(value, weight, sums[ty][tx]);
                    }
                }
            }
        }
    }

    for (uint ty = 0; ty < TILE_Y; ty++) {
        for (uint tx = 0; tx < TILE_X; tx++) {
            const uint x = left + lx + tx * GROUP_X;
            const uint y = top + ly + ty * GROUP_Y;
            if (x < p.width && y < p.height) result[y * p.width + x] = sums[ty][tx];
        }
    }
}
