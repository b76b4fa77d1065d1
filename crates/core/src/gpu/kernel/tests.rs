use super::*;

fn element(text: &str) -> Element {
    Element::try_from(text.to_owned()).unwrap()
}

#[test]
fn elements_have_a_size_and_a_name_in_each_language() {
    for (text, bytes, opencl, wgsl) in [
        ("f32", 4, "float", Some("f32")),
        ("u8", 1, "uchar", None),
        ("f16x2", 4, "half2", Some("vec2<f16>")),
        ("i32x4", 16, "int4", Some("vec4<i32>")),
        ("f32x8", 32, "float8", None),
        ("f64x16", 128, "double16", None),
    ] {
        let element = element(text);
        assert_eq!((element.size(), String::from(element)), (Bytes(bytes), text.to_owned()));
        assert_eq!(element.spelled(Language::Opencl).as_deref(), Some(opencl));
        assert_eq!(element.spelled(Language::Wgsl).as_deref(), wgsl, "{text}");
    }
    let why = |text: &str| Element::try_from(text.to_owned()).unwrap_err();
    assert!(why("f32x3").contains("2, 4, 8 or 16 components"));
    assert!(why("f8").contains("`f8` is no element type"));
    assert_eq!(Element::scalar(Scalar::F64).size(), Bytes(8));
}

#[test]
fn a_schema_takes_what_is_read() {
    let schema = schemars::schema_for!(Vec<Element>).to_value();
    let element = &schema["$defs"]["Element"];
    assert_eq!(
        (&element["type"], schema["items"]["$ref"].as_str()),
        (&"string".into(), Some("#/$defs/Element"))
    );
    assert!(element["pattern"].as_str().is_some_and(|pattern| pattern.contains("x2|x4|x8|x16")));
}

#[test]
fn constants_are_numbers_and_text() {
    for (constant, number, text) in [
        (Constant::Int(-3), -3.0, "-3"),
        (Constant::Float(0.5), 0.5, "0.5"),
        (Constant::Type(element("f32x4")), 4.0, "f32x4"),
    ] {
        assert_eq!((constant.number(), constant.to_string()), (number, text.to_owned()));
    }
}

fn source(language: Language, origin: Origin) -> KernelSource {
    let binding = Binding {
        name: "x".into(),
        element: element("f32x4"),
        access: Access::ReadWrite,
        image: None,
    };
    KernelSource {
        origin,
        group: [8, 4, 2],
        constants: vec![("N".into(), Constant::Int(3))],
        bindings: vec![binding],
        params_bytes: 16,
        ..KernelSource::new(language, "e", "t")
    }
}

#[test]
fn only_gpubenchs_own_kernels_with_its_own_sizes_go_unchecked() {
    for (origin, wgsl) in [
        (Origin::Shipped("f".into()), BoundsChecks::Off),
        (Origin::Lent("f".into()), BoundsChecks::On),
        (Origin::User("f".into()), BoundsChecks::On),
    ] {
        assert_eq!(origin.file(), "f");
        assert_eq!(source(Language::Wgsl, origin.clone()).bounds_checks(), wgsl);
        assert_eq!(source(Language::Opencl, origin).bounds_checks(), BoundsChecks::Off);
    }
}

/// Files of earlier versions hold such hashes: the text that is hashed stays what it is here.
#[test]
fn a_hash_is_of_what_decides_the_result() {
    const IDENTITY: &str = r#"[["opencl","t","e"],[[8,4,2],[["N",{"int":3}]],[{"name":"x","element":"f32x4","access":"read_write"}],16]]"#;
    let sha = |more: &str| crate::hash::sha256_hex(format!("{IDENTITY}{more}"));
    let plain = source(Language::Opencl, Origin::User("a".into()));
    assert_eq!((plain.hash(), plain.group_size()), (sha(""), 64));
    assert_eq!(KernelSource { origin: Origin::User("b".into()), ..plain.clone() }.hash(), sha(""));
    let listed = KernelSource { args: Some(vec![Argument::Buffer(0)]), ..plain.clone() };
    assert_eq!(listed.hash(), sha(r#"[{"buffer":0}]"#));
    let settings = Settings { options: vec!["-w".into()], ..Settings::default() };
    assert_eq!(KernelSource { settings, ..plain }.hash(), sha(r#"{"options":["-w"]}"#));
}

#[test]
fn groups_are_named_without_the_ones_behind() {
    let groups = [[64, 1, 1], [16, 16, 1], [4, 1, 2], [1, 1, 1]];
    assert_eq!(groups.map(group_label), ["64", "16x16", "4x1x2", "1"]);
}
