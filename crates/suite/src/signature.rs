//! What WGSL's entry points take: a suite for a kernel is made of it.

use super::misfit::About;
use super::wgsl;
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::gpu::{
    Access, Element, FormalArgument, KernelSource, Scalar, Signature, Takes, ValueType,
};
use naga::valid::{FunctionInfo, GlobalUse};
use naga::{
    AddressSpace, EntryPoint, GlobalVariable, Handle, ImageClass, ImageDimension, Module, TypeInner,
};

/// The signature of every compute entry point of `source`, in WGSL.
///
/// # Errors
/// `Suite` with the place of what is wrong.
pub fn wgsl_signatures(source: &KernelSource) -> Result<Vec<Signature>> {
    let (module, info) = wgsl::parse(&source.wgsl()?).map_err(|misfit| {
        let range = match misfit.about {
            About::Text(range) if range.end <= source.text.len() => range,
            _ => 0..0,
        };
        let (file, help) = (source.origin.file(), misfit.help.as_deref());
        let text = source.text.as_str();
        Error::Suite(vec![Located::at(file, text, range, misfit.message, help)])
    })?;
    let entries = module.entry_points.iter().enumerate();
    Ok(entries.map(|(i, e)| signature(source, &module, info.get_entry_point(i), e)).collect())
}

fn signature(
    source: &KernelSource,
    module: &Module,
    used: &FunctionInfo,
    entry: &EntryPoint,
) -> Signature {
    let bound = module.global_variables.iter().filter_map(|(handle, variable)| {
        let binding = variable.binding.filter(|_| !used[handle].is_empty())?;
        Some(([binding.group, binding.binding], (handle, variable)))
    });
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(place, _)| *place);
    let bound = behind_their_images(used, bound);
    let places: Vec<_> = bound.iter().map(|(place, _)| *place).collect();
    let plain = (0..).zip(&places).all(|(i, place)| *place == [0, i]);
    // A group that follows the suite's is no group of the text's.
    let follows = source.text.contains("GROUP_X") && entry.workgroup_size == source.group;
    Signature {
        entry: entry.name.clone(),
        group: (!follows).then_some(entry.workgroup_size),
        bindings: if plain { vec![] } else { places },
        arguments: bound.into_iter().map(|(_, variable)| formal(module, used, variable)).collect(),
    }
}

/// A variable of the text, and its place: `@group` and `@binding`.
type Bound<'a> = ([u32; 2], (Handle<GlobalVariable>, &'a GlobalVariable));

/// The variables in their order, but each sampler behind its image, as suites list them.
fn behind_their_images<'a>(used: &FunctionInfo, bound: Vec<Bound<'a>>) -> Vec<Bound<'a>> {
    let is_moved = |(_, (sampler, _)): &Bound| image_of(used, *sampler).is_some();
    let (samplers, others): (Vec<_>, Vec<_>) = bound.into_iter().partition(is_moved);
    let with_samplers = |other: Bound<'a>| {
        let image = other.1.0;
        let its = samplers.iter().filter(move |(_, (s, _))| image_of(used, *s) == Some(image));
        std::iter::once(other).chain(its.copied())
    };
    others.into_iter().flat_map(with_samplers).collect()
}

/// The image that a sampler samples, where it is one only.
fn image_of(
    used: &FunctionInfo,
    sampler: Handle<GlobalVariable>,
) -> Option<Handle<GlobalVariable>> {
    let mut images = used.sampling_set.iter().filter(|key| key.sampler == sampler);
    let first = images.next()?;
    images.next().is_none().then_some(first.image)
}

