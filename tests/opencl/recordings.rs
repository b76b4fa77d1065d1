//! Memory and recordings: what is written is read, whichever way it goes.

use crate::{SCALE, alloc, bytes, device, floats, ramp, scale, slice, source};
use gpubench::error::Error;
use gpubench::gpu::{Access, BufferId, Clock, KernelId, MemoryKind, Op, Queue, Recording};
use gpubench::units::Bytes;

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn what_is_written_is_read() {
    let mut device = device();
    let data = bytes(&ramp(1000));
    for (id, kind) in [
        (0, MemoryKind::Device),
        (1, MemoryKind::Pageable),
        (2, MemoryKind::Pinned),
        (3, MemoryKind::Mapped),
    ] {
        alloc(&mut *device, id, 4000, kind);
        device.write(BufferId(id), &data).unwrap();
        assert_eq!(device.read(BufferId(id)).unwrap(), data, "{kind:?}");
        assert!(matches!(device.write(BufferId(id), &[0; 4001]), Err(Error::Usage(_))));
    }
    device.reset();
    assert!(matches!(device.read(BufferId(0)), Err(Error::Usage(_))));
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_uses_memory_that_the_host_maps() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    let step = device.info().offset_alignment.0.max(4096);
    let n = 1000;
    for kind in device.info().zero_copy.clone() {
        let kind = kind.memory;
        // Kernels see parts, the host maps parts, and both are the same bytes.
        for id in [0, 1] {
            alloc(&mut *device, id, step + 4 * n, kind);
            device.write(BufferId(id), &vec![7; (step + 4 * n) as usize]).unwrap();
        }
        let input: Vec<u8> = [vec![7; step as usize], bytes(&ramp(n as usize))].concat();
        device.write(BufferId(0), &input).unwrap();
        let (from, to) = (slice(0, step, 4 * n), slice(1, step, 4 * n));
        let (write, read) = (Access::Write, Access::Read);
        let recording = Recording::one_queue([
            Op::Map { part: from, access: write },
            Op::Unmap { part: from },
            scale(from, to, n as u32, 3.0),
            Op::Map { part: to, access: read },
            Op::Unmap { part: to },
        ]);
        let times = device.run(&recording).unwrap();
        assert!(times.steps.len() == 5 || times.clock == Clock::Host, "{kind:?}");
        let found = device.read(BufferId(1)).unwrap();
        let expected: Vec<f32> = ramp(n as usize).iter().map(|x| 3.0 * x).collect();
        assert_eq!(floats(&found[step as usize..]), expected, "{kind:?}");
        assert!(found[..step as usize].iter().all(|&byte| byte == 7), "{kind:?}");

        // What is mapped is the host's from one recording to the next.
        let mut run = |ops: &[Op]| device.run(&Recording::one_queue(ops.iter().cloned())).map(drop);
        run(&[Op::Map { part: from, access: write }]).unwrap();
        let used = run(&[scale(from, to, n as u32, 3.0)]).unwrap_err();
        assert!(used.to_string().contains("buffer 0 is mapped"), "{used}");
        run(&[Op::Unmap { part: from }, scale(from, to, n as u32, 2.0)]).unwrap();
        assert!(run(&[Op::Unmap { part: from }]).is_err(), "it is not mapped");
    }
    alloc(&mut *device, 2, 64, MemoryKind::Device);
    let mut recording = Recording::default();
    let map = Op::Map { part: slice(2, 0, 64), access: Access::Read };
    recording.push(Queue(0), vec![], map);
    assert!(matches!(device.run(&recording), Err(Error::Usage(_))), "device memory is not mapped");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn copies_within_the_device() {
    let mut device = device();
    let align = device.info().offset_alignment.0;
    let len = 16 * align;
    alloc(&mut *device, 0, len, MemoryKind::Device);
    alloc(&mut *device, 1, len, MemoryKind::Device);
    let data: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    device.write(BufferId(0), &data).unwrap();
    device.write(BufferId(1), &vec![0xee; len as usize]).unwrap();
    let mut recording = Recording::default();
    // One copy between aligned parts, and one that no sub-buffer can stand for.
    let (from, to) = (slice(0, 2 * align, align), slice(1, 4 * align, align));
    recording.push(Queue(0), vec![], Op::Copy { from, to });
    recording.push(Queue(0), vec![], Op::Copy { from: slice(0, 1, 7), to: slice(1, 3, 7) });
    device.run(&recording).unwrap();
    let mut expected = vec![0xee; len as usize];
    let at = |n: u64| n as usize;
    expected[at(4 * align)..at(5 * align)].copy_from_slice(&data[at(2 * align)..at(3 * align)]);
    expected[3..10].copy_from_slice(&data[1..8]);
    assert_eq!(device.read(BufferId(1)).unwrap(), expected);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn transfers_with_every_kind_of_host_memory() {
    let mut device = device();
    let align = device.info().offset_alignment.0;
    let len = 8 * align;
    let data: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    for kind in [MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped] {
        alloc(&mut *device, 0, len, MemoryKind::Device);
        alloc(&mut *device, 1, len, kind);
        alloc(&mut *device, 2, len, kind);
        device.write(BufferId(0), &vec![0; len as usize]).unwrap();
        device.write(BufferId(1), &data).unwrap();
        let mut recording = Recording::default();
        let (to, from) = (slice(0, align, 3 * align), slice(1, 5, 3 * align));
        let upload = recording.push(Queue(0), vec![], Op::Upload { from, to });
        let back = Op::Download { from: to, to: slice(2, 9, 3 * align) };
        recording.push(Queue(1), vec![upload], back);
        let odd = Op::Download { from: slice(0, align + 3, 5), to: slice(2, 0, 5) };
        recording.push(Queue(1), vec![upload], odd);
        let times = device.run(&recording).unwrap();
        assert!(times.steps.len() == 3 || times.clock == Clock::Host);
        let part = &data[5..5 + 3 * align as usize];
        let found = device.read(BufferId(2)).unwrap();
        assert_eq!(&found[9..9 + part.len()], part, "{kind:?}");
        assert_eq!(&found[..5], &part[3..8], "{kind:?}");
        assert!(found[9 + part.len()..].iter().all(|&b| b == 0), "{kind:?}");
        let on_device = device.read(BufferId(0)).unwrap();
        assert!(on_device[..align as usize].iter().all(|&b| b == 0), "{kind:?}");
        assert_eq!(&on_device[align as usize..][..part.len()], part, "{kind:?}");
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn new_memory_reaches_a_kernel_that_was_bound_to_the_old() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    for round in 1..4_u8 {
        alloc(&mut *device, 0, 4096, MemoryKind::Device);
        alloc(&mut *device, 1, 4096, MemoryKind::Device);
        device.write(BufferId(0), &bytes(&[f32::from(round); 1024])).unwrap();
        let mut recording = Recording::default();
        recording.push(Queue(0), vec![], scale(slice(0, 0, 4096), slice(1, 0, 4096), 1024, 3.0));
        device.run(&recording).unwrap();
        assert_eq!(floats(&device.read(BufferId(1)).unwrap()), [3.0 * f32::from(round); 1024]);
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn allocations_beyond_the_limit_are_rejected() {
    let mut device = device();
    let too_much = Bytes(device.info().max_buffer.0 + 1);
    let rejected = device.alloc(BufferId(0), too_much, MemoryKind::Device);
    assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
    let rejected = device.alloc(BufferId(0), Bytes(1 << 50), MemoryKind::Pageable);
    assert!(matches!(rejected, Err(Error::OutOfMemory(_))), "{rejected:?}");
    let rejected = device.alloc(BufferId(0), Bytes(0), MemoryKind::Device);
    assert!(matches!(rejected, Err(Error::Unsupported(_))), "{rejected:?}");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn queues_wait_for_each_other() {
    let mut device = device();
    let n = 1 << 16;
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    for (id, kind) in [(0, MemoryKind::Pinned), (1, MemoryKind::Device), (2, MemoryKind::Device)] {
        alloc(&mut *device, id, 4 * n as u64, kind);
    }
    device.write(BufferId(0), &bytes(&ramp(n))).unwrap();
    device.write(BufferId(1), &vec![0; 4 * n]).unwrap();
    device.write(BufferId(2), &vec![0; 4 * n]).unwrap();
    let all = |id| slice(id, 0, 4 * n as u64);
    let mut recording = Recording::default();
    let mut last = recording.push(Queue(0), vec![], Op::Upload { from: all(0), to: all(1) });
    // The data goes to and fro between two buffers, every step on the other queue.
    for step in 0..8 {
        let (from, to) = if step % 2 == 0 { (1, 2) } else { (2, 1) };
        let op = scale(all(from), all(to), n as u32, 2.0);
        last = recording.push(Queue(1 - step % 2), vec![last], op);
    }
    recording.push(Queue(1), vec![last], Op::Download { from: all(1), to: all(0) });
    let times = device.run(&recording).unwrap();
    let expected: Vec<_> = (0..n).map(|i| 256.0 * i as f32).collect();
    assert_eq!(floats(&device.read(BufferId(0)).unwrap()), expected);
    for pair in times.steps.windows(2) {
        assert!(pair[0].ended <= pair[1].started, "{pair:?}");
    }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn times_are_ordered_and_within_the_hosts() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    alloc(&mut *device, 0, 1 << 20, MemoryKind::Device);
    alloc(&mut *device, 1, 1 << 20, MemoryKind::Device);
    device.write(BufferId(0), &vec![0; 1 << 20]).unwrap();
    let mut recording = Recording::default();
    for _ in 0..100 {
        let op = scale(slice(0, 0, 1 << 20), slice(1, 0, 1 << 20), 1 << 18, 2.0);
        recording.push(Queue(0), vec![], op);
    }
    let times = device.run(&recording).unwrap();
    assert!(times.wall > 0.0 && times.resolution > 0.0);
    assert_eq!((times.clock, &times.dropped), (Clock::Device, &None), "its clock is used");
    assert_eq!(times.steps.len(), 100);
    for (step, t) in times.steps.iter().enumerate() {
        assert!(0.0 <= t.queued && t.queued <= t.submitted, "step {step}: {t:?}");
        assert!(t.submitted <= t.started && t.started <= t.ended, "step {step}: {t:?}");
        assert!(t.ended <= times.wall * 1.05 + 1e-3, "step {step}: {t:?}, wall {}", times.wall);
    }
    assert!(times.steps.windows(2).all(|pair| pair[0].ended <= pair[1].started));
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn an_empty_recording_has_no_steps() {
    let mut device = device();
    assert!(device.run(&Recording::default()).unwrap().steps.is_empty());
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn recordings_that_make_no_sense_are_rejected() {
    let mut device = device();
    device.build(KernelId(0), &source(SCALE, "scale", 2, 8)).unwrap();
    alloc(&mut *device, 0, 4096, MemoryKind::Device);
    alloc(&mut *device, 1, 4096, MemoryKind::Pageable);
    let mut run = |queue, op| {
        let mut recording = Recording::default();
        recording.push(Queue(queue), vec![], op);
        device.run(&recording).unwrap_err()
    };
    let whole = slice(0, 0, 4096);
    let launch = |kernel, buffers| Op::Dispatch {
        kernel: KernelId(kernel),
        groups: [1; 3],
        buffers,
        params: vec![0; 8],
    };
    let usage = [
        // Binding count, a host buffer as an argument, no such kernel, no groups.
        launch(0, vec![whole]),
        launch(0, vec![whole, slice(1, 0, 4096)]),
        launch(7, vec![whole, whole]),
        scale(whole, whole, 0, 1.0),
        // Outside the buffer, unequal lengths, no such buffer, the wrong sort of buffer.
        Op::Copy { from: slice(0, 4000, 100), to: slice(0, 0, 100) },
        Op::Copy { from: slice(0, u64::MAX, 100), to: slice(0, 0, 100) },
        Op::Copy { from: slice(0, 0, 100), to: slice(0, 200, 99) },
        Op::Copy { from: slice(5, 0, 100), to: slice(0, 200, 100) },
        Op::Upload { from: whole, to: slice(1, 0, 4096) },
    ];
    for op in usage {
        let error = run(0, op.clone());
        assert!(matches!(error, Error::Usage(_)), "{op:?}: {error:?}");
    }
    let copy = Op::Copy { from: slice(0, 0, 100), to: slice(0, 200, 100) };
    assert!(matches!(run(u32::MAX, copy), Error::Unsupported(_)));
    let misaligned = scale(slice(0, 1, 64), slice(0, 2048, 64), 16, 1.0);
    assert!(matches!(run(0, misaligned), Error::Unsupported(_)));
}
