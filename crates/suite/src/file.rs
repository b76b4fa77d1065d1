//! The schema of a suite on disk. Its documentation is that of the JSON schema.

use super::args::Spec as Argument;
use super::condition::Condition;
use super::decode::{At, Clean, Entries, spec};
use super::keywords::{Family, HostMemoryKind, Precision, SearchedBy};
use super::search::SearchGroups;
use super::select::Select;
use super::subgroup::Subgroup;
use super::values::{
    ByteSize, Constant, Definition, Experiments, Expression, Fallback, Groups, Param, Sizes,
    Splitting,
};
use super::verify::Verification;
use gpubench_core::gpu::{Access, Element, Filter, Library};
use gpubench_core::workload::{Ceiling, Fill};

spec! {
    /// A suite of GPU benchmarks for gpubench.
    File {
        /// Version of this schema: 1.
        version: At<u32>,
        /// The suite's name; the file's, if there is none.
        name: Option<At<String>>,
        /// Other suites whose workloads belong to this one: paths relative to this file, within
        /// the folder of the suite that is run. Their budgets, names and layers do not count.
        include: Option<Vec<At<String>>>,
        /// Of the included workloads only these, by name, each at those of its sizes that have
        /// the values given: `sepia: { n: [512, 1024] }`, or `sepia: {}` for all of them.
        select: Option<Select>,
        /// What the whole run may take.
        budget: Option<Budget>,
        /// Whether an API that is a layer above another is measured beside the one below, so that its cost
        /// shows: wgpu beside Vulkan. Where not, it is measured on request (`run --backend wgpu`).
        layers: Option<At<bool>>,
        /// What every workload of this file has unless it says otherwise; tags are added up.
        defaults: Option<At<Clean<Workload>>>,
        /// The workloads by name, in the order in which they are shown.
        workloads: Option<Entries<Clean<Workload>>>,
    }
}

spec! {
    /// Limits of a run.
    Budget {
        /// Seconds of each device over all rounds.
        total: Option<At<f64>>,
        /// Seconds of sampling for one case in one round.
        case: Option<At<f64>>,
        /// Bytes on the device for one case: a number, or a text such as `64 MiB`.
        memory: Option<At<ByteSize>>,
        /// Bytes of the process that measures: before a case that would take more, a fresh one begins.
        process: Option<At<ByteSize>>,
        /// Rounds, each in a fresh process.
        rounds: Option<At<u32>>,
        /// How precise a median sampling aims at, relative to it.
        target: Option<At<f64>>,
    }
}

spec! {
    /// A kernel or a transfer, measured over several sizes. In a variant or in the defaults,
    /// only what differs: kernel, constants, parameters and buffers are merged by name, tags
    /// are added up, everything else is replaced.
    Workload {
        /// The kernel; a transfer needs none.
        kernel: Option<At<Kernel>>,
        /// Variants among which the fastest is looked for: the product of all axes, as far as `where` holds.
        /// Every run tries them, as for a ceiling, unless it says `by: tune`.
        search: Option<At<Search>>,
        /// Named variants: each becomes a workload `name/variant`, and the base alone none.
        variants: Option<Entries<Workload>>,
        /// The problem sizes: values by name (the product of all lists is measured), or a list
        /// of maps with one value a name.
        sizes: Option<At<Sizes>>,
        /// The kernel's parameter block, in order: expressions over the sizes, `u32` unless they
        /// say otherwise. If there is none, every size in order. `{}` for no block at all.
        params: Option<At<Entries<At<Param>>>>,
        /// How many times the kernel is launched for one result, each launch (a pass) after the one
        /// before: an expression over the sizes. `pass` counts them from 0 in the parameters, and
        /// the grid may use such a parameter. For `measure: [kernel]`, `[cold]`,
        /// `[zero-copy]`, `[halo]` and `[checkpoint]`; `work` is that of all passes. One, unless said otherwise.
        passes: Option<At<Expression>>,
        /// A program: several kernels that make one result, in order. `kernel` is what its steps do
        /// not say. For `measure: [kernel]`; `work` is that of all steps.
        steps: Option<At<Vec<At<Step>>>>,
        /// Buffers by name, in binding order.
        buffers: Option<At<Entries<Buffer>>>,
        /// Work-items along one to three dimensions; work-groups are rounded up. A long line
        /// has more of them than a device takes along x and is folded into y: a kernel counts
        /// its items by `get_global_id(0) + get_global_id(1)*get_global_size(0)`.
        grid: Option<At<Vec<At<Expression>>>>,
        /// Operations and bytes of one launch.
        work: Option<At<Work>>,
        /// How the result is checked: `none`, or a map with `reference`, `file`, `command`
        /// or `against`.
        /// `relative` and `absolute` say how far a float may differ; integers must be equal.
        verify: Option<At<Verification>>,
        /// What is measured; the kernel's time, if nothing is said. Options of an experiment stand
        /// behind its word: `measure: [kernel, { concurrency: { copies: 4 } }]`.
        measure: Option<At<Experiments>>,
        /// Words to filter by.
        tags: Option<Vec<At<String>>>,
        /// What the workload bounds, as a kernel that does nothing else as fast as the device can:
        /// `flops`, `dot_product` (of an instruction that does several operations at once), or `bandwidth` at each of
        /// its sizes. Faster figures of that kind are impossible.
        ceiling: Option<At<Ceiling>>,
        /// The ranking it counts in; by default what the first measure and the work suggest.
        family: Option<At<Family>>,
        /// Kinds of host memory for transfers; for uploads and downloads all three by default.
        host_memory: Option<At<Vec<At<HostMemoryKind>>>>,
        /// The parameter that counts the rows along which the problem can be cut into chunks.
        divide: Option<At<String>>,
    }
}

