use super::*;

/// `glslangValidator -V --target-env vulkan1.1` of `set.comp`, which stands next to it.
const SET: &[u8] = include_bytes!("set.spv");

fn module(instructions: &[&[u32]]) -> Vec<u8> {
    let header = [MAGIC, 0x0001_0300, 0, 100, 0];
    let words = header.iter().chain(instructions.iter().copied().flatten());
    words.flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn what_a_compiler_wrote_is_read() {
    let module = SpirvModule::read(SET).unwrap();
    assert_eq!((module.version, &module.capabilities[..]), ([1, 3], &[1][..]));
    let [entry] = &module.entries[..] else { panic!("{:?}", module.entries) };
    assert_eq!(entry.name, "main");
    assert_eq!(
        entry.group,
        Some([GroupSize::Constant(7), GroupSize::Fixed(1), GroupSize::Fixed(1)])
    );
    let constants: Vec<_> =
        module.constants.iter().map(|one| (one.name.as_str(), one.id, one.r#type)).collect();
    assert_eq!(constants.len(), 3);
    for one in [
        ("OFFSET", 3, SpecType::Int(32)),
        ("TWICE", 4, SpecType::Bool),
        ("SCALE", 5, SpecType::Float(32)),
    ] {
        assert!(constants.contains(&one), "{constants:?}");
    }
    assert!(module.has_push_constants);
    let storage = |binding| SpirvBinding { set: 0, binding, kind: BindingKind::Storage };
    assert!(
        module.bindings.len() == 2
            && [0, 1].iter().all(|&at| module.bindings.contains(&storage(at)))
    );
    assert_eq!(module.words.len() * 4, SET.len());
}

#[test]
fn a_group_is_the_entry_points_own_where_no_built_in_constant_has_it() {
    let entry = |id: u32, name: &[u8; 4]| {
        [5 << 16 | ENTRY_POINT, GL_COMPUTE, id, u32::from_le_bytes(*name), 0]
    };
    let size = |id, x| [6 << 16 | EXECUTION_MODE, id, LOCAL_SIZE, x, 2, 1];
    let own = [&entry(1, b"one\0")[..], &entry(2, b"two\0"), &size(1, 8), &size(2, 16)].concat();
    let read = |more: &[u32]| SpirvModule::read(&module(&[&own, more])).unwrap().entries;
    let groups = read(&[]);
    let fixed = |x| Some([x, 2, 1].map(GroupSize::Fixed));
    assert_eq!((groups[0].group, groups[1].group), (fixed(8), fixed(16)));
    // A built-in constant whose parts nobody can read leaves it open, and is not taken for what drivers ignore.
    let built_in = [4 << 16 | DECORATE, 20, BUILT_IN, WORKGROUP_SIZE];
    let parts = [6 << 16 | SPEC_CONSTANT_COMPOSITE, 9, 20, 21, 22, 22];
    let open = read(&[&built_in[..], &parts].concat());
    assert_eq!((open[0].group, open[1].group), (None, None));
    let known = [
        [4 << 16 | DECORATE, 21, SPEC_ID, 5],
        [4 << 16 | SPEC_CONSTANT, 10, 21, 64],
        [4 << 16 | CONSTANT, 10, 22, 1],
    ];
    let [x, one] = [GroupSize::Constant(5), GroupSize::Fixed(1)];
    let set = read(&[&built_in[..], &known.concat(), &parts].concat());
    assert_eq!(set[0].group, Some([x, one, one]));
}

#[test]
fn a_block_is_a_buffer_by_where_it_lies_and_before_1_3_by_its_decoration() {
    let [buffer, block, array] = [1, 2, 3];
    let variable = |id: u32, to: u32, class: u32| {
        let pointer = [4 << 16 | TYPE_POINTER, 10 + id, class, to];
        let binding = [4 << 16 | DECORATE, id, BINDING, id];
        [&pointer[..], &[4 << 16 | VARIABLE, 10 + id, id, class], &binding].concat()
    };
    let structs = [[2 << 16 | TYPE_STRUCT, buffer], [2 << 16 | TYPE_STRUCT, block]].concat();
    let file = module(&[
        &[3 << 16 | DECORATE, buffer, BUFFER_BLOCK],
        &[4 << 16 | DECORATE, 24, DESCRIPTOR_SET, 3],
        &structs,
        &variable(21, buffer, UNIFORM),
        &variable(22, block, UNIFORM),
        &variable(23, block, STORAGE_BUFFER),
        &variable(24, array, STORAGE_BUFFER),
        &variable(25, block, 0),
    ]);
    let found = SpirvModule::read(&file).unwrap().bindings;
    let kinds: Vec<_> = found.iter().map(|one| (one.set, one.binding, one.kind)).collect();
    use BindingKind::{Other, Storage, Uniform};
    let wanted =
        [(0, 21, Storage), (0, 22, Uniform), (0, 23, Storage), (3, 24, Other), (0, 25, Other)];
    assert_eq!(kinds, wanted);
}

#[test]
fn a_value_has_the_bytes_of_its_type() {
    let bytes = |r#type, value| SpecConstant { name: "C".into(), id: 0, r#type }.bytes(value);
    assert_eq!(bytes(SpecType::Int(32), -1.0), Some(vec![255; 4]));
    assert_eq!(bytes(SpecType::Int(16), 65_535.0), Some(vec![255; 2]));
    assert_eq!(bytes(SpecType::Int(16), 65_536.0), None);
    assert_eq!(bytes(SpecType::Int(8), -129.0), None);
    assert_eq!(bytes(SpecType::Int(32), 0.5), None);
    assert_eq!(bytes(SpecType::Bool, 1.0), Some(vec![1, 0, 0, 0]));
    assert_eq!(bytes(SpecType::Bool, 2.0), None);
    assert_eq!(bytes(SpecType::Float(32), 1.5), Some(1.5_f32.to_le_bytes().to_vec()));
    assert_eq!(bytes(SpecType::Float(64), 1.5), Some(1.5_f64.to_le_bytes().to_vec()));
    assert_eq!(bytes(SpecType::Float(16), 1.5), Some(vec![0, 0x3e]));
    assert_eq!((bytes(SpecType::Float(16), 7e4), bytes(SpecType::Float(32), 1e300)), (None, None));
    assert_eq!(
        (bytes(SpecType::Int(24), 1.0), bytes(SpecType::Int(64), -1.0)),
        (None, Some(vec![255; 8]))
    );
}

#[test]
fn a_file_ends_with_an_instruction() {
    let good = module(&[&[2 << 16 | CAPABILITY, 1]]);
    assert!(check_lengths(good.len(), &[0; HEADER]).is_ok());
    let longer =
        [&good[..], &module(&[])[..0], &(3_u32 << 16 | 14).to_le_bytes(), &[0; 4]].concat();
    assert_eq!(
        SpirvModule::read(&longer).unwrap_err(),
        "it is cut: 36 bytes end within a word or an instruction"
    );
    for more in 1..4 {
        let bytes = [&good[..], &[0, 0, 0][..more]].concat();
        assert!(SpirvModule::read(&bytes).unwrap_err().starts_with("it is cut"), "{more}");
    }
    assert!(SpirvModule::read(&good[..16]).unwrap_err().starts_with("it is cut: 16 bytes"));
}

#[test]
fn a_module_that_is_cut_anywhere_is_no_module_or_a_shorter_one() {
    for end in 0..SET.len() {
        if let Ok(shorter) = SpirvModule::read(&SET[..end]) {
            assert_eq!(shorter.words.len() * 4, end);
        }
    }
}

proptest::proptest! {
    /// Whatever stands in one of its words: no panic, and never more than the file has.
    #[test]
    fn a_module_with_any_word_changed_is_read_or_is_none(at in 0..SET.len() / 4, word: u32) {
        let mut file = SET.to_vec();
        file[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        if let Ok(read) = SpirvModule::read(&file) {
            proptest::prop_assert_eq!(read.words.len() * 4, file.len());
        }
    }
}

#[test]
fn what_stands_in_functions_is_not_read_and_what_is_short_is_no_declaration() {
    let function = [1 << 16 | FUNCTION];
    let file = module(&[&function, &[2 << 16 | CAPABILITY, 9]]);
    assert!(SpirvModule::read(&file).unwrap().capabilities.is_empty());
    let short = module(&[&[1 << 16 | CAPABILITY], &[2 << 16 | DECORATE, 1], &[1 << 16 | NAME]]);
    assert!(SpirvModule::read(&short).unwrap().capabilities.is_empty());
}
