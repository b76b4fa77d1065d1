#include "weights.h"

kernel void weighted(constant float4 *in, global float4 *out, const float4 weights, unsigned int n) {
    const uint i = get_global_id(0);
    if (i < n) out[i] = weigh(in[i], weights) + OFFSET;
}
