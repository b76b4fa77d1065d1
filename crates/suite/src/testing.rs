//! Kinds of experiments for tests, whose only option is a word, and a suite of which each test changes a part.

use crate::sizes::shown;
use crate::source::Source;
use crate::{
    Decode, Diagnostics, ExperimentKind, Family, HostMemory, Needs, Node, Options, OptionsContext,
    Partner, Passes, Place, Suite, Workload, WrongOption, load,
};
use gpubench_core::error::{Error, Located};
use gpubench_core::workload::{Kind, Size};
use schemars::{Schema, SchemaGenerator};
use std::sync::Arc;

/// The kind, and what it needs.
pub struct Stub {
    pub kind: Kind,
    pub needs: Needs,
    pub host_memory: HostMemory,
}

impl Stub {
    /// A kind of this name, which makes nothing of host memory.
    pub const fn new(name: &'static str, needs: Needs) -> Self {
        Self { kind: Kind::new(name), needs, host_memory: HostMemory::Unused }
    }
}

impl ExperimentKind for Stub {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn about(&self) -> &'static str {
        "Nothing."
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn family(&self) -> Option<Family> {
        (self.host_memory == HostMemory::All).then_some(Family::Transfer)
    }

    fn host_memory(&self) -> HostMemory {
        self.host_memory
    }

    fn options(&self, node: Option<&Node>, context: &mut OptionsContext) -> Option<Options> {
        let word =
            node.map(|node| (node.what().replace('`', ""), context.diagnostics.place(&node.at)));
        Some(Arc::new(Word(word)))
    }

    fn options_schema(&self, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    /// The workload of that name; with the same sizes where all host memory is taken.
    fn partners(&self, options: &Options) -> Vec<Partner> {
        let named = word(options).into_iter().filter(|(name, _)| !name.starts_with("not "));
        let partner = |named| Partner {
            same_sizes: self.host_memory == HostMemory::All,
            ..Partner::new(named, "run")
        };
        named.map(partner).collect()
    }

    /// `not n=128` is wrong at that size.
    fn wrong_at_size(
        &self,
        options: &Options,
        _: &Workload,
        size: &Size,
        _: &[(String, f64)],
    ) -> Vec<WrongOption> {
        let here = format!("not {}", shown(size));
        let wrong = word(options).into_iter().filter(|(name, _)| *name == here);
        let wrong = wrong.map(|(_, place)| WrongOption {
            what: "option",
            at: place.offset..place.offset + place.len,
            why: "no".to_owned(),
        });
        wrong.collect()
    }
}

/// The option of an experiment, and where it stands.
pub struct Word(Option<(String, Place)>);

fn word(options: &Options) -> Option<&(String, Place)> {
    options.downcast_ref::<Word>()?.0.as_ref()
}

static PLAIN: Stub = Stub::new("kernel", Needs { passes: Passes::Taken, ..Needs::KERNEL });
static COPIES: Stub =
    Stub { host_memory: HostMemory::Listed, ..Stub::new("copies", Needs::NOTHING) };
static EVERY_COPY: Stub = Stub {
    host_memory: HostMemory::All,
    ..Stub::new("every_copy", Needs { buffers: true, ..Needs::NOTHING })
};
static CHUNKS: Stub = Stub::new("chunks", Needs::CHUNKS);
static GROUPS: Stub = Stub::new("groups", Needs { groups_by_size: true, ..Needs::KERNEL });
static BETWEEN: Stub = Stub::new("between", Needs { passes: Passes::Needed, ..Needs::KERNEL });

/// All kinds that suites of tests can measure.
pub static KINDS: [&dyn ExperimentKind; 6] =
    [&PLAIN, &COPIES, &EVERY_COPY, &CHUNKS, &GROUPS, &BETWEEN];
/// A kernel in OpenCL C.
pub const CL: &str = "kernel void copy(global const float* a, global float* out, uint n) {
    uint i = get_global_id(0);
    if (i < n) out[i] = a[i];
}
";
/// The same in WGSL.
pub const WGSL: &str = "struct P { n: u32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> p: P;
@compute @workgroup_size(64) fn copy(@builtin(global_invocation_id) g: vec3u) {
    if (g.x < p.n) { out[g.x] = a[g.x]; }
}
";
/// The same in GLSL.
pub const GLSL: &str = "#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer Out { float o[]; };
layout(set = 0, binding = 2) uniform P { uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) o[i] = a[i];
}
";
/// A suite of that kernel.
pub const SUITE: &str = "version: 1
name: one
workloads:
  copy:
    kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }
    sizes: { n: [64, 128, 256] }
    buffers:
      a: { type: f32, count: n, fill: random_bits }
      out: { type: f32, count: n }
    params: { n: n }
    grid: [n]
    work: { flops: 0, bytes: 8*n }
    verify: { reference: copy }
