// Mean of a pixel and its eight neighbours, coordinates clamped to the image. A work-item walks
// down ROWS pixels of one column and keeps the sums of the rows above and below, so that each
// row of three is read once per work-item.

// Computes the `count` rows from row `first` on.
typedef struct { uint rows, cols, first, count; } Params;

float4 three(global const float4* image, uint y, uint x, Params p)
{
    const uint left = max(x, 1u) - 1;
    const uint right = min(x + 1, p.cols - 1);
    global const float4* row = image + y * p.cols;
    return row[left] + row[x] + row[right];
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void linear(global const float4* restrict image, global float4* restrict result,
                   const Params p)
{
    const uint x = get_global_id(0);
    const uint start = p.first + get_global_id(1) * ROWS;
    const uint end = min(start + ROWS, p.first + p.count);
    if (x >= p.cols || start >= end) return;

    float4 above = three(image, max(start, 1u) - 1, x, p);
    float4 here = three(image, start, x, p);
    for (uint y = start; y < end; y++) {
        const float4 below = three(image, min(y + 1, p.rows - 1), x, p);
        result[y * p.cols + x] = (above + here + below) * (1.0f / 9.0f);
        above = here;
        here = below;
    }
}
