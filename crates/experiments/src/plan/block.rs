//! A part of a divided problem on one of several devices: uploaded, computed and downloaded, in order.

use super::divide::{dispatch, slices_of};
use super::{Candidate, Case, Division};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, KernelId, Op, Queue, Recording};
use gpubench_core::workload::Split;
use std::ops::Range;

/// How the case is cut, where its rows can be partitioned over several devices.
///
/// # Errors
/// `Unsupported` where the suite does not say how to cut it, a row has no whole number of
/// elements, or rows are not all that is written.
pub fn multi_device_division(case: &Case) -> Result<&Division> {
    let unsupported = |why: String| Err(Error::Unsupported(why));
    let Some(division) = &case.division else {
        return unsupported("the workload is not divisible (no `divide` in the suite)".into());
    };
    for buffer in &case.buffers {
        let name = &buffer.name;
        match (buffer.access, &buffer.split) {
            (Access::ReadWrite, _) => {
                return unsupported(format!("`{name}` is updated in place: no part can be redone"));
            }
            (Access::Write, Split::Broadcast) => {
                return unsupported(format!("no device alone has written the whole of `{name}`"));
            }
            (_, Split::Rows { .. }) if buffer.count % division.rows != 0 => {
                return unsupported(format!(
                    "buffer `{name}` of {} elements has no whole number of elements a row ({} rows)",
                    buffer.count, division.rows
                ));
            }
            _ => {}
        }
    }
    Ok(division)
}

/// Appends the rows of `range` to a recording of one queue: what the kernel reads of them is uploaded
/// (halo rows on either side with them, and with `shared` what every part reads), then they are
/// computed, then downloaded.
///
/// # Errors
/// As [`multi_device_division`], and where the launch is larger than the device takes.
pub fn push_block(
    recording: &mut Recording,
    case: &Case,
    candidate: &Candidate,
    kernel: KernelId,
    range: &Range<u64>,
    shared: bool,
) -> Result<()> {
    let division = multi_device_division(case)?;
    for (i, buffer) in case.buffers.iter().enumerate() {
        let rows = match &buffer.split {
            _ if buffer.access == Access::Write => continue,
            Split::Broadcast if !shared => continue,
            Split::Broadcast => 0..division.rows,
            Split::Rows { halo } => {
                let halo = u64::from(*halo);
                range.start.saturating_sub(halo)..(range.end + halo).min(division.rows)
            }
        };
        let (from, to) = slices_of(case, i, division, &rows);
        recording.push(Queue(0), vec![], Op::Upload { from, to });
    }
    let launch = dispatch(case, candidate, division, kernel, range)?;
    recording.push(Queue(0), vec![], launch);
    for (i, buffer) in case.buffers.iter().enumerate() {
        if buffer.access == Access::Write {
            let (to, from) = slices_of(case, i, division, range);
            recording.push(Queue(0), vec![], Op::Download { from, to });
        }
    }
    Ok(())
}

/// The bytes of buffer `i` that hold the rows of `range`.
pub fn bytes_of(case: &Case, i: usize, division: &Division, range: &Range<u64>) -> Range<usize> {
    let (host, _) = slices_of(case, i, division, range);
    host.offset.as_usize()..host.offset.as_usize() + host.len.as_usize()
}
