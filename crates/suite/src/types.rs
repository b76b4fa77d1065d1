//! A checked suite: every expression parsed, every name resolved, every diagnostic already reported.

use super::Expr;
use super::program::Program;
use super::requested::Requested;
use super::search::Search;
use super::subgroup::Subgroup;
use super::tolerances::Profile;
use gpubench_core::error::Located;
use gpubench_core::gpu::{
    Access, Constant, Element, Expanded, Filter, Language, Library, MemoryKind, Origin, Scalar,
    Settings, ValueType,
};
use gpubench_core::workload::{Ceiling, Comparison, Fill, Kind, Size, Split, Verify};
use std::sync::Arc;

/// A checked suite with its includes resolved.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// SHA-256 over all files it was made of (suites, includes, kernels), in hexadecimal.
    pub hash: String,
    /// What the whole run may take.
    pub budget: Budget,
    /// Whether APIs that are layers above others are measured beside those.
    pub layers: bool,
    /// The workloads in the order of the file, variants expanded: `matmul_tiled/8x8` is one.
    pub workloads: Vec<Workload>,
}

impl Suite {
    /// How many cases it has on a device that can do everything.
    pub fn cases(&self) -> usize {
        self.workloads.iter().map(Workload::cases).sum()
    }

    /// The workloads that bring programs: kernels that came with the suite instead of with gpubench,
    /// or a command.
    pub fn untrusted(&self) -> impl Iterator<Item = &Workload> {
        self.workloads.iter().filter(|workload| !workload.programs().is_empty())
    }
}

/// Limits that a suite sets for its own run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Seconds of each device over all rounds.
    pub total: Option<f64>,
    /// Seconds of sampling for one case in one round.
    pub case: Option<f64>,
    /// Bytes on the device for one case.
    pub memory: Option<gpubench_core::units::Bytes>,
    /// Bytes of the process that measures; before a case that would take more, a fresh one begins.
    pub process: Option<gpubench_core::units::Bytes>,
    /// Rounds, unless the command line says otherwise.
    pub rounds: Option<u32>,
    /// How precise a median sampling aims at, relative to it.
    pub target: Option<f64>,
}

/// One workload: a kernel (or a transfer) over several sizes.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Unique name, with the variant's behind a slash.
    pub name: String,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Which ranking family it counts in: `compute`, `memory`, `transfer`, `overlap`, `concurrency`.
    pub family: String,
    /// What it bounds, where it is a ceiling of the device.
    pub ceiling: Option<Ceiling>,
    /// The kernel; `None` for a pure transfer.
    pub kernel: Option<Kernel>,
    /// The problem sizes, one entry a case.
    pub sizes: Vec<Size>,
    /// Buffers in binding order.
    pub buffers: Vec<Buffer>,
    /// The parameter block: name, expression over the sizes, in order.
    pub params: Vec<(String, Expr, gpubench_core::gpu::Scalar)>,
    /// How many launches make one result, over the sizes, where they are several: [`PASS`] counts
    /// them in the parameters.
    pub passes: Option<Expr>,
    /// The program, where it is one of several kernels: `kernel` is then that of its first step.
    pub program: Option<Program>,
    /// Work-items along each dimension (the group count is rounded up).
    pub grid: [Expr; 3],
    /// Operations and bytes of one launch, or of all passes where there are several.
    pub work: Work,
    /// How the result is checked.
    pub verify: Verify,
    /// How far it may differ on devices of a profile, where that is farther.
    pub profiles: Vec<(Profile, Comparison)>,
    /// What is measured.
    pub measure: Vec<Requested>,
    /// Kinds of host memory, for transfers.
    pub host_memory: Vec<MemoryKind>,
    /// Name of the parameter along which the problem can be cut into chunks, where it can.
    pub divide: Option<String>,
    /// Where it stands in its file, for messages after parsing.
    pub place: Place,
}

impl Workload {
    /// The files of its kernel that came with the suite.
    pub fn own_files(&self) -> impl Iterator<Item = &str> {
        let steps = self.program.iter().flat_map(|program| &program.kernels);
        let kernels = self.kernel.iter().chain(steps.map(|step| &step.kernel));
        let texts = kernels.flat_map(|kernel| &kernel.texts);
        texts.filter_map(|text| match &text.origin {
            Origin::User(file) => Some(file.as_str()),
            Origin::Shipped(_) | Origin::Lent(_) => None,
        })
    }

