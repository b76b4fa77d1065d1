//! Several simulated GPUs on one host: what each of them moves depends on what the others do.

use super::description::Pricing;
use super::valid::within_reach;
use gpubench_core::error::{Error, Located, Result};
use gpubench_model::transfer_states::{Both, State, mirrored, state_name};
use serde::{Deserialize, Deserializer, de::Error as _};
use std::collections::{BTreeMap, BTreeSet};

/// Devices of a switch: each more has four times as many states, which a file lists.
const MAX_DEVICES: usize = 8;

/// A host with several GPUs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Shipped descriptions, by their files' names without `.yaml`.
    #[serde(deserialize_with = "some")]
    pub devices: Vec<String>,
    /// How the devices' kernels are priced that have no price of their own.
    #[serde(default)]
    pub kernels: Pricing,
    /// What several of the devices share.
    #[serde(deserialize_with = "checked")]
    pub switches: Vec<Switch>,
}

/// Devices that share the way to the host's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Their positions in the machine.
    pub devices: Vec<usize>,
    /// The bytes a second of every state of theirs, by its name.
    states: BTreeMap<String, Vec<Both>>,
}

/// A switch as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchSpec {
    devices: Vec<usize>,
    /// The devices are equal, and each state is listed once.
    #[serde(default)]
    equal: bool,
    /// Bytes a second to and from each device.
    states: BTreeMap<String, Vec<f64>>,
}

impl Machine {
    /// Reads the description `text` of the file called `file`.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of the mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let help = "a machine lists shipped `devices`, and `switches` with all their states";
        let machine: Self = gpubench_core::yaml::parse(file, text).map_err(|diagnostic| {
            Error::Suite(vec![Located { help: Some(help.to_owned()), ..diagnostic }])
        })?;
        let device_count = machine.devices.len();
        match machine
            .switches
            .iter()
            .flat_map(|switch| &switch.devices)
            .find(|&&at| at >= device_count)
        {
            Some(at) => Err(Error::Usage(format!(
                "{file}: a switch names device {at}, the machine has {device_count} (counted from 0)"
            ))),
            None => Ok(machine),
        }
    }

    /// Whether `text` describes a machine rather than one device.
    pub fn is(text: &str) -> bool {
        let of_machine = |line: &str| line.starts_with("switches:") || line.starts_with("devices:");
        text.lines().any(|line| of_machine(line.trim_start()))
    }

    /// The most that each device may move, in bytes a second, while they all do `doing` (upload,
    /// download). Without bound where no switch has a say.
    pub fn limits(&self, doing: &[[bool; 2]]) -> Vec<[f64; 2]> {
        let mut limits = vec![[f64::INFINITY; 2]; doing.len()];
        for switch in &self.switches {
            let theirs: Vec<[bool; 2]> =
                switch.devices.iter().filter_map(|&at| doing.get(at).copied()).collect();
            let Some(rates) = switch.states.get(&state_name(&theirs)) else { continue };
            for (&at, both) in switch.devices.iter().zip(rates) {
                limits[at] = [both.upload, both.download];
            }
        }
        limits
    }
}

impl Switch {
    /// The switch as a measurement sees it that uses only some of its devices, each at the place
    /// that `place` gives; the others stay idle. `None` where it uses none.
    pub fn seen(&self, place: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let places: Vec<Option<usize>> = self.devices.iter().map(|&at| place(at)).collect();
        let devices: Vec<usize> = places.iter().copied().flatten().collect();
        let mut states = BTreeMap::new();
        for (name, rates) in &self.states {
            let parts: Vec<&str> = name.split('/').collect();
            let used = |at: &usize| places[*at].is_some();
            if (0..parts.len()).all(|at| places[at].is_some() || parts[at] == "N") {
                let name: Vec<&str> = (0..parts.len()).filter(used).map(|at| parts[at]).collect();
                let rates = (0..parts.len()).filter(used).map(|at| rates[at]).collect();
                states.insert(name.join("/"), rates);
            }
        }
        (!devices.is_empty()).then_some(Self { devices, states })
    }
}

fn some<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    let devices = Vec::<String>::deserialize(d)?;
    if devices.is_empty() { Err(D::Error::custom("a machine has a device")) } else { Ok(devices) }
}

fn checked<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Switch>, D::Error> {
    let specs = Vec::<SwitchSpec>::deserialize(d)?;
    let mut behind = BTreeSet::new();
    for at in specs.iter().flat_map(|spec| &spec.devices) {
        if !behind.insert(*at) {
            return Err(D::Error::custom(format!("device {at} is named twice")));
        }
    }
    specs.into_iter().map(|spec| switch(spec).map_err(D::Error::custom)).collect()
}

