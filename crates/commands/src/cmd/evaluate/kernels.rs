//! The kernels whose recorded spaces can be evaluated: what a variant's parameters mean, and what its launch does.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Constant, KernelSource, Language, Origin};
use gpubench_emulator::{Buffer, Class, Counts, Launch, Reuse};
use gpubench_model::variant::Variant;
use gpubench_tune::Space;
use std::collections::BTreeMap;

/// A kernel with a recorded space.
#[derive(Debug)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// What it is, for help.
    pub about: &'static str,
    /// Its parameters behind those of [`SHAPE`].
    others: &'static [&'static str],
    /// Outputs along x and y.
    extent: [u32; 2],
    /// Operations and bytes of a launch with so many outputs along x and y, as a suite would say.
    work_of: fn(f64, f64) -> (f64, f64),
    /// Constants of the kernel's text besides its tiles.
    constants: fn(&Values<'_>) -> Vec<(&'static str, u32)>,
    /// How many channels are counted, one after the other; only one launch where all of the kernel is.
    pub samples: &'static [u32],
    /// How many times all of a launch is what is counted of it.
    pub repeats: u32,
    /// Buffers and parameters of a launch with so many channels.
    inputs: fn(u32) -> (Vec<Buffer>, Vec<u32>),
    /// Completes what every kernel's variant has.
    finish: fn(Variant, &Values<'_>, &GroupCounts) -> Variant,
}

/// The parameters that every such kernel has.
const SHAPE: [&str; 4] = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y"];

/// A filter over an image.
pub static CONVOLUTION: Workload = Workload {
    name: "convolution",
    about: "15×15 weights over 4096×4096 pixels",
    others: &["read_only", "use_padding", "use_shmem"],
    extent: [IMAGE, IMAGE],
    work_of: |x, y| (2.0 * f64::from(FILTER * FILTER) * x * y, 8.0 * x * y),
    constants: |values| {
        let [local, padding] = ["use_shmem", "use_padding"].map(|name| values.of(name));
        vec![("FILTER", FILTER), ("LOCAL", local), ("PADDING", padding)]
    },
    samples: &[0],
    repeats: 1,
    inputs: |_| {
        let pitch = IMAGE + FILTER - 1;
        let buffers = [pitch * pitch, FILTER * FILTER, IMAGE * IMAGE].map(zeros);
        (buffers.into(), vec![IMAGE, IMAGE])
    },
    finish: convolution,
};

/// The delays of a telescope's channels, undone.
pub static DEDISPERSION: Workload = Workload {
    name: "dedispersion",
    about: "1536 channels of 25000 samples, 2048 dispersion measures",
    others: &["tile_stride_x", "tile_stride_y"],
    extent: [TIMES, MEASURES],
    work_of: |x, y| {
        let channels = f64::from(CHANNELS);
        (x * y * channels, channels * f64::from(PITCH) + 4.0 * x * y)
    },
    constants: |values| {
        let [x, y] = ["tile_stride_x", "tile_stride_y"].map(|name| values.of(name));
        vec![("STRIDE_X", x), ("STRIDE_Y", y)]
    },
    samples: &SAMPLED,
    repeats: CHANNELS / SAMPLED[1],
    inputs: |channels| {
        let spread = |i: u32| delay((2 * i + 1) * CHANNELS / (2 * channels));
        let delays: Vec<u32> = (0..channels).map(|i| spread(i).to_bits()).collect();
        let samples = zeros((CHANNELS * PITCH).div_ceil(4));
        let buffers = vec![samples, delays.into(), zeros(TIMES * MEASURES)];
        (buffers, vec![TIMES, MEASURES, channels, PITCH, DM_STEP.to_bits()])
    },
    finish: dedispersion,
};

fn zeros(length: u32) -> Buffer {
    Buffer::lazy(length as usize, 256, |_, _| {})
}

/// Pixels along either axis, and weights along either axis of the filter.
const IMAGE: u32 = 4096;
const FILTER: u32 = 15;

/// Times, dispersion measures and channels, the delays that any of them may have, and the step between measures.
const TIMES: u32 = 25_000;
const MEASURES: u32 = 2048;
const CHANNELS: u32 = 1536;
const PITCH: u32 = TIMES + 650;
const DM_STEP: f32 = 0.02;

