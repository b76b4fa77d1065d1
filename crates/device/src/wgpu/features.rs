//! A kernel may need what only some devices offer. naga names its own flags then; here it is said as suites say it.

use super::name;
use gpubench_core::gpu::{DeviceInfo, KernelSource};
use naga::Module;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Optional features as suites name them, and as naga does.
const NAMED: [(&str, Capabilities); 3] = [
    ("f16", Capabilities::SHADER_FLOAT16),
    ("f64", Capabilities::FLOAT64),
    ("subgroups", Capabilities::SUBGROUP),
];

/// What a kernel that the device's validator rejects needs of another device, and what to do; `None` where none would
/// take it.
pub(super) fn lacking(module: &Module, source: &KernelSource, info: &DeviceInfo) -> Option<String> {
    let is_valid = |capabilities| {
        Validator::new(ValidationFlags::all(), capabilities).validate(module).is_ok()
    };
    let all = Capabilities::all();
    let needs = |feature| is_valid(all) && !is_valid(all.difference(feature));
    let has = |feature: &str| info.features.iter().any(|known| known == feature);
    let kernel = name(source);
    let named = NAMED.into_iter().find(|&(feature, flag)| !has(feature) && needs(flag));
    if let Some((feature, _)) = named {
        return Some(format!(
            "{kernel} needs `{feature}`, which the device does not offer; with `needs: [{feature}]` in the suite it \
             runs on devices that do"
        ));
    }
    needs(Capabilities::SHADER_INT64)
        .then(|| format!("{kernel} needs integers of 64 bits, which the device does not offer"))
}

#[cfg(test)]
mod tests {
    use crate::vulkan::validator;
    use crate::wgpu::examine;
    use gpubench_core::error::Error;
    use gpubench_core::gpu::{DeviceInfo, KernelSource, Language, Origin};
    use gpubench_core::record::sample;
    use naga::valid::Capabilities;

    /// A kernel of one work-item; `subgroups` and 64 bits need no line that enables them.
    fn kernel(body: &str) -> KernelSource {
        let enable = if body.contains("f16") { "enable f16;" } else { "" };
        KernelSource {
            language: Language::Wgsl,
            text: format!(
                "{enable}
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1) fn f() {{ {body} }}"
            ),
            entry: "f".into(),
            origin: Origin::User("mine.wgsl".into()),
            group: [1, 1, 1],
            constants: vec![],
            bindings: vec![],
            params_bytes: 0,
            args: None,
            meaning: None,
            settings: Default::default(),
        }
    }

    /// What a user reads of the kernel on a device with these features.
    fn said(body: &str, features: &[&str], capabilities: Capabilities) -> Option<Error> {
        let features = features.iter().map(|&feature| feature.into()).collect();
        let info = DeviceInfo { features, ..sample::device("wgpu") };
        examine(&kernel(body), &info, validator(capabilities)).err()
    }

    #[test]
    fn a_kernel_that_needs_what_the_device_lacks_says_what_and_what_to_do() {
        let needed = |feature: &str| {
            format!(
                "f (mine.wgsl) needs `{feature}`, which the device does not offer; with `needs: [{feature}]` in the \
                 suite it runs on devices that do"
            )
        };
        let int64 =
            "f (mine.wgsl) needs integers of 64 bits, which the device does not offer".into();
        for (body, flag, features, wanted) in [
            ("a[0] = f32(f16(a[0]));", Capabilities::SHADER_FLOAT16, &["f16"][..], needed("f16")),
            ("a[0] = f32(f64(a[0]) + 1.0lf);", Capabilities::FLOAT64, &["f64"], needed("f64")),
            (
                "a[0] = subgroupAdd(a[0]);",
                Capabilities::SUBGROUP,
                &["subgroups"],
                needed("subgroups"),
            ),
            ("a[0] = f32(i64(a[0]) + 1li);", Capabilities::SHADER_INT64, &[], int64),
        ] {
            assert!(said(body, features, flag).is_none(), "{body}");
            match said(body, &[], Capabilities::empty()) {
                Some(Error::Unsupported(why)) => assert_eq!(why, wanted, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_kernel_that_no_device_takes_is_wrong_with_its_place() {
        let Some(Error::Build { kernel, log }) = said("a[0] = a;", &[], Capabilities::empty())
        else {
            panic!("a build error")
        };
        assert_eq!(kernel, "f (mine.wgsl)");
        assert!(log.contains("mine.wgsl:3:"), "{log}");
    }
}
