//! Any table, by a mapping: which columns are device, workload, sizes, time or rate, and work.

use super::results::{Case, Results, Source, device};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Outcome, is_round};
use gpubench_core::text::parsed;
use gpubench_core::workload::Size;
use gpubench_core::yaml;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest mapping: an honest one has some lines.
const LARGEST: u64 = 1 << 20;
/// What a rate is a rate of where the table does not say how much work there was.
const WORK: f64 = 1e9;

/// Which columns mean what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Whose mapping it is.
    #[serde(skip)]
    file: String,
    #[serde(rename = "version", deserialize_with = "version")]
    _version: (),
    device: Device,
    workload: Text,
    /// Columns that set variants of a workload apart.
    #[serde(default)]
    variant: Vec<String>,
    #[serde(default)]
    size: BTreeMap<String, Number>,
    time: Option<Time>,
    rate: Option<Rate>,
    flops: Option<Number>,
    bytes: Option<Number>,
    family: Option<Text>,
    /// The column of rounds, where a file holds several.
    round: Option<String>,
    outcome: Option<Success>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    name: Text,
    vendor: Option<Text>,
    driver: Option<Text>,
    api: Option<Text>,
}

/// A column's name, or `{ is: TEXT }`.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a column's name, or { is: TEXT }")]
enum Text {
    Column(String),
    Constant { is: String },
}

/// A number, or a column's name.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a number of at least 0, or a column's name")]
enum Number {
    Constant(#[serde(deserialize_with = "amount")] f64),
    Column(String),
}

fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let is_amount = number.is_finite() && number >= 0.0;
    is_amount.then_some(number).ok_or_else(|| D::Error::custom("it is no amount"))
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    match u32::deserialize(from)? {
        1 => Ok(()),
        other => {
            Err(D::Error::custom(format!("this gpubench reads version 1 of mappings, not {other}")))
        }
    }
}

/// Times: a sample a column.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Time {
    columns: Vec<String>,
    unit: TimeUnit,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TimeUnit {
    S,
    Ms,
    Us,
    Ns,
}

