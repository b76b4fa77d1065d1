// A chain of conversions, to and fro between unsigned integers and f32. What came from f32 goes
// there and back unchanged, which compilers know: hence an exclusive or before every other
// conversion, whose cost is known from int_chain. See float_chain for the rest.
struct Params { n: u32, passes: u32, a: u32 }

@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

// Sixteen instructions, one chain or four: WGSL does not derive one type from another.
fn sixteen(seed: u32) -> u32 {
    var x = seed;
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    x = u32(f32(u32(f32(x ^ p.a)) ^ p.a));
    return u32(f32(u32(f32(x ^ p.a)) ^ p.a));
}

fn sixteen_of_four(seed: vec4<u32>) -> vec4<u32> {
    let a = vec4<u32>(p.a);
    var x = seed;
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    x = vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
    return vec4<u32>(vec4<f32>(vec4<u32>(vec4<f32>(x ^ a)) ^ a));
}

fn one(i: u32) {
    var x = seeds[i % SEEDS];
    for (var k = 0u; k < p.passes; k++) {
        x = sixteen(x);
        if (REPEAT == 48u) {
            x = sixteen(sixteen(x));
        }
    }
    out[i] = x;
}

fn four(i: u32) {
    let at = 4u * i % SEEDS;
    var x = vec4<u32>(seeds[at], seeds[at + 1u], seeds[at + 2u], seeds[at + 3u]);
    for (var k = 0u; k < p.passes; k++) {
        x = sixteen_of_four(x);
        if (REPEAT == 48u) {
            x = sixteen_of_four(sixteen_of_four(x));
        }
    }
    out[4u * i] = x.x;
    out[4u * i + 1u] = x.y;
    out[4u * i + 2u] = x.z;
    out[4u * i + 3u] = x.w;
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn convert_chain(@builtin(global_invocation_id) gid: vec3<u32>,
                 @builtin(num_workgroups) groups: vec3<u32>) {
    let i = gid.x + gid.y * (groups.x * GROUP_X);
    if (i >= p.n / V_WIDTH) {
        return;
    }
    if (V_WIDTH == 1u) {
        one(i);
    } else {
        four(i);
    }
}