    /// What of it runs that did not come with gpubench: the files of its kernel, and the command that
    /// verifies it.
    pub fn programs(&self) -> Vec<String> {
        let command = match &self.verify {
            Verify::Command(command, _) => Some(format!("`{}`", command.words.join(" "))),
            _ => None,
        };
        self.own_files().map(str::to_owned).chain(command).collect()
    }

    /// Whether it asks for this kind of experiment.
    pub fn measures(&self, kind: Kind) -> bool {
        self.measure.iter().any(|requested| requested.kind() == kind)
    }

    /// The options of the experiment whose options are an `S`, where it asks for that.
    pub fn options<S: 'static>(&self) -> Option<&S> {
        self.measure.iter().find_map(|requested| requested.options.downcast_ref())
    }

    /// How many cases it has on a device that can do everything.
    pub fn cases(&self) -> usize {
        let cases = |requested: &Requested| requested.host_memory(self).len();
        self.sizes.len() * self.measure.iter().map(cases).sum::<usize>()
    }
}

/// What parameters call the number of a pass, from 0.
pub const PASS: &str = "pass";
/// Most passes of one result.
pub const MAX_PASSES: u64 = 65_536;

/// A kernel in one or two languages, with what the compiler knows.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Entry point.
    pub entry: String,
    /// The texts: at most one a language.
    pub texts: Vec<KernelText>,
    /// Work-items per group along each dimension.
    pub group: [u32; 3],
    /// What takes the group's place on devices that do not take it, the preferred first.
    pub fallback: Vec<Fallback>,
    /// Constants, in order.
    pub constants: Vec<(String, Constant)>,
    /// What it takes in its own order; `None`: the buffers, then the parameter block.
    pub args: Option<Vec<Argument>>,
    /// What sets this variant apart, where a search chose it.
    pub variant: String,
    /// Axes to search for the fastest variant.
    pub search: Option<Search>,
    /// Optional device features it needs (`subgroups`, `f16`).
    pub needs: Vec<String>,
    /// How many work-items its subgroups must have.
    pub subgroup: Option<Subgroup>,
    /// What its compilers are told besides.
    pub settings: Settings,
    /// Where each of its `args` stands.
    pub places: Vec<Place>,
}

impl Kernel {
    /// The text in `language`, if it has one.
    pub fn text(&self, language: Language) -> Option<&KernelText> {
        self.texts.iter().find(|text| text.language == language)
    }
}

/// A group for devices that do not take the kernel's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// Work-items per group along each dimension.
    pub group: [u32; 3],
    /// Constants that differ from the kernel's.
    pub constants: Vec<(String, Constant)>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The workload's buffer at this position.
    Buffer(usize),
    /// The parameter block.
    Params,
    /// A scalar or a vector: its components over sizes, parameters and constants.
    Value(ValueType, Vec<Expr>),
    /// Local memory: its bytes over the same names.
    Local(Expr),
}

/// How a kernel's text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// In its language.
    Plain,
    /// In GLSL, which becomes WGSL.
    Glsl,
    /// In SPIR-V, as hexadecimal digits: Vulkan's becomes WGSL, OpenCL's is handed over as it is.
    Spirv,
    /// In SPIR-V for Vulkan, as hexadecimal digits: handed over as it is.
    Module,
    /// Not at all: a library has it.
    Library(Library),
}

/// A kernel's text in one language.
#[derive(Clone, Debug)]
pub struct KernelText {
    /// The language that the API takes which it is for.
    pub language: Language,
    /// How it is written.
    pub written: Written,
    /// The optional features of a device that it says it needs.
    pub needs: Vec<&'static str>,
    /// Where it came from.
    pub origin: Origin,
    /// The text.
    pub text: Arc<str>,
    /// The text with its headers, where it includes any.
    pub expanded: Option<Expanded>,
}

impl KernelText {
    /// Whether a driver gets it as SPIR-V.
    pub fn is_module(&self) -> bool {
        match self.written {
            Written::Module => true,
            Written::Spirv => self.language == Language::Opencl,
            Written::Plain | Written::Glsl | Written::Library(_) => false,
        }
    }
}

