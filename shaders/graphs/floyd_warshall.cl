// One pass of Floyd and Warshall's shortest paths between all pairs of nodes: each path may now
// lead through node `via`. The first pass (via = 0) finds them among `edges`, which stay; the others
// work in place: row and column `via` do not change in their pass (no edge is negative), so that all
// paths can be tried at once. 2^32 - 1 says that there is no path; sums stop there.
typedef struct { uint n, via; } Params;

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void floyd_warshall(global const uint* edges, global uint* distance, const Params p) {
    const uint to = get_global_id(0);
    const uint source = get_global_id(1);
    if (source >= p.n || to >= p.n) return;

    const uint i = source * p.n + to;
    global const uint* known = p.via == 0 ? edges : distance;
    const uint through = add_sat(known[source * p.n + p.via], known[p.via * p.n + to]);
    if (p.via == 0 || through < known[i]) distance[i] = min(through, known[i]);
}
