// One work-item follows a cycle through `words` words, `passes` times 16*REPEAT steps from where
// it was: each load's place is what the load before gave.
typedef struct { uint words; uint passes; } Params;

uint hop4(global const uint* restrict next, uint x) {
    return next[next[next[next[x]]]];
}

uint hop16(global const uint* restrict next, uint x) {
    return hop4(next, hop4(next, hop4(next, hop4(next, x))));
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void chase(global const uint* restrict next, global uint* restrict at, const Params p) {
    if (get_global_id(0) != 0) {
        return;
    }
    uint x = at[0] % p.words;
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < REPEAT; ++r) {
            x = hop16(next, x);
        }
    }
    at[0] = x;
}
