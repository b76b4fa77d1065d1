//! One thing to measure on one device, with everything resolved to numbers.

use super::Division;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, BufferId, Element, Image, KernelId, KernelSource, Scalar};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{CaseKey, Ceiling, Fill, Size, Skip, Split, Verify};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A case: a pure value that travels to the worker as one line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What it is called.
    pub key: CaseKey,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Which ranking family it counts in.
    pub family: String,
    /// What it bounds, where the suite calls it a ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Bytes that a launch accesses again and again, where the suite says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched: Option<u64>,
    /// The variants to autotune over; one, unless the workload is a search. Empty for
    /// pure transfers.
    pub candidates: Vec<Candidate>,
    /// Variants of the search that this device does not take: what sets each apart, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<(String, String)>,
    /// The suite's work-group, where this device takes only one of its fallbacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_group: Option<[u32; 3]>,
    /// Buffers in binding order.
    pub buffers: Vec<BufferPlan>,
    /// Numbers the reference sees beside the parameters.
    pub size: Size,
    /// How the problem can be cut into chunks, where it can.
    pub division: Option<Division>,
    /// How the result is checked.
    pub verify: Verify,
    /// For which profile its result may differ farther than elsewhere, and how far, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Seed of the inputs.
    pub seed: u64,
    /// Which of the cases that share the device it is: their kernels and buffers are numbered
    /// apart by it.
    #[serde(default)]
    pub place: u32,
    /// What its kind of experiment runs besides it: numbers of that kind's own.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub plan: Value,
}

/// Buffers (of the host too) of cases that share the device lie this many numbers apart.
const BUFFERS_EACH: u32 = 4096;

impl Case {
    /// The number of its kernel.
    pub fn kernel(&self) -> KernelId {
        KernelId(self.place)
    }

    /// The first variant of its kernel.
    ///
    /// # Errors
    /// `Unsupported` where it has no kernel.
    pub fn first_variant(&self) -> Result<&Candidate> {
        let no_kernel = || Error::Unsupported("the case has no kernel".into());
        self.candidates.first().ok_or_else(no_kernel)
    }

    /// The number of its buffer `i`.
    pub fn buffer(&self, i: usize) -> BufferId {
        BufferId(self.place * BUFFERS_EACH + i as u32)
    }

    /// Bytes of all its buffers.
    pub fn working_set(&self) -> Bytes {
        Bytes(self.buffers.iter().map(|buffer| buffer.bytes().0).sum())
    }

    /// The plan of its kind of experiment.
    ///
    /// # Errors
    /// `Unsupported` where it was planned for another kind.
    pub fn planned<P: DeserializeOwned>(&self) -> Result<P> {
        let unplanned = |why| Error::Unsupported(format!("it was not planned for this: {why}"));
        P::deserialize(&self.plan).map_err(unplanned)
    }

    /// The same case in another place.
    pub fn at_place(&self, place: u32) -> Self {
        Self { place, ..self.clone() }
    }

    /// How it is cut.
    ///
    /// # Errors
    /// `Unsupported` where the suite does not say.
    pub fn divided(&self) -> Result<&Division> {
        let why = "the workload is not divisible (no `divide` in the suite)";
        self.division.as_ref().ok_or_else(|| Error::Unsupported(why.into()))
    }
}

/// One variant of a case's kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What sets it apart from the others (`16x16 WIDTH=4`); empty where there is only one.
    pub label: String,
    /// Whether it is the one that the suite names before its search.
    #[serde(default)]
    pub is_own: bool,
    /// The kernel.
    pub kernel: KernelSource,
    /// The other kernels of a program, whose passes say which they launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<KernelSource>,
    /// The kernel in WGSL, where `kernel` is in another language and the emulator will run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_language: Option<KernelSource>,
    /// Work-groups along each dimension.
    pub groups: [u32; 3],
    /// Names and values of the parameter block, in order.
    pub params: Vec<(String, f64, Scalar)>,
    /// Bytes of the kernel's other arguments, which lie behind the parameter block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<u8>,
    /// The buffer that each name stands for in this launch, by position; empty: its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// The same once all passes are done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub final_order: Vec<u32>,
    /// The passes after this launch that make one result together with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Pass>,
    /// Operations of one launch, or of all passes.
    pub flops: f64,
    /// Bytes that one launch must move, or all passes.
    pub bytes: f64,
    /// How many of the operations are of which type; the others are of `f32`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<(Scalar, f64)>,
}

impl Candidate {
    /// The parameters of a launch as they lie in memory: the block, four bytes a field, and the
    /// values behind it.
    pub fn param_bytes(&self) -> Vec<u8> {
        param_bytes(&self.params, &self.values)
    }

    /// Bytes of the parameter block.
    pub fn block(&self) -> u32 {
        4 * self.params.len() as u32
    }

    /// Everything that is launched for one result, in order.
    pub fn passes(&self) -> Vec<Pass> {
        let (params, values) = (self.params.clone(), self.values.clone());
        let order = self.order.clone();
        let first = Pass { kernel: 0, order, groups: self.groups, params, values };
        std::iter::once(first).chain(self.later.iter().cloned()).collect()
    }

