#pragma once
inline float4 weigh(float4 x, float4 weights) { return x * weights; }
