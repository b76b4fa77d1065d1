//! Flags that no single case can know: they take the run's other cases.

use super::roof::Figure;
use super::{drift, roof};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::record::{Flag, Header, Record};
use gpubench_core::workload::Ceiling;
use gpubench_stats::Summary;
use std::collections::BTreeMap;

/// What flags are derived from: a record, or what a ranking keeps of one.
pub trait Flagged {
    /// Position of the device in the header's list.
    fn device(&self) -> usize;
    /// Seconds of the reference kernel when the run began.
    fn began(&self) -> Option<f64>;
    /// Seconds of it before and after the case.
    fn around(&self) -> Option<[f64; 2]>;
    /// Its samples.
    fn summary(&self) -> Option<Summary>;
    /// Of a kernel that was measured: what it did.
    fn figure(&self) -> Option<Figure<'_>>;
    /// What it bounds, where the suite calls it a ceiling and its result is right.
    fn ceiling(&self) -> Option<Ceiling>;
    /// What is known of it.
    fn flags(&self) -> &[Flag];
    /// The same, to be changed.
    fn flags_mut(&mut self) -> &mut Vec<Flag>;
}

impl Flagged for Record {
    fn device(&self) -> usize {
        self.device
    }

    fn began(&self) -> Option<f64> {
        self.monitor.began
    }

    fn around(&self) -> Option<[f64; 2]> {
        self.monitor.reference_kernel
    }

    fn summary(&self) -> Option<Summary> {
        Summary::of(&self.measured.as_ref()?.samples)
    }

    fn figure(&self) -> Option<Figure<'_>> {
        Figure::of(self)
    }

    fn ceiling(&self) -> Option<Ceiling> {
        self.ceiling.filter(|_| self.outcome.is_ok())
    }

    fn flags(&self) -> &[Flag] {
        &self.flags
    }

    fn flags_mut(&mut self) -> &mut Vec<Flag> {
        &mut self.flags
    }
}

/// Flags what the records of a run say of each other: figures above the device's own ceilings, and
/// cases during which the device was disturbed. Doing it again changes nothing.
pub fn derive_flags<T: Flagged>(header: &Header, records: &mut [T]) {
    let mut devices: BTreeMap<usize, Vec<&mut T>> = BTreeMap::new();
    for record in records {
        devices.entry(record.device()).or_default().push(record);
    }
    for (device, mut records) in devices {
        let kind = header.devices.get(device).map_or(DeviceKind::Other, |device| device.kind);
        drift::flag(&mut records, kind);
        roof::flag(&mut records, kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRounds;
    use gpubench_core::record::sample::{built, device, header, key, outcome, record};
    use gpubench_core::record::{Built, Measured, Outcome};

    /// A ranking does not keep records, and must not know less of them.
    #[test]
    fn what_a_ranking_keeps_of_a_record_is_flagged_as_the_record_is() {
        let header = header(vec![device("opencl"), device("vulkan")]);
        let mut records: Vec<Record> = (0..20).map(|n| record(key("a", n), 1e-3)).collect();
        for record in &mut records {
            record.monitor.began = Some(3e-4);
            record.monitor.reference_kernel = Some([3e-4, 3.001e-4]);
            record.flags.push(Flag::Drift("of another run".into()));
        }
        records[3].monitor.reference_kernel = Some([3.5e-4; 2]);
        records[4].outcome = Outcome::Unchecked;
        records[5].device = 1;
        records[6].measured = None;
        records[7].ceiling = Some(Ceiling::Flops);
        records[8].ceiling = Some(Ceiling::Flops);
        records[8].outcome = Outcome::Unchecked;
        let samples = vec![1e-7; 20];
        records[9].measured = records[9].measured.take().map(|m| Measured { samples, ..m });
        records.push(outcome(key("b", 1), Outcome::Failed("why".into())));

        let mut rounds = RunRounds::of(&header, &records).rounds;
        derive_flags(&header, &mut records);
        derive_flags(&header, &mut rounds);
        let of: Vec<&[Flag]> = rounds.iter().map(Flagged::flags).collect();
        assert_eq!(of, records.iter().map(Flagged::flags).collect::<Vec<_>>());
        assert!(matches!(of[3], [Flag::Drift(how)] if how.contains("17 % longer")), "{of:?}");
        assert!(matches!(of[9], [Flag::Implausible(_)]), "{of:?}");
        assert!(of[0].is_empty() && of[20].is_empty(), "{of:?}");
    }

    /// Of a kernel that was verified, unchecked, failed and skipped, each with samples.
    #[test]
    fn a_round_answers_what_its_record_does() {
        let header = header(vec![device("opencl"), device("vulkan"), device("wgpu")]);
        let failed = [Outcome::Failed("why".into()), Outcome::Skipped("no time".into())];
        for outcome in
            [record(key("a", 1), 1e-3).outcome, Outcome::Unchecked].into_iter().chain(failed)
        {
            let mut record = Record { device: 2, outcome, ..record(key("a", 1), 1e-3) };
            record.monitor.began = Some(3e-4);
            record.monitor.reference_kernel = Some([3e-4, 3.1e-4]);
            record.monitor.empty_launch = Some(2e-6);
            record.ceiling = Some(Ceiling::Bandwidth);
            record.working_set = Some(4096);
            record.kernel = Some(Built { group: [64, 2, 1], groups: [10, 1, 3], ..built("11") });
            let rounds = RunRounds::of(&header, std::slice::from_ref(&record)).rounds;
            let round = &rounds[0];
            assert_eq!((round.device(), record.device()), (2, 2));
            assert_eq!((round.began(), round.around()), (record.began(), record.around()));
            assert_eq!(round.began(), Some(3e-4));
            assert_eq!(Flagged::summary(round), Flagged::summary(&record));
            assert_eq!(Flagged::ceiling(round), Flagged::ceiling(&record));
            let [one, other] = [round.figure(), record.figure()].map(|found| format!("{found:?}"));
            assert_eq!(one, other, "{:?}", record.outcome);
            assert!(!one.contains("Figure") || one.contains("items: 3840"), "{one}");
        }
    }
}
