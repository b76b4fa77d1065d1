//! The wgpu backend on whatever adapter this machine has first.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall panic")]

#[macro_use]
#[path = "../crates/device/tests/driver/mod.rs"]
mod driver;

use driver::*;
use gpubench::backend::Backend;
use gpubench::backend::wgpu::Wgpu;
use gpubench::error::Error;
use gpubench::gpu::{BufferId, MemoryKind, Op, Queue, Recording};

driver_tests!(Wgpu, "require-wgpu");

#[test]
fn devices_describe_themselves() {
    driver::devices_describe_themselves(&Wgpu, |info| assert_eq!(info.queues, 1));
    assert!(matches!(Wgpu.open(9999), Err(Error::Usage(_))));
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn every_kind_of_memory_keeps_what_is_written() {
    driver::every_kind_of_memory_keeps_what_is_written(&Wgpu, |device, kind| {
        if matches!(kind, MemoryKind::Device | MemoryKind::Pinned) {
            unsupported(device.write(BufferId(3), &[0; 6]));
        }
    });
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn copies_move_slices() {
    let mut device = driver::copies_move_slices(&Wgpu);
    let odd = Op::Copy { from: slice(0, 1, 4), to: slice(1, 0, 4) };
    unsupported(device.run(&Recording::one_queue([odd])));
    let within = Op::Copy { from: slice(0, 0, 4), to: slice(0, 40, 4) };
    unsupported(device.run(&Recording::one_queue([within])));
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn uploads_need_a_host_buffer_and_a_device_buffer() {
    let is_expected = |error: &Error| matches!(error, Error::Device(_));
    driver::uploads_need_a_host_buffer_and_a_device_buffer(&Wgpu, is_expected);
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn a_second_queue_is_refused() {
    let mut device = device(&Wgpu);
    let mut recording = Recording::default();
    for queue in 0..2 {
        let copy = Op::Copy { from: slice(0, 0, 4), to: slice(1, 0, 4) };
        recording.push(Queue(queue), vec![], copy);
    }
    assert!(unsupported(device.run(&recording)).contains("wgpu has one queue"));
}
