// One step of a gravitational n-body system: every body is drawn by every other one. A body is its
// position (xyz) and its mass (w); a group reads so many bodies as it has work-items into local
// memory at a time. `softening` (squared, as a length) keeps close bodies from tearing apart.
typedef struct { uint n; float softening, dt; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void nbody(global const float4* restrict body, global const float4* restrict velocity,
                  global float4* restrict moved, global float4* restrict faster, const Params p)
{
    local float4 tile[GROUP_X];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    const float4 own = body[min(i, p.n - 1)];

    float3 pull = 0.0f;
    for (uint first = 0; first < p.n; first += GROUP_X) {
        // Bodies without mass beyond the end draw nothing.
        tile[lane] = first + lane < p.n ? body[first + lane] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < GROUP_X; j++) {
            const float4 other = tile[j];
            const float3 way = other.xyz - own.xyz;
            const float near = rsqrt(dot(way, way) + p.softening);
            pull += way * (other.w * near * near * near);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < p.n) {
        const float4 v = velocity[i];
        const float3 change = pull * p.dt;
        moved[i] = (float4)(own.xyz + (v.xyz + 0.5f * change) * p.dt, own.w);
        faster[i] = (float4)(v.xyz + change, v.w);
    }
}
