// Dedispersion: for every dispersion measure and time the sum over all channels, each delayed by what that measure
// delays it: result(dm, t) = Σ samples(c, t + ⌊dm·step·delays(c)⌋). Samples have 8 bits, four in a word.
//
// A work-item computes TILE_X times of TILE_Y measures: neighbours, or with STRIDE_X (STRIDE_Y) one group apart.

// From a work-item to the next, and from an output of it to its next.
#define NEXT_X (STRIDE_X ? 1 : TILE_X)
#define NEXT_Y (STRIDE_Y ? 1 : TILE_Y)
#define STEP_X (STRIDE_X ? GROUP_X : 1)
#define STEP_Y (STRIDE_Y ? GROUP_Y : 1)

typedef struct { uint times, measures, channels, pitch; float step; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void dedispersion(global const uint* restrict samples, global const float* restrict delays,
                         global float* restrict result, const Params p)
{
    const uint time = get_group_id(0) * GROUP_X * TILE_X + get_local_id(0) * NEXT_X;
    const uint measure = get_group_id(1) * GROUP_Y * TILE_Y + get_local_id(1) * NEXT_Y;

    float sums[TILE_Y][TILE_X];
    for (uint ty = 0; ty < TILE_Y; ty++) {
        for (uint tx = 0; tx < TILE_X; tx++) sums[ty][tx] = 0.0f;
    }
    for (uint channel = 0; channel < p.channels; channel++) {
        const float delay = delays[channel];
        #pragma unroll
        for (uint ty = 0; ty < TILE_Y; ty++) {
            const uint dm = measure + ty * STEP_Y;
            const uint shift = (uint)((float)dm * p.step * delay);
            #pragma unroll
            for (uint tx = 0; tx < TILE_X; tx++) {
                const uint t = time + tx * STEP_X;
                if (t < p.times && dm < p.measures) {
                    const uint at = channel * p.pitch + t + shift;
                    const uint sample = (samples[at / 4] >> (8 * (at % 4))) & 255;
                    sums[ty][tx] += (float)sample;
                }
            }
        }
    }

    for (uint ty = 0; ty < TILE_Y; ty++) {
        for (uint tx = 0; tx < TILE_X; tx++) {
            const uint t = time + tx * STEP_X;
            const uint dm = measure + ty * STEP_Y;
            if (t < p.times && dm < p.measures) result[dm * p.times + t] = sums[ty][tx];
        }
    }
}
