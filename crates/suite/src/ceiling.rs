//! Whether a workload can be the ceiling that its file calls it.

use super::convert::Converter;
use super::decode::At;
use super::file;
use super::requested::Asked;
use super::types::Work;
use super::verify::Verification;
use gpubench_core::workload::Ceiling;

/// The tag that said so before the key did.
const TAG: &str = "ceiling";

impl Converter<'_> {
    /// What the workload bounds. `None`: there were diagnostics.
    pub fn ceiling(
        &mut self,
        spec: &file::Workload,
        asked: Option<&[Asked]>,
        work: Option<&Work>,
    ) -> Option<Option<Ceiling>> {
        let Some(At { value: ceiling, at }) = &spec.ceiling else {
            let Some(tag) = spec.tags.iter().flatten().find(|tag| tag.value == TAG) else {
                return Some(None);
            };
            let message = "a tag does not say what a ceiling bounds";
            let help = "write `ceiling: flops` or `ceiling: bandwidth` beside the tags";
            return self.diagnostics.reject(&tag.at, message, Some(help));
        };
        let why = contradiction(*ceiling, spec, asked, work);
        match why {
            None => Some(Some(*ceiling)),
            Some((message, help)) => self.diagnostics.reject(at, message, Some(help)),
        }
    }
}

/// Why no figure can be held against it, and what to do.
fn contradiction(
    ceiling: Ceiling,
    spec: &file::Workload,
    asked: Option<&[Asked]>,
    work: Option<&Work>,
) -> Option<(&'static str, &'static str)> {
    let times_a_kernel =
        |asked: &[Asked]| asked.iter().any(|asked| asked.experiment.kind().is_kernel());
    if asked.is_some_and(|asked| !times_a_kernel(asked)) {
        let help = "only `measure: [kernel]` is held against ceilings; leave `ceiling` away";
        return Some(("no kernel's time is measured here that could be a ceiling", help));
    }
    let work = work?;
    let amount = match ceiling {
        Ceiling::Flops => &work.flops,
        Ceiling::Bandwidth => &work.bytes,
    };
    if amount.is_number(0.0) {
        return Some(match ceiling {
            Ceiling::Flops => (
                "a ceiling of flops that counts no operations",
                "say `work: { flops: … }`, or call it a ceiling of `bandwidth`",
            ),
            Ceiling::Bandwidth => (
                "a ceiling of bandwidth that counts no bytes",
                "say `work: { bytes: … }`, or call it a ceiling of `flops`",
            ),
        });
    }
    let unverified =
        spec.verify.as_ref().is_some_and(|verify| matches!(verify.value, Verification::Nothing));
    unverified.then_some((
        "a ceiling whose result nobody checks bounds nothing",
        "say how it is verified, or leave `ceiling` away",
    ))
}