fn switch(spec: SwitchSpec) -> Result<Switch, String> {
    let count = spec.devices.len();
    if !(1..=MAX_DEVICES).contains(&count) {
        return Err(format!("a switch has 1 to {MAX_DEVICES} devices, not {count}"));
    }
    let state = |(name, rates): (String, Vec<f64>)| {
        if rates.len() != 2 * count || !rates.iter().all(|rate| *rate == 0.0 || within_reach(*rate))
        {
            return Err(format!(
                "state `{name}` needs two rates, each 0 or from 1e-100 to 1e100, for each of {count} devices"
            ));
        }
        let rates =
            rates.chunks(2).map(|pair| Both { upload: pair[0], download: pair[1] }).collect();
        Ok(State { name, rates })
    };
    let mut states = spec.states.into_iter().map(state).collect::<Result<Vec<_>, _>>()?;
    if spec.equal {
        states = mirrored(states).map_err(|error| error.to_string())?;
    }
    let states: BTreeMap<String, Vec<Both>> =
        states.into_iter().map(|state| (state.name, state.rates)).collect();
    for code in 1..1_usize << (2 * count) {
        let doing: Vec<[bool; 2]> =
            (0..count).map(|at| [1, 2].map(|bit| code >> (2 * at) & bit > 0)).collect();
        let name = state_name(&doing);
        let moves = |rates: &Vec<Both>| {
            let fits = |wanted: bool, rate: f64| wanted == (rate > 0.0);
            doing.iter().zip(rates).all(|(d, r)| fits(d[0], r.upload) && fits(d[1], r.download))
        };
        match states.get(&name) {
            None => return Err(format!("state `{name}` is missing")),
            Some(rates) if !moves(rates) => {
                return Err(format!("the rates of state `{name}` are not what its name says"));
            }
            Some(_) => {}
        }
    }
    Ok(Switch { devices: spec.devices, states })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = "\
devices: [a, a]
switches:
  - devices: [0, 1]
    equal: true
    states:
      S/N: [6, 0, 0, 0]
      R/N: [0, 5, 0, 0]
      SR/N: [4, 3, 0, 0]
      S/S: [5, 0, 5, 0]
      S/R: [4, 0, 0, 4]
      R/R: [0, 3, 0, 3]
      SR/S: [2, 3, 4, 0]
      SR/R: [2, 2, 0, 3]
      SR/SR: [1, 1, 1, 1]
";

    #[test]
    fn what_one_moves_depends_on_the_others() {
        let machine = Machine::parse("pair.yaml", PAIR).unwrap();
        let limits = |first: [bool; 2], second: [bool; 2]| machine.limits(&[first, second]);
        assert_eq!(limits([true, false], [false, false]), [[6.0, 0.0], [0.0, 0.0]]);
        assert_eq!(limits([false, true], [true, false]), [[0.0, 4.0], [4.0, 0.0]], "mirrored");
        assert_eq!(limits([true, true], [true, false]), [[2.0, 3.0], [4.0, 0.0]]);
        assert_eq!(limits([false; 2], [false; 2]), [[f64::INFINITY; 2]; 2], "nobody moves");
        assert!(Machine::is(PAIR) && !Machine::is("name: x\n"));
        assert!(Machine::is("devices: [a]\n"), "its switches are missing, which is said");
    }

    #[test]
    fn a_device_that_is_not_used_is_idle() {
        let machine = Machine::parse("pair.yaml", PAIR).unwrap();
        let seen = machine.switches[0].seen(|at| (at == 1).then_some(0)).unwrap();
        let alone = Machine { switches: vec![seen], ..Machine::default() };
        assert_eq!(alone.limits(&[[true, true]]), [[4.0, 3.0]]);
        assert_eq!(machine.switches[0].seen(|_| None), None);
    }

    #[test]
    fn every_mistake_is_reported() {
        for (good, bad, message) in [
            ("      S/S: [5, 0, 5, 0]\n", "", "state `S/S` is missing"),
            ("[5, 0, 5, 0]", "[5, 0, 5]", "`S/S` needs two rates"),
            ("[5, 0, 5, 0]", "[5, 0, -5, 0]", "`S/S` needs two rates"),
            ("[5, 0, 5, 0]", "[5, 0, 1e-300, 0]", "`S/S` needs two rates"),
            ("[5, 0, 5, 0]", "[5, 1, 5, 0]", "`S/S` are not what its name says"),
            ("[0, 1]", "[0, 2]", "names device 2, the machine has 2"),
            ("[0, 1]", "[0, 0]", "device 0 is named twice"),
            ("[0, 1]", "[]", "1 to 8 devices, not 0"),
            ("[a, a]", "[]", "a machine has a device"),
            ("equal", "equals", "unknown field `equals`"),
        ] {
            let error = Machine::parse("pair.yaml", &PAIR.replace(good, bad)).unwrap_err();
            assert!(error.to_string().contains(message), "{bad}: {error}");
        }
    }
}
