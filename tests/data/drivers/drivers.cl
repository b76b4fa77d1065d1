// Faults that a real driver has to survive, or gpubench has to.
typedef struct { uint n; uint steps; } Params;

// Right only if the loop really makes all its steps.
kernel void long_loop(global uint* out, const Params p) {
    uint i = get_global_id(0);
    if (i >= p.n) return;
    uint x = i;
    for (uint step = 0; step < p.steps; step++) x = x * 1664525u + 1013904223u;
    out[i] = x;
}

kernel void endless(global volatile uint* out, const Params p) {
    out[0] = 1;
    while (out[0] != 0) out[0] = p.steps | 1;
}

kernel void crashes(global uint* out, const Params p) {
    out[get_global_id(0) + ((ulong)p.steps << 33)] = 1;
}

kernel void one_too_far(global uint* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.n) out[i] = 0;
    if (i == 0) out[p.n] = 1;
}

kernel void divides_by_zero(global uint* out, const Params p) {
    uint i = get_global_id(0);
    if (i < p.n) out[i] = (i + 1) / (p.steps - p.steps) + 1;
}

kernel void not_a_number(global float* out, const Params p) {
    uint i = get_global_id(0);
    float zero = (float)(p.steps - p.steps);
    if (i < p.n) out[i] = zero / zero;
}

kernel void never_written(global uint* out, const Params p) {
    if (p.steps == 0) out[get_global_id(0)] = 0;
}