/// Channels that are counted, spread over all; what every channel does is scaled up from two counts.
const SAMPLED: [u32; 2] = [4, 12];
// `repeats` is a whole number.
const _: () = assert!(CHANNELS.is_multiple_of(SAMPLED[1]));

/// A variant to count: its values by name.
pub struct Values<'a>(pub BTreeMap<&'a str, f64>);

impl Values<'_> {
    /// The value of a parameter, which the space has.
    pub fn of(&self, name: &str) -> u32 {
        self.0.get(name).map_or(0, |value| *value as u32)
    }

    fn group(&self) -> [u32; 2] {
        [self.of("block_size_x"), self.of("block_size_y")]
    }

    fn tile(&self) -> [u32; 2] {
        [self.of("tile_size_x"), self.of("tile_size_y")]
    }
}

/// Counts of one group, where everything that a loop over sampled channels does is scaled to all of them.
pub struct GroupCounts {
    /// The counts by the device's own rules, of the largest sample.
    pub counts: Counts,
    /// By sectors of 32 bytes.
    pub sectors: Counts,
    /// The same of the smaller sample, where there is one.
    pub fewer: Option<(Counts, Counts)>,
}

impl Workload {
    /// Its parameters' names.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> + Clone {
        SHAPE.into_iter().chain(self.others.iter().copied())
    }

    /// Whether a space has its parameters.
    ///
    /// # Errors
    /// `Usage` that names those it lacks, or a value that the kernel cannot take.
    pub fn check(&self, space: &Space) -> Result<()> {
        let lacks = |name: &&str| !space.names().iter().any(|known| known == *name);
        let missing: Vec<&str> = self.parameters().filter(lacks).collect();
        if !missing.is_empty() {
            let (name, missing) = (self.name, missing.join(", "));
            return Err(Error::Usage(format!("the space is none of {name}: it lacks {missing}")));
        }
        for variant in 0..space.len() {
            let values = self.values(space, variant);
            let sizes = [values.group(), values.tile()].concat();
            let items = values.group().into_iter().map(u64::from).product::<u64>();
            if sizes.contains(&0) || sizes.iter().any(|size| *size > 1024) || items > 1024 {
                let label = space.label(variant);
                return Err(Error::Usage(format!("{label}: groups have 1 to 1024 work-items")));
            }
        }
        Ok(())
    }

    /// The values of a variant in the order of [`Self::parameters`], whatever that of the space is.
    pub fn row(&self, space: &Space, variant: usize) -> Vec<f64> {
        let values = self.values(space, variant);
        self.parameters().filter_map(|name| values.0.get(name).copied()).collect()
    }

    /// The values of a variant.
    pub fn values<'s>(&self, space: &'s Space, variant: usize) -> Values<'s> {
        let names = space.names().iter().map(String::as_str);
        Values(names.zip(space.variants()[variant].iter().copied()).collect())
    }

    /// What the counts of a variant depend on: variants that agree in it are counted once.
    pub fn key(&self, values: &Values<'_>) -> Vec<u32> {
        let counted = self.parameters().filter(|name| *name != "read_only");
        counted.map(|name| values.of(name)).collect()
    }

    /// The launch's groups along x and y.
    pub fn grid(&self, values: &Values<'_>) -> [u32; 2] {
        let ([gx, gy], [tx, ty]) = (values.group(), values.tile());
        let [x, y] = self.extent;
        [x.div_ceil(gx * tx), y.div_ceil(gy * ty)]
    }

    /// Operations and bytes of a launch.
    pub fn work(&self) -> (f64, f64) {
        let [x, y] = self.extent.map(f64::from);
        (self.work_of)(x, y)
    }

    /// The kernel of a variant.
    ///
    /// # Errors
    /// `Unsupported` where this build lacks its text.
    pub fn kernel(&self, values: &Values<'_>) -> Result<KernelSource> {
        let lacking = || Error::Unsupported(format!("this build lacks the kernel {}", self.name));
        let (file, text) = gpubench_suite::shipped_kernel("tuned", self.name, Language::Wgsl)
            .ok_or_else(lacking)?;
        let ([gx, gy], [tx, ty]) = (values.group(), values.tile());
        let tiles = [("TILE_X", tx), ("TILE_Y", ty)];
        let constants = tiles.into_iter().chain((self.constants)(values));
        let constant = |(name, value): (&str, u32)| (name.to_owned(), Constant::Int(value.into()));
        Ok(KernelSource {
            origin: Origin::Shipped(format!("shaders/{file}")),
            group: [gx, gy, 1],
            constants: constants.map(constant).collect(),
            ..KernelSource::new(Language::Wgsl, self.name, text)
        })
    }

    /// The launch of a variant with so many channels.
    pub fn launch(&self, values: &Values<'_>, channels: u32) -> Launch {
        let [x, y] = self.grid(values);
        let (buffers, params) = (self.inputs)(channels);
        Launch { groups: [x, y, 1], buffers, params }
    }

    /// What the launch of a variant does, from the counts of its middle group.
    pub fn variant(&self, values: &Values<'_>, group: &GroupCounts) -> Variant {
        let ([gx, gy], [tx, ty]) = (values.group(), values.tile());
        let [nx, ny] = self.grid(values);
        let groups = f64::from(nx) * f64::from(ny);
        let warp = group.counts.rules.warp;
        let group_warps = f64::from((gx * gy).div_ceil(warp));
        let whole = |size: u32, step: u32| size.is_multiple_of(step);
        let overhangs = !whole(self.extent[0], gx * tx) || !whole(self.extent[1], gy * ty);
        let variant = Variant {
            groups,
            whole_groups: groups,
            group_warps,
            outputs: f64::from(tx * ty),
            accumulators: f64::from(tx * ty),
            overhangs,
            ..Variant::default()
        };
        (self.finish)(variant, values, group)
    }
}

