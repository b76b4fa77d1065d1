//! Timelines in the trace format that Perfetto and `chrome://tracing` load: a process for each
//! recording, a track for each queue, a named slice for each step.

use gpubench_core::gpu::Clock;
use gpubench_core::record::{NamedStep, Recorded};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `recordings` of the case `title` as one trace, each beginning at 0.
///
/// A trace's times are microseconds. What was simulated says so in its process's name, and
/// `otherData` says it of the whole trace.
pub fn trace(title: &str, recordings: &[Recorded]) -> Value {
    let mut events = vec![];
    for (process, recording) in (1..).zip(recordings) {
        let simulated = recording.clock == Clock::Simulated;
        let mark = if simulated { " (simulated)" } else { "" };
        events.push(metadata("process_name", process, 0, &format!("{}{mark}", recording.name)));
        for (queue, name) in queues(&recording.steps) {
            events.push(metadata("thread_name", process, thread(process, queue), &name));
        }
        let starts = recording.steps.iter().map(|step| step.started);
        let zero = starts.fold(f64::INFINITY, f64::min);
        events.extend(recording.steps.iter().map(|step| slice(process, zero, step)));
    }
    let mut clocks: Vec<Clock> = recordings.iter().map(|recording| recording.clock).collect();
    clocks.dedup();
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "case": title,
            "clocks": clocks,
            "simulated": clocks.contains(&Clock::Simulated),
        },
    })
}

/// Every queue and its name: its number and, where its steps are all of one kind, that kind.
fn queues(steps: &[NamedStep]) -> BTreeMap<u32, String> {
    let kind = |step: &NamedStep| step.name.split(' ').next().unwrap_or_default().to_owned();
    let mut kinds: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for step in steps {
        let of_queue = kinds.entry(step.queue).or_default();
        if !of_queue.contains(&kind(step)) {
            of_queue.push(kind(step));
        }
    }
    let name = |(queue, kinds): (u32, Vec<String>)| match kinds.as_slice() {
        [kind] => (queue, format!("queue {queue}: {kind}")),
        _ => (queue, format!("queue {queue}")),
    };
    kinds.into_iter().map(name).collect()
}

/// The number of a queue's track. No two tracks share one: viewers take thread 0 for the idle
/// one, and some look a thread up by its number alone.
fn thread(process: u32, queue: u32) -> u32 {
    process * 1000 + queue + 1
}

fn metadata(what: &str, process: u32, thread: u32, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": name } })
}

fn slice(process: u32, zero: f64, step: &NamedStep) -> Value {
    json!({
        "ph": "X",
        "name": step.name,
        "pid": process,
        "tid": thread(process, step.queue),
        "ts": (step.started - zero) * 1e6,
        "dur": (step.ended - step.started).max(0.0) * 1e6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, queue: u32, started: f64, ended: f64) -> NamedStep {
        NamedStep { name: name.into(), queue, started, ended }
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
    fn steps_lie_on_the_track_of_their_queue_from_0_on() {
        let steps = [
            step("upload 0", 0, 5.0, 5.25),
            step("kernel 0", 1, 5.25, 6.0),
            step("upload 1", 0, 5.25, 5.5),
            step("download 0", 1, 6.0, 6.125),
        ];
        let recordings =
            [Recorded { name: "2 chunks".into(), clock: Clock::Device, steps: steps.to_vec() }];
        let trace = trace("sepia n=512", &recordings);
        assert_eq!(names(&trace, "process_name"), [(1, 0, "2 chunks")]);
        assert_eq!(
            names(&trace, "thread_name"),
            [(1, 1001, "queue 0: upload"), (1, 1002, "queue 1")]
        );
        let slices = slices(&trace);
        assert_eq!(slices.len(), 4);
        assert_eq!(
            *slices[1],
            json!({"ph": "X", "name": "kernel 0", "pid": 1, "tid": 1002, "ts": 250e3, "dur": 750e3})
        );
        assert_eq!(
            trace["otherData"],
            json!({"case": "sepia n=512", "clocks": ["device"], "simulated": false})
        );
    }

    #[test]
    fn each_recording_begins_at_0_and_what_is_simulated_says_so() {
        let (early, late) = ([step("kernel", 0, 1.0, 2.0)], [step("kernel", 0, 9.0, 9.5)]);
        let recorded = |name: &str, clock, steps: &[NamedStep]| Recorded {
            name: name.to_owned(),
            clock,
            steps: steps.to_vec(),
        };
        let trace = trace(
            "pair",
            &[recorded("a", Clock::Host, &early), recorded("b", Clock::Simulated, &late)],
        );
        let starts: Vec<_> =
            slices(&trace).iter().map(|e| (e["pid"].as_u64(), e["ts"].as_f64())).collect();
        assert_eq!(starts, [(Some(1), Some(0.0)), (Some(2), Some(0.0))]);
        let processes = names(&trace, "process_name");
        assert_eq!(processes, [(1, 0, "a"), (2, 0, "b (simulated)")]);
        assert_eq!(trace["otherData"]["simulated"], true);
    }
}
