//! Timelines in the trace format that Perfetto and `chrome://tracing` load: a process for each
//! recording, a track for each lane, a named slice for each step.

use crate::gpu::Clock;
use crate::record::{Detail, NamedStep, Record, Timed};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The steps of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<'a> {
    /// What was recorded, such as `4 chunks on 3 lanes`.
    pub name: String,
    /// Its steps, which share a clock.
    pub steps: &'a [NamedStep],
}

/// `recordings` of the case `title` as one trace, each beginning at 0.
///
/// A trace's times are microseconds; `otherData` says which clock they were read from.
pub fn trace(title: &str, clock: Clock, recordings: &[Recorded]) -> Value {
    let mut events = vec![];
    for (process, recording) in (1..).zip(recordings) {
        events.push(name_event("process_name", process, 0, &recording.name));
        for (lane, name) in lanes(recording.steps) {
            events.push(name_event("thread_name", process, lane, &name));
        }
        let starts = recording.steps.iter().map(|step| step.started);
        let zero = starts.fold(f64::INFINITY, f64::min);
        events.extend(recording.steps.iter().map(|step| slice_event(process, zero, step)));
    }
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "case": title,
            "clock": clock,
            "simulated": clock == Clock::Simulated,
        },
    })
}

/// The recordings of which `record` keeps the steps, with what each is, and their clock; `None`
/// where it keeps none: its measure has no recording of several steps, or no clock told them
/// apart.
pub fn recorded(record: &Record) -> Option<(Clock, Vec<Recorded<'_>>)> {
    let (clock, timed) = timed(record.detail.as_ref()?)?;
    let kept = timed.into_iter().filter(|(_, timed)| !timed.steps.is_empty());
    let recordings: Vec<_> =
        kept.map(|(name, timed)| Recorded { name, steps: &timed.steps }).collect();
    (!recordings.is_empty()).then_some((clock, recordings))
}

fn timed(detail: &Detail) -> Option<(Clock, Vec<(String, &Timed)>)> {
    match detail {
        Detail::Overlap(overlap) => {
            let alone = [
                ("send alone", &overlap.send),
                ("kernel alone", &overlap.kernel),
                ("receive alone", &overlap.receive),
            ];
            let runs = overlap.runs.iter().map(|run| {
                let lanes = plural(run.lanes, "lane");
                (format!("{} on {lanes}", plural(run.chunks, "chunk")), &run.timed)
            });
            Some((
                overlap.clock,
                alone.map(|(n, t)| (n.to_owned(), t)).into_iter().chain(runs).collect(),
            ))
        }
        Detail::Schedule(schedule) => {
            let runs = schedule.runs.iter().map(|(rule, _, timed)| (rule.clone(), timed));
            Some((schedule.clock, runs.collect()))
        }
        Detail::Concurrency(pair) => {
            let runs = [
                ("first alone", &pair.first),
                ("second alone", &pair.second),
                ("first, then second", &pair.together),
                ("second, then first", &pair.reversed),
            ];
            Some((pair.clock, runs.map(|(name, timed)| (name.to_owned(), timed)).into()))
        }
        Detail::Transfer(_) | Detail::Staircase(_) => None,
    }
}

/// Every lane and its name: its number and, where its steps are all of one kind, that kind.
fn lanes(steps: &[NamedStep]) -> BTreeMap<u32, String> {
    let kind = |step: &NamedStep| step.name.split(' ').next().unwrap_or_default().to_owned();
    let mut kinds: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for step in steps {
        let of_lane = kinds.entry(step.lane).or_default();
        if !of_lane.contains(&kind(step)) {
            of_lane.push(kind(step));
        }
    }
    let name = |(lane, kinds): (u32, Vec<String>)| match kinds.as_slice() {
        [kind] => (lane, format!("lane {lane}: {kind}")),
        _ => (lane, format!("lane {lane}")),
    };
    kinds.into_iter().map(name).collect()
}

fn name_event(what: &str, process: u32, lane: u32, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": lane, "args": { "name": name } })
}

