//! What the page reports of its adapter, as the rest of the program sees a device.

use super::BROWSER;
use crate::image_limits::ImageLimits;
use crate::wgpu::{ConstantLimits, whole_words};
use gpubench_core::gpu::{DeviceInfo, DeviceKind, Language, MemoryKind};
use gpubench_core::record::is_tick;
use gpubench_core::units::Bytes;
use serde::Deserialize;

/// The page's answer to `open`. Names are those of WebGPU (`GPUAdapterInfo`, `GPUSupportedLimits`).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    #[serde(default)]
    pub vendor: String,
    #[serde(default)]
    pub architecture: String,
    #[serde(default)]
    pub device: String,
    #[serde(default)]
    pub description: String,
    /// Whether the browser computes on the processor.
    #[serde(default)]
    pub is_fallback_adapter: bool,
    /// The browser and its version.
    pub browser: String,
    pub limits: Limits,
    pub features: Vec<String>,
    pub subgroup: Option<[u32; 2]>,
    /// The step of its timestamps in seconds, as the page measured it; `None` without timestamps.
    pub timestamp_resolution: Option<f64>,
    /// The step of the page's clock in seconds, as the page measured it.
    pub clock_resolution: f64,
}

/// The limits that matter here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Limits {
    max_buffer_size: u64,
    max_storage_buffer_binding_size: u64,
    max_storage_buffers_per_shader_stage: u32,
    max_compute_invocations_per_workgroup: u32,
    max_compute_workgroup_size_x: u32,
    max_compute_workgroup_size_y: u32,
    max_compute_workgroup_size_z: u32,
    max_compute_workgroups_per_dimension: u32,
    max_compute_workgroup_storage_size: u64,
    min_storage_buffer_offset_alignment: u64,
    max_uniform_buffer_binding_size: u64,
    max_uniform_buffers_per_shader_stage: u32,
    min_uniform_buffer_offset_alignment: u32,
    #[serde(rename = "maxTextureDimension2D")]
    max_texture_side: u32,
    max_sampled_textures_per_shader_stage: u32,
    max_samplers_per_shader_stage: u32,
}

impl Report {
    /// What the device allows of images.
    pub fn images(&self) -> ImageLimits {
        ImageLimits {
            max_images: self.limits.max_sampled_textures_per_shader_stage,
            max_samplers: self.limits.max_samplers_per_shader_stage,
            max_side: self.limits.max_texture_side,
            filters_f16: true,
            filters_f32: self.features.iter().any(|feature| feature == "float32-filterable"),
        }
    }
}

impl Limits {
    /// Those of constant memory.
    pub fn constant_memory(&self) -> ConstantLimits {
        ConstantLimits {
            max_bytes: Bytes(self.max_uniform_buffer_binding_size),
            max_buffers: self.max_uniform_buffers_per_shader_stage,
            alignment: self.min_uniform_buffer_offset_alignment.max(1),
        }
    }
}

/// The names of WebGPU's features in suites.
const FEATURES: [(&str, &str); 2] = [("f16", "shader-f16"), ("subgroups", "subgroups")];

/// The device that a page reports.
pub(super) fn describe(report: &Report) -> DeviceInfo {
    let limits = &report.limits;
    let has = |feature: &str| report.features.iter().any(|known| known == feature);
    DeviceInfo {
        backend: BROWSER.into(),
        name: name(report),
        vendor: vendor(&report.vendor),
        kind: kind(report),
        driver: report.browser.clone(),
        api: "WebGPU".into(),
        language: Language::Wgsl,
        max_buffer: whole_words(limits.max_buffer_size),
        max_binding: whole_words(limits.max_storage_buffer_binding_size),
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        max_group_size: limits.max_compute_invocations_per_workgroup,
        max_group_dims: [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ],
        max_groups: [limits.max_compute_workgroups_per_dimension; 3],
        local_memory: Bytes(limits.max_compute_workgroup_storage_size),
        queues: 1,
        timestamp_resolution: report.timestamp_resolution.filter(|seconds| is_tick(*seconds)),
        subgroup: report.subgroup.filter(|_| has("subgroups")),
        offset_alignment: Bytes(limits.min_storage_buffer_offset_alignment.max(4)),
        host_memory: vec![MemoryKind::Pageable],
        features: FEATURES.iter().filter(|(_, f)| has(f)).map(|(name, _)| (*name).into()).collect(),
        ..DeviceInfo::default()
    }
}

/// What the browser calls it: most give away no more than its vendor and architecture.
fn name(report: &Report) -> String {
    let own = [&report.description, &report.device].into_iter().find(|text| !text.is_empty());
    let Some(own) = own else {
        let parts = [vendor(&report.vendor), report.architecture.clone()];
        return parts.join(" ").trim().to_owned();
    };
    own.clone()
}

/// A vendor's name where the browser gives its short one.
fn vendor(short: &str) -> String {
    const NAMES: [(&str, &str); 8] = [
        ("amd", "AMD"),
        ("apple", "Apple"),
        ("arm", "Arm"),
        ("google", "Google"),
        ("intel", "Intel"),
        ("nvidia", "NVIDIA"),
        ("qualcomm", "Qualcomm"),
        ("", "unknown"),
    ];
    let known = NAMES.iter().find(|(name, _)| *name == short);
    known.map_or(short, |(_, name)| name).to_owned()
}

/// WebGPU does not say whether a GPU has memory of its own.
fn kind(report: &Report) -> DeviceKind {
    let text = format!("{} {} {}", report.architecture, report.device, report.description);
    let text = text.to_lowercase();
    let software =
        ["swiftshader", "llvmpipe", "basic render"].iter().any(|name| text.contains(name));
    if report.is_fallback_adapter || software { DeviceKind::Cpu } else { DeviceKind::Other }
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn a_tick_that_no_clock_has_is_one_that_nobody_knows() {
        let of = |seconds| {
            let timestamp_resolution = Some(seconds);
            describe(&Report { timestamp_resolution, ..report() }).timestamp_resolution
        };
        assert_eq!([of(1e-4), of(1e-13), of(1e100)], [Some(1e-4), None, None]);
    }

    #[test]
    fn a_browser_that_hides_the_name_gives_vendor_and_architecture() {
        let of = |vendor: &str, architecture: &str, description: &str| {
            let (vendor, architecture) = (vendor.into(), architecture.into());
            let description = description.into();
            describe(&Report { vendor, architecture, description, ..report() })
        };
        let hidden = of("nvidia", "ada-lovelace", "");
        assert_eq!((hidden.name.as_str(), hidden.kind), ("NVIDIA ada-lovelace", DeviceKind::Other));
        assert_eq!(of("acme", "", "").name, "acme");
        let named = of("google", "swiftshader", "SwiftShader Device (LLVM 16.0.0)");
        assert_eq!(named.name, "SwiftShader Device (LLVM 16.0.0)");
        assert_eq!((named.kind, named.vendor.as_str()), (DeviceKind::Cpu, "Google"));
        assert_eq!((named.api.as_str(), named.label()), ("WebGPU", "browser:0".into()));
    }
}
