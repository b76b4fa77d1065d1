// Products of matrices as matrix_chains.wgsl, in the shapes and types that WGSL does not have. It becomes a module for
// each type, since a shape can be a constant that a pipeline sets and a type cannot:
//
//     glslangValidator --target-env vulkan1.1 -DFACTOR=int8_t -DSUM=int32_t -DBYTES=1
//         --source-entrypoint main -e matrix_i8 matrix_products.comp -o matrix_i8.spv
//
// A matrix of A has M_ROWS * M_DEPTH numbers, one of B M_DEPTH * M_COLUMNS, one of sums M_ROWS * M_COLUMNS.
#version 450
#pragma use_vulkan_memory_model
#extension GL_EXT_bfloat16 : enable
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint M_ROWS = 16;
layout(constant_id = 2) const uint M_COLUMNS = 16;
layout(constant_id = 3) const uint M_DEPTH = 16;
layout(constant_id = 4) const uint CHAINS = 4;
layout(constant_id = 5) const uint SUBGROUPS = 8;
layout(constant_id = 6) const uint MATRICES = 16;

// Factors are read in words, since not every device has buffers of bytes.
const uint PER_WORD = 4 / BYTES;

layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) readonly buffer Start { SUM start[]; };
layout(set = 0, binding = 3) writeonly buffer Out { SUM sums[]; };
layout(push_constant) uniform Params { uint n; uint steps; };

void main() {
    const uint area = M_ROWS * M_COLUMNS;
    const uint first = (gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) * SUBGROUPS;
    for (uint k = gl_SubgroupID; k < SUBGROUPS; k += gl_NumSubgroups) {
        const uint share = first + k;
        if (share >= n / (CHAINS * area)) {
            break;
        }
        coopmat<FACTOR, gl_ScopeSubgroup, M_DEPTH, M_COLUMNS, gl_MatrixUseB> y;
        coopMatLoad(y, b, share % MATRICES * (M_DEPTH * M_COLUMNS / PER_WORD), M_COLUMNS / PER_WORD,
                    gl_CooperativeMatrixLayoutRowMajor);
        coopmat<SUM, gl_ScopeSubgroup, M_ROWS, M_COLUMNS, gl_MatrixUseAccumulator> c[CHAINS];
        [[unroll]] for (uint chain = 0; chain < CHAINS; chain++) {
            coopMatLoad(c[chain], start, (share * CHAINS + chain) % MATRICES * area, M_COLUMNS,
                        gl_CooperativeMatrixLayoutRowMajor);
        }
        for (uint step = 0; step < steps; step++) {
            coopmat<FACTOR, gl_ScopeSubgroup, M_ROWS, M_DEPTH, gl_MatrixUseA> x;
            coopMatLoad(x, a, (share + step) % MATRICES * (M_ROWS * M_DEPTH / PER_WORD), M_DEPTH / PER_WORD,
                        gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint chain = 0; chain < CHAINS; chain++) {
                c[chain] = coopMatMulAdd(x, y, c[chain]);
            }
        }
        [[unroll]] for (uint chain = 0; chain < CHAINS; chain++) {
            coopMatStore(c[chain], sums, (share * CHAINS + chain) * area, M_COLUMNS, gl_CooperativeMatrixLayoutRowMajor);
        }
    }
}
