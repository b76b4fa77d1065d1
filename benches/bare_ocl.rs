//! What the harness costs: one kernel timed by a bare ocl-core loop and through gpubench's
//! OpenCL device, in turns, on the same device with the same build options.
//!
//! ```text
//! cargo bench --features bare-ocl --bench bare_ocl [-- DEVICE]      DEVICE counts as `gpubench devices` does
//! ```
//!
//! Medians for each size: the time on the device (start to end of the launch's event), which must
//! agree within 2 %, and the host's time from the call until the launch has ended. Then the whole of
//! `gpubench run` against the bare loop alone, in turns too, each time in fresh processes.

mod whole;

use gpubench::backend::{Device, by_name};
use gpubench::gpu::{
    Access, Binding, BufferId, Constant, Element, KernelId, KernelSource, Language, MemoryKind, Op,
    Origin, Queue, Recording, Scalar, Slice,
};
use gpubench::plan::GUARD;
use gpubench::units::{Bytes, seconds};
use std::error::Error;
use std::ffi::CString;
use std::process::Command;
use std::time::{Duration, Instant};

const TRIAD: &str = include_str!("../shaders/micro/triad.cl");
const GROUP: u32 = 256;
const WIDTH: u32 = 4;
const SAMPLES: usize = 101;
/// Before the first sample.
const WARM_UP: Duration = Duration::from_millis(100);
/// Each with buffers of its own: where an allocation lands in memory shifts a kernel's time by
/// several percent, for bare and gpubench alike.
const INSTANCES: usize = 12;
/// Scalars an array: one size in the range where the cost of a launch shows, one far above.
const SIZES: [u32; 2] = [1 << 20, 1 << 24];

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let index = numbers.first().map_or(0, |&index| index as usize);
    if let &[_, n] = numbers.as_slice() {
        return alone(index, n);
    }
    for n in SIZES {
        let mut times = [const { vec![] }; 2];
        let mut name = String::new();
        for instance in 0..INSTANCES {
            name = in_turns(index, n, instance % 2 == 0, &mut times)?;
        }
        println!("triad n={n} on {name}, {INSTANCES} x {SAMPLES} launches each");
        for (what, at) in [("on the device", 0), ("on the host", 1)] {
            let [bare, ours] = times.each_mut().map(|times| median(times, at));
            let (bare_text, ours_text) = (seconds(bare), seconds(ours));
            let ratio = ours / bare;
            println!(
                "  {what:<14} bare {bare_text:>9}   gpubench {ours_text:>9}   ratio {ratio:.4}"
            );
        }
        let (mut bare, mut run) = (vec![], vec![]);
        for _ in 0..INSTANCES {
            bare.extend(alone_elsewhere(index, n)?);
            run.extend(whole::samples(index, n, (GROUP, WIDTH))?);
        }
        let [bare, ours] = [bare, run].map(middle);
        let (bare_text, ours_text, ratio) = (seconds(bare), seconds(ours), ours / bare);
        println!(
            "  gpubench run   bare {bare_text:>9}   gpubench {ours_text:>9}   ratio {ratio:.4}"
        );
    }
    Ok(())
}

/// Sets up both and launches them in turns, so that a drift of the clocks meets both, after a
/// warm-up. `ours_first` says which of them gets its memory first.
/// Returns the device's name.
fn in_turns(
    index: usize,
    n: u32,
    ours_first: bool,
    times: &mut [Vec<Times>; 2],
) -> Result<String, Box<dyn Error>> {
    let mut ours = Ours::new(index)?;
    if ours_first {
        ours.allocate(n)?;
    }
    let name = ours.device.info().name.clone();
    let bare = Bare::new(index, n, &ours.options, &name)?;
    if !ours_first {
        ours.allocate(n)?;
    }
    let mut pair = || -> Result<_, Box<dyn Error>> { Ok([bare.launch()?, ours.launch()?]) };
    let begun = Instant::now();
    while begun.elapsed() < WARM_UP {
        pair()?;
    }
    for _ in 0..SAMPLES {
        times.iter_mut().zip(pair()?).for_each(|(times, time)| times.push(time));
    }
    Ok(name)
}