impl TimeUnit {
    fn seconds(self) -> f64 {
        match self {
            Self::S => 1.0,
            Self::Ms => 1e-3,
            Self::Us => 1e-6,
            Self::Ns => 1e-9,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rate {
    column: String,
    unit: RateUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
enum RateUnit {
    #[serde(rename = "GFLOP/s")]
    Gflops,
    #[serde(rename = "GB/s")]
    Gbytes,
}

/// The column that says whether a row succeeded, and what it says then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Success {
    column: String,
    ok: String,
}

impl Mapping {
    /// Reads a mapping.
    ///
    /// # Errors
    /// `Usage` where the file cannot be read, `Suite` with the place of a mistake in it.
    pub fn load(path: &Path) -> Result<Self> {
        parsed(path, LARGEST, Self::parse)
    }

    fn parse(file: &str, text: &str) -> Result<Self> {
        let mapping: Self = yaml::parse(file, text).map_err(|at| Error::Suite(vec![at]))?;
        let mapping = Self { file: file.to_owned(), ..mapping };
        let wrong = |why: &str| Err(Error::Usage(format!("{file}: {why}")));
        match &mapping {
            Self { time: None, rate: None, .. } => wrong("it has neither `time` nor `rate`"),
            Self { time: Some(_), rate: Some(_), .. } => {
                wrong("it has both `time` and `rate`: leave one out")
            }
            Self { time: Some(time), .. } if time.columns.is_empty() => {
                wrong("`time` needs at least one column")
            }
            _ => Ok(mapping),
        }
    }

    /// Adds what `source` holds.
    ///
    /// # Errors
    /// Where the table lacks a column that is named, or a cell is not what it should be, with its place.
    pub fn read(&self, source: &Source, all: &mut Results) -> Result<()> {
        let columns = self.columns();
        let table = Table::parse(&source.file, &source.text, &[])?;
        table.require_for(&columns, &format!("`{}` names", self.file))?;
        for row in table.rows() {
            let round = match &self.round {
                Some(column) => match row.count(column, 0)? {
                    round if is_round(round) => round,
                    none => {
                        let message = format!("there is no round {none}");
                        return Err(row.diagnostic(column, &message, None));
                    }
                },
                None => source.round,
            };
            all.push_round(source, round, &self.device.read(row)?, self.case(row)?)
                .map_err(|why| row.diagnostic(self.measured(), &why, None))?;
        }
        Ok(())
    }

    /// The column of what was measured, the first of several.
    fn measured(&self) -> &str {
        let times = self.time.iter().flat_map(|time| &time.columns);
        times.chain(self.rate.iter().map(|rate| &rate.column)).next().map_or("", String::as_str)
    }

    /// Every column that it names.
    fn columns(&self) -> Vec<&str> {
        let Device { name, vendor, driver, api } = &self.device;
        let texts = [Some(name), vendor.as_ref(), driver.as_ref(), api.as_ref()];
        let texts = texts.into_iter().chain([Some(&self.workload), self.family.as_ref()]);
        let texts = texts.flatten().filter_map(|text| match text {
            Text::Column(column) => Some(column),
            Text::Constant { .. } => None,
        });
        let numbers = self.size.values().chain(&self.flops).chain(&self.bytes);
        let numbers = numbers.filter_map(|number| match number {
            Number::Column(column) => Some(column),
            Number::Constant(_) => None,
        });
        let times = self.time.iter().flat_map(|time| &time.columns);
        let rest = self.rate.iter().map(|rate| &rate.column).chain(&self.round);
        let rest = rest.chain(self.outcome.iter().map(|outcome| &outcome.column));
        let all = texts.chain(numbers).chain(times).chain(rest).chain(&self.variant);
        all.map(String::as_str).collect()
    }

    fn case(&self, row: Row) -> Result<Case> {
        let name = self.workload.read(row)?;
        let variant =
            self.variant.iter().map(|column| Ok(format!("{column}={}", row.text(column)?)));
        let variant: Vec<String> = variant.collect::<Result<_>>()?;
        let variant =
            if variant.is_empty() { String::new() } else { "/".to_owned() + &variant.join(",") };
        let mut case = Case {
            workload: name.to_owned() + &variant,
            size: self.size(row)?,
            family: self.family.as_ref().map_or(Ok("compute"), |text| text.read(row))?.to_owned(),
            samples: Ok(vec![]),
            flops: work(self.flops.as_ref(), row)?,
            bytes: work(self.bytes.as_ref(), row)?,
            against: self.outcome.as_ref().map(|of| format!("column {}", of.column)),
        };
        case.samples = match self.failure(row)? {
            Some(why) => Err(Outcome::Failed(why)),
            None => Ok(self.samples(row, &mut case)?),
        };
        Ok(case)
    }

    fn size(&self, row: Row) -> Result<Size> {
        let one = |(name, number): (&String, &Number)| {
            let value = number.read(row)?;
            let is_whole = value.fract() == 0.0 && value <= i64::MAX as f64 / 2.0;
            let whole = is_whole.then_some((name.clone(), value as i64));
            whole.ok_or_else(|| number.wrong(row, "a size is a whole number"))
        };
        self.size.iter().map(one).collect()
    }

    fn failure(&self, row: Row) -> Result<Option<String>> {
        let Some(Success { column, ok }) = &self.outcome else { return Ok(None) };
        let found = row.text(column)?;
        Ok((found != ok).then(|| found.to_owned()))
    }

    /// Seconds; those of a rate are of the work that is known, or of 10^9 operations or bytes, which the case's
    /// size then says.
    fn samples(&self, row: Row, case: &mut Case) -> Result<Vec<f64>> {
        if let Some(Time { columns, unit }) = &self.time {
            return columns.iter().map(|of| Ok(row.positive(of)? * unit.seconds())).collect();
        }
        let Some(Rate { column, unit }) = &self.rate else { return Ok(vec![]) };
        let (work, name) = match unit {
            RateUnit::Gflops => (&mut case.flops, "operations"),
            RateUnit::Gbytes => (&mut case.bytes, "bytes"),
        };
        if *work == 0.0 {
            *work = WORK;
            case.size.push((name.to_owned(), WORK as i64));
        }
        Ok(vec![*work / (row.positive(column)? * 1e9)])
    }
}

impl Device {
    fn read(&self, row: Row) -> Result<DeviceInfo> {
        let optional = |text: &Option<Text>| match text {
            Some(Text::Column(column)) => row.optional(column).to_owned(),
            Some(Text::Constant { is }) => is.clone(),
            None => String::new(),
        };
        let api = optional(&self.api);
        let api = if api.is_empty() { "imported" } else { &api };
        let (vendor, driver) = (optional(&self.vendor), optional(&self.driver));
        Ok(DeviceInfo { vendor, driver, ..device(self.name.read(row)?.to_owned(), api) })
    }
}

impl Text {
    fn read<'a>(&'a self, row: Row<'a>) -> Result<&'a str> {
        match self {
            Self::Column(column) => row.text(column),
            Self::Constant { is } => Ok(is),
        }
    }
}

impl Number {
    fn read(&self, row: Row) -> Result<f64> {
        match self {
            Self::Column(column) => row.number(column),
            Self::Constant(number) => Ok(*number),
        }
    }

    fn wrong(&self, row: Row, message: &str) -> Error {
        match self {
            Self::Column(column) => row.diagnostic(column, message, None),
            Self::Constant(number) => Error::Usage(format!("the mapping's {number}: {message}")),
        }
    }
}

fn work(number: Option<&Number>, row: Row) -> Result<f64> {
    number.map_or(Ok(0.0), |number| number.read(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::import::results::sample::{read_back, source};

    const MAPPING: &str = "version: 1
device: { name: gpu, vendor: { is: Maker } }
workload: kernel
variant: [block]
size: { n: n }
time: { columns: [t1, t2], unit: ms }
flops: flops
outcome: { column: status, ok: passed }
";

    fn read(mapping: &str, text: &str) -> Result<Results> {
        let mut all = Results::default();
        Mapping::parse("map.yaml", mapping)?.read(&source("t.csv", text), &mut all)?;
        Ok(all)
    }

    #[test]
    fn a_table_becomes_records() {
        let text = "gpu,kernel,block,n,t1,t2,flops,status\nA,k,8,64,1,3,1e6,passed\nB,k,8,64,2,2,1e6,wrong\n";
        let (header, records) = read_back(read(MAPPING, text).unwrap());
        let names: Vec<&str> = header.devices.iter().map(|device| &*device.name).collect();
        assert_eq!((names, &*header.devices[0].vendor), (vec!["A", "B"], "Maker"));
        assert_eq!(records[0].key.to_string(), "k/block=8 n=64");
        let measured = records[0].measured.as_ref().unwrap();
        assert_eq!((&measured.samples[..], measured.flops), (&[1e-3, 3e-3][..], 1e6));
        assert_eq!(records[1].outcome, Outcome::Failed("wrong".into()));
    }

    #[test]
    fn a_rate_is_the_time_of_its_work() {
        let rate = |more: &str| {
            format!(
                "version: 1\ndevice: {{ name: {{ is: A }} }}\nworkload: {{ is: k }}\nrate: {{ column: r, unit: GB/s }}\n{more}"
            )
        };
        let (_, records) = read_back(read(&rate("bytes: 5e8\n"), "r\n100\n").unwrap());
        assert_eq!(records[0].measured.as_ref().unwrap().samples, [5e-3]);
        let (_, records) = read_back(read(&rate(""), "r\n100\n").unwrap());
        assert_eq!(records[0].key.to_string(), "k bytes=1000000000");
        assert_eq!(records[0].measured.as_ref().unwrap().samples, [1e-2]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let text = "gpu,kernel,block,n,t1,t2,flops,status\nA,k,8,64,1,-3,1e6,passed\n";
        for (mapping, text, expected) in [
            (MAPPING.to_owned(), text, "t.csv:2:12: `-3` in column `t2`"),
            (MAPPING.to_owned(), "gpu,kernel\nA,k\n", "t.csv:1:1: no column `n`"),
            (MAPPING.replace("flops: flops", "flop: flops"), text, "map.yaml:7:1"),
            (
                MAPPING.replace("version: 1", "version: 2"),
                text,
                "map.yaml:1:10: this gpubench reads version 1 of mappings, not 2",
            ),
            (MAPPING.replace("unit: ms", "unit: hours"), text, "map.yaml:6:"),
            (MAPPING.replace("t1, t2", ""), text, "map.yaml: `time` needs at least one column"),
            (
                MAPPING.to_owned() + "rate: { column: r, unit: GB/s }\n",
                text,
                "map.yaml: it has both `time` and `rate`: leave one out",
            ),
            (MAPPING.replace("flops: flops", "flops: -5"), text, "map.yaml:7:8: expected a number"),
        ] {
            let error = read(&mapping, text).map_or_else(|e| e.to_string(), |_| "fine".into());
            assert!(error.starts_with(expected), "{error}, not {expected}");
        }
        let twice = text.replace("-3", "3") + "A,k,8,64,1,3,1e6,passed\n";
        let folder = tempfile::tempdir().unwrap();
        let error =
            read(MAPPING, &twice).unwrap().write(&folder.path().join("r.jsonl")).unwrap_err();
        assert!(
            error.to_string().starts_with("t.csv: k/block=8 n=64 of A stands twice"),
            "{error}"
        );
    }
}
