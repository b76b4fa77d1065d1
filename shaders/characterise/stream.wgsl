// Global memory, REPEAT accesses a work-item: MODE 0 reads (and writes one sum), 1 writes, 2
// copies. Each group has a block of MAX_REPEAT rows of its own, one V of each of its items wide, so
// that builds which differ in REPEAT differ in whole rows and in nothing else.
struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> data: array<V>;
@group(0) @binding(1) var<storage, read_write> out: array<V>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn stream(@builtin(global_invocation_id) gid: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / (MAX_REPEAT * V_WIDTH)) {
        return;
    }
    let first = (i / GROUP_X) * (MAX_REPEAT * GROUP_X) + i % GROUP_X;
    if (MODE == 0u) {
        var sum = V(i);
        for (var r = 0u; r < REPEAT; r++) {
            sum += data[first + r * GROUP_X];
        }
        out[i] = sum;
    } else if (MODE == 1u) {
        for (var r = 0u; r < REPEAT; r++) {
            out[first + r * GROUP_X] = V(i + r);
        }
    } else {
        for (var r = 0u; r < REPEAT; r++) {
            out[first + r * GROUP_X] = data[first + r * GROUP_X];
        }
    }
}