/// One buffer of a workload.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name, which references use.
    pub name: String,
    /// Element type.
    pub element: Element,
    /// Number of elements, over the sizes.
    pub count: Expr,
    /// Contents before the first launch; `None` for an output, which is poisoned.
    pub fill: Option<Fill>,
    /// How the kernel uses it.
    pub access: Access,
    /// Which part a chunk of a divided problem sees.
    pub split: Split,
    /// The image as which the kernel reads it.
    pub image: Option<ImageSpec>,
    /// Where it stands in its file.
    pub place: Place,
}

/// An image, over the sizes.
#[derive(Clone, Debug)]
pub struct ImageSpec {
    /// Elements of a row.
    pub width: Expr,
    /// What its sampler gives, where the kernel takes one.
    pub filter: Option<Filter>,
}

/// Operations and bytes of one launch, over the sizes.
#[derive(Clone, Debug)]
pub struct Work {
    /// Floating-point (or integer) operations.
    pub flops: Expr,
    /// Bytes that must move between memory and the kernel, each counted once.
    pub bytes: Expr,
    /// How many of the operations are of which type; the others are of `f32`.
    pub types: Vec<(Scalar, Expr)>,
    /// Bytes that a launch accesses again and again, where these are not its buffers.
    pub working_set: Option<Expr>,
}

/// A place in a suite's file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Byte offset.
    pub offset: usize,
    /// Length in bytes.
    pub len: usize,
}

impl std::fmt::Display for Place {
    /// `FILE:LINE:COLUMN`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, column) = self.diagnostic("", None).line_column();
        write!(f, "{}:{line}:{column}", self.file)
    }
}

impl Place {
    /// A diagnostic found here.
    pub fn diagnostic(&self, message: impl Into<String>, help: Option<&str>) -> Located {
        let bytes = self.offset..self.offset + self.len;
        Located::at(&self.file, self.text.clone(), bytes, message, help)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, Word, load_with, workload_with};
    use gpubench_core::gpu::Language;
    use std::sync::Arc;

    struct Seen;

    #[test]
    fn a_workload_brings_its_files_and_its_command() {
        let workload = workload_with("{ reference: copy }", "{ command: [python3, a.py] }");
        let files: Vec<_> =
            workload.own_files().map(|file| file.rsplit('/').next().unwrap().to_owned()).collect();
        assert_eq!(files, ["k.cl", "k.wgsl"]);
        let programs = workload.programs();
        assert_eq!((programs.len(), &programs[2][..]), (3, "`python3 a.py`"));
        assert_eq!(workload_with("one", "other").programs().len(), 2);
        let shipped = "version: 1\nworkloads:\n  w: { measure: [copies], verify: none }\n";
        let suite = load_with(SUITE, shipped, &[]).unwrap();
        assert_eq!((suite.untrusted().count(), suite.workloads[0].programs().len()), (0, 0));
    }

    #[test]
    fn the_files_of_every_step_are_those_of_the_workload() {
        let suite = SUITE
            .replace("opencl: k.cl, wgsl: k.wgsl, ", "")
            .replace("{ reference: copy }", "none");
        let steps = "steps: [{ kernel: { opencl: k.cl }, grid: [n] }, { kernel: { opencl: l.cl }, grid: [n] }]";
        let suite = load_with(SUITE, &suite.replace("grid: [n]", steps), &[("l.cl", "")]).unwrap();
        let files: Vec<_> =
            suite.workloads[0].own_files().map(|file| file.rsplit('/').next().unwrap()).collect();
        assert_eq!(files, ["k.cl", "k.cl", "l.cl"]);
    }

    #[test]
    fn options_are_found_by_their_type() {
        let mut workload = workload_with("grid: [n]", "grid: [n]\n    measure: [kernel, copies]");
        assert!(workload.options::<Word>().is_some() && workload.options::<Seen>().is_none());
        workload.measure[1].options = Arc::new(Seen);
        assert!(workload.options::<Seen>().is_some());
    }

    #[test]
    fn a_kernel_has_one_text_a_language() {
        let kernel = workload_with("one", "other").kernel.unwrap();
        assert!(kernel.text(Language::Opencl).unwrap().origin.file().ends_with("k.cl"));
        assert!(kernel.text(Language::Wgsl).unwrap().origin.file().ends_with("k.wgsl"));
        let opencl = workload_with("wgsl: k.wgsl, ", "").kernel.unwrap();
        assert!(opencl.text(Language::Wgsl).is_none());
    }
}