fn formal(
    module: &Module,
    used: &FunctionInfo,
    (handle, variable): (Handle<GlobalVariable>, &GlobalVariable),
) -> FormalArgument {
    let inner = &module.types[variable.ty].inner;
    let takes = match variable.space {
        AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
            let reads = used[handle].intersects(GlobalUse::READ | GlobalUse::ATOMIC);
            let access = if reads { Access::ReadWrite } else { Access::Write };
            Takes::Buffer { element: held(module, inner), access: Some(access) }
        }
        AddressSpace::Storage { .. } => {
            Takes::Buffer { element: held(module, inner), access: Some(Access::Read) }
        }
        AddressSpace::Uniform => match (value(inner), held(module, inner)) {
            (Some(value), _) if value.is_wgsl() => Takes::Value(value),
            (Some(_), _) => Takes::Unsupported,
            // An array there is constant memory.
            (None, element @ Some(_)) => Takes::Buffer { element, access: Some(Access::Read) },
            (None, None) => Takes::Block,
        },
        _ if matches!(inner, TypeInner::Sampler { .. }) && image_of(used, handle).is_none() => {
            Takes::Unsupported
        }
        _ => image_or_sampler(inner),
    };
    let r#type = module.types[variable.ty].name.clone().unwrap_or_else(|| match &takes {
        Takes::Buffer { element: Some(element), .. } => {
            format!("array<{}>", String::from(*element))
        }
        Takes::Value(value) => String::from(*value),
        Takes::Image(Some(scalar)) => format!("texture_2d<{}>", scalar.name()),
        Takes::Sampler => "sampler".to_owned(),
        _ => "a type without a name".to_owned(),
    });
    FormalArgument { name: variable.name.clone().unwrap_or_default(), r#type, takes }
}

/// What a suite gives a texture or a sampler.
fn image_or_sampler(inner: &TypeInner) -> Takes {
    match inner {
        TypeInner::Image {
            dim: ImageDimension::D2,
            arrayed: false,
            class: ImageClass::Sampled { kind, multi: false },
        } => Takes::Image(known(naga::Scalar { kind: *kind, width: 4 })),
        TypeInner::Sampler { comparison: false } => Takes::Sampler,
        _ => Takes::Unsupported,
    }
}

/// What a plain array holds; a vector of three lies as one of four.
fn held(module: &Module, inner: &TypeInner) -> Option<Element> {
    let TypeInner::Array { base, .. } = inner else { return None };
    let held = match &module.types[*base].inner {
        TypeInner::Atomic(scalar) => known(*scalar).map(|scalar| ValueType { scalar, width: 1 }),
        inner => value(inner),
    }?;
    let width = if held.width == 3 { 4 } else { held.width };
    Element::try_from(String::from(ValueType { width, ..held })).ok()
}

fn value(inner: &TypeInner) -> Option<ValueType> {
    match inner {
        TypeInner::Scalar(scalar) => Some(ValueType { scalar: known(*scalar)?, width: 1 }),
        TypeInner::Vector { size, scalar } => {
            Some(ValueType { scalar: known(*scalar)?, width: *size as u8 })
        }
        _ => None,
    }
}

