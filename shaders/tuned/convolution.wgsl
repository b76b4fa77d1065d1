// A filter of FILTER×FILTER weights over an image with a rim of FILTER − 1: result(x, y) = Σ w(i, j)·image(x + j, y + i).
//
// A work-item computes TILE_X×TILE_Y outputs, one group apart. With LOCAL the group first brings what it reads into
// local memory, whose rows PADDING lets begin in the bank after the one in which the work-items of the row above end.
// READ_ONLY changes nothing here: a storage buffer that is only read says so anyway.

struct Params { width: u32, height: u32 }

@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

const RIM = FILTER - 1;
const WIDE = GROUP_X * TILE_X + RIM;
const HIGH = GROUP_Y * TILE_Y + RIM;
const PITCH = WIDE + PADDING * ((GROUP_X + 32 - WIDE % 32) % 32);
const WORDS = LOCAL * PITCH * HIGH + 1 - LOCAL;
const OUTPUTS = TILE_X * TILE_Y;

var<workgroup> staged: array<f32, WORDS>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn convolution(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let left = group.x * GROUP_X * TILE_X;
    let top = group.y * GROUP_Y * TILE_Y;
    let pitch = p.width + RIM;

    if (LOCAL == 1) {
        for (var y = local.y; y < HIGH; y += GROUP_Y) {
            for (var x = local.x; x < WIDE; x += GROUP_X) {
                if (left + x < pitch && top + y < p.height + RIM) {
                    staged[y * PITCH + x] = image[(top + y) * pitch + left + x];
                }
            }
        }
        workgroupBarrier();
    }

    var sums: array<f32, OUTPUTS>;
    for (var i = 0u; i < FILTER; i++) {
        for (var j = 0u; j < FILTER; j++) {
            let weight = weights[i * FILTER + j];
            for (var ty = 0u; ty < TILE_Y; ty++) {
                for (var tx = 0u; tx < TILE_X; tx++) {
                    let x = local.x + tx * GROUP_X;
                    let y = local.y + ty * GROUP_Y;
                    if (left + x < p.width && top + y < p.height) {
                        var value: f32;
                        if (LOCAL == 1) {
                            value = staged[(y + i) * PITCH + x + j];
                        } else {
                            value = image[(top + y + i) * pitch + left + x + j];
                        }
                        sums[ty * TILE_X + tx] = fma(value, weight, sums[ty * TILE_X + tx]);
                    }
                }
            }
        }
    }

    for (var ty = 0u; ty < TILE_Y; ty++) {
        for (var tx = 0u; tx < TILE_X; tx++) {
            let x = left + local.x + tx * GROUP_X;
            let y = top + local.y + ty * GROUP_Y;
            if (x < p.width && y < p.height) { result[y * p.width + x] = sums[ty * TILE_X + tx]; }
        }
    }
}
