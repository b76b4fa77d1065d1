use super::*;
use crate::testing::{decoded, no_mistakes, wrong};

#[test]
fn bytes_are_counted_in_either_sort_of_unit() {
    let bytes = |text: &str| ByteSize::parse(text).map(|size| size.0.0);
    let given = ["4096", "9 B", "3KiB", "64 MiB", "2 GiB", "5 kB", "7MB", "2GB"];
    let wanted: [u64; 8] =
        [4096, 9, 3072, 67_108_864, 2_147_483_648, 5000, 7_000_000, 2_000_000_000];
    assert_eq!(given.map(bytes), wanted.map(Some));
    let wrong = ["", "MiB", "1 TiB", "1 kib", "-1", "1.5 MiB", "18446744073709551615 kB"];
    assert_eq!(wrong.map(bytes), [None; 7]);
}

#[test]
fn a_part_of_an_expression_stands_where_it_was_written() {
    let parts = |text: &str| {
        let expression: Expression = decoded(text).unwrap();
        let (_, first) = expression.expr.names().next().unwrap();
        text[expression.part(&first)].to_owned()
    };
    assert_eq!((parts("2 * n"), parts("'2 * n'"), parts("\"2 * n\"")), same("n"));
    // Where YAML's text is not the file's, all of it is the place.
    assert_eq!(parts("\"2 *\\u0020n\""), "\"2 *\\u0020n\"");
    assert_eq!(wrong::<Expression>("'2 * $'").1, "$");
    assert_eq!(wrong::<Expression>("\"2 *\\u0020$\"").1, "\"2 *\\u0020$\"");
}

fn same(text: &str) -> (String, String, String) {
    (text.to_owned(), text.to_owned(), text.to_owned())
}

#[test]
fn a_number_is_an_expression_however_yaml_writes_it() {
    let value = |text: &str| decoded::<Expression>(text).unwrap().expr.eval(&[]);
    for (text, wanted) in
        [("7", 7.0), ("0x10", 16.0), ("0o17", 15.0), ("-2.5", -2.5), ("1e3", 1000.0)]
    {
        assert_eq!(value(text), Ok(wanted), "{text}");
    }
    assert_eq!(decoded::<Expression>("+1.5").unwrap().expr.eval(&[]), Ok(1.5));
    assert_eq!(wrong::<Expression>("[1]").0, "expected a number or an expression, found a list");
}

#[test]
fn quotes_are_suggested_where_a_comma_cut_an_expression() {
    let help = |text: &str| {
        let mut diagnostics = no_mistakes(text);
        let node = Node::parse("", text).unwrap();
        assert!(Expression::decode(&node, &mut diagnostics).is_none());
        diagnostics.into_found()[0].help.clone()
    };
    assert!(help("ceil_div(n").unwrap().contains("needs quotes"));
    assert_eq!((help("n +"), help("(n +)")), (None, None));
}

#[test]
fn a_group_has_one_to_three_dimensions_of_at_least_one() {
    let group = |text: &str| decoded::<Group>(text).ok();
    assert_eq!(group("[64]"), Some([64, 1, 1]));
    assert_eq!((group("[8, 4]"), group("[4, 2, 3]")), (Some([8, 4, 1]), Some([4, 2, 3])));
    for (text, at) in [("[]", "["), ("[1, 1, 1, 1]", "["), ("[8, 0]", "0"), ("[-1]", "-1")] {
        assert_eq!(wrong::<Group>(text).1, at, "{text}");
    }
}

#[test]
fn one_group_or_a_list_of_them_is_read() {
    let groups = |text: &str| decoded::<Groups>(text).map(|groups| groups.all());
    assert_eq!(groups("[8, 4]"), Ok(vec![[8, 4, 1]]));
    assert_eq!(groups("[[8], [4, 2]]"), Ok(vec![[8, 1, 1], [4, 2, 1]]));
    assert_eq!(wrong::<Groups>("[]").0, "expected at least one number, found a list");
    assert_eq!(
        wrong::<Groups>("[[8], 4]").0,
        "expected a whole number between 0 and 2^32 - 1, found a list"
    );
}

#[test]
fn a_fallback_is_a_group_with_or_without_constants() {
    let plain: Fallback = decoded("[8, 2]").unwrap();
    assert_eq!((plain.group, plain.constants.0.len()), ([8, 2, 1], 0));
    let with: Fallback = decoded("{ group: [4], constants: { N: 3 } }").unwrap();
    let (name, value) = &with.constants.0[0];
    assert_eq!((with.group, &name.value[..]), ([4, 1, 1], "N"));
    assert_eq!(value.value, Constant(gpubench_core::gpu::Constant::Int(3)));
    assert_eq!(decoded::<Fallback>("{ group: [4] }").unwrap().constants.0.len(), 0);
    assert_eq!(wrong::<Fallback>("{ group: [[4]] }").0, "a fallback has one work-group");
}