spec! {
    /// A kernel in OpenCL C, in WGSL or in both: a shipped one by its family and entry, or the
    /// user's own by its files.
    Kernel {
        /// Family of a shipped kernel.
        family: Option<At<String>>,
        /// Name of the entry point.
        entry: Option<At<String>>,
        /// The type of a shipped kernel's fractions: `f32`, as it is written, or `f64`, where the device has
        /// that. Buffers need the same type.
        precision: Option<At<Precision>>,
        /// A library whose routine, the `entry`, is the kernel, on OpenCL devices of a machine that has it:
        /// `clblast`, with the routine `gemm`. It takes no `defines` and no `options`.
        library: Option<At<Library>>,
        /// File in OpenCL C, relative to this one and within the suite's folder.
        opencl: Option<At<String>>,
        /// File in WGSL, relative to this one and within the suite's folder.
        wgsl: Option<At<String>>,
        /// File in GLSL (`main` of a compute shader), relative to this one and within the suite's folder, in
        /// place of `wgsl`.
        glsl: Option<At<String>>,
        /// File in SPIR-V, relative to this one and within the suite's folder, in place of `opencl` or of
        /// `wgsl`: what it is for, it says itself.
        spirv: Option<At<String>>,
        /// Whether a module in SPIR-V for Vulkan becomes WGSL, as it does without this key. `false`: Vulkan's driver
        /// gets the module as it is, with its constants set by name, and other APIs skip the kernel.
        translate: Option<At<bool>>,
        /// Work-items per work-group along one to three dimensions; a list of such groups makes
        /// one workload each, called `name/16x16`.
        group: Option<At<Groups>>,
        /// Work-groups for devices that do not take `group`, because it has too many work-items, or because
        /// the kernel then needs too much local memory: the first that fits runs. Each is a group, or
        /// a map of a group and of the constants that go with it.
        fallback: Option<Vec<At<Fallback>>>,
        /// Constants that the compiler knows: whole numbers, numbers, or element types.
        constants: Option<Entries<At<Constant>>>,
        /// The kernel's arguments in its own order: buffers by name, `params` for the parameter
        /// block, `{ i32: n }` for a scalar or a vector of that type, `{ local: 4*GROUP_X }` for
        /// bytes of local memory. In WGSL the position is the binding in group 0. Without the key:
        /// the buffers in order, then the parameter block.
        args: Option<At<Vec<At<Argument>>>>,
        /// What the OpenCL compiler replaces by name, besides constants: `{ REAL: float, FAST: 1 }`.
        defines: Option<Entries<At<Definition>>>,
        /// Options of the OpenCL compiler, of those that are allowed: `-cl-fast-relaxed-math`,
        /// `-cl-std=CL2.0` and others.
        options: Option<Vec<At<String>>>,
        /// `@group` and `@binding` of each argument in WGSL, in the order of the arguments; without the key
        /// group 0 and the argument's position.
        bindings: Option<At<Vec<At<Vec<u32>>>>>,
        /// Optional device features without which it does not run: `subgroups`, `f16`, `f64`,
        /// `f32_atomics`, `i64_atomics`.
        needs: Option<Vec<At<String>>>,
        /// Work-items of a subgroup (warp, wavefront): a number, or the name of a constant that is it; 0 leaves it
        /// to the driver. Devices without such subgroups skip the kernel.
        subgroup: Option<At<Subgroup>>,
        /// Registers of 32 bits that a work-item takes, where its driver does not report them.
        registers: Option<At<u32>>,
    }
}

