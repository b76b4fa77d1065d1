// One pass of Floyd and Warshall's shortest paths between all pairs of nodes: each path may now
// lead through node `via`. Row and column `via` do not change in this pass (no edge is negative),
// so that all paths can be tried at once, in place.
typedef struct { uint n, via; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void floyd_warshall(global uint* restrict distance, const Params p) {
    const uint to = get_global_id(0);
    const uint source = get_global_id(1);
    if (source >= p.n || to >= p.n) return;

    const uint i = source * p.n + to;
    const uint through = distance[source * p.n + p.via] + distance[p.via * p.n + to];
    if (through < distance[i]) distance[i] = through;
}
