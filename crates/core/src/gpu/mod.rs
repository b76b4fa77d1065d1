//! What a GPU is to this program: plain data that crosses the seam to the hardware.

mod argument;
mod constants;
mod image;
mod info;
mod kernel;
mod language;
mod matrix;
mod names;
mod recording;
mod scalar;
mod settings;
mod signature;
mod spirv;
mod timeline;
mod wgsl_text;

pub use argument::{Argument, ValueType, offsets, order_misfit, packed, place_in_suite};
pub use image::{Filter, Image, ImageOf};
pub use info::{
    DeviceInfo, DeviceKind, EMBEDDED, FLUSH_TO_ZERO, MAX_SUBGROUP, ROUND_TO_ZERO, SPIRV,
    SUBGROUP_SIZE, ZeroCopy,
};
pub use kernel::{
    Access, Binding, BoundsChecks, BuildReport, Constant, Element, KernelSource, Meaning, Origin,
    group_label,
};
pub use language::Language;
pub use matrix::{MatrixProduct, names_matrix_product};
pub use names::names;
pub use recording::{BufferId, KernelId, MemoryKind, Op, Queue, Recording, Slice, Step, StepId};
pub use scalar::Scalar;
pub use settings::{Expanded, Library, OPTIONS, Settings};
pub use signature::{FormalArgument, Signature, Takes};
pub use spirv::{
    BindingKind, GroupSize, SpecConstant, SpecType, SpirvBinding, SpirvEntry, SpirvModule,
};
pub use timeline::{Clock, HOST_RESOLUTION, StepTimes, Timeline, busy};
pub use wgsl_text::{Override, original_group, overrides};
