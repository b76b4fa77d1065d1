use super::*;
use crate::testing::{SUITE, decoded, load_with, message, mistake, workload_with, wrong};
use crate::{Suite, load};

/// An array as NumPy saves it: its header, and the bytes of its numbers.
fn array(dtype: &str, shape: &str, bytes: usize) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}");
    let header = format!("{header:<117}\n");
    [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes(), &vec![0; bytes]].concat()
}

/// The suite of one size, verified so, in a folder with these files.
fn verified(verify: &str, buffers: &str, files: &[(&str, &[u8])]) -> Result<Suite, String> {
    let folder = tempfile::tempdir().unwrap();
    let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("[64, 128, 256]", "[64]");
    let suite = suite
        .replace("out: { type: f32, count: n }", buffers)
        .replace("{ reference: copy }", verify);
    let usual = [("k.cl", crate::testing::CL.as_bytes()), ("s.yaml", suite.as_bytes())];
    for (name, bytes) in usual.iter().chain(files) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join("s.yaml").to_string_lossy().into_owned();
    load(&path, &["copy"], &crate::testing::KINDS).map_err(|error| error.to_string())
}

const OUT: &str = "out: { type: f32, count: n }";
const TWO: &str = "out: { type: f32, count: n }\n      more: { type: u8, count: 2*n, access: read_write, fill: index }";

#[test]
fn what_verifies_is_one_of_four() {
    let how = |text: &str| match decoded::<Verification>(text).unwrap().against {
        Against::Nothing => "nothing".to_owned(),
        Against::Reference(name) => format!("reference {}", name.value),
        Against::File(file) => format!("file {}", file.value),
        Against::Arrays(files) => format!("{} arrays", files.0.len()),
        Against::Command(words, seconds) => {
            format!("{} words, {seconds} s", words.value.len())
        }
        Against::Device => "device".to_owned(),
        Against::Emulator => "emulator".to_owned(),
    };
    for (text, wanted) in [
        ("none", "nothing"),
        ("{ reference: copy }", "reference copy"),
        ("{ file: a.bin }", "file a.bin"),
        ("{ file: { a: a.npy, b: b.npy } }", "2 arrays"),
        ("{ command: [a, b] }", "2 words, 60 s"),
        ("{ command: [a], seconds: 100 }", "1 words, 100 s"),
        ("{ command: [a], seconds: 1.0e-3 }", "1 words, 0.001 s"),
        ("{ against: device }", "device"),
        ("{ against: emulator, relative: 0.1 }", "emulator"),
    ] {
        assert_eq!(how(text), wanted, "{text}");
    }
    for (text, message) in [
        ("maybe", "expected `none`, or a map with"),
        ("{}", "say with exactly one of"),
        ("{ reference: a, against: device }", "say with exactly one of"),
        ("{ file: a, command: [a] }", "say with exactly one of"),
        ("{ reference: a, seconds: 3 }", "`seconds` limit a `command`, and there is none"),
        ("{ command: [a], seconds: 0 }", "a command has up to 100 seconds, not 0"),
        ("{ command: [a], seconds: 100.5 }", "a command has up to 100 seconds, not 100.5"),
        ("{ reference: a, relative: -1 }", "a tolerance is a number that is not negative"),
        ("{ file: [a] }", "expected a text, found a list"),
    ] {
        assert!(wrong::<Verification>(text).0.starts_with(message), "{text}");
    }
}

#[test]
fn tolerances_reach_the_workload() {
    let how = |verify: &str| {
        let verify = workload_with("{ reference: copy }", verify).verify;
        let how = verify.allowed().map(|how| (how.relative, how.absolute));
        (verify, how)
    };
    let named = Some((0.5, 1e-6));
    assert_eq!(how("{ reference: copy, relative: 0.5 }").1, named);
    assert!(
        matches!(how("{ against: device, relative: 0.5 }"), (Verify::Device(_), how) if how == named)
    );
    assert!(
        matches!(how("{ against: emulator, relative: 0.5 }"), (Verify::Emulator(_), how) if how == named)
    );
    assert_eq!(how("none"), (Verify::Nothing, None));
    let embedded = "profiles: { embedded: { absolute: 3 } }";
    for verify in ["reference: copy", "against: device", "against: emulator", "command: [a]"] {
        let workload = workload_with("{ reference: copy }", &format!("{{ {verify}, {embedded} }}"));
        assert_eq!(workload.profiles.len(), 1, "{verify}");
    }
}

