//! Whether a workload can be the ceiling that its file calls it.

use super::convert::Converter;
use super::decode::At;
use super::file;
use super::requested::Asked;
use super::types::Work;
use super::verify::Against;
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
        Ceiling::Flops | Ceiling::DotProduct => &work.flops,
        Ceiling::Bandwidth => &work.bytes,
    };
    if amount.is_number(0.0) {
        return Some(match ceiling {
            Ceiling::Flops | Ceiling::DotProduct => (
                "a ceiling of arithmetic that counts no operations",
                "say `work: { flops: … }`, or call it a ceiling of `bandwidth`",
            ),
            Ceiling::Bandwidth => (
                "a ceiling of bandwidth that counts no bytes",
                "say `work: { bytes: … }`, or call it a ceiling of `flops`",
            ),
        });
    }
    let verify = spec.verify.as_ref();
    let unverified = verify.is_some_and(|verify| matches!(verify.value.against, Against::Nothing));
    unverified.then_some((
        "a ceiling whose result nobody checks bounds nothing",
        "say how it is verified, or leave `ceiling` away",
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, mistake, workload_with};
    use gpubench_core::workload::Ceiling;

    #[test]
    fn a_ceiling_bounds_what_it_counts() {
        let with = |ceiling: &str| {
            workload_with("work: {", &format!("ceiling: {ceiling}\n    work: {{")).ceiling
        };
        assert_eq!(
            (with("bandwidth"), workload_with("one", "other").ceiling),
            (Some(Ceiling::Bandwidth), None)
        );
        let flops = SUITE
            .replace("work: { flops: 0, bytes: 8*n }", "work: { flops: n }\n    ceiling: flops");
        assert_eq!(workload_with(SUITE, &flops).ceiling, Some(Ceiling::Flops));
        let tagged = workload_with("grid: [n]", "grid: [n]\n    tags: [mine]");
        assert_eq!((tagged.ceiling, tagged.tags), (None, vec!["mine".to_owned()]));
    }

    #[test]
    fn what_bounds_nothing_is_no_ceiling() {
        let with = |from: &str, to: &str| {
            let suite = SUITE.replace("grid: [n]", "grid: [n]\n    ceiling: bandwidth");
            assert!(suite.contains(from), "{from}");
            mistake(SUITE, &suite.replace(from, to), &[])
        };
        for (from, to, message, at) in [
            ("8*n }", "0 }", "a ceiling of bandwidth that counts no bytes", "bandwidth"),
            (
                ": bandwidth",
                ": flops",
                "a ceiling of arithmetic that counts no operations",
                "flops",
            ),
            (
                "{ reference: copy }",
                "none",
                "a ceiling whose result nobody checks bounds nothing",
                "bandwidth",
            ),
            (
                "    grid",
                "    measure: [copies]\n    grid",
                "no kernel's time is measured here that could be a ceiling",
                "bandwidth",
            ),
            (
                "ceiling: bandwidth",
                "tags: [a, ceiling]",
                "a tag does not say what a ceiling bounds",
                "ceiling",
            ),
        ] {
            let (said, place) = with(from, to);
            assert_eq!((&said[..], &place[..]), (message, at), "{to}");
        }
    }
}
