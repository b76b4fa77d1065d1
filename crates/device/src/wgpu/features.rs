//! A kernel may need what only some devices offer. naga names its own flags then; here it is said as suites say it.

use super::name;
use gpubench_core::gpu::{DeviceInfo, KernelSource, MatrixProduct, Scalar};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Expression, Handle, Module, TypeInner};

/// naga knows apart those that only the greatest and the least need.
const INT64_ATOMICS: Capabilities =
    Capabilities::SHADER_INT64_ATOMIC_ALL_OPS.union(Capabilities::SHADER_INT64_ATOMIC_MIN_MAX);

/// Optional features as suites name them, and as naga does.
const NAMED: [(&str, Capabilities); 5] = [
    ("f16", Capabilities::SHADER_FLOAT16),
    ("f64", Capabilities::FLOAT64),
    ("subgroups", Capabilities::SUBGROUP),
    ("f32_atomics", Capabilities::SHADER_FLOAT32_ATOMIC),
    ("i64_atomics", INT64_ATOMICS),
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
    let named = NAMED.into_iter().find(|&(feature, flag)| !has(feature) && needs(flag));
    if let Some((feature, _)) = named {
        return Some(needed(source, feature));
    }
    let valid = Validator::new(ValidationFlags::all(), all).validate(module).ok()?;
    let whole = [(Capabilities::SHADER_INT16, 16), (Capabilities::SHADER_INT64, 64)];
    lacking_matrices(module, &valid, source, info).or_else(|| {
        let (_, bits) = whole.into_iter().find(|(flag, _)| needs(*flag))?;
        let kernel = name(source);
        Some(format!("{kernel} needs integers of {bits} bits, which the device does not offer"))
    })
}

fn needed(source: &KernelSource, feature: &str) -> String {
    let kernel = name(source);
    format!(
        "{kernel} needs `{feature}`, which the device does not offer; with `needs: [{feature}]` in the suite it \
         runs on devices that do"
    )
}

/// As [`lacking`], of products of matrices: to naga a device multiplies those of all shapes and types, or none.
pub(super) fn lacking_matrices(
    module: &Module,
    valid: &ModuleInfo,
    source: &KernelSource,
    info: &DeviceInfo,
) -> Option<String> {
    let functions = module.functions.iter().map(|(handle, function)| (function, &valid[handle]));
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(i, entry)| (&entry.function, valid.get_entry_point(i)));
    for (function, types) in functions.chain(entries) {
        let matrix = |of: Handle<Expression>| match *types[of].ty.inner_with(&module.types) {
            TypeInner::CooperativeMatrix { rows, scalar, .. } if scalar.width == 2 => {
                Some((rows as u32, Scalar::F16))
            }
            TypeInner::CooperativeMatrix { rows, .. } => Some((rows as u32, Scalar::F32)),
            _ => None,
        };
        for (_, expression) in function.expressions.iter() {
            let Expression::CooperativeMultiplyAdd { a, b, c } = *expression else { continue };
            let (Some(a), Some(b), Some((rows, sum))) = (matrix(a), matrix(b), matrix(c)) else {
                continue;
            };
            if a != b || a.0 != rows {
                let kernel = name(source);
                return Some(format!("{kernel} multiplies matrices that do not fit each other"));
            }
            let product = MatrixProduct { shape: [rows; 3], factor: a.1, sum }.to_string();
            if !info.features.contains(&product) {
                return Some(needed(source, &product));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::INT64_ATOMICS;
    use crate::vulkan::validator;
    use crate::wgpu::examine;
    use gpubench_core::error::Error;
    use gpubench_core::gpu::{DeviceInfo, KernelSource, Language, Origin};
    use gpubench_core::record::sample;
    use naga::valid::Capabilities;

    /// A kernel of one work-item; `subgroups` and 64 bits need no line that enables them.
    fn kernel(body: &str) -> KernelSource {
        let enable = match () {
            () if body.contains("f16") => "enable f16;",
            () if body.contains("i16") => "enable wgpu_int16;",
            () if body.contains("coop") => "enable wgpu_cooperative_matrix;",
            () => "",
        };
        let counter = if body.contains("&w") { "var<workgroup> w: atomic<u64>;" } else { "" };
        KernelSource {
            origin: Origin::User("mine.wgsl".into()),
            ..KernelSource::new(
                Language::Wgsl,
                "f",
                format!(
                    "{enable}{counter}
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1) fn f() {{ {body} }}"
                ),
            )
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
        let whole = |bits: u32| {
            format!("f (mine.wgsl) needs integers of {bits} bits, which the device does not offer")
        };
        for (body, flag, features, wanted) in [
            ("a[0] = f32(f16(a[0]));", Capabilities::SHADER_FLOAT16, &["f16"][..], needed("f16")),
            ("a[0] = f32(f64(a[0]) + 1.0lf);", Capabilities::FLOAT64, &["f64"], needed("f64")),
            (
                "a[0] = subgroupAdd(a[0]);",
                Capabilities::SUBGROUP,
                &["subgroups"],
                needed("subgroups"),
            ),
            (
                "a[0] = a[0]; let c = coopMultiplyAdd(coopLoad<coop_mat8x8<f32,A>>(&a[0]), \
                 coopLoad<coop_mat8x8<f32,B>>(&a[0]), coopLoad<coop_mat8x8<f32,C>>(&a[0]));",
                Capabilities::COOPERATIVE_MATRIX,
                &["matrix_8x8x8_f32_f32"],
                needed("matrix_8x8x8_f32_f32"),
            ),
            ("a[0] = f32(i64(a[0]) + 1li);", Capabilities::SHADER_INT64, &[], whole(64)),
            ("a[0] = f32(i16(a[0]));", Capabilities::SHADER_INT16, &[], whole(16)),
            (
                "a[0] = f32(atomicAdd(&w, 1lu));",
                INT64_ATOMICS | Capabilities::SHADER_INT64,
                &["i64_atomics"],
                needed("i64_atomics"),
            ),
            (
                "atomicMax(&w, 1lu); a[0] = 1.0;",
                INT64_ATOMICS | Capabilities::SHADER_INT64,
                &["i64_atomics"],
                needed("i64_atomics"),
            ),
        ] {
            assert!(said(body, features, flag).is_none(), "{body}");
            match said(body, &[], Capabilities::empty()) {
                Some(Error::Unsupported(why)) => assert_eq!(why, wanted, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
            let others = ["matrix_16x16x16_f32_f32"];
            assert_eq!(said(body, &others, flag).is_some(), body.contains("coop"), "{body}");
            if body.contains("coop") {
                let mixed = body.replace("coop_mat8x8<f32,B>", "coop_mat16x16<f32,B>");
                let why = format!("{:?}", said(&mixed, features, flag));
                assert!(why.contains("do not fit each other"), "{why}");
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
