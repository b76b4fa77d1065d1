//! A divisible problem cut into chunks, so that one chunk's copies run beside another's kernel.
//!
//! The kernel sees whole buffers and computes the rows from its parameter `first` on, as many as
//! the parameter named by `divide` says. Only the copies are cut: each row is uploaded once, before
//! the first chunk that reads it (halo rows with the chunk before), and downloaded once.

use super::grid::work_groups;
use super::scope::with_constants;
use super::{Candidate, Case, GUARD, slices};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Access, BufferId, KernelId, Op, Queue, Recording, Slice, StepId, ValueType, packed,
};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Split;
use gpubench_suite::Expr;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a case can be cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Division {
    /// The parameter that holds the number of rows.
    pub count: String,
    /// Rows of the whole problem.
    pub rows: u64,
    /// Work-items along each dimension, over `scope`, the kernel's constants and the parameters.
    pub grid: [Expr; 3],
    /// The values among the kernel's arguments, over the names that the grid may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(ValueType, Vec<Expr>)>,
    /// Names and values that the grid and the arguments may use.
    pub scope: Vec<(String, f64)>,
    /// Most work-groups along each dimension.
    pub max_groups: [u32; 3],
}

/// Name of the parameter that holds a chunk's first row.
pub const FIRST: &str = "first";

/// What a step of a chunked recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageOf {
    /// Host to device.
    Upload,
    /// The kernel.
    Kernel,
    /// Device to host.
    Download,
}

/// A recording whose steps say which chunk and stage they belong to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunked {
    /// The work.
    pub recording: Recording,
    /// Chunk and stage of each step.
    pub steps: Vec<(u32, StageOf)>,
}

/// Rows of `count` nearly equal chunks.
///
/// # Errors
/// `Unsupported` when there are more chunks than rows.
pub fn equal_chunks(rows: u64, count: u64) -> Result<Vec<u64>> {
    if count == 0 || count > rows {
        return Err(Error::Unsupported(format!(
            "{count} chunks of {rows} rows: a chunk needs a row"
        )));
    }
    Ok((0..count).map(|i| rows * (i + 1) / count - rows * i / count).collect())
}

/// The host mirror of device buffer number `i`, behind all of the device's.
pub fn host_mirror(case: &Case, i: usize) -> BufferId {
    case.buffer(case.buffers.len() + i)
}

/// How the rows are cut, and which copies are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Rows of each chunk, in order.
    pub rows: &'a [u64],
    /// Whether everything is uploaded before the first chunk.
    pub upload_all_first: bool,
    /// Whether everything is downloaded after the last chunk.
    pub download_all_last: bool,
}

/// `case` cut into `parts`, uploaded on queue 0, computed on queue 1 and downloaded on queue 2; with one
/// queue, everything in order on queue 0.
///
/// # Errors
/// `Unsupported` when the case cannot be cut, the parts do not add up, or a halo is larger than a
/// part, where not all is uploaded first.
pub fn in_parts(
    case: &Case,
    candidate: &Candidate,
    kernel: KernelId,
    parts: Parts,
    queues: u32,
) -> Result<Chunked> {
    let division = case.divided()?;
    check_chunks(case, division, parts)?;
    let queue = |wanted: u32| Queue(if queues >= 3 { wanted } else { 0 });
    let mut builder = Builder { case, parts, chunked: Chunked::default(), uploaded: 0 };
    let mut first = 0;
    for (chunk, &count) in (0..).zip(parts.rows) {
        let range = first..first + count;
        let uploads = builder.upload(division, chunk, &range, queue(0));
        let launch = dispatch(case, candidate, division, kernel, &range)?;
        let after = if queues >= 3 { uploads } else { vec![] };
        let computed = builder.push(chunk, StageOf::Kernel, queue(1), after, launch);
        let after = if queues >= 3 { vec![computed] } else { vec![] };
        builder.download(division, chunk, &range, queue(2), &after);
        first = range.end;
    }
    Ok(builder.chunked)
}

fn check_chunks(case: &Case, division: &Division, parts: Parts) -> Result<()> {
    let rows = parts.rows;
    let sum: u64 = rows.iter().sum();
    if sum != division.rows || rows.contains(&0) {
        return Err(Error::Unsupported(format!(
            "the chunks hold {sum} rows, the problem has {}",
            division.rows
        )));
    }
    let smallest = rows.iter().copied().min().unwrap_or(0);
    for buffer in &case.buffers {
        if let Split::Rows { halo } = buffer.split {
            if buffer.count % division.rows != 0 {
                return Err(Error::Unsupported(format!(
                    "buffer `{}` of {} elements has no whole number of elements a row ({} rows)",
                    buffer.name, buffer.count, division.rows
                )));
            }
            if rows.len() > 1 && !parts.upload_all_first && u64::from(halo) > smallest {
                return Err(Error::Unsupported(format!(
                    "a halo of {halo} rows is larger than the smallest chunk, {smallest}"
                )));
            }
        }
    }
    Ok(())
}

/// The launch that computes the rows of `range`.
pub(super) fn dispatch(
    case: &Case,
    candidate: &Candidate,
    division: &Division,
    kernel: KernelId,
    range: &Range<u64>,
) -> Result<Op> {
    let mut part = part_of(candidate, division, range);
    part.values = values_of(&part, division)?;
    let groups = groups_of(&part, division)?;
    Ok(Op::Dispatch { kernel, groups, buffers: slices(case), params: part.param_bytes() })
}

/// The candidate with the parameters that have it compute the rows of `range`.
fn part_of(candidate: &Candidate, division: &Division, range: &Range<u64>) -> Candidate {
    let mut part = candidate.clone();
    for (name, value, _) in &mut part.params {
        if *name == FIRST {
            *value = range.start as f64;
        } else if *name == division.count {
            *value = (range.end - range.start) as f64;
        }
    }
    part
}

