//! Drivers of other architectures: a system that runs programs of several has them by design.

use super::System;
use std::env::consts::ARCH;
use std::io::Read;
use std::path::Path;

/// Architectures by the names that Rust, and manifests behind a dot, give them: the class and the machine of
/// their libraries, as ELF numbers them.
const KNOWN: [(&str, &[&str], (u8, u16)); 7] = [
    ("x86_64", &["x86_64", "amd64"], (2, 62)),
    ("x86", &["i686", "i386"], (1, 3)),
    ("aarch64", &["aarch64", "arm64"], (2, 183)),
    ("arm", &["armv7l", "armv7hf", "armhf"], (1, 40)),
    ("riscv64", &["riscv64"], (2, 243)),
    ("powerpc64", &["ppc64le", "ppc64el", "powerpc64le"], (2, 21)),
    ("loongarch64", &["loongarch64"], (2, 258)),
];

impl System<'_> {
    /// Whether the driver at `library`, which `manifest` names, is another architecture's than this
    /// program's: by its own head where it can be read, else by the manifest's name.
    pub(super) fn is_foreign(&self, manifest: &Path, library: &Path) -> bool {
        let Some(ours) = KNOWN.iter().find(|(name, ..)| *name == ARCH) else { return false };
        let head = match library.is_absolute() {
            true => self.head(library),
            // The system searches the folders of its own architecture only; the library may lie in others'.
            false => {
                self.list("/usr/lib").iter().find_map(|folder| self.head(&folder.join(library)))
            }
        };
        head.map_or_else(|| names_other(manifest, ours.1), |head| head != ours.2)
    }

    /// Class and machine of a library.
    fn head(&self, library: &Path) -> Option<(u8, u16)> {
        let mut head = [0; 20];
        std::fs::File::open(self.place(library)).ok()?.read_exact(&mut head).ok()?;
        let machine = [head[18], head[19]];
        let machine = match head[5] {
            2 => u16::from_be_bytes(machine),
            _ => u16::from_le_bytes(machine),
        };
        head.starts_with(b"\x7fELF").then_some((head[4], machine))
    }
}

/// Whether a manifest such as `lvp_icd.i686.json` names another architecture.
fn names_other(manifest: &Path, ours: &[&str]) -> bool {
    let stem = manifest.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let Some((_, architecture)) = stem.rsplit_once('.') else { return false };
    !ours.contains(&architecture) && KNOWN.iter().any(|(_, names, _)| names.contains(&architecture))
}
