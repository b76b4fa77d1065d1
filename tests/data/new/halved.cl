// Half of a picture's rows and columns: the sampler weighs the four elements around a corner.
kernel void halved(read_only image2d_t picture, sampler_t weigh, global float *out, int columns, int rows) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < columns && y < rows) {
        float2 place = (float2)((x + 0.5f) / columns, (y + 0.5f) / rows);
        out[y * columns + x] = read_imagef(picture, weigh, place).x;
    }
}