/// Prints the device's seconds of bare launches and nothing else.
fn alone(index: usize, n: u32) -> Result<(), Box<dyn Error>> {
    let ours = Ours::new(index)?;
    let name = ours.device.info().name.clone();
    let options = ours.options.clone();
    drop(ours);
    let bare = Bare::new(index, n, &options, &name)?;
    let begun = Instant::now();
    while begun.elapsed() < WARM_UP {
        bare.launch()?;
    }
    for _ in 0..SAMPLES {
        println!("{}", bare.launch()?[0]);
    }
    Ok(())
}

/// What [`alone`] prints in a process of its own.
fn alone_elsewhere(index: usize, n: u32) -> Result<Vec<f64>, Box<dyn Error>> {
    let (index, n) = (index.to_string(), n.to_string());
    let output = Command::new(std::env::current_exe()?).args([index, n]).output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("bare launches failed, {}: {}", output.status, complaint.trim()).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    Ok(lines.lines().map(str::parse).collect::<Result<_, _>>()?)
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Seconds on the device and on the host.
type Times = [f64; 2];

fn median(times: &mut [Times], at: usize) -> f64 {
    times.sort_by(|a, b| a[at].total_cmp(&b[at]));
    times[times.len() / 2][at]
}

fn input(n: u32) -> Vec<f32> {
    (0..n).map(|i| 0.5 + (i % 509) as f32 / 1018.0).collect()
}

/// The parameter block of the triad: `n` and `s`.
fn params(n: u32) -> [u32; 2] {
    [n, 0.5f32.to_bits()]
}

/// The triad through gpubench's OpenCL device.
struct Ours {
    device: Box<dyn Device>,
    recording: Recording,
    options: String,
}

impl Ours {
    fn new(index: usize) -> Result<Self, Box<dyn Error>> {
        let backend = by_name("opencl").ok_or("this build has no OpenCL")?;
        let mut device = backend.open(index)?;
        let options = device.build(KernelId(0), &source())?.options;
        Ok(Self { device, recording: Recording::default(), options })
    }

    /// Allocates and fills the three arrays, between guards as in a run, and records the launch.
    fn allocate(&mut self, n: u32) -> Result<(), Box<dyn Error>> {
        let len = Bytes(4 * u64::from(n));
        let guard = vec![0u8; GUARD.0 as usize];
        let guarded = [&guard, bytemuck::cast_slice(&input(n)), &guard].concat();
        let mut buffers = vec![];
        for buffer in (0..3).map(BufferId) {
            self.device.alloc(buffer, Bytes(len.0 + 2 * GUARD.0), MemoryKind::Device)?;
            self.device.write(buffer, &guarded)?;
            buffers.push(Slice { buffer, offset: GUARD, len });
        }
        let params = bytemuck::cast_slice(&params(n)).to_vec();
        let groups = [n / WIDTH / GROUP, 1, 1];
        self.recording.push(
            Queue(0),
            vec![],
            Op::Dispatch { kernel: KernelId(0), groups, buffers, params },
        );
        Ok(())
    }

    fn launch(&mut self) -> Result<Times, Box<dyn Error>> {
        let begun = Instant::now();
        let timeline = self.device.run(&self.recording)?;
        let host = begun.elapsed().as_secs_f64();
        let step = timeline.steps.first().ok_or("the device has no timestamps")?;
        Ok([step.duration(), host])
    }
}

fn source() -> KernelSource {
    let binding = |name: &str, access| Binding {
        name: name.to_owned(),
        element: Element::scalar(Scalar::F32),
        access,
    };
    let width = Element { scalar: Scalar::F32, width: WIDTH };
    KernelSource {
        language: Language::Opencl,
        text: TRIAD.to_owned(),
        entry: "triad".to_owned(),
        origin: Origin::Shipped("micro/triad.cl".to_owned()),
        group: [GROUP, 1, 1],
        constants: vec![
            ("V".to_owned(), Constant::Type(width)),
            ("ITEMS".to_owned(), Constant::Int(1)),
        ],
        bindings: vec![
            binding("b", Access::Read),
            binding("c", Access::Read),
            binding("out", Access::Write),
        ],
        params_bytes: 8,
        meaning: None,
        settings: Default::default(),
    }
}

/// The triad through ocl-core and nothing else.
struct Bare {
    queue: ocl_core::CommandQueue,
    kernel: ocl_core::Kernel,
    items: usize,
    /// Kept alive for the kernel.
    _buffers: Vec<ocl_core::Mem>,
}

impl Bare {
    fn new(index: usize, n: u32, options: &str, name: &str) -> Result<Self, Box<dyn Error>> {
        let device = device(index, name)?;
        let context = ocl_core::create_context(None, &[device], None, None)?;
        let profiling = Some(ocl_core::QUEUE_PROFILING_ENABLE);
        let queue = ocl_core::create_command_queue(&context, device, profiling)?;
        let program = ocl_core::create_program_with_source(&context, &[CString::new(TRIAD)?])?;
        ocl_core::build_program(&program, Some(&[device]), &CString::new(options)?, None, None)?;
        let kernel = ocl_core::create_kernel(&program, "triad")?;
        let mut buffers = vec![];
        for argument in 0..3 {
            let buffer = filled(&context, &queue, &input(n))?;
            ocl_core::set_kernel_arg(&kernel, argument, ocl_core::ArgVal::mem(&buffer))?;
            buffers.push(buffer);
        }
        // Two fields of four bytes, as one of eight.
        let params: u64 = bytemuck::cast(params(n));
        ocl_core::set_kernel_arg(&kernel, 3, ocl_core::ArgVal::scalar(&params))?;
        Ok(Self { queue, kernel, items: (n / WIDTH) as usize, _buffers: buffers })
    }

    #[expect(unsafe_code, reason = "OpenCL call")]
    fn launch(&self) -> Result<Times, Box<dyn Error>> {
        use ocl_core::ProfilingInfo::{End, Start};
        let mut event = ocl_core::Event::null();
        let (global, local) = ([self.items, 1, 1], Some([GROUP as usize, 1, 1]));
        let (waits, begun) = (None::<&ocl_core::Event>, Instant::now());
        // SAFETY: all arguments are set, and the buffers live as long as `self`.
        unsafe {
            let (queue, kernel) = (&self.queue, &self.kernel);
            ocl_core::enqueue_kernel(
                queue,
                kernel,
                1,
                None,
                &global,
                local,
                waits,
                Some(&mut event),
            )?;
        }
        ocl_core::finish(&self.queue)?;
        let host = begun.elapsed().as_secs_f64();
        let stamp = |which| ocl_core::get_event_profiling_info(&event, which)?.time();
        Ok([(stamp(End)? - stamp(Start)?) as f64 * 1e-9, host])
    }
}

/// The device at this position among all of all platforms.
fn device(index: usize, name: &str) -> Result<ocl_core::DeviceId, Box<dyn Error>> {
    let mut all = vec![];
    for platform in ocl_core::get_platform_ids()? {
        // A platform without devices says so with an error.
        all.extend(ocl_core::get_device_ids(platform, None, None).unwrap_or_default());
    }
    let device = *all.get(index).ok_or("ocl-core sees fewer devices than gpubench")?;
    let found = ocl_core::get_device_info(device, ocl_core::DeviceInfo::Name)?.to_string();
    match found == name {
        true => Ok(device),
        false => {
            Err(format!("device {index} is `{found}` for ocl-core, `{name}` for gpubench").into())
        }
    }
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn filled(
    context: &ocl_core::Context,
    queue: &ocl_core::CommandQueue,
    data: &[f32],
) -> Result<ocl_core::Mem, Box<dyn Error>> {
    // SAFETY: no host memory is handed over; the write blocks and stays within the buffer.
    unsafe {
        let flags = ocl_core::MEM_READ_WRITE;
        let buffer = ocl_core::create_buffer(context, flags, data.len(), None::<&[f32]>)?;
        let (waits, event) = (None::<&ocl_core::Event>, None::<&mut ocl_core::Event>);
        ocl_core::enqueue_write_buffer(queue, &buffer, true, 0, data, waits, event)?;
        Ok(buffer)
    }
}
