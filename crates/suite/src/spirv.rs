//! SPIR-V files: which API they are for. A kernel's text is a text, so that one in SPIR-V is kept as
//! hexadecimal digits.

use gpubench_core::gpu::Language;
use gpubench_core::hash::hex;

const MAGIC: u32 = 0x0723_0203;
const OP_CAPABILITY: u32 = 17;
const SHADER: u32 = 1;
const KERNEL: u32 = 6;
/// Assembly of the device, or of the host where that is the device.
const ASSEMBLY: u32 = 5606;

/// A file in SPIR-V.
#[derive(Debug, PartialEq)]
pub(super) struct Spirv {
    /// Its digits.
    pub digits: String,
    /// The language of the API that it is for.
    pub language: Language,
    /// The optional features of a device that it needs.
    pub needs: Vec<&'static str>,
}

/// What a file is.
///
/// # Errors
/// Why it is for no API.
pub(super) fn read(file: &[u8]) -> Result<Spirv, String> {
    let words: Vec<u32> =
        file.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        return Err("it is SPIR-V in big-endian order: write it in little-endian order".to_owned());
    }
    if words.first() != Some(&MAGIC) {
        return Err("it is no SPIR-V: that begins with the number 0x07230203".to_owned());
    }
    check_lengths(file.len(), &words)?;
    let capabilities = capabilities(&words[HEADER..]);
    if capabilities.contains(&ASSEMBLY) {
        return Err("it holds assembly (the capability AsmINTEL)".to_owned());
    }
    let language = match (capabilities.contains(&SHADER), capabilities.contains(&KERNEL)) {
        (true, false) => Language::Wgsl,
        (false, true) => Language::Opencl,
        _ => {
            let why =
                "it declares neither the capability Shader (Vulkan) nor Kernel (OpenCL), or both";
            return Err(why.to_owned());
        }
    };
    let mut needs: Vec<_> = capabilities.into_iter().filter_map(feature).collect();
    needs.sort_unstable();
    needs.dedup();
    Ok(Spirv { digits: hex(file), language, needs })
}

/// Words before the first instruction.
const HEADER: usize = 5;

/// Whether the instructions end where the file does.
///
/// # Errors
/// Where the file was cut, or what stands there is no instruction.
fn check_lengths(bytes: usize, words: &[u32]) -> Result<(), String> {
    let cut = || format!("it is cut: {bytes} bytes end within a word or an instruction");
    if !bytes.is_multiple_of(4) || words.len() < HEADER {
        return Err(cut());
    }
    let mut at = HEADER;
    while let Some(first) = words.get(at) {
        match first >> 16 {
            0 => return Err(format!("its word {at} is no instruction")),
            length => at += length as usize,
        }
    }
    if at == words.len() { Ok(()) } else { Err(cut()) }
}

/// The optional feature of a device that a capability stands for.
fn feature(capability: u32) -> Option<&'static str> {
    match capability {
        9 => Some("f16"),
        10 => Some("f64"),
        61..=68 => Some("subgroups"),
        _ => None,
    }
}

/// The capabilities that a module declares; they stand before everything else.
fn capabilities(mut instructions: &[u32]) -> Vec<u32> {
    let mut found = vec![];
    while let [first, capability, ..] = instructions
        && first & 0xffff == OP_CAPABILITY
    {
        found.push(*capability);
        instructions = instructions.get((first >> 16).max(1) as usize..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::hash::from_hex;

    fn module(capabilities: &[u32]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x0001_0300, 0, 1, 0];
        words.extend(capabilities.iter().flat_map(|&one| [2 << 16 | OP_CAPABILITY, one]));
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_capability_says_which_api_a_module_is_for_and_what_it_needs() {
        let shader = module(&[9, SHADER, 63, 61]);
        let found = read(&shader).unwrap();
        assert_eq!((from_hex(&found.digits), found.language), (Some(shader), Language::Wgsl));
        assert_eq!(found.needs, ["f16", "subgroups"]);
        let kernel = read(&module(&[4, KERNEL, 10])).unwrap();
        assert_eq!((kernel.language, kernel.needs), (Language::Opencl, vec!["f64"]));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let good = module(&[SHADER]);
        let swapped: Vec<u8> = good.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        let mut empty = good.clone();
        empty.extend([0; 4]);
        for (file, why) in [
            (&module(&[])[..], "neither the capability Shader"),
            (&module(&[4]), "neither the capability Shader"),
            (&module(&[SHADER, KERNEL]), "or both"),
            (&module(&[KERNEL, ASSEMBLY]), "it holds assembly"),
            (b"#version 450", "no SPIR-V"),
            (b"", "no SPIR-V"),
            (&swapped, "big-endian"),
            (&good[..good.len() - 1], "it is cut: 27 bytes"),
            (&good[..good.len() - 4], "it is cut: 24 bytes"),
            (&good[..8], "it is cut"),
            (&empty, "its word 7 is no instruction"),
        ] {
            let said = read(file).unwrap_err();
            assert!(said.contains(why), "{why}: {said}");
        }
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn capabilities_stand_before_everything_else_and_may_be_long() {
        let header = [MAGIC, 0x0001_0300, 0, 1, 0];
        let memory_model = [3 << 16 | 14, 0, 1];
        let shader = [2 << 16 | OP_CAPABILITY, SHADER];
        let late = [2 << 16 | OP_CAPABILITY, KERNEL];
        let all = words(&[&header[..], &shader, &memory_model, &late].concat());
        assert_eq!(read(&all).map(|found| found.language), Ok(Language::Wgsl));
        // A word of an instruction is no instruction, even where it looks like one.
        let long = [4 << 16 | OP_CAPABILITY, SHADER, 2 << 16 | OP_CAPABILITY, KERNEL];
        assert_eq!(
            read(&words(&[&header[..], &long].concat())).map(|found| found.language),
            Ok(Language::Wgsl)
        );
        let other = [2 << 16 | 18, SHADER];
        assert!(read(&words(&[&header[..], &other].concat())).unwrap_err().contains("neither"));
    }

    #[test]
    fn subgroups_have_eight_capabilities() {
        let needs = |capability| read(&module(&[SHADER, capability])).unwrap().needs;
        for capability in 61..=68 {
            assert_eq!(needs(capability), ["subgroups"], "{capability}");
        }
        assert_eq!(
            (needs(60), needs(69), needs(9), needs(10)),
            (vec![], vec![], vec!["f16"], vec!["f64"])
        );
    }

    #[test]
    fn a_file_ends_with_an_instruction() {
        let good = module(&[SHADER]);
        assert!(check_lengths(good.len(), &[0; HEADER]).is_ok());
        let longer = [good.clone(), words(&[3 << 16 | 14, 0])].concat();
        assert_eq!(
            read(&longer).unwrap_err(),
            "it is cut: 36 bytes end within a word or an instruction"
        );
        for more in 1..4 {
            let bytes = [&good[..], &[0, 0, 0][..more]].concat();
            assert!(read(&bytes).unwrap_err().starts_with("it is cut"), "{more}");
        }
        assert!(read(&good[..16]).unwrap_err().starts_with("it is cut: 16 bytes"));
    }
}
