//! What WGSL's entry points take: a suite for a kernel is made of it.

use super::misfit::About;
use super::wgsl;
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::gpu::{
    Access, Element, FormalArgument, KernelSource, Scalar, Signature, Takes, ValueType,
};
use naga::valid::{FunctionInfo, GlobalUse};
use naga::{AddressSpace, EntryPoint, GlobalVariable, Module, ScalarKind, TypeInner};

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
        Error::Suite(vec![Located {
            file: source.origin.file().to_owned(),
            text: source.text.as_str().into(),
            offset: range.start,
            len: range.len(),
            message: misfit.message,
            help: misfit.help,
        }])
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
        Some(([binding.group, binding.binding], formal(module, used, (handle, variable))))
    });
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(place, _)| *place);
    let places: Vec<_> = bound.iter().map(|(place, _)| *place).collect();
    let plain = (0..).zip(&places).all(|(i, place)| *place == [0, i]);
    // A group that follows the suite's is no group of the text's.
    let follows = source.text.contains("GROUP_X") && entry.workgroup_size == source.group;
    Signature {
        entry: entry.name.clone(),
        group: (!follows).then_some(entry.workgroup_size),
        bindings: if plain { vec![] } else { places },
        arguments: bound.into_iter().map(|(_, argument)| argument).collect(),
    }
}

fn formal(
    module: &Module,
    used: &FunctionInfo,
    (handle, variable): (naga::Handle<GlobalVariable>, &GlobalVariable),
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
        AddressSpace::Uniform => match value(inner) {
            Some(value) => Takes::Value(value),
            None => Takes::Block,
        },
        _ => Takes::Unsupported,
    };
    let r#type = module.types[variable.ty].name.clone().unwrap_or_else(|| match &takes {
        Takes::Buffer { element: Some(element), .. } => {
            format!("array<{}>", String::from(*element))
        }
        Takes::Value(value) => String::from(*value),
        _ => "a type without a name".to_owned(),
    });
    FormalArgument { name: variable.name.clone().unwrap_or_default(), r#type, takes }
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
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Some(Scalar::F16),
        (ScalarKind::Float, 4) => Some(Scalar::F32),
        (ScalarKind::Uint, 4) => Some(Scalar::U32),
        (ScalarKind::Sint, 4) => Some(Scalar::I32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Language, Origin};

    fn source(text: &str) -> KernelSource {
        KernelSource {
            language: Language::Wgsl,
            text: text.into(),
            entry: String::new(),
            origin: Origin::User("my.wgsl".into()),
            group: [64, 1, 1],
            constants: vec![],
            bindings: vec![],
            params_bytes: 0,
            args: None,
            meaning: None,
            settings: Default::default(),
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
}
