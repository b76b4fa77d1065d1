//! Commands being written: an encoder, and the compute pass that is open on it.
//!
//! Launches that follow each other share a pass where the device can put timestamps between
//! them: each pass costs two command buffers below wgpu, which would show in short launches.

use super::context::Context;
use super::kernel::Kernel;
use super::timestamps::Stamps;
use ::wgpu::{
    Buffer, CommandBuffer, CommandEncoder, ComputePass, ComputePassDescriptor,
    ComputePassTimestampWrites,
};
use gpubench_core::gpu::{KernelId, Slice};

/// What a launch binds.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Bound<'r> {
    pub kernel: KernelId,
    pub buffers: &'r [Slice],
    /// Where each argument lies that is no buffer.
    pub params: Vec<u32>,
}

/// The commands since the last close.
pub(super) struct Commands<'r> {
    context: &'r Context,
    encoder: Option<CommandEncoder>,
    pass: Option<ComputePass<'static>>,
    /// What the open pass has bound.
    bound: Option<Bound<'r>>,
}

impl<'r> Commands<'r> {
    /// No commands.
    pub fn new(context: &'r Context) -> Self {
        Self { context, encoder: None, pass: None, bound: None }
    }

    /// Launches `kernel`, which is the one that `bound` names.
    pub fn launch(
        &mut self,
        kernel: &Kernel,
        bound: Bound<'r>,
        groups: [u32; 3],
        stamps: Option<Stamps<'_>>,
    ) {
        let around = stamps.filter(|stamps| !stamps.within_passes);
        if around.is_some() {
            self.end_pass();
        }
        if self.pass.is_none() {
            let pass = self.encoder().begin_compute_pass(&ComputePassDescriptor {
                label: None,
                timestamp_writes: around.map(|stamps| ComputePassTimestampWrites {
                    query_set: stamps.set,
                    beginning_of_pass_write_index: Some(stamps.first),
                    end_of_pass_write_index: Some(stamps.second),
                }),
            });
            self.pass = Some(pass.forget_lifetime());
        }
        let Some(pass) = &mut self.pass else { return };
        if self.bound.as_ref() != Some(&bound) {
            pass.set_pipeline(&kernel.pipeline);
            pass.set_bind_group(0, kernel.groups.get(bound.buffers), &bound.params);
            self.bound = Some(bound);
        }
        let within = stamps.filter(|stamps| stamps.within_passes);
        if let Some(stamps) = within {
            pass.write_timestamp(stamps.set, stamps.first);
        }
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        if let Some(stamps) = within {
            pass.write_timestamp(stamps.set, stamps.second);
        }
    }

    /// Copies `len` bytes between two buffers, each with the first byte.
    pub fn copy(
        &mut self,
        from: (&Buffer, u64),
        to: (&Buffer, u64),
        len: u64,
        stamps: Option<Stamps<'_>>,
    ) {
        self.end_pass();
        let encoder = self.encoder();
        if let Some(stamps) = stamps {
            encoder.write_timestamp(stamps.set, stamps.first);
        }
        encoder.copy_buffer_to_buffer(from.0, from.1, to.0, to.1, len);
        if let Some(stamps) = stamps {
            encoder.write_timestamp(stamps.set, stamps.second);
        }
    }

    /// Everything since the last close, if there was anything.
    pub fn close(&mut self) -> Option<CommandBuffer> {
        self.end_pass();
        self.encoder.take().map(CommandEncoder::finish)
    }

    fn end_pass(&mut self) {
        self.pass = None;
        self.bound = None;
    }

    fn encoder(&mut self) -> &mut CommandEncoder {
        let device = &self.context.device;
        self.encoder.get_or_insert_with(|| device.create_command_encoder(&Default::default()))
    }
}
