#version 450
layout(local_size_x_id = 7) in;
layout(constant_id = 3) const uint OFFSET = 1;
layout(constant_id = 4) const bool TWICE = false;
layout(constant_id = 5) const float SCALE = 1.0;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Params { uint n; float a; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) { y[i] = (a * x[i] + float(OFFSET)) * SCALE * (TWICE ? 2.0 : 1.0); }
}
