//! SPIR-V files: which API they are for. A kernel's text is a text, so that one in SPIR-V is kept as
//! hexadecimal digits.

use gpubench_core::gpu::Language;
use gpubench_core::hash::hex;

const MAGIC: u32 = 0x0723_0203;
const OP_CAPABILITY: u32 = 17;
const SHADER: u32 = 1;
const KERNEL: u32 = 6;

/// The digits of a file, and the language of the API that it is for.
///
/// # Errors
/// Why it is for none.
pub(super) fn read(file: &[u8]) -> Result<(String, Language), String> {
    let words: Vec<u32> =
        file.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    if !file.len().is_multiple_of(4) || words.len() < 5 || words[0] != MAGIC {
        return Err("it is no SPIR-V (32-bit words in little-endian order)".to_owned());
    }
    let capabilities = capabilities(&words[5..]);
    let language = match (capabilities.contains(&SHADER), capabilities.contains(&KERNEL)) {
        (true, false) => Language::Wgsl,
        (false, true) => Language::Opencl,
        _ => {
            let why =
                "it declares neither the capability Shader (Vulkan) nor Kernel (OpenCL), or both";
            return Err(why.to_owned());
        }
    };
    Ok((hex(file), language))
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
    fn a_capability_says_which_api_a_module_is_for() {
        let shader = module(&[9, SHADER]);
        let (digits, language) = read(&shader).unwrap();
        assert_eq!((from_hex(&digits), language), (Some(shader), Language::Wgsl));
        assert_eq!(read(&module(&[4, KERNEL])).unwrap().1, Language::Opencl);
        for wrong in [&module(&[])[..], &module(&[SHADER, KERNEL]), b"#version 450", &[3, 2, 35, 7]]
        {
            assert!(read(wrong).is_err());
        }
    }
}