fn slice_event(process: u32, zero: f64, step: &NamedStep) -> Value {
    json!({
        "ph": "X",
        "name": step.name,
        "pid": process,
        "tid": step.lane,
        "ts": (step.started - zero) * 1e6,
        "dur": (step.ended - step.started) * 1e6,
    })
}

fn plural(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, lane: u32, started: f64, ended: f64) -> NamedStep {
        NamedStep { name: name.into(), lane, started, ended }
    }

    fn slices(trace: &Value) -> Vec<&Value> {
        let events = trace["traceEvents"].as_array().unwrap();
        events.iter().filter(|event| event["ph"] == "X").collect()
    }

    fn names<'a>(trace: &'a Value, what: &str) -> Vec<(u64, u64, &'a str)> {
        let events = trace["traceEvents"].as_array().unwrap();
        let named = events.iter().filter(|event| event["name"] == what);
        named
            .map(|e| {
                let name = e["args"]["name"].as_str().unwrap();
                (e["pid"].as_u64().unwrap(), e["tid"].as_u64().unwrap(), name)
            })
            .collect()
    }

    #[test]
    fn steps_lie_on_the_track_of_their_lane_from_0_on() {
        let steps = [
            step("send 0", 0, 5.0, 5.25),
            step("kernel 0", 1, 5.25, 6.0),
            step("send 1", 0, 5.25, 5.5),
            step("receive 0", 1, 6.0, 6.125),
        ];
        let recordings = [Recorded { name: "2 chunks".into(), steps: &steps }];
        let trace = trace("sepia n=512", Clock::Device, &recordings);
        assert_eq!(names(&trace, "process_name"), [(1, 0, "2 chunks")]);
        assert_eq!(names(&trace, "thread_name"), [(1, 0, "lane 0: send"), (1, 1, "lane 1")]);
        let slices = slices(&trace);
        assert_eq!(slices.len(), 4);
        assert_eq!(
            *slices[1],
            json!({"ph": "X", "name": "kernel 0", "pid": 1, "tid": 1, "ts": 250e3, "dur": 750e3})
        );
        assert_eq!(
            trace["otherData"],
            json!({"case": "sepia n=512", "clock": "device", "simulated": false})
        );
    }

    #[test]
    fn each_recording_begins_at_0() {
        let (early, late) = ([step("kernel", 0, 1.0, 2.0)], [step("kernel", 0, 9.0, 9.5)]);
        let trace = trace(
            "pair",
            Clock::Simulated,
            &[
                Recorded { name: "a".into(), steps: &early },
                Recorded { name: "b".into(), steps: &late },
            ],
        );
        let starts: Vec<_> =
            slices(&trace).iter().map(|e| (e["pid"].as_u64(), e["ts"].as_f64())).collect();
        assert_eq!(starts, [(Some(1), Some(0.0)), (Some(2), Some(0.0))]);
        assert_eq!(trace["otherData"]["simulated"], true);
    }

    #[test]
    fn a_record_yields_the_recordings_whose_steps_it_keeps() {
        let timed = |steps: &[NamedStep]| Timed { walls: vec![1.0], steps: steps.to_vec() };
        let pair = crate::record::Concurrency {
            clock: Clock::Device,
            first: timed(&[step("a", 0, 0.0, 1.0)]),
            second: timed(&[]),
            together: timed(&[step("a", 0, 0.0, 1.0), step("b", 1, 0.5, 1.0)]),
            reversed: timed(&[]),
            lanes: 2,
        };
        let mut record = record();
        assert_eq!(recorded(&record), None);
        record.detail = Some(Detail::Concurrency(pair));
        let (clock, recordings) = recorded(&record).unwrap();
        assert_eq!(clock, Clock::Device);
        let found: Vec<_> = recordings.iter().map(|r| (r.name.as_str(), r.steps.len())).collect();
        assert_eq!(found, [("first alone", 1), ("first, then second", 2)]);
    }

    fn record() -> Record {
        let key = crate::workload::CaseKey {
            workload: "pair".into(),
            size: vec![],
            measure: crate::workload::Measure::Kernel,
            host_memory: None,
        };
        let (tags, family, reason) = (vec![], "concurrency".into(), String::new());
        Record::refused(crate::workload::Refusal { key, tags, family, reason }, 0)
    }
}