fn known(scalar: naga::Scalar) -> Option<Scalar> {
    Scalar::from_name(&wgsl::spelled(scalar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Language, Origin};

    fn source(text: &str) -> KernelSource {
        KernelSource {
            origin: Origin::User("my.wgsl".into()),
            group: [64, 1, 1],
            ..KernelSource::new(Language::Wgsl, "", text)
        }
    }

    const TEXT: &str = "
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> a: f32;
@group(0) @binding(0) var<storage, read_write> sums: array<atomic<u32>>;
@compute @workgroup_size(32, 2)
fn axpy(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] += a * x[id.x].x; }
@compute @workgroup_size(8)
fn count() { atomicAdd(&sums[0], 1u); }
";

    #[test]
    fn entry_points_take_what_they_use() {
        let found = wgsl_signatures(&source(TEXT)).unwrap();
        let [axpy, count] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((axpy.entry.as_str(), axpy.group), ("axpy", Some([32, 2, 1])));
        let takes: Vec<_> = axpy.arguments.iter().map(|a| (a.name.as_str(), &a.takes)).collect();
        let element = |text: &str| Element::try_from(text.to_owned()).ok();
        let buffer = |text, access| Takes::Buffer { element: element(text), access: Some(access) };
        assert_eq!(takes[0], ("x", &buffer("f32x4", Access::Read)));
        assert_eq!(takes[1], ("y", &buffer("f32", Access::ReadWrite)));
        let float = ValueType { scalar: Scalar::F32, width: 1 };
        assert_eq!(takes[2], ("a", &Takes::Value(float)));
        assert_eq!(count.arguments.len(), 1);
        assert!(matches!(count.arguments[0].takes, Takes::Buffer { element: Some(_), .. }));
        let follows = wgsl_signatures(&source(&TEXT.replace("(32, 2)", "(GROUP_X)"))).unwrap();
        assert_eq!((follows[0].group, follows[1].group), (None, Some([8, 1, 1])));
    }

    #[test]
    fn an_array_in_constant_memory_is_a_buffer() {
        let text = "@group(0) @binding(0) var<uniform> table: array<vec4<u32>, 8>;
            @group(0) @binding(1) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(8) fn f() { out[0] = table[1].x; }";
        let found = wgsl_signatures(&source(text)).unwrap().remove(0);
        let element = Element::try_from("u32x4".to_owned()).ok();
        let buffer = Takes::Buffer { element, access: Some(Access::Read) };
        assert_eq!(found.arguments[0].takes, buffer);
    }

    #[test]
    fn other_bindings_than_the_positions_are_kept() {
        let moved = TEXT.replace("@group(0) @binding(2)", "@group(1) @binding(4)");
        let found = wgsl_signatures(&source(&moved)).unwrap();
        assert_eq!(found[0].bindings, [[0, 0], [0, 1], [1, 4]]);
        assert!(found[1].bindings.is_empty());
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let wrong = wgsl_signatures(&source("fn f() {\n  nonsense();\n}\n")).unwrap_err();
        assert!(wrong.to_string().contains("my.wgsl:2:3"), "{wrong}");
    }

    /// What the only entry point takes of each variable that it uses.
    fn arguments(declared: &str, body: &str) -> Vec<FormalArgument> {
        let text = format!("{declared}\n@compute @workgroup_size(64) fn f() {{ {body} }}");
        wgsl_signatures(&source(&text)).unwrap().remove(0).arguments
    }

    #[test]
    fn scalars_and_vectors_are_values_of_their_type() {
        for (r#type, scalar, width) in [
            ("f32", Scalar::F32, 1),
            ("u32", Scalar::U32, 1),
            ("i32", Scalar::I32, 1),
            ("vec2<f32>", Scalar::F32, 2),
            ("vec3<i32>", Scalar::I32, 3),
            ("vec4<u32>", Scalar::U32, 4),
        ] {
            let found =
                arguments(&format!("@group(0) @binding(0) var<uniform> v: {type};"), "_ = v;");
            assert_eq!(found[0].takes, Takes::Value(ValueType { scalar, width }), "{type}");
            assert_eq!(found[0].r#type, String::from(ValueType { scalar, width }));
        }
    }

    #[test]
    fn buffers_hold_scalars_vectors_and_atomics() {
        for (r#type, element, access) in [
            ("f32", Some("f32"), "let x = b[0]; b[0] = x;"),
            ("vec2<u32>", Some("u32x2"), "b[0] = b[1];"),
            ("vec3<f32>", Some("f32x4"), "b[0] = b[1];"),
            ("atomic<i32>", Some("i32"), "_ = atomicLoad(&b[0]);"),
            ("mat2x2<f32>", None, "b[0] = b[1];"),
        ] {
            let found = arguments(
                &format!("@group(0) @binding(0) var<storage, read_write> b: array<{type}>;"),
                access,
            );
            let element = element.map(|name| Element::try_from(name.to_owned()).unwrap());
            assert_eq!(
                found[0].takes,
                Takes::Buffer { element, access: Some(Access::ReadWrite) },
                "{type}"
            );
            let name = element.map_or("a type without a name".to_owned(), |e| {
                format!("array<{}>", String::from(e))
            });
            assert_eq!((&found[0].name[..], &found[0].r#type), ("b", &name));
        }
        let half = arguments(
            "enable f16; @group(0) @binding(0) var<storage, read> b: array<f16>;",
            "_ = b[0];",
        );
        let half_element = Some(Element { scalar: Scalar::F16, width: 1 });
        assert_eq!(
            half[0].takes,
            Takes::Buffer { element: half_element, access: Some(Access::Read) }
        );
    }

    #[test]
    fn a_buffer_that_is_not_read_is_written() {
        let buffer = "@group(0) @binding(0) var<storage, read_write> b: array<f32>;";
        let access = |body: &str| match &arguments(buffer, body)[0].takes {
            Takes::Buffer { access, .. } => *access,
            other => panic!("{other:?}"),
        };
        assert_eq!(access("b[0] = 1;"), Some(Access::Write));
        assert_eq!(access("b[0] += 1;"), Some(Access::ReadWrite));
        assert!(arguments(buffer, "").is_empty(), "what is not used is not taken");
    }

    #[test]
    fn a_struct_is_a_block_and_a_texture_in_two_dimensions_an_image() {
        let block = arguments(
            "struct P { n: u32, m: u32 } @group(0) @binding(0) var<uniform> p: P;",
            "_ = p.n;",
        );
        assert_eq!((&block[0].takes, &block[0].r#type[..]), (&Takes::Block, "P"));
        for (r#type, takes) in [
            ("texture_2d<f32>", Takes::Image(Some(Scalar::F32))),
            ("texture_2d<u32>", Takes::Image(Some(Scalar::U32))),
            ("texture_2d_array<f32>", Takes::Unsupported),
            ("texture_3d<f32>", Takes::Unsupported),
            ("texture_depth_2d", Takes::Unsupported),
            ("texture_storage_2d<r32float, write>", Takes::Unsupported),
        ] {
            let declared = format!("@group(0) @binding(0) var t: {type};");
            let found = &arguments(&declared, "_ = textureDimensions(t);")[0];
            assert_eq!(found.takes, takes, "{type}");
            if takes != Takes::Unsupported {
                assert_eq!(found.r#type, r#type);
            }
        }
        let sampled =
            "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;";
        let found = arguments(sampled, "_ = textureSampleLevel(t, s, vec2<f32>(), 0.0);");
        assert_eq!((&found[1].takes, &found[1].r#type[..]), (&Takes::Sampler, "sampler"));
    }

    #[test]
    fn a_sampler_stands_behind_the_one_image_that_it_samples() {
        const DECLARED: &str =
            "@group(0) @binding(0) var s: sampler; @group(0) @binding(1) var t: texture_2d<f32>;
            @group(0) @binding(2) var u: texture_2d<f32>; @group(0) @binding(3) var r: sampler;";
        let sampled = |texture: &str, sampler: &str| {
            format!("_ = textureSampleLevel({texture}, {sampler}, vec2<f32>(), 0.0);")
        };
        let found = |body: &str| {
            let text = format!("{DECLARED} @compute @workgroup_size(64) fn f() {{ {body} }}");
            let found = wgsl_signatures(&source(&text)).unwrap().remove(0);
            let names = found.arguments.iter().map(|a| (a.name.clone(), a.takes.clone()));
            (names.collect::<Vec<_>>(), found.bindings)
        };
        let image = |name: &str| (name.to_owned(), Takes::Image(Some(Scalar::F32)));
        let sampler = |name: &str, takes| (name.to_owned(), takes);
        let (names, places) = found(&(sampled("u", "s") + &sampled("t", "r")));
        let own =
            [image("t"), sampler("r", Takes::Sampler), image("u"), sampler("s", Takes::Sampler)];
        assert_eq!((&names[..], &places[..]), (&own[..], &[[0, 1], [0, 3], [0, 2], [0, 0]][..]));
        let (names, _) = found(&(sampled("u", "s") + &sampled("t", "s")));
        assert_eq!(names, [sampler("s", Takes::Unsupported), image("t"), image("u")]);
    }

    #[test]
    fn bindings_that_are_the_positions_are_not_named() {
        let with = |first: &str, second: &str| {
            let declared = format!(
                "{first} var<storage, read> a: array<f32>; {second} var<storage, read> b: array<f32>;"
            );
            let text =
                format!("{declared} @compute @workgroup_size(64) fn f() {{ _ = a[0] + b[0]; }}");
            wgsl_signatures(&source(&text)).unwrap().remove(0).bindings
        };
        assert_eq!(with("@group(0) @binding(1)", "@group(0) @binding(0)"), Vec::<[u32; 2]>::new());
        assert_eq!(with("@group(0) @binding(0)", "@group(0) @binding(2)"), [[0, 0], [0, 2]]);
        assert_eq!(with("@group(1) @binding(1)", "@group(1) @binding(0)"), [[1, 0], [1, 1]]);
    }

    #[test]
    fn a_mistake_in_the_last_byte_is_in_the_text() {
        let Error::Suite(found) = wgsl_signatures(&source("fn f() {")).unwrap_err() else {
            panic!()
        };
        assert!(found[0].offset + found[0].len <= "fn f() {".len(), "{found:?}");
        let Error::Suite(found) = wgsl_signatures(&source("fn f() { x(); }")).unwrap_err() else {
            panic!()
        };
        assert_eq!((found[0].offset, &found[0].file[..]), (9, "my.wgsl"));
        assert!(!found[0].message.is_empty() && found[0].len > 0);
    }
}
