//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use gpubench_stats::median_of;
use serde::{Deserialize, Serialize};

/// A divisible problem, again and again, on several devices at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The clock of all seconds.
    pub clock: Clock,
    /// The devices, as `opencl:0`.
    pub devices: Vec<String>,
    /// The kind of each device's host memory.
    pub host_memory: Vec<MemoryKind>,
    /// Rows of the problem.
    pub rows: u64,
    /// Seconds of the whole problem on each device alone, in order, sample by sample.
    pub isolated: Vec<Vec<f64>>,
    /// Chunks in which each device does its part, so that one's copies run while another is computed; none in runs of
    /// versions that did everything in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<u64>,
    /// Seconds of the whole problem on each device alone in so many chunks, sample by sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlapped: Vec<Vec<f64>>,
    /// The device that was fastest alone, in its chunks.
    pub fastest: usize,
    /// How often a job has the whole problem computed.
    pub times: u64,
    /// The job, run anew each time, on all devices; none where `blocks` showed no gain, or
    /// none could be hoped for.
    pub jobs: Vec<Job>,
    /// Seconds of the same job on the fastest device alone, before each of `jobs`.
    pub fastest_device_seconds: Vec<f64>,
    /// The calibration: blocks that were partitioned whatever they lost, each by what the last ones showed.
    pub blocks: Vec<Block>,
}

impl Split {
    /// Samples of the whole problem on each device by itself, in the chunks in which it does its part.
    pub fn in_chunks(&self) -> &[Vec<f64>] {
        if self.overlapped.is_empty() { &self.isolated } else { &self.overlapped }
    }

    /// Rows a second in the middle one of the calibration's blocks: the combined speed of the devices. The
    /// first ones, which are out of balance, do not move it far. `None` where no block was shared.
    pub fn combined_speed(blocks: &[Block]) -> Option<f64> {
        let shared = blocks.iter().filter(|block| block.imbalance().is_some());
        median_of(shared.map(Block::speed))
    }
}

impl Data for Split {
    const KIND: Kind = Kind::new("split");
}

/// A job that several devices start at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The blocks in which it was split.
    pub blocks: Vec<Block>,
    /// Whether the rest was left to the fastest device.
    pub fell_back: bool,
    /// Seconds of everything.
    pub seconds: f64,
}

/// A part of the job, shared by all devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Rows of each device.
    pub rows: Vec<u64>,
    /// How often they were computed.
    pub repeats: u64,
    /// Seconds from the common start until each device had ended; 0 for one without rows.
    pub seconds: Vec<f64>,
}

impl Block {
    /// How much earlier than the last device the first had ended, relative to the last; `None`
    /// where fewer than two had work.
    pub fn imbalance(&self) -> Option<f64> {
        let busy = || self.seconds.iter().copied().filter(|seconds| *seconds > 0.0);
        let last = busy().fold(0.0, f64::max);
        let first = busy().fold(f64::INFINITY, f64::min);
        (busy().count() >= 2).then(|| 1.0 - first / last)
    }

    /// Seconds until the last device had ended.
    pub fn wall(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }

    /// Rows computed, repeats counted; of a file's, however many it claims.
    pub fn work(&self) -> f64 {
        self.rows.iter().map(|&rows| rows as f64).sum::<f64>() * self.repeats as f64
    }

    /// Rows a second until the last device had ended.
    pub fn speed(&self) -> f64 {
        self.work() / self.wall()
    }
}
