// One step of a gravitational n-body system: every body is drawn by every other one. A body is its
// position (xyz) and its mass (w); a group reads so many bodies as it has work-items into local
// memory at a time. `softening` (squared, as a length) keeps close bodies from tearing apart.
struct Params { n: u32, softening: f32, dt: f32 }

@group(0) @binding(0) var<storage, read> body: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> velocity: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> moved: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> faster: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> p: Params;

var<workgroup> tile: array<vec4<f32>, GROUP_X>;

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn nbody(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let i = id.x;
    let lane = local.x;
    let own = body[min(i, p.n - 1)];

    var pull = vec3<f32>();
    for (var first = 0u; first < p.n; first += GROUP_X) {
        // Bodies without mass beyond the end draw nothing.
        var loaded = vec4<f32>();
        if (first + lane < p.n) { loaded = body[first + lane]; }
        tile[lane] = loaded;
        workgroupBarrier();
        for (var j = 0u; j < GROUP_X; j++) {
            let other = tile[j];
            let way = other.xyz - own.xyz;
            let near = inverseSqrt(dot(way, way) + p.softening);
            pull += way * (other.w * near * near * near);
        }
        workgroupBarrier();
    }
    if (i < p.n) {
        let v = velocity[i];
        let change = pull * p.dt;
        moved[i] = vec4<f32>(own.xyz + (v.xyz + 0.5 * change) * p.dt, own.w);
        faster[i] = vec4<f32>(v.xyz + change, v.w);
    }
}
