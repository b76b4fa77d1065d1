//! No verification of any kind takes an output for right that its kernel did not write. Kernels run
//! on a device that is the emulator behind the seam to the hardware.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gpubench::backend::Device;
use gpubench::emulate::{Emulator, Groups, Instrumentation, Launch};
use gpubench::error::Result;
use gpubench::gpu::{
    BufferId, BuildReport, Clock, DeviceInfo, KernelId, KernelSource, MemoryKind, Op, Recording,
    Slice, Timeline,
};
use gpubench::measure::{Policy, Session, load, measure, plan};
use gpubench::plan::{Case, Limits, Planned, emulated_device};
use gpubench::record::Outcome;
use gpubench::units::Bytes;
use std::collections::BTreeMap;

/// A device that computes what the emulator computes, and is right about nothing else.
struct Emulated {
    info: DeviceInfo,
    kernels: BTreeMap<KernelId, Emulator>,
    buffers: BTreeMap<BufferId, Vec<u8>>,
}

impl Emulated {
    fn range(slice: &Slice) -> std::ops::Range<usize> {
        slice.offset.as_usize()..slice.offset.as_usize() + slice.len.as_usize()
    }

    fn copy(&mut self, from: &Slice, to: &Slice) {
        let bytes = self.buffers[&from.buffer][Self::range(from)].to_vec();
        let held = self.buffers.get_mut(&to.buffer).unwrap();
        held[Self::range(to)].copy_from_slice(&bytes);
    }

    fn dispatch(&mut self, kernel: KernelId, groups: [u32; 3], bound: &[Slice], params: &[u8]) {
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks_exact(4).map(|c| u32::from_ne_bytes(c.try_into().unwrap())).collect()
        };
        let contents =
            bound.iter().map(|slice| words(&self.buffers[&slice.buffer][Self::range(slice)]));
        let buffers = contents.map(Into::into).collect();
        let mut launch = Launch { groups, buffers, params: words(params) };
        self.kernels[&kernel].run(&mut launch, Groups::All, Instrumentation::default()).unwrap();
        for (slice, buffer) in bound.iter().zip(launch.buffers) {
            let bytes: Vec<u8> = buffer.into_words().iter().flat_map(|w| w.to_ne_bytes()).collect();
            let held = self.buffers.get_mut(&slice.buffer).unwrap();
            held[Self::range(slice)].copy_from_slice(&bytes);
        }
    }
}

impl Device for Emulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.insert(id, Emulator::new(source)?);
        Ok(BuildReport::default())
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, _: MemoryKind) -> Result<()> {
        self.buffers.insert(id, vec![0; bytes.as_usize()]);
        Ok(())
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        self.buffers.get_mut(&id).unwrap()[..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        Ok(self.buffers[&id].clone())
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        for step in &recording.steps {
            match &step.op {
                Op::Dispatch { kernel, groups, buffers, params } => {
                    self.dispatch(*kernel, *groups, buffers, params);
                }
                Op::Upload { from, to } | Op::Download { from, to } | Op::Copy { from, to } => {
                    self.copy(from, to);
                }
                Op::Map { .. } | Op::Unmap { .. } => {}
            }
        }
        let (steps, clock) = (vec![], Clock::Simulated);
        Ok(Timeline { steps, clock, resolution: 1e-9, wall: 1e-6, dropped: None })
    }

    fn reset(&mut self) {
        self.buffers.clear();
        self.kernels.clear();
    }
}

/// What comes of a kernel of eight work-items with the output `out`, verified by `verify`.
fn outcome(ty: &str, access: &str, body: &str, verify: &str) -> Option<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let kernel = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<{ty}>;
@compute @workgroup_size(8) fn k(@builtin(global_invocation_id) id: vec3<u32>) {{ let i = id.x; {body} }}"
    );
    std::fs::write(folder.path().join("k.wgsl"), kernel).unwrap();
    std::fs::write(folder.path().join("ones"), [0xff; 32]).unwrap();
    let fill = if access == "read_write" { "fill: { uniform: [0, 9] }, " } else { "" };
    let suite = format!(
        "version: 1
workloads:
  w:
    kernel: {{ wgsl: k.wgsl, entry: k, group: [8] }}
    sizes: {{ n: [8] }}
    params: {{}}
    buffers: {{ out: {{ type: {ty}, count: n, {fill}access: {access} }} }}
    grid: [n]
    work: {{ flops: 0, bytes: 4*n }}
    verify: {verify}
"
    );
    let file = folder.path().join("suite.yaml");
    std::fs::write(&file, suite).unwrap();
    let suite = load(file.to_str().unwrap()).unwrap();
    let limits = Limits { memory: None, seconds: 60.0, seed: 1, cores: 1, host_memory: None };
    let info = DeviceInfo { host_memory: vec![MemoryKind::Pageable], ..emulated_device() };
    let planned = plan(&suite, &info, &limits);
    let [Planned::Case(case)] = &planned[..] else { panic!("{planned:?}") };
    let device = Emulated { info, kernels: BTreeMap::new(), buffers: BTreeMap::new() };
    outcome_of(&mut Session::new(Box::new(device)), case)
}

fn outcome_of(session: &mut Session, case: &Case) -> Option<Outcome> {
    let policy =
        Policy { verify_only: true, seconds: 60.0, longest_launch: 60.0, ..Policy::default() };
    measure(session, case, &policy, &mut |_| {}).outcome
}

fn is_wrong(outcome: Option<Outcome>, why: &str) {
    let text = format!("{outcome:?}");
    let is_accepted = matches!(outcome, Some(Outcome::Ok | Outcome::Unchecked) | None);
    assert!(!is_accepted && text.contains(why), "{text}");
}

#[test]
fn the_emulator_refuses_what_is_not_written() {
    let against = |access, body| outcome("u32", access, body, "{ against: emulator }");
    assert_eq!(against("write", "out[i] = i;"), Some(Outcome::Ok));
    is_wrong(against("write", "_ = &out;"), "no work-item writes element 0 of 8");
    is_wrong(against("write", "if (i != 3u) { out[i] = i; }"), "no work-item writes element 3");
    is_wrong(against("write", "out[i] = out[i] + 1u;"), "reads element 0 of 8 in `out`");
    is_wrong(against("read_write", "_ = &out;"), "nothing in it writes `out`");
    assert_eq!(against("read_write", "out[i] = out[i] + 1u;"), Some(Outcome::Ok));
}

#[test]
fn a_race_names_both_sides_in_full() {
    let body = "out[(i + 1u) % 8u] = 1u;\nout[i] = i;";
    let race = "work-item [0, 0, 0] of group [0, 0, 0] writes element 0 of 8 in `out`, which \
                work-item [7, 0, 0] of group [0, 0, 0] wrote at ";
    let wrong = outcome("u32", "write", body, "{ against: emulator }");
    is_wrong(wrong.clone(), race);
    is_wrong(wrong, "k.wgsl:2; no barrier lies between (8 times)");
}

#[test]
fn an_expected_poison_must_be_written_too() {
    let file = |ty, body| outcome(ty, "write", body, "{ file: ones }");
    assert_eq!(file("u32", "out[i] = 0xffffffffu;"), Some(Outcome::Ok));
    is_wrong(file("u32", "if (i < 4u) { out[i] = 0xffffffffu; }"), "wrong: 4");
    is_wrong(file("i32", "_ = &out;"), "wrong: 8");
    is_wrong(file("f32", "_ = &out;"), "wrong: 8");
}
