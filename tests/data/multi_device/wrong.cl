typedef struct { uint n; uint first; uint count; } Params;

kernel void right(global const float* a, global float* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.count) out[p.first + i] = a[p.first + i];
}

kernel void forgetful(global const float* a, global float* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.count) out[i] = a[i];
}

kernel void greedy(global const float* a, global float* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.count && p.count < p.n) out[p.first + i] = a[p.first + i];
}