";

/// The suite with one text in it replaced, in a folder with its kernels and with `files`.
pub fn load_with(from: &str, to: &str, files: &[(&str, &str)]) -> Result<Suite, Vec<Located>> {
    assert!(SUITE.contains(from), "{from}");
    let folder = tempfile::tempdir().unwrap();
    let suite = SUITE.replace(from, to);
    let usual = [("k.cl", CL), ("k.wgsl", WGSL), ("s.yaml", &suite)];
    for (name, text) in usual.iter().chain(files) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("s.yaml").to_string_lossy().into_owned();
    match load(&path, &["copy"], &KINDS) {
        Ok(suite) => Ok(suite),
        Err(Error::Suite(diagnostics)) => Err(diagnostics),
        Err(other) => panic!("{other}"),
    }
}

/// The message of the only mistake, and the text that it is about.
pub fn mistake(from: &str, to: &str, files: &[(&str, &str)]) -> (String, String) {
    let found = load_with(from, to, files).map(|_| ()).unwrap_err();
    let [one] = &found[..] else { panic!("{found:?}") };
    (one.message.clone(), one.text[one.offset..one.offset + one.len].to_owned())
}

/// The first message of what is wrong.
pub fn message(from: &str, to: &str, files: &[(&str, &str)]) -> String {
    load_with(from, to, files).map(|_| ()).unwrap_err()[0].message.clone()
}

/// The only workload of the suite with one text in it replaced.
pub fn workload_with(from: &str, to: &str) -> Workload {
    let suite = load_with(from, to, &[]).unwrap_or_else(|found| panic!("{found:?}"));
    let [workload] = &suite.workloads[..] else { panic!("{:?}", suite.workloads) };
    workload.clone()
}

/// Mistakes: each with its message and the text that it is about.
pub type Mistakes = Vec<(String, String)>;

/// No mistakes yet, of a file with this text.
pub fn no_mistakes(text: &str) -> Diagnostics {
    Diagnostics::new(Source { path: "s.yaml".into(), file: "s.yaml".into(), text: text.into() })
}

/// What the mistakes are.
pub fn mistakes(diagnostics: Diagnostics) -> Mistakes {
    let about = |one: &Located| one.text[one.offset..one.offset + one.len].to_owned();
    diagnostics.into_found().iter().map(|one| (one.message.clone(), about(one))).collect()
}

/// What a text of YAML is read as.
pub fn decoded<T: Decode>(text: &str) -> Result<T, Mistakes> {
    let mut diagnostics = no_mistakes(text);
    let node = Node::parse("s.yaml", text).unwrap();
    let value = T::decode(&node, &mut diagnostics);
    match mistakes(diagnostics) {
        found if found.is_empty() => Ok(value.unwrap()),
        found => Err(found),
    }
}

/// What is wrong with a text of YAML that is one mistake.
pub fn wrong<T: Decode>(text: &str) -> (String, String) {
    let Err(mut found) = decoded::<T>(text) else { panic!("`{text}` is read") };
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}
