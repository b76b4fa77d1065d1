// AES with a key of 128 bits (FIPS 197), each block of 16 bytes by itself. A word is a column of the
// state, its first row in the lowest byte. Substituting, shifting rows and mixing columns are one
// table in local memory: what a byte of row 0 adds to its column, turned by a byte a row.
struct Params { blocks: u32 }

@group(0) @binding(0) var<storage, read> text: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> key: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> p: Params;

// The S-box of FIPS 197, four bytes a word, the first one lowest.
const S_BOX = array<u32, 64>(
    0x7b777c63u, 0xc56f6bf2u, 0x2b670130u, 0x76abd7feu, 0x7dc982cau, 0xf04759fau, 0xafa2d4adu, 0xc072a49cu,
    0x2693fdb7u, 0xccf73f36u, 0xf1e5a534u, 0x1531d871u, 0xc323c704u, 0x9a059618u, 0xe2801207u, 0x75b227ebu,
    0x1a2c8309u, 0xa05a6e1bu, 0xb3d63b52u, 0x842fe329u, 0xed00d153u, 0x5bb1fc20u, 0x39becb6au, 0xcf584c4au,
    0xfbaaefd0u, 0x85334d43u, 0x7f02f945u, 0xa89f3c50u, 0x8f40a351u, 0xf5389d92u, 0x21dab6bcu, 0xd2f3ff10u,
    0xec130ccdu, 0x1744975fu, 0x3d7ea7c4u, 0x73195d64u, 0xdc4f8160u, 0x88902a22u, 0x14b8ee46u, 0xdb0b5edeu,
    0x0a3a32e0u, 0x5c240649u, 0x62acd3c2u, 0x79e49591u, 0x6d37c8e7u, 0xa94ed58du, 0xeaf4566cu, 0x08ae7a65u,
    0x2e2578bau, 0xc6b4a61cu, 0x1f74dde8u, 0x8a8bbd4bu, 0x66b53e70u, 0x0ef60348u, 0xb9573561u, 0x9e1dc186u,
    0x1198f8e1u, 0x948ed969u, 0xe9871e9bu, 0xdf2855ceu, 0x0d89a18cu, 0x6842e6bfu, 0x0f2d9941u, 0x16bb54b0u,
);

fn s_box(byte: u32) -> u32 { return (S_BOX[byte >> 2] >> (8 * (byte & 3))) & 0xff; }

// Twice, in the field of 2^8 elements.
fn twice(byte: u32) -> u32 { return (byte << 1) ^ ((byte >> 7) * 0x11b); }

var<workgroup> table: array<u32, 256>;

fn byte(word: u32, row: u32) -> u32 { return (word >> (8 * row)) & 0xff; }

fn turned(word: u32, bits: u32) -> u32 { return (word << bits) | (word >> (32 - bits)); }

// A column of the next state from the bytes of four columns.
fn mixed(s: vec4<u32>) -> u32 {
    return table[byte(s.x, 0)] ^ turned(table[byte(s.y, 1)], 8)
        ^ turned(table[byte(s.z, 2)], 16) ^ turned(table[byte(s.w, 3)], 24);
}

// The same without mixing: the second byte of a table's word is the substitute alone.
fn last(s: vec4<u32>) -> u32 {
    return byte(table[byte(s.x, 0)], 1) | (byte(table[byte(s.y, 1)], 1) << 8)
        | (byte(table[byte(s.z, 2)], 1) << 16) | (byte(table[byte(s.w, 3)], 1) << 24);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn encrypt(@builtin(global_invocation_id) id: vec3<u32>,
           @builtin(local_invocation_id) local: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = local.x; i < 256; i += GROUP_X) {
        let s = s_box(i);
        let t = twice(s);
        table[i] = t | (s << 8) | (s << 16) | ((t ^ s) << 24);
    }
    workgroupBarrier();
    let i = id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.blocks) { return; }

    var k = vec4<u32>(key[0], key[1], key[2], key[3]);
    var s = text[i] ^ k;
    var rcon = 1u;
    for (var round = 1u; round <= 10; round++) {
        // The next round's key.
        k.x ^= last(vec4<u32>(turned(k.w, 24))) ^ rcon;
        k.y ^= k.x;
        k.z ^= k.y;
        k.w ^= k.z;
        rcon = twice(rcon);
        if (round < 10) {
            s = vec4<u32>(mixed(s), mixed(s.yzwx), mixed(s.zwxy), mixed(s.wxyz)) ^ k;
        } else {
            s = vec4<u32>(last(s), last(s.yzwx), last(s.zwxy), last(s.wxyz)) ^ k;
        }
    }
    out[i] = s;
}