#[test]
fn sizes_are_lists_by_name_or_a_list_of_cases() {
    assert!(matches!(decoded("{ n: [1, 2] }"), Ok(Sizes::Product(axes)) if axes.0[0].1.len() == 2));
    assert!(matches!(decoded("[{ n: 1 }, { n: 2 }]"), Ok(Sizes::Cases(cases)) if cases.len() == 2));
    assert_eq!(wrong::<Sizes>("7").0, "expected a map of lists or a list of maps, found `7`");
}

#[test]
fn a_parameter_has_one_of_three_types() {
    let scalar = |text: &str| decoded::<Param>(text).unwrap().scalar;
    assert_eq!((scalar("n"), scalar("{ f32: 0.5 }")), (Scalar::U32, Scalar::F32));
    assert_eq!((scalar("{ u32: n }"), scalar("{ i32: -n }")), (Scalar::U32, Scalar::I32));
    for (text, at) in [("{ f64: 1 }", "f64"), ("{ f32x2: 1 }", "f32x2"), ("{ i23: 1 }", "i23")] {
        let (message, place) = wrong::<Param>(text);
        assert_eq!((message, &place[..]), (format!("`{at}` is no type of a parameter"), at));
    }
    assert!(wrong::<Param>("{ f32: 1, u32: 2 }").0.contains("a map with one type"));
}

#[test]
fn a_constant_is_a_number_of_32_bits_or_a_type() {
    use gpubench_core::gpu::Constant as Known;
    let constant = |text: &str| decoded::<Constant>(text).map(|constant| constant.0);
    assert_eq!(constant("-2147483648"), Ok(Known::Int(-2_147_483_648)));
    assert_eq!(constant("4294967295"), Ok(Known::Int(4_294_967_295)));
    assert_eq!(constant("1.5"), Ok(Known::Float(1.5)));
    let vector = Element { scalar: Scalar::F32, width: 4 };
    assert_eq!(constant("f32x4"), Ok(Known::Type(vector)));
    for text in ["-2147483649", "4294967296", "1.0e39", "[1]"] {
        assert!(wrong::<Constant>(text).0.starts_with("expected a number of 32 bits"), "{text}");
    }
    assert!(wrong::<Constant>("f31").0.contains("`f31` is no element type"));
    let product = constant("matrix_8x8x8_f16_f32").unwrap();
    assert!(matches!(&product, Known::Matrix(of) if of.to_string() == "matrix_8x8x8_f16_f32"));
    assert!(wrong::<Constant>("matrix_8x8_f16").0.contains("is no product of matrices"));
}

#[test]
fn a_definition_is_a_text_or_a_whole_number() {
    let definition = |text: &str| decoded::<Definition>(text).map(|definition| definition.0);
    assert_eq!(definition("-7"), Ok("-7".to_owned()));
    assert_eq!(definition("float"), Ok("float".to_owned()));
    assert_eq!(wrong::<Definition>("1.5").0, "expected a text or a whole number, found `1.5`");
}

#[test]
fn bytes_are_a_number_or_a_text() {
    let bytes = |text: &str| decoded::<ByteSize>(text).map(|size| size.0.0);
    assert_eq!((bytes("4096"), bytes("0"), bytes("2 KiB")), (Ok(4096), Ok(0), Ok(2048)));
    for text in ["-1", "1.5", "[1]", "many"] {
        assert!(wrong::<ByteSize>(text).0.starts_with("expected a number of bytes"), "{text}");
    }
}

#[test]
fn a_buffer_is_split_into_rows_or_not_at_all() {
    let split = |text: &str| decoded::<Splitting>(text).map(|splitting| splitting.0);
    assert_eq!(split("broadcast"), Ok(Split::Broadcast));
    assert_eq!(split("rows"), Ok(Split::Rows { halo: 0 }));
    assert_eq!(split("{ rows: { halo: 3 } }"), Ok(Split::Rows { halo: 3 }));
    assert!(wrong::<Splitting>("columns").0.contains("unknown variant `columns`"));
    assert!(wrong::<Splitting>("{ rows: {} }").0.contains("`halo` is missing"));
}

#[test]
fn an_element_is_named_by_its_type() {
    assert_eq!(decoded::<Element>("u32x2"), Ok(Element { scalar: Scalar::U32, width: 2 }));
    assert_eq!(wrong::<Element>("f31").1, "f31");
}

#[test]
fn experiments_are_words_and_maps_of_options() {
    let names = |text: &str| {
        let all = decoded::<Experiments>(text).unwrap().0;
        all.iter()
            .map(|(name, options)| (name.value.clone(), options.is_some()))
            .collect::<Vec<_>>()
    };
    let named = |name: &str, options| (name.to_owned(), options);
    assert_eq!(names("a"), [named("a", false)]);
    assert_eq!(names("{ a: { x: 1 } }"), [named("a", true)]);
    assert_eq!(
        names("[a, { b: 1, c: 2 }]"),
        [named("a", false), named("b", true), named("c", true)]
    );
    assert_eq!(names("[]"), []);
    for text in ["7", "[7]", "[[a]]"] {
        assert!(
            wrong::<Experiments>(text).0.starts_with("expected a kind of experiment"),
            "{text}"
        );
    }
}