/// Samples that a dispersion measure of 1 delays a channel by: the dispersion equation, relative to the highest
/// frequency, at 4.096e-5 s a sample.
fn delay(channel: u32) -> f32 {
    let frequency = |channel: u32| 1425.0 + f64::from(channel) * 0.195_312_5;
    let inverse = |channel: u32| frequency(channel).powi(-2);
    (4148.808 * (inverse(channel) - inverse(CHANNELS - 1)) / 4.096e-5) as f32
}

fn convolution(variant: Variant, values: &Values<'_>, group: &GroupCounts) -> Variant {
    let counts = &group.counts;
    let groups = variant.groups;
    let warps = variant.group_warps * groups;
    let staged = values.of("use_shmem") == 1;
    let reuse = counts.reuse.get(if staged { "staged" } else { "image" });
    let Reuse { places, held } = reuse.copied().unwrap_or_default();
    let local = counts.local_reads;
    let rounds_each = local.rounds as f64 / (local.rounds - local.conflicts).max(1) as f64;
    let once = warps * places as f64;
    let (reads, distinct) = if staged { (once, 0.0) } else { (0.0, once) };
    // The loads of weights are of one place each, which constant memory serves.
    let weights = counts.lines.iter().filter(|line| line.variable == "weights");
    let weights: u64 = weights.map(|line| line.cost).sum();
    let loads = counts.global_reads.warps.saturating_sub(weights) as f64 * groups;
    Variant {
        local_bytes: if staged { f64::from(counts.local_bytes) } else { 0.0 },
        multiply_adds: counts.of(Class::FloatFma).warps as f64 * groups,
        local_reads: reads,
        conflicts: reads * (rounds_each - 1.0),
        distinct,
        held: held as f64,
        loads: if staged { 0.0 } else { loads },
        staging: counts.of(Class::LocalWrite).warps as f64 * groups,
        staged_bytes: 4.0 * counts.of(Class::LocalWrite).items as f64 * groups,
        read_only: values.of("read_only") == 1,
        ..variant
    }
}

