//! Model 1, streams: how long do copies and a kernel take when cut into `s` equal streams?
//!
//! Source: L14 §3.1.1, equations 3.1 to 3.6. [`super::pipeline`] gives the exact answer for
//! chunks of any sizes.

/// Seconds of the three stages of a problem (or of one chunk of it), each measured alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stages {
    /// Copy from host to device, `T_hd`.
    pub upload: f64,
    /// Kernel, `T_k`.
    pub kernel: f64,
    /// Copy from device to host, `T_dh`.
    pub download: f64,
}

impl Stages {
    /// The time of the three one after the other (3.1).
    pub fn serial(self) -> f64 {
        self.upload + self.kernel + self.download
    }

    /// The longest of the three: no overlap can be faster.
    pub fn longest(self) -> f64 {
        self.upload.max(self.kernel).max(self.download)
    }

    /// This problem cut into `count` equal chunks.
    pub fn equal_chunks(self, count: u32) -> Vec<Self> {
        let n = f64::from(count.max(1));
        let chunk =
            Self { upload: self.upload / n, kernel: self.kernel / n, download: self.download / n };
        vec![chunk; count.max(1) as usize]
    }
}

/// Which copies the device runs concurrently with a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// None.
    Nothing,
    /// Copies from host to device only.
    Uploads,
    /// Copies from device to host only.
    Downloads,
    /// Copies in both directions, by one copy engine.
    Both,
}

/// Seconds of the whole problem in `streams` equal streams.
///
/// The kernel dominates when it is at least as long as the longer copy. The paper's one equation
/// for dominating copies with both directions overlapped, 3.6, is that of one copy engine; with
/// two, use [`super::pipeline`].
pub fn total(stages: Stages, streams: u32, overlap: Overlap) -> f64 {
    let Stages { upload, kernel, download } = stages;
    let s = f64::from(streams.max(1));
    let kernel_dominates = kernel >= upload.max(download);
    match (overlap, kernel_dominates) {
        (Overlap::Nothing, _) => stages.serial(),
        (Overlap::Uploads, true) => upload / s + kernel + download, // 3.2
        (Overlap::Downloads, true) => upload + kernel + download / s, // 3.3
        (Overlap::Both, true) => upload / s + kernel + download / s, // 3.4
        (Overlap::Uploads | Overlap::Downloads, false) => upload + kernel / s + download, // 3.5
        (Overlap::Both, false) => upload + download,                // 3.6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_six_equations() {
        let kernel = Stages { upload: 2.0, kernel: 8.0, download: 4.0 };
        assert_eq!(total(kernel, 4, Overlap::Nothing), 14.0);
        assert_eq!(total(kernel, 4, Overlap::Uploads), 12.5);
        assert_eq!(total(kernel, 4, Overlap::Downloads), 11.0);
        assert_eq!(total(kernel, 4, Overlap::Both), 9.5);
        let copies = Stages { upload: 8.0, kernel: 4.0, download: 2.0 };
        assert_eq!(total(copies, 4, Overlap::Nothing), 14.0);
        assert_eq!(total(copies, 4, Overlap::Uploads), 11.0);
        assert_eq!(total(copies, 4, Overlap::Downloads), 11.0);
        assert_eq!(total(copies, 4, Overlap::Both), 10.0);
    }

    #[test]
    fn one_stream_overlaps_nothing_while_the_kernel_dominates() {
        let stages = Stages { upload: 1.0, kernel: 3.0, download: 2.0 };
        for overlap in [Overlap::Nothing, Overlap::Uploads, Overlap::Downloads, Overlap::Both] {
            assert_eq!(total(stages, 1, overlap), 6.0);
            assert_eq!(total(stages, 0, overlap), 6.0, "no stream counts as one");
        }
    }
}
