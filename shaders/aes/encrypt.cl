// AES with a key of 128 bits (FIPS 197), each block of 16 bytes by itself. A word is a column of the
// state, its first row in the lowest byte. Substituting, shifting rows and mixing columns are one
// table in local memory: what a byte of row 0 adds to its column, turned by a byte a row.
typedef struct { uint blocks; } Params;

// The S-box of FIPS 197, four bytes a word, the first one lowest.
constant uint S_BOX[64] = {
    0x7b777c63, 0xc56f6bf2, 0x2b670130, 0x76abd7fe, 0x7dc982ca, 0xf04759fa, 0xafa2d4ad, 0xc072a49c,
    0x2693fdb7, 0xccf73f36, 0xf1e5a534, 0x1531d871, 0xc323c704, 0x9a059618, 0xe2801207, 0x75b227eb,
    0x1a2c8309, 0xa05a6e1b, 0xb3d63b52, 0x842fe329, 0xed00d153, 0x5bb1fc20, 0x39becb6a, 0xcf584c4a,
    0xfbaaefd0, 0x85334d43, 0x7f02f945, 0xa89f3c50, 0x8f40a351, 0xf5389d92, 0x21dab6bc, 0xd2f3ff10,
    0xec130ccd, 0x1744975f, 0x3d7ea7c4, 0x73195d64, 0xdc4f8160, 0x88902a22, 0x14b8ee46, 0xdb0b5ede,
    0x0a3a32e0, 0x5c240649, 0x62acd3c2, 0x79e49591, 0x6d37c8e7, 0xa94ed58d, 0xeaf4566c, 0x08ae7a65,
    0x2e2578ba, 0xc6b4a61c, 0x1f74dde8, 0x8a8bbd4b, 0x66b53e70, 0x0ef60348, 0xb9573561, 0x9e1dc186,
    0x1198f8e1, 0x948ed969, 0xe9871e9b, 0xdf2855ce, 0x0d89a18c, 0x6842e6bf, 0x0f2d9941, 0x16bb54b0,
};

uint s_box(uint byte) { return (S_BOX[byte >> 2] >> 8 * (byte & 3)) & 0xff; }

// Twice, in the field of 2^8 elements.
uint twice(uint byte) { return byte << 1 ^ (byte >> 7) * 0x11b; }

#define BYTE(word, row) ((word) >> 8 * (row) & 0xff)
// A column of the next state from the bytes of four columns.
#define MIXED(a, b, c, d) (table[BYTE(a, 0)] ^ rotate(table[BYTE(b, 1)], 8u) \
    ^ rotate(table[BYTE(c, 2)], 16u) ^ rotate(table[BYTE(d, 3)], 24u))
// The same without mixing: the second byte of a table's word is the substitute alone.
#define LAST(a, b, c, d) (BYTE(table[BYTE(a, 0)], 1) | BYTE(table[BYTE(b, 1)], 1) << 8 \
    | BYTE(table[BYTE(c, 2)], 1) << 16 | BYTE(table[BYTE(d, 3)], 1) << 24)

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void encrypt(global const uint4* restrict text, global const uint* restrict key,
                    global uint4* restrict out, const Params p)
{
    local uint table[256];
    for (uint i = get_local_id(0); i < 256; i += GROUP_X) {
        const uint s = s_box(i), t = twice(s);
        table[i] = t | s << 8 | s << 16 | (t ^ s) << 24;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint i = get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.blocks) return;

    uint4 k = (uint4)(key[0], key[1], key[2], key[3]);
    uint4 s = text[i] ^ k;
    uint rcon = 1;
    for (uint round = 1; round <= 10; round++) {
        // The next round's key.
        const uint turned = rotate(k.w, 24u);
        k.x ^= LAST(turned, turned, turned, turned) ^ rcon;
        k.y ^= k.x;
        k.z ^= k.y;
        k.w ^= k.z;
        rcon = twice(rcon);
        if (round < 10) {
            s = (uint4)(MIXED(s.x, s.y, s.z, s.w), MIXED(s.y, s.z, s.w, s.x),
                        MIXED(s.z, s.w, s.x, s.y), MIXED(s.w, s.x, s.y, s.z)) ^ k;
        } else {
            s = (uint4)(LAST(s.x, s.y, s.z, s.w), LAST(s.y, s.z, s.w, s.x),
                        LAST(s.z, s.w, s.x, s.y), LAST(s.w, s.x, s.y, s.z)) ^ k;
        }
    }
    out[i] = s;
}
