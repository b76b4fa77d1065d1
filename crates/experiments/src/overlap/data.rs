//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::{Data, Timed};
use gpubench_core::workload::Kind;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A divisible problem in growing numbers of chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The clock of the steps.
    pub clock: Clock,
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// Rows of the problem.
    pub rows: u64,
    /// Bytes uploaded and downloaded.
    pub bytes: [u64; 2],
    /// All copies to the device, alone.
    pub upload: Timed,
    /// The whole kernel, alone.
    pub kernel: Timed,
    /// All copies from the device, alone.
    pub download: Timed,
    /// The chunked runs.
    pub runs: Vec<OverlapRun>,
    /// How stages and runs shared the case's time, each once in every turn; `None` where they were timed one
    /// behind the other, as before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
}

impl Data for Overlap {
    const KIND: Kind = Kind::new("overlap");
}

/// A problem in equal chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapRun {
    /// Number of chunks.
    #[serde(deserialize_with = "chunks")]
    pub chunks: u32,
    /// Number of queues: 3, or 1 where everything is in order.
    pub queues: u32,
    /// How long it took.
    pub timed: Timed,
}

/// No problem is cut into more: reports compute with each.
const MAX_CHUNKS: u32 = 1 << 16;

fn chunks<'de, D: Deserializer<'de>>(number: D) -> Result<u32, D::Error> {
    match u32::deserialize(number)? {
        few @ 1..=MAX_CHUNKS => Ok(few),
        other => Err(D::Error::custom(format!("there are no {other} chunks"))),
    }
}

/// Turns in which everything is timed once. Samples of one position are of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Seconds of sampling that the case had.
    pub allowed: f64,
    /// Numbers of chunks that were verified and not timed, since there was no time for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<u32>,
}

impl Overlap {
    /// Stages and runs.
    pub fn timed(&self) -> impl Iterator<Item = &Timed> {
        let stages = [&self.upload, &self.kernel, &self.download];
        stages.into_iter().chain(self.runs.iter().map(|run| &run.timed))
    }

    /// Stages and runs, to add to.
    pub(super) fn timed_mut(&mut self) -> impl IntoIterator<Item = &mut Timed> {
        let stages = [&mut self.upload, &mut self.kernel, &mut self.download];
        stages.into_iter().chain(self.runs.iter_mut().map(|run| &mut run.timed))
    }
}
