// y = a x + y
kernel void saxpy(float a, global const float *x, global float *y, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
