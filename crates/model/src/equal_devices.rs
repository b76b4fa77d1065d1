//! Model 9 on several equal devices: what is left of each one's link while all of them do the same?
//!
//! Source: C13 §4.3.2 has six rules for several equal GPUs. We have no copy of them; this is our reading: each device
//! gets an equal share of the problem, cut by the rules for one device ([`super::schedule_rules`]) with the rates that a
//! device has while all do the same (model 10's states S/S, R/R and SR/SR).

use super::streams::Stages;
use super::transfer::Duplex;
use super::transfer_states::{State, state_name};

/// By how much the rates of devices that count as equal may differ.
const EQUAL: f64 = 0.05;

/// The link of several equal devices, as one of them has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedLink {
    /// Devices.
    pub devices: usize,
    /// What is left of a device's rate of uploads, alone 1, while all upload.
    pub upload: f64,
    /// What is left of that of downloads while all download.
    pub download: f64,
    /// What is left of these while all do both.
    pub duplex: Duplex,
}

impl SharedLink {
    /// Of measured states, whose rates may be totals; `None` where a state is missing, moves nothing, or distinguishes
    /// the devices.
    pub fn of(states: &[State]) -> Option<Self> {
        let devices = states.first()?.name.split('/').count();
        // What a device moves on average in the state in which the first `busy` do the same.
        let rates = |does: [bool; 2], busy: usize| {
            let doing: Vec<_> = (0..devices).map(|at| does.map(|does| does && at < busy)).collect();
            let state = states.iter().find(|state| state.name == state_name(&doing))?;
            let all = [0, 1].map(|way| {
                let way = state.rates.iter().map(|rate| [rate.upload, rate.download][way]);
                way.collect::<Vec<f64>>()
            });
            let sums = all.each_ref().map(|rates| rates.iter().sum::<f64>() / busy as f64);
            let equal = |(rates, sum): (&Vec<f64>, &f64)| {
                busy < devices
                    || rates.len() < devices
                    || rates.iter().all(|rate| near(*rate, *sum))
            };
            all.iter().zip(&sums).all(equal).then_some(sums)
        };
        let [upload, download] = [rates([true, false], 1)?[0], rates([false, true], 1)?[1]];
        let shared = [rates([true, false], devices)?[0], rates([false, true], devices)?[1]];
        let both = rates([true, true], devices)?;
        let link = Self {
            devices,
            upload: shared[0] / upload,
            download: shared[1] / download,
            duplex: Duplex { upload: both[0] / shared[0], download: both[1] / shared[1] },
        };
        let parts = [link.upload, link.download, link.duplex.upload, link.duplex.download];
        parts.iter().all(|part| part.is_finite() && *part > 0.0).then_some(link)
    }

    /// Seconds of each stage of one device's share, of those of the whole problem on one device alone.
    pub fn share(&self, whole: Stages) -> Stages {
        let devices = self.devices as f64;
        Stages {
            upload: whole.upload / devices / self.upload,
            kernel: whole.kernel / devices,
            download: whole.download / devices / self.download,
        }
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= EQUAL * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::super::transfer_states::Both;
    use super::*;

    fn state(name: &str, rates: &[[f64; 2]]) -> State {
        let both = |&[upload, download]: &[f64; 2]| Both { upload, download };
        State { name: name.into(), rates: rates.iter().map(both).collect() }
    }

    fn pair(second: f64) -> Vec<State> {
        vec![
            state("S/N", &[[6.0, 0.0], [0.0, 0.0]]),
            state("R/N", &[[0.0, 8.0], [0.0, 0.0]]),
            state("S/S", &[[3.0, 0.0], [second, 0.0]]),
            state("R/R", &[[0.0, 6.0], [0.0, 6.0]]),
            state("SR/SR", &[[1.5, 4.5], [1.5, 4.5]]),
        ]
    }

    #[test]
    fn each_device_has_its_part_at_the_rates_of_all() {
        let link = SharedLink::of(&pair(3.0)).unwrap();
        assert_eq!((link.devices, link.upload, link.download), (2, 0.5, 0.75));
        assert_eq!(link.duplex, Duplex { upload: 0.5, download: 0.75 });
        let share = link.share(Stages { upload: 4.0, kernel: 10.0, download: 3.0 });
        assert_eq!(share, Stages { upload: 4.0, kernel: 5.0, download: 2.0 });
    }

    #[test]
    fn totals_of_equal_devices_are_the_same() {
        let total = |state: &State| {
            let sum = |way: fn(&Both) -> f64| state.rates.iter().map(way).sum();
            let rates = vec![Both { upload: sum(|r| r.upload), download: sum(|r| r.download) }];
            State { name: state.name.clone(), rates }
        };
        let totals: Vec<State> = pair(3.0).iter().map(total).collect();
        assert_eq!(SharedLink::of(&totals), SharedLink::of(&pair(3.0)));
    }

    #[test]
    fn unequal_devices_and_missing_or_idle_states_give_no_link() {
        assert_eq!(SharedLink::of(&pair(2.0)), None);
        for missing in 0..5 {
            let mut states = pair(3.0);
            states.remove(missing);
            assert_eq!(SharedLink::of(&states), None, "{missing}");
        }
        let mut idle = pair(3.0);
        idle[4] = state("SR/SR", &[[0.0, 0.0], [0.0, 0.0]]);
        assert_eq!(SharedLink::of(&idle), None);
        assert_eq!(SharedLink::of(&[]), None);
    }
}