    /// Its kernels, the first one first.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelSource> {
        std::iter::once(&self.kernel).chain(&self.others)
    }

    /// Whether several kernels make its result.
    pub fn is_program(&self) -> bool {
        !self.others.is_empty()
    }

    /// Operations of one launch, or its bytes where it computes nothing: what variants are compared by.
    pub fn work(&self) -> f64 {
        if self.flops > 0.0 { self.flops } else { self.bytes.max(1.0) }
    }

    /// SHA-256 over all that decides what its kernels compute and how.
    pub fn hash(&self) -> String {
        let hashes: Vec<String> = self.kernels().map(KernelSource::hash).collect();
        match hashes.as_slice() {
            [only] => only.clone(),
            all => gpubench_core::hash::sha256_hex(all.concat()),
        }
    }

    /// The buffer, by position, in which the result called by the name at `position` ends.
    pub fn ends_in(&self, position: usize) -> usize {
        self.final_order.get(position).map_or(position, |end| *end as usize)
    }

    /// How many passes there are.
    pub fn pass_count(&self) -> usize {
        1 + self.later.len()
    }

    /// Work-groups of all passes.
    pub fn all_groups(&self) -> f64 {
        let each = self.later.iter().map(|pass| pass.groups).chain([self.groups]);
        each.map(|groups| groups.into_iter().map(f64::from).product::<f64>()).sum()
    }
}

/// One of several launches that make one result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Which kernel of a program.
    #[serde(default)]
    pub kernel: u32,
    /// The buffer that each name stands for, by position; empty: its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// Work-groups along each dimension.
    pub groups: [u32; 3],
    /// Names and values of the parameter block, in order.
    pub params: Vec<(String, f64, Scalar)>,
    /// Bytes of the kernel's other arguments, which lie behind the parameter block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<u8>,
}

impl Pass {
    /// As [`Candidate::param_bytes`].
    pub fn param_bytes(&self) -> Vec<u8> {
        param_bytes(&self.params, &self.values)
    }
}

fn param_bytes(params: &[(String, f64, Scalar)], values: &[u8]) -> Vec<u8> {
    let block = params.iter().flat_map(|&(_, value, scalar)| scalar.bytes(value));
    block.chain(values.iter().copied()).collect()
}

/// A buffer with its size resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferPlan {
    /// Its name.
    pub name: String,
    /// Element type.
    pub element: Element,
    /// Number of elements.
    pub count: u64,
    /// Contents before the first launch; `None` for an output.
    pub fill: Option<Fill>,
    /// How the kernel uses it.
    pub access: Access,
    /// Which part a chunk of a divided problem sees.
    pub split: Split,
    /// The image as which the kernel reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

impl BufferPlan {
    /// Its size.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.count.saturating_mul(self.element.size().0))
    }
}

/// What a plan makes of a workload at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum Planned {
    /// It can be run.
    Case(Box<Case>),
    /// It cannot, or shall not, on this device.
    Skipped(Skip),
}

impl Planned {
    /// The case, where it can be run.
    pub fn case(self) -> Option<Case> {
        match self {
            Self::Case(case) => Some(*case),
            Self::Skipped(_) => None,
        }
    }
}

/// Invented cases for tests.
#[cfg(any(test, feature = "testing"))]
pub mod sample {
    use super::*;
    use gpubench_core::gpu::Language;
    use gpubench_core::workload::Kind;

    /// A case of several variants.
    pub fn search(labels: &[&str]) -> Case {
        let kernel = |label: &&str| Candidate {
            is_own: false,
            label: (*label).to_owned(),
            kernel: KernelSource::new(Language::Wgsl, "search", String::new()),
            others: vec![],
            other_language: None,
            groups: [1; 3],
            params: vec![],
            values: vec![],
            order: vec![],
            final_order: vec![],
            later: vec![],
            flops: 1.0,
            bytes: 0.0,
            types: vec![],
        };
        Case { candidates: labels.iter().map(kernel).collect(), ..case("compute", "search", 1) }
    }

    /// A case that only writes `n` numbers.
    pub fn case(family: &str, workload: &str, n: i64) -> Case {
        let key = CaseKey {
            workload: workload.into(),
            size: vec![("n".into(), n)],
            measure: Kind::KERNEL,
            host_memory: None,
        };
        let buffer = BufferPlan {
            name: "out".into(),
            element: Element::scalar(Scalar::F32),
            count: n as u64,
            fill: None,
            access: Access::Write,
            split: Split::Broadcast,
            image: None,
        };
        Case {
            key,
            tags: vec![],
            family: family.into(),
            candidates: vec![],
            dropped: vec![],
            preferred_group: None,
            ceiling: None,
            touched: None,
            buffers: vec![buffer],
            size: vec![],
            division: None,
            verify: Verify::Nothing,
            profile: None,
            seed: 0,
            place: 0,
            plan: serde_json::Value::Null,
        }
    }
}

#[test]
fn buffers_without_an_image_are_written_as_earlier_versions_did() {
    let buffer = &sample::case("compute", "mine", 4).buffers[0];
    // A checkpoint is known by what is hashed of this.
    let text = serde_json::to_string(buffer).unwrap();
    assert!(text.starts_with(r#"{"name":"out","element":"f32","count":4,"#), "{text}");
    assert!(!text.contains("image"), "{text}");
}
