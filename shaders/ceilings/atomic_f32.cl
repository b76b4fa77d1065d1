// Each work-item adds 1 to a counter of f32, `times` times, and nothing can come between: all to
// one counter (SPREAD 0), or each to its own (SPREAD 1). NATIVE: by the device's own instruction;
// otherwise the number is exchanged when nothing came between. A counter is the bits of a float.
typedef struct { uint n; uint times; } Params;

#if NATIVE
#ifndef __opencl_c_ext_fp32_global_atomic_add
#error "the device adds no f32 atomically"
#endif
void add(volatile global uint* counter) {
    atomic_fetch_add_explicit((volatile global atomic_float*)counter, 1.0f, memory_order_relaxed,
        memory_scope_device);
}
#else
void add(volatile global uint* counter) {
    uint old = *counter;
    for (;;) {
        const uint seen = atomic_cmpxchg(counter, old, as_uint(as_float(old) + 1.0f));
        if (seen == old) {
            return;
        }
        old = seen;
    }
}
#endif

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void atomic_f32(volatile global uint* restrict counters, const Params p) {
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) {
        return;
    }
    for (uint k = 0; k < p.times; ++k) {
        add(&counters[i * SPREAD]);
    }
}
