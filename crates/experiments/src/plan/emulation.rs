//! What the emulator runs of a case.

use super::{Candidate, Case, Pass};
use gpubench_core::gpu::{
    Access, DeviceInfo, DeviceKind, KernelSource, Language, MAX_SUBGROUP, SUBGROUP_SIZE,
};
use gpubench_core::units::Bytes;
use gpubench_emulator::{Buffer, Launch};
use gpubench_reference::Data;

/// A device that takes every kernel in WGSL, so that cases can be planned where only the
/// emulator will run them.
pub fn emulated_device() -> DeviceInfo {
    DeviceInfo {
        backend: "emulator".into(),
        name: "emulator".into(),
        vendor: "gpubench".into(),
        kind: DeviceKind::Simulated,
        api: "WGSL".into(),
        language: Language::Wgsl,
        max_buffer: Bytes(u64::MAX),
        max_binding: Bytes(u64::MAX),
        max_storage_buffers: u32::MAX,
        max_group_size: gpubench_emulator::MAX_LANES,
        max_group_dims: [gpubench_emulator::MAX_LANES; 3],
        // What APIs grant, so that long lines are folded as they are there.
        max_groups: [65_535; 3],
        local_memory: Bytes(u64::MAX),
        queues: 1,
        subgroup: Some([1, MAX_SUBGROUP]),
        offset_alignment: Bytes(4),
        features: vec![SUBGROUP_SIZE.to_owned()],
        ..DeviceInfo::default()
    }
}

impl Candidate {
    /// The kernel in WGSL, where it has such a source, or one that becomes it.
    pub fn wgsl(&self) -> Option<&KernelSource> {
        match self.kernel.language {
            Language::Wgsl => (!self.kernel.settings.spirv).then_some(&self.kernel),
            Language::Opencl => self.other_language.as_ref(),
        }
    }
}

/// A candidate's launch (the first, where it has several passes) over the contents of all
/// buffers, in binding order.
pub fn emulated_launch(
    candidate: &Candidate,
    contents: impl IntoIterator<Item: Into<Buffer>>,
) -> Launch {
    Launch {
        groups: candidate.groups,
        buffers: contents.into_iter().map(Into::into).collect(),
        params: words_of(&candidate.param_bytes()),
    }
}

/// Makes what the kernel only writes an output: a read of it before the first write is a fault.
pub fn track_outputs(case: &Case, launch: &mut Launch) {
    for (buffer, plan) in launch.buffers.iter_mut().zip(&case.buffers) {
        if plan.access == Access::Write {
            buffer.track_writes();
        }
    }
}

/// Makes `launch` that of `pass`, over the buffers as they are by then.
pub fn enter_pass(launch: &mut Launch, pass: &Pass) {
    launch.groups = pass.groups;
    launch.params = words_of(&pass.param_bytes());
}

/// The buffers that the emulator left, in the types of `case`.
pub fn emulated_results(case: &Case, launch: Launch) -> Vec<Data> {
    let typed = |(words, buffer): (Buffer, &super::BufferPlan)| {
        let words = words.into_words();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        // The last word may be filled up.
        let end = bytes.len().min(buffer.bytes().as_usize());
        Data::from_bytes(buffer.element.scalar, &bytes[..end])
    };
    launch.buffers.into_iter().zip(&case.buffers).map(typed).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}
