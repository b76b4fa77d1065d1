//! The stages of a divisible problem: what is little of them, and how sections word them.

use gpubench_core::gpu::MemoryKind;
use gpubench_core::record::Timed;
use gpubench_document::{Sentence, Unit};
use gpubench_model::schedule::Class;
use gpubench_model::streams::Stages;

/// Below this share of the serial time there is little that overlap could hide: what was hidden of it
/// would be noise.
pub const LITTLE: f64 = 0.05;

/// The medians of upload, kernel and download in isolation; `None` where one was not timed.
pub fn medians([upload, kernel, download]: [&Timed; 3]) -> Option<Stages> {
    Some(Stages {
        upload: upload.median()?,
        kernel: kernel.median()?,
        download: download.median()?,
    })
}

/// `upload 1.2 ms, kernel 3 ms, download 1 ms`.
pub fn times(stages: Stages) -> Sentence {
    let stages =
        [("upload ", stages.upload), ("kernel ", stages.kernel), ("download ", stages.download)];
    let time =
        |(stage, seconds): (&'static str, f64)| Sentence::from(stage).value(seconds, Unit::Seconds);
    Sentence::new().list(", ", stages.map(time))
}

/// What bounds a problem, and the kind of host memory that it was copied to and from.
pub fn class(class: Class, memory: MemoryKind) -> Sentence {
    Sentence::from(class.label()).text(", ").text(memory.label()).text(" memory")
}

/// The queues that its stages have.
pub fn queues(count: u32) -> Sentence {
    match count {
        1 => "one queue (in order)".into(),
        _ => Sentence::new().counted(count.into(), "queue"),
    }
}