#[test]
fn mistakes_of_verification_are_said() {
    let with = |verify: &str| mistake("{ reference: copy }", verify, &[]);
    for (verify, message, at) in [
        ("{ reference: cop }", "there is no reference `cop`", "cop"),
        ("{ command: [] }", "the command has no words", "command"),
        (
            "{ file: none.bin }",
            "cannot read the expected result `none.bin`: there is no such file",
            "none.bin",
        ),
        ("{ file: { a: k.cl } }", "the kernel writes no buffer `a`", "a"),
        ("{ file: {} }", "there is no file for `out`, which the kernel writes", "verify"),
        ("{ file: k.cl }", "a file holds the result of one size, and here are several", "verify"),
        (
            "{ file: { out: k.cl } }",
            "a file holds the result of one size, and here are several",
            "verify",
        ),
    ] {
        let (said, place) = with(verify);
        assert_eq!((&said[..], &place[..]), (message, at), "{verify}");
    }
    assert_eq!(
        message("    verify: { reference: copy }\n", "", &[]),
        "it is not said how the result is verified"
    );
    let opencl =
        SUITE.replace("wgsl: k.wgsl, ", "").replace("{ reference: copy }", "{ against: emulator }");
    assert_eq!(
        message(SUITE, &opencl, &[]),
        "the emulator runs WGSL, and the kernel has no such source"
    );
}

#[test]
fn a_file_holds_all_written_buffers_and_nothing_else() {
    let with = |bytes: usize, buffers: &str| {
        verified("{ file: out.bin }", buffers, &[("out.bin", &vec![0; bytes])])
    };
    let suite = with(256, OUT).unwrap();
    assert!(
        matches!(&suite.workloads[0].verify, Verify::File(path, _) if path.ends_with("out.bin"))
    );
    assert!(
        with(255, OUT)
            .unwrap_err()
            .contains("expected result at n=64: the file has 255 bytes, the written buffers 256")
    );
    assert!(with(384, TWO).is_ok() && with(256, TWO).is_err());
}

#[test]
fn an_array_holds_one_buffer() {
    let floats = array("<f4", "64,", 256);
    let suite = verified("{ file: out.npy }", OUT, &[("out.npy", &floats)]).unwrap();
    assert!(
        matches!(&suite.workloads[0].verify, Verify::Arrays(all, _) if all.len() == 1 && all[0].0 == "out")
    );
    let why = verified("{ file: out.npy }", TWO, &[("out.npy", &floats)]).unwrap_err();
    assert!(
        why.contains("name a file for each that is written")
            && why.contains("{ out: out.npy, more: more.npy }"),
        "{why}"
    );
    let both = "{ file: { out: a.npy, more: b.npy } }";
    let bytes = array("|u1", "2, 64", 128);
    assert!(verified(both, TWO, &[("a.npy", &floats), ("b.npy", &bytes)]).is_ok());
    let why = verified(both, TWO, &[("a.npy", &floats), ("b.npy", &floats)]).unwrap_err();
    assert!(why.contains("`b.npy` for buffer `more`: its type is `<f4`"), "{why}");
    let vectors = "out: { type: f32x2, count: n }";
    assert!(
        verified("{ file: out.npy }", vectors, &[("out.npy", &array("<f4", "128,", 512))]).is_ok()
    );
    assert!(
        verified("{ file: out.npy }", vectors, &[("out.npy", &floats)])
            .unwrap_err()
            .contains("not 128")
    );
    assert!(
        verified("{ file: out.npy }", OUT, &[("out.npy", b"no array")])
            .unwrap_err()
            .contains("it is no `.npy` file")
    );
}

/// Where what is expected changes, so does the suite.
#[test]
fn the_hash_of_a_suite_follows_what_is_expected() {
    let hash = |verify: &str, name: &str, bytes: &[u8]| {
        verified(verify, OUT, &[(name, bytes)]).unwrap().hash
    };
    let numbers = [vec![0; 256], vec![1; 256]];
    let [one, other] = numbers.each_ref().map(|bytes| hash("{ file: out.bin }", "out.bin", bytes));
    assert_ne!(one, other);
    assert_eq!(one, hash("{ file: out.bin }", "out.bin", &numbers[0]));
    let [mut one, zeros] = [array("<f4", "64,", 256), array("<f4", "64,", 256)];
    *one.last_mut().unwrap() = 1;
    assert_ne!(
        hash("{ file: out.npy }", "out.npy", &one),
        hash("{ file: out.npy }", "out.npy", &zeros)
    );
    let command = "{ command: [python3, expected.py] }";
    assert_ne!(hash(command, "expected.py", b"1"), hash(command, "expected.py", b"2"));
    assert_eq!(hash(command, "other.py", b"1"), hash(command, "other.py", b"2"));
}

#[test]
fn a_command_runs_in_the_folder_of_its_suite() {
    let suite = verified("{ command: [echo, a b], seconds: 2 }", OUT, &[]).unwrap();
    let Verify::Command(command, _) = &suite.workloads[0].verify else { panic!() };
    assert_eq!(
        (&command.words[..], command.seconds),
        (&["echo".to_owned(), "a b".to_owned()][..], 2.0)
    );
    assert!(
        command.folder.is_absolute() && command.place.ends_with("s.yaml:13"),
        "{}",
        command.place
    );
    assert!(suite.workloads[0].programs().contains(&"`echo a b`".to_owned()));
    let several = load_with("{ reference: copy }", "{ command: [echo] }", &[]).unwrap();
    assert_eq!(several.cases(), 3, "a command is for any number of sizes");
}
