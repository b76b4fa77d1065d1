typedef struct { uint n; } Params;

kernel void scale(global const float* a, global float* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.n) out[i] = 2.0f * a[i];
}
