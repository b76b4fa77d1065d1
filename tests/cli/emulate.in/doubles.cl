kernel void doubles(global float *out) {
    out[get_global_id(0)] = 2;
}
