//! What every buffer of a case holds before a launch, its guards included: ready to be written to the
//! device again and again. Inputs that take long to make, or are made again, are shared by a run's workers through files.

use super::memory::{self, filled, guarded, input_seed, inside};
use super::scratch_file::{self, Mapped};
use crate::plan::{BufferPlan, Case};
use gpubench_core::error::Result;
use gpubench_core::gpu::Access;
use gpubench_core::hash::sha256_hex;
use gpubench_device::Device;
use gpubench_reference::Data;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Inputs below this many bytes are made in less time than a file is opened and read.
const MIN_SHARED: u64 = 1 << 18;

/// The buffers of a case before a launch.
pub(super) struct Images<'a> {
    case: &'a Case,
    images: Vec<Image>,
    data: OnceCell<Vec<Data>>,
}

enum Image {
    Made(Vec<u8>),
    Shared(Mapped),
}

impl Image {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Made(bytes) => bytes,
            Self::Shared(mapped) => mapped.parts().next().unwrap_or_default(),
        }
    }
}

impl<'a> Images<'a> {
    /// Those of `case`; `scratch` is the run's folder for what its workers share.
    pub fn new(case: &'a Case, scratch: Option<&Path>) -> Self {
        let image = |buffer| {
            if filled(buffer).is_none() {
                return Image::Made(memory::guarded_poison(buffer.bytes().as_usize()));
            }
            let file = shared_file(case, buffer, scratch);
            if let Some(mapped) = file.as_deref().and_then(Mapped::open) {
                return Image::Shared(mapped);
            }
            let begun = Instant::now();
            let made = guarded(memory::contents(case, buffer).as_bytes());
            if let Some(file) = file {
                scratch_file::keep(&file, begun, &[&made]);
            }
            Image::Made(made)
        };
        let images = case.buffers.iter().map(image).collect();
        Self { case, images, data: OnceCell::new() }
    }

    /// Writes those buffers whose access `which` takes.
    pub fn write(&self, device: &mut dyn Device, which: impl Fn(Access) -> bool) -> Result<()> {
        for (i, (buffer, image)) in self.case.buffers.iter().zip(&self.images).enumerate() {
            if which(buffer.access) {
                device.write(self.case.buffer(i), image.bytes())?;
            }
        }
        Ok(())
    }

    /// The contents between the guards, as scalars.
    pub fn data(&self) -> &[Data] {
        self.data.get_or_init(|| self.made())
    }

    /// The same, for one use.
    pub fn made(&self) -> Vec<Data> {
        let data = |(buffer, image): (&BufferPlan, &Image)| {
            Data::from_bytes(buffer.element.scalar, inside(image.bytes()))
        };
        self.case.buffers.iter().zip(&self.images).map(data).collect()
    }
}

/// Where an input is shared: named for all that it depends on.
fn shared_file(case: &Case, buffer: &BufferPlan, scratch: Option<&Path>) -> Option<PathBuf> {
    let (how, bytes) = (filled(buffer)?, buffer.bytes().0);
    if bytes < MIN_SHARED {
        return None;
    }
    let identity = (how, buffer.element.scalar, bytes, input_seed(case, buffer));
    let name = sha256_hex(serde_json::to_vec(&identity).ok()?);
    Some(scratch?.join(format!("{name}.input")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::case::sample::case;
    use gpubench_core::workload::Fill;

    #[test]
    fn inputs_made_again_are_shared_and_a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut case = case("memory", "copy", 100_000);
        case.buffers[0].access = Access::Read;
        case.buffers[0].fill = Some(Fill::RandomBits);
        let made = Images::new(&case, None);
        let same = |is_shared: bool| {
            let images = Images::new(&case, Some(folder.path()));
            assert_eq!(matches!(images.images[0], Image::Shared(_)), is_shared);
            assert!(images.images[0].bytes() == made.images[0].bytes());
            assert_eq!(images.data(), memory::initial(&case));
        };
        // Whether the first is kept depends on how long it took.
        (0..2).for_each(|_| drop(Images::new(&case, Some(folder.path()))));
        same(true);
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
        let is_input = |file: &PathBuf| file.extension().is_some_and(|name| name == "input");
        let files: Vec<PathBuf> = files.filter(is_input).collect();
        let [file] = &files[..] else { panic!("{files:?}") };
        let mut bytes = std::fs::read(file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(file, bytes).unwrap();
        same(false);
        same(true);
        case.seed += 1;
        let other = Images::new(&case, Some(folder.path()));
        assert!(matches!(other.images[0], Image::Made(_)), "another seed, another input");
    }

    #[test]
    fn an_output_begins_poisoned_between_its_guards() {
        let case = case("memory", "copy", 1000);
        let images = Images::new(&case, None);
        assert!(images.images[0].bytes() == guarded(memory::initial(&case)[0].as_bytes()));
    }
}
