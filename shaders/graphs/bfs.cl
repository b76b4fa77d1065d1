// One level of a breadth-first search from all sides, bottom up: a node that was not reached by
// level `now` is reached now if one of its neighbours was reached just then. Every node has `degree`
// neighbours, given by any number modulo `n`.
typedef struct { uint n, degree, now; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void bfs(global const uint* restrict level, global const uint* restrict neighbour,
                global uint* restrict next, const Params p)
{
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.n) return;

    uint reached = level[i];
    if (reached > p.now) {
        reached = UINT_MAX;
        for (uint k = 0; k < p.degree && reached == UINT_MAX; k++) {
            if (level[neighbour[i * p.degree + k] % p.n] == p.now) reached = p.now + 1;
        }
    }
    next[i] = reached;
}
