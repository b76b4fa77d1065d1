//! What the driver's compiler reports of a kernel: registers, spills, subgroup size.

use super::context::Context;
use ash::vk;
use std::ffi::CStr;

/// What is known of a pipeline.
#[derive(Default)]
pub(super) struct Statistics {
    /// Bytes of registers of a work-item, where registers are counted by work-item.
    pub private_bytes: Option<u64>,
    /// The subgroup size that it was compiled for.
    pub subgroup: Option<u32>,
    /// Every figure, a line each.
    pub text: String,
}

/// Names that drivers give to the registers of a work-item, each of four bytes: NVIDIA's, RADV's and
/// AMD's, Intel's counts by thread and is only written down.
const REGISTERS: [&str; 3] = ["Register Count", "VGPRs", "numUsedVgprs"];

/// Asks the driver, where it has an answer.
#[expect(unsafe_code, reason = "Vulkan calls")]
pub(super) fn of(context: &Context, pipeline: vk::Pipeline) -> Statistics {
    let mut known = Statistics::default();
    if !context.abilities.statistics {
        return known;
    }
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the pipeline was made with its statistics captured, and the extension is enabled.
    let executables = unsafe { context.statistics.get_pipeline_executable_properties(&info) };
    for (index, executable) in (0..).zip(executables.unwrap_or_default()) {
        if executable.subgroup_size > 0 {
            known.subgroup = Some(executable.subgroup_size);
        }
        let info =
            vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
        // SAFETY: as above; the index is one of those just listed.
        let figures = unsafe { context.statistics.get_pipeline_executable_statistics(&info) };
        for figure in figures.unwrap_or_default() {
            // SAFETY: the format says which member of the union holds the value.
            let value = unsafe { number(figure.format, figure.value) };
            let name = figure.name_as_c_str().map(CStr::to_string_lossy).unwrap_or_default();
            note(&mut known, &name, value);
        }
    }
    known
}

/// # Safety
/// The member of the union that `format` names must be the one that was written.
#[expect(unsafe_code, reason = "a union of C")]
unsafe fn number(
    format: vk::PipelineExecutableStatisticFormatKHR,
    value: vk::PipelineExecutableStatisticValueKHR,
) -> f64 {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the caller's.
    unsafe {
        match format {
            Format::BOOL32 => f64::from(value.b32),
            Format::INT64 => value.i64 as f64,
            Format::FLOAT64 => value.f64,
            _ => value.u64 as f64,
        }
    }
}

fn note(known: &mut Statistics, name: &str, value: f64) {
    if REGISTERS.contains(&name) && value > 0.0 {
        known.private_bytes = Some(value as u64 * 4);
    }
    known.text += &format!("{name}: {value}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_by_their_drivers_names() {
        let mut known = Statistics::default();
        note(&mut known, "Code Size", 128.0);
        assert_eq!(known.private_bytes, None);
        note(&mut known, "VGPRs", 24.0);
        assert_eq!(known.private_bytes, Some(96));
        assert_eq!(known.text, "Code Size: 128\nVGPRs: 24\n");
    }
}