spec! {
    /// A step of a program: a kernel with its grid, a repetition, or a swap.
    Step {
        /// The kernel, over the workload's own; its `args` may use the indices of repetitions.
        kernel: Option<At<Kernel>>,
        /// Its work-items; where there are none, the launch is left out.
        grid: Option<At<Vec<At<Expression>>>>,
        /// How often `steps` are done.
        repeat: Option<At<Expression>>,
        /// The name that counts the repetitions from 0 in `args` and `grid`.
        index: Option<At<String>>,
        /// What is repeated.
        steps: Option<At<Vec<At<Step>>>>,
        /// Two buffers that change places from here on.
        swap: Option<At<Vec<At<String>>>>,
    }
}

spec! {
    /// Axes of a search.
    Search {
        /// Work-group sizes to try: a list of them, or lists by axis: `{ x: [16, 32], y: [1, 2, 4] }`.
        group: Option<At<SearchGroups>>,
        /// Values to try, by the constant's name.
        constants: Option<Entries<At<Vec<At<Constant>>>>>,
        /// What must hold of a variant: comparisons (`GROUP_X*GROUP_Y <= 256`) over `GROUP_X`, `GROUP_Y`,
        /// `GROUP_Z`, constants, sizes and parameters.
        r#where: Option<Vec<At<Condition>>>,
        /// Who tries them: every `run`, or only `tune`; then a run takes the kernel's own group and
        /// constants, or what `--tuned` says.
        by: Option<At<SearchedBy>>,
    }
}

spec! {
    /// One buffer of a workload.
    Buffer {
        /// Element type: `f16`, `bf16`, `f32`, `f64`, or `i` or `u` with 8, 16, 32 or 64 behind it; with `x2`,
        /// `x4`, `x8` or `x16` behind it for a vector.
        r#type: At<Element>,
        /// Number of elements, over sizes and parameters.
        count: At<Expression>,
        /// Contents before the first launch; without them it is an output.
        fill: Option<At<Fill>>,
        /// How the kernel uses it; by default it reads what is filled and writes what is not.
        access: Option<At<Access>>,
        /// What a chunk of a divided problem sees: all of it (`broadcast`, the default), its
        /// `rows`, or `{ rows: { halo: 1 } }` with rows of its neighbours.
        split: Option<Splitting>,
        /// The kernel reads it as an image in two dimensions, through the device's texture units.
        image: Option<At<Image>>,
    }
}

spec! {
    /// An image, row after row.
    Image {
        /// Elements of a row, over sizes and parameters.
        width: At<Expression>,
        /// What the kernel's sampler gives between elements, a sampler being the argument behind the image; without
        /// the key it takes none.
        filter: Option<At<Filter>>,
    }
}

spec! {
    /// Operations and bytes of one launch, over sizes, parameters and constants.
    Work {
        /// Operations.
        flops: Option<At<Expression>>,
        /// Bytes that must move between memory and the kernel, each counted once.
        bytes: Option<At<Expression>>,
        /// How many of the operations are of which type: `{ f64: 2*n }`. The others are of `f32`.
        types: Option<At<Entries<At<Expression>>>>,
        /// Bytes that a launch accesses again and again; without the key, those of all buffers.
        working_set: Option<At<Expression>>,
    }
}