fn dedispersion(variant: Variant, values: &Values<'_>, group: &GroupCounts) -> Variant {
    // What grows with the channels, from two samples of them.
    let [few, many] = SAMPLED.map(f64::from);
    let scaled = |of: &dyn Fn(&Counts, &Counts) -> f64| {
        let here = of(&group.counts, &group.sectors);
        let Some((counts, sectors)) = &group.fewer else { return here };
        here + (here - of(counts, sectors)) / (many - few) * (f64::from(CHANNELS) - many)
    };
    let ([gx, gy], [tx, ty]) = (values.group(), values.tile());
    let warp = group.counts.rules.warp;
    let of_samples = |counts: &Counts| {
        let lines = counts.lines.iter().filter(|line| line.variable == "samples");
        lines.map(|line| line.cost).sum::<u64>() as f64
    };
    let steps = |counts: &Counts| {
        let delays = counts.lines.iter().filter(|line| line.variable == "delays");
        counts.global_reads.warps as f64 - delays.map(|line| line.cost).sum::<u64>() as f64
    };
    // Groups as many as the outputs would fill, and what is computed, also by the lanes of a group's last warp that have no
    // work-item.
    let wanted = f64::from(TIMES) * f64::from(MEASURES) / f64::from(gx * tx * gy * ty);
    let lanes = variant.group_warps * f64::from(warp) * variant.outputs;
    let samples = wanted * lanes * f64::from(CHANNELS);
    // Groups at the rim count as the part of them that computes; the convolution's order is better where they count in full.
    let part = |extent: u32, size: u32| (f64::from(extent) / f64::from(size)).max(1.0);
    let groups = part(TIMES, gx * tx) * part(MEASURES, gy * ty);
    let adjacent = |stride: &str, tile: u32| values.of(stride) == 0 && tile > 1;
    Variant {
        whole_groups: groups,
        // The measured text computes one output after the other.
        accumulators: 1.0,
        // A delay and a sample each.
        conversions: 2.0 * samples,
        // Delay, address, load, shift, mask, conversion, addition, and their loop.
        instructions: 8.0 * samples,
        sectors: scaled(&|_, sectors| of_samples(sectors)) * groups,
        loads: scaled(&|counts, _| steps(counts)) * groups,
        // Here groups at the rim count in full: counted as their part, they make the MI250X's pick worse.
        passes: variant.groups * variant.outputs * pass(values, group.counts.rules.transaction),
        // A byte a time: a group's measures read much the same, delayed.
        pass_bytes: f64::from(CHANNELS * gx * tx),
        read_only: true,
        // Within a word of four samples there is nothing to spread.
        adjacent_x: adjacent("tile_stride_x", tx) && gx > 1 && gx * tx > 4,
        adjacent_y: adjacent("tile_stride_y", ty),
        ..variant
    }
}

/// Transactions of one pass of a group over all channels: one a channel, and one for each `transaction` bytes between
/// the first and the last sample.
fn pass(values: &Values<'_>, transaction: u32) -> f64 {
    let ([gx, gy], [tx, ty]) = (values.group(), values.tile());
    // From the first to the last output that work-items compute at one time.
    let span = |stride: &str, group: u32, tile: u32, extent: u32| {
        let step = if values.of(stride) == 0 { tile } else { 1 };
        f64::from((group * step).min(extent).saturating_sub(step))
    };
    let times = span("tile_stride_x", gx, tx, TIMES);
    let measures = span("tile_stride_y", gy, ty, MEASURES);
    let delays: f64 = (0..CHANNELS).map(|channel| f64::from(delay(channel))).sum();
    let apart = f64::from(CHANNELS) * times + measures * f64::from(DM_STEP) * delays;
    f64::from(CHANNELS) + apart / f64::from(transaction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work-items in rows of 8 with 2 outputs, neighbours or 8 apart: the first outputs of the first and of the last
    /// work-item are 14 or 7 samples apart.
    #[test]
    fn a_pass_asks_for_each_channel_and_for_what_lies_between_its_ends() {
        let parameters = DEDISPERSION.parameters();
        let passes = |values: [f64; 6]| pass(&Values(parameters.clone().zip(values).collect()), 32);
        let channels = f64::from(CHANNELS);
        assert_eq!(passes([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), channels);
        assert_eq!(passes([8.0, 1.0, 2.0, 1.0, 0.0, 0.0]), channels * (1.0 + 14.0 / 32.0));
        assert_eq!(passes([8.0, 1.0, 2.0, 1.0, 1.0, 0.0]), channels * (1.0 + 7.0 / 32.0));
        // A step between measures delays the lowest channel by 0.317 samples, the highest by none, the mean by 0.1433.
        let by_delay = (passes([1.0, 33.0, 1.0, 1.0, 0.0, 0.0]) - channels) / channels;
        assert!((by_delay - 0.1433).abs() < 1e-3, "{by_delay}");
    }
}
