//! The host's way into buffers: maps, and copies through them.

use super::context::Context;
use ::wgpu::{
    Buffer, BufferDescriptor, BufferUsages, COPY_BUFFER_ALIGNMENT, MAP_ALIGNMENT, MapMode,
};
use gpubench_core::error::{Error, Result};
use std::sync::mpsc;

/// Bytes that are copied at once where time does not matter: bounds what staging takes.
const PIECE: u64 = 64 << 20;

/// A buffer of `len` bytes at least, of which copies can take any multiple of four.
///
/// # Errors
/// As [`Context::scoped`].
pub(super) fn create(context: &Context, len: u64, usage: BufferUsages) -> Result<Buffer> {
    let size = padded(len);
    context.scoped(|| {
        let buffer = context.device.create_buffer(&BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        });
        Ok(buffer)
    })
}

/// `len` rounded up to what copies move; never nothing.
fn padded(len: u64) -> u64 {
    len.max(1).next_multiple_of(COPY_BUFFER_ALIGNMENT)
}

/// Writes `data` to the beginning of `buffer`, and returns when it is there.
///
/// # Errors
/// As [`Context::scoped`].
pub(super) fn upload(context: &Context, buffer: &Buffer, data: &[u8]) -> Result<()> {
    let mut offset = 0;
    for piece in data.chunks(PIECE as usize) {
        context.scoped(|| {
            let rest = piece.len() % COPY_BUFFER_ALIGNMENT as usize;
            let (whole, tail) = piece.split_at(piece.len() - rest);
            context.queue.write_buffer(buffer, offset, whole);
            if !tail.is_empty() {
                let mut last = [0; COPY_BUFFER_ALIGNMENT as usize];
                last[..rest].copy_from_slice(tail);
                context.queue.write_buffer(buffer, offset + whole.len() as u64, &last);
            }
            context.submit(None)
        })?;
        offset += piece.len() as u64;
    }
    Ok(())
}

/// Reads the first `len` bytes of `buffer`.
///
/// # Errors
/// As [`Context::scoped`].
pub(super) fn download(context: &Context, buffer: &Buffer, len: u64) -> Result<Vec<u8>> {
    let staging = create(context, len.min(PIECE), BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
    let mut data = super::memory::zeroed(len)?;
    let mut offset = 0;
    for piece in data.chunks_mut(PIECE as usize) {
        context.scoped(|| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let size = padded(piece.len() as u64);
            encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
            context.queue.submit([encoder.finish()]);
            read_mapped(context, &staging, 0, piece)
        })?;
        offset += piece.len() as u64;
    }
    Ok(data)
}

/// Maps `buffer` for reading (after all that was submitted) and fills `to` from `offset` on.
///
/// # Errors
/// `Device` when the map fails.
pub(super) fn read_mapped(
    context: &Context,
    buffer: &Buffer,
    offset: u64,
    to: &mut [u8],
) -> Result<()> {
    if to.is_empty() {
        return context.wait();
    }
    let (start, end) = mappable_range(offset, to.len());
    map(context, buffer, MapMode::Read, start, end)?;
    let view = buffer.get_mapped_range(start..end).map_err(failed)?;
    let skip = (offset - start) as usize;
    to.copy_from_slice(&view[skip..skip + to.len()]);
    drop(view);
    buffer.unmap();
    Ok(())
}

/// Maps `buffer` for writing (after all that was submitted) and copies `from` to `offset`.
///
/// # Errors
/// `Device` when the map fails.
pub(super) fn write_mapped(
    context: &Context,
    buffer: &Buffer,
    offset: u64,
    from: &[u8],
) -> Result<()> {
    if from.is_empty() {
        return context.wait();
    }
    let (start, end) = mappable_range(offset, from.len());
    map(context, buffer, MapMode::Write, start, end)?;
    let mut view = buffer.get_mapped_range_mut(start..end).map_err(failed)?;
    let skip = (offset - start) as usize;
    view.slice(skip..skip + from.len()).copy_from_slice(from);
    drop(view);
    buffer.unmap();
    Ok(())
}

/// Maps begin at multiples of eight and cover multiples of four.
fn mappable_range(offset: u64, len: usize) -> (u64, u64) {
    let start = offset - offset % MAP_ALIGNMENT;
    (start, (offset + len as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT))
}

fn map(context: &Context, buffer: &Buffer, mode: MapMode, start: u64, end: u64) -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    buffer.map_async(mode, start..end, move |result| {
        let _ = sender.send(result);
    });
    context.wait()?;
    match receiver.try_recv() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => Err(failed("the driver did not answer")),
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Device(format!("a buffer cannot be mapped: {error}"))
}
