// One work-item goes through `words` words of BYTES bytes each, `passes` times 16*REPEAT steps from where it was:
// 1 to 64 lines of 64 bytes on by where it is, and 32 more where the word that it loaded is odd, so that each
// load waits for the one before. With WRITE it first stores that word, and waits for the store: `zero`, which the
// compiler does not know, has the load go to the same word.
typedef struct { uint words; uint passes; uint zero; } Params;

#define LINE (64 / BYTES)
#if T_WIDTH == 1
#define ODD(word) ((uint)(word) & 1)
#elif T_WIDTH == 2
#define ODD(word) (((word).x | (word).y) & 1)
#else
#define ODD(word) (((word).x | (word).y | (word).z | (word).w) & 1)
#endif

uint hop(global T* data, uint x, uint words, uint zero) {
#if WRITE
    data[x] = (T)((T_SCALAR)(x / LINE));
#endif
    const T word = data[x ^ zero];
    const uint lines = 1 + ((x * 2654435761u) >> 26) + 32 * ODD(word);
    return (x + LINE * lines) & (words - 1);
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void word_chain(global T* data, global uint* at, const Params p) {
    if (get_global_id(0) != 0) {
        return;
    }
    uint x = at[0] & (p.words - 1);
    for (uint k = 0; k < p.passes; ++k) {
#pragma unroll
        for (uint r = 0; r < 16 * REPEAT; ++r) {
            x = hop(data, x, p.words, p.zero);
        }
    }
    at[0] = x;
}
