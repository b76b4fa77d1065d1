use super::*;

fn value(text: &str) -> ValueType {
    ValueType::try_from(text.to_owned()).unwrap()
}

#[test]
fn only_what_goes_by_value_has_bytes_of_the_parameters() {
    assert_eq!(Argument::Block(24).bytes(), Some((0, 24)));
    let wide = Argument::Value { offset: 8, r#type: value("f32x4") };
    assert_eq!(wide.bytes(), Some((8, 16)));
    assert_eq!(Argument::Buffer(2).bytes(), None);
    assert_eq!(Argument::Local(64).bytes(), None);
}

#[test]
fn a_sampler_stands_behind_its_image_and_in_no_list_of_a_suite() {
    use crate::gpu::{Filter, Image};
    let block = Argument::Block(16);
    for args in [None, Some(vec![Argument::Buffer(0), block])] {
        let mut plain = source(Language::Wgsl, "f32", args);
        assert_eq!(plain.arguments(), [Argument::Buffer(0), block]);
        assert_eq!(plain.buffer_count(), 1);
        plain.bindings[0].image = Some(Image { width: 8, filter: None });
        assert_eq!((plain.arguments().len(), plain.buffer_count()), (2, 0));
        plain.bindings[0].image = Some(Image { width: 8, filter: Some(Filter::Nearest) });
        let sampled = plain.arguments();
        assert_eq!(sampled, [Argument::Buffer(0), Argument::Sampler(0), block]);
        let places: Vec<_> = (0..3).map(|at| place_in_suite(&sampled, at)).collect();
        assert_eq!(places, [0, 0, 1]);
    }
}

#[test]
fn types_are_read_and_written() {
    for text in ["i8", "u64", "f64", "f32x4", "u16x3", "i32x16"] {
        assert_eq!(String::from(value(text)), text);
    }
    assert_eq!((value("f32x4").opencl(), value("u64").opencl()), ("float4".into(), "ulong".into()));
    assert_eq!((value("f32x3").size(), value("f64x2").size(), value("i8").size()), (16, 16, 1));
    for (name, text) in [("unsigned int", "u32"), ("float4", "f32x4"), ("double", "f64")] {
        assert_eq!(ValueType::from_opencl(name), Some(value(text)));
    }
    for name in ["Params", "float5", "float*", "image2d_t", "int1"] {
        assert_eq!(ValueType::from_opencl(name), None, "{name}");
    }
    for text in ["f8", "f32x5", "int", "f32x", ""] {
        assert!(ValueType::try_from(text.to_owned()).is_err(), "{text}");
    }
}

/// `kernel`, in a language, with a buffer of such elements, 16 bytes of parameters and these arguments.
fn source(language: Language, element: &str, args: Option<Vec<Argument>>) -> KernelSource {
    use crate::gpu::{Access, Binding, Element, Origin};
    let element = Element::try_from(element.to_owned()).unwrap();
    KernelSource {
        origin: Origin::User("k".into()),
        group: [8, 4, 2],
        bindings: vec![Binding { name: "x".into(), element, access: Access::Read, image: None }],
        params_bytes: 16,
        args,
        ..KernelSource::new(language, "kernel", String::new())
    }
}

#[test]
fn a_kernel_takes_its_list_or_its_buffers_and_the_block() {
    let plain = source(Language::Opencl, "f32", None);
    assert_eq!(plain.arguments(), [Argument::Buffer(0), Argument::Block(16)]);
    assert_eq!((plain.group_size(), plain.origin.file()), (64, "k"));
    let bare = KernelSource { params_bytes: 0, ..plain };
    assert_eq!(bare.arguments(), [Argument::Buffer(0)]);
    let args = vec![Argument::Local(64), Argument::Buffer(0), Argument::Local(32)];
    let own = source(Language::Opencl, "f32", Some(args.clone()));
    assert_eq!((own.arguments(), own.buffer_count()), (args, 1));
    assert_eq!(own.local_arguments(), Bytes(96));
}

#[test]
fn what_wgsl_cannot_take_is_named() {
    let number = |text| Argument::Value { offset: 0, r#type: value(text) };
    for (element, arg, lacks) in [
        ("f32", number("f32x4"), None),
        ("f32", number("i32"), None),
        ("f32", number("f32x8"), Some("f32x8")),
        ("f32", number("u8"), Some("u8")),
        ("f32", Argument::Local(64), Some("local memory")),
        ("u8", number("i32"), Some("u8")),
    ] {
        let why = |language| source(language, element, Some(vec![arg])).unsupported_argument();
        let found = why(Language::Wgsl);
        assert_eq!(found.is_some(), lacks.is_some(), "{element} {arg:?}: {found:?}");
        assert!(lacks.is_none_or(|lacks| found.is_some_and(|found| found.contains(lacks))));
        assert_eq!(why(Language::Opencl), None);
    }
    let image = Some(Image { width: 4, filter: None });
    let mut bytes = source(Language::Wgsl, "u8", None);
    bytes.bindings.iter_mut().for_each(|binding| binding.image = image);
    assert_eq!(bytes.unsupported_argument(), None, "the device makes fractions of them");
    let plain = crate::gpu::Binding { image: None, ..bytes.bindings[0].clone() };
    bytes.bindings.push(plain);
    assert!(bytes.unsupported_argument().is_some_and(|why| why.contains("u8")));
}

#[test]
fn values_are_packed_behind_the_block() {
    let values = [(value("u8"), vec![7.0]), (value("u32"), vec![258.0])];
    assert_eq!(packed(4, &values), [7, 0, 0, 0, 2, 1, 0, 0]);
    assert!(value("u8").holds(255.0) && !value("u8").holds(256.0));
}

#[test]
fn vectors_of_three_lie_as_those_of_four() {
    assert_eq!(value("i16x2").bytes(&[1.0, -1.0]), [1, 0, 255, 255]);
    assert_eq!(value("u8x3").bytes(&[1.0, 2.0, 3.0]), [1, 2, 3, 0]);
    assert_eq!(value("f64").bytes(&[1.5]), 1.5f64.to_ne_bytes());
}

#[test]
fn values_lie_behind_the_block_at_multiples_of_their_size() {
    let types = ["i8", "f64", "i32"].map(value);
    assert_eq!(offsets(4, types), (vec![4, 8, 16], 20));
    assert_eq!(offsets(12, []), (vec![], 12));
}

#[test]
fn buffers_in_another_order_than_the_kernels_are_a_misfit() {
    use crate::gpu::Access;
    let mut source = source(Language::Opencl, "f32", None);
    let element = source.bindings[0].element;
    let more =
        crate::gpu::Binding { name: "y".into(), element, access: Access::Write, image: None };
    source.bindings.push(more);
    assert_eq!(source.buffer_count(), 2);
    let misfit = |theirs: &[&str]| {
        order_misfit(&source, &theirs.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    };
    let why = "the suite's buffers are x, y, and `kernel` in k takes y, x";
    assert_eq!(misfit(&["y", "x"]).as_deref(), Some(why));
    assert!(misfit(&["a", "x"]).is_some(), "one has the name of another");
    assert_eq!([misfit(&["x", "y"]), misfit(&["a", "b"]), misfit(&["x", "b"])], [None, None, None]);
}
