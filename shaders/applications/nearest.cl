// Distance of every place from one point.
typedef struct { uint n; float x, y; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void nearest(global const float2* restrict place, global float* restrict distances,
                    const Params p)
{
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) return;

    const float dx = place[i].x - p.x;
    const float dy = place[i].y - p.y;
    distances[i] = sqrt(dx * dx + dy * dy);
}