/// Values and names that the expressions of a part may use.
fn scope_of(part: &Candidate, division: &Division) -> Vec<(String, f64)> {
    let mut scope = with_constants(&division.scope, part.kernel.group, &part.kernel.constants);
    scope.extend(part.params.iter().map(|(name, value, _)| (name.clone(), *value)));
    scope
}

/// Bytes of a part's other arguments.
fn values_of(part: &Candidate, division: &Division) -> Result<Vec<u8>> {
    let scope = scope_of(part, division);
    let value = |(r#type, components): &(ValueType, Vec<Expr>)| {
        let components = components.iter().map(|expr| expr.eval(&scope));
        Ok((*r#type, components.collect::<Result<_, String>>()?))
    };
    let values = division.values.iter().map(value).collect::<Result<Vec<_>, String>>();
    Ok(packed(part.block(), &values.map_err(Error::Unsupported)?))
}

/// Work-groups of a part.
fn groups_of(part: &Candidate, division: &Division) -> Result<[u32; 3]> {
    let scope = scope_of(part, division);
    work_groups(&division.grid, part.kernel.group, &scope, division.max_groups)
        .map_err(Error::Unsupported)
}

/// Most rows that take no more work-groups than a single one does: what a part costs grows in steps of
/// this number. 1 where the grid does not grow with the rows.
///
/// # Errors
/// `Unsupported` where a single row is more than the device takes.
pub fn rows_a_group(candidate: &Candidate, division: &Division) -> Result<u64> {
    let groups = |rows: u64| groups_of(&part_of(candidate, division, &(0..rows)), division);
    let one = groups(1)?;
    // It grows with the rows: what lies between is halved.
    let (mut same, mut more) = (1, division.rows + 1);
    while more - same > 1 {
        let middle = same + (more - same) / 2;
        if groups(middle).is_ok_and(|groups| groups == one) {
            same = middle;
        } else {
            more = middle;
        }
    }
    Ok(if same == division.rows { 1 } else { same })
}

struct Builder<'a> {
    case: &'a Case,
    parts: Parts<'a>,
    chunked: Chunked,
    /// Rows of the inputs that were uploaded so far, halos included.
    uploaded: u64,
}

impl Builder<'_> {
    fn push(
        &mut self,
        chunk: u32,
        stage: StageOf,
        queue: Queue,
        after: Vec<StepId>,
        op: Op,
    ) -> StepId {
        self.chunked.steps.push((chunk, stage));
        self.chunked.recording.push(queue, after, op)
    }

    /// Uploads what the chunk reads and was not uploaded yet; the steps the kernel must wait for.
    fn upload(
        &mut self,
        division: &Division,
        chunk: u32,
        range: &Range<u64>,
        queue: Queue,
    ) -> Vec<StepId> {
        let case = self.case;
        let halo = case.buffers.iter().map(|b| match b.split {
            Split::Rows { halo } => u64::from(halo),
            Split::Broadcast => 0,
        });
        let until = match self.parts.upload_all_first {
            true => division.rows,
            false => (range.end + halo.max().unwrap_or(0)).min(division.rows),
        };
        let mut uploads = vec![];
        for (i, buffer) in case.buffers.iter().enumerate() {
            if buffer.access == Access::Write {
                continue;
            }
            let rows = match buffer.split {
                Split::Broadcast if chunk > 0 => continue,
                Split::Broadcast => 0..division.rows,
                Split::Rows { .. } => self.uploaded..until,
            };
            if rows.start < rows.end {
                let (host, device) = slices_of(case, i, division, &rows);
                let op = Op::Upload { from: host, to: device };
                uploads.push(self.push(chunk, StageOf::Upload, queue, vec![], op));
            }
        }
        self.uploaded = until;
        uploads
    }

    /// Downloads what the chunk wrote; broadcast outputs after the last chunk.
    fn download(
        &mut self,
        division: &Division,
        chunk: u32,
        range: &Range<u64>,
        queue: Queue,
        after: &[StepId],
    ) {
        let last = range.end == division.rows;
        let case = self.case;
        for (i, buffer) in case.buffers.iter().enumerate() {
            let rows = match (buffer.access, &buffer.split) {
                (Access::Read, _) => continue,
                (_, Split::Broadcast) if !last => continue,
                (_, Split::Broadcast) => 0..division.rows,
                (_, Split::Rows { .. }) if !self.parts.download_all_last => range.clone(),
                (_, Split::Rows { .. }) if !last => continue,
                (_, Split::Rows { .. }) => 0..division.rows,
            };
            let (host, device) = slices_of(case, i, division, &rows);
            let op = Op::Download { from: device, to: host };
            self.push(chunk, StageOf::Download, queue, after.to_vec(), op);
        }
    }
}

/// The host's and the device's part of buffer `i` that holds `rows`.
pub(super) fn slices_of(
    case: &Case,
    i: usize,
    division: &Division,
    rows: &Range<u64>,
) -> (Slice, Slice) {
    let bytes = case.buffers[i].bytes().0;
    let at = |row: u64| (u128::from(bytes) * u128::from(row) / u128::from(division.rows)) as u64;
    let (offset, len) = (at(rows.start), Bytes(at(rows.end) - at(rows.start)));
    let host = Slice { buffer: host_mirror(case, i), offset: Bytes(offset), len };
    let device = Slice { buffer: case.buffer(i), offset: Bytes(GUARD.0 + offset), len };
    (host, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_nearly_equal_and_complete() {
        assert_eq!(equal_chunks(10, 4).unwrap(), [2, 3, 2, 3]);
        assert!(equal_chunks(3, 4).is_err() && equal_chunks(3, 0).is_err());
    }
}
