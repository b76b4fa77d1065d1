// Dedispersion: for every dispersion measure and time the sum over all channels, each delayed by what that measure
// delays it: result(dm, t) = Σ samples(c, t + ⌊dm·step·delays(c)⌋). Samples have 8 bits, four in a word.
//
// A work-item computes TILE_X times of TILE_Y measures: neighbours, or with STRIDE_X (STRIDE_Y) one group apart.

struct Params { times: u32, measures: u32, channels: u32, pitch: u32, step: f32 }

@group(0) @binding(0) var<storage, read> samples: array<u32>;
@group(0) @binding(1) var<storage, read> delays: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

const OUTPUTS = TILE_X * TILE_Y;
// From a work-item to the next, and from an output of it to its next.
const NEXT_X = STRIDE_X + (1 - STRIDE_X) * TILE_X;
const NEXT_Y = STRIDE_Y + (1 - STRIDE_Y) * TILE_Y;
const STEP_X = STRIDE_X * GROUP_X + 1 - STRIDE_X;
const STEP_Y = STRIDE_Y * GROUP_Y + 1 - STRIDE_Y;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn dedispersion(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let time = group.x * GROUP_X * TILE_X + local.x * NEXT_X;
    let measure = group.y * GROUP_Y * TILE_Y + local.y * NEXT_Y;

    var sums: array<f32, OUTPUTS>;
    for (var channel = 0u; channel < p.channels; channel++) {
        let delay = delays[channel];
        for (var ty = 0u; ty < TILE_Y; ty++) {
            let dm = measure + ty * STEP_Y;
            let shift = u32(f32(dm) * p.step * delay);
            for (var tx = 0u; tx < TILE_X; tx++) {
                let t = time + tx * STEP_X;
                if (t < p.times && dm < p.measures) {
                    let at = channel * p.pitch + t + shift;
                    let sample = (samples[at / 4] >> (8 * (at % 4))) & 255;
                    sums[ty * TILE_X + tx] += f32(sample);
                }
            }
        }
    }

    for (var ty = 0u; ty < TILE_Y; ty++) {
        for (var tx = 0u; tx < TILE_X; tx++) {
            let t = time + tx * STEP_X;
            let dm = measure + ty * STEP_Y;
            if (t < p.times && dm < p.measures) { result[dm * p.times + t] = sums[ty * TILE_X + tx]; }
        }
    }
}
