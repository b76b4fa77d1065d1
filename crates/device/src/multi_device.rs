//! Several devices that begin at the same moment: each lives in a thread of its own.

use super::sim::{SIM, Sim};
use super::{Device, by_name};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, StepTimes,
    Timeline,
};
use gpubench_core::units::Bytes;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Instant;

/// Devices that can begin at the same moment.
pub trait MultiDevice {
    /// Has every device run its recording, all begun at the same moment, and waits for all. A
    /// device with an empty recording stays idle.
    ///
    /// # Errors
    /// The first device's that fails, with its name.
    fn run(&mut self, recordings: &[Recording]) -> Result<Vec<Part>>;
}

/// What one device did while others were at work: seconds since the common start, on one clock
/// for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// When it began.
    pub begun: f64,
    /// When it had ended.
    pub ended: f64,
    /// When each step ran; empty where no clock can distinguish steps.
    pub steps: Vec<StepTimes>,
    /// Why the device's timestamps were not used, where it has them.
    pub dropped: Option<String>,
}

/// Open devices, and who starts them at the same moment.
pub type Opened = (Vec<Box<dyn Device>>, Box<dyn MultiDevice>);

/// Opens devices by the names of their backends and their positions, simulated ones as `sim` has
/// them.
///
/// # Errors
/// What opening one of them says; `Unsupported` for simulated devices mixed with real ones.
pub fn open_multi_device(wanted: &[(String, usize)], sim: &Sim) -> Result<Opened> {
    let simulated = wanted.iter().filter(|(backend, _)| backend == SIM).count();
    if simulated == wanted.len() {
        let indices: Vec<usize> = wanted.iter().map(|(_, index)| *index).collect();
        return sim.open_multi_device(&indices);
    }
    if simulated > 0 {
        let why = "simulated devices have no clock in common with real ones; choose one sort";
        return Err(Error::Unsupported(why.into()));
    }
    let remotes = wanted
        .iter()
        .map(|(backend, index)| Remote::open(backend, *index))
        .collect::<Result<Vec<_>>>()?;
    let devices = remotes.iter().map(|remote| -> Box<dyn Device> { Box::new(remote.clone()) });
    Ok((devices.collect(), Box::new(Threads(remotes))))
}

/// Something to do with a device in its thread.
type Task = Box<dyn FnOnce(&mut dyn Device) + Send>;

/// A device in a thread of its own, which opened it: devices need not be sent between threads.
#[derive(Clone)]
pub struct Remote {
    info: DeviceInfo,
    tasks: Sender<Task>,
    /// Ends with the thread.
    ended: Arc<Mutex<Receiver<()>>>,
}

impl Remote {
    /// Opens a device by the name of its backend and its position.
    ///
    /// # Errors
    /// What opening it says.
    pub fn open(backend: &str, index: usize) -> Result<Self> {
        let (tasks, inbox) = channel::<Task>();
        let (ready_sender, ready) = channel();
        let (ending, ended) = channel();
        let name = backend.to_owned();
        thread::spawn(move || {
            // Dropped last, behind the device.
            let _ending = ending;
            let missing = || Error::Usage(format!("there is no backend `{name}`"));
            match by_name(&name).ok_or_else(missing).and_then(|backend| backend.open(index)) {
                Ok(mut device) => {
                    let _ = ready_sender.send(Ok(device.info().clone()));
                    inbox.into_iter().for_each(|task| task(device.as_mut()));
                }
                Err(error) => drop(ready_sender.send(Err(error))),
            }
        });
        let opened = ready.recv().unwrap_or_else(|_| Err(gone(&format!("{backend}:{index}"))));
        let name = format!("{backend}:{index}");
        let info = opened.map_err(|error| of(&name, error))?;
        Ok(Self { info, tasks, ended: Arc::new(Mutex::new(ended)) })
    }

    /// Closes the device and waits until it is closed: a process should not end meanwhile. For the
    /// last of its clones; another one's thread goes on.
    pub fn close(self) {
        let Self { tasks, ended, .. } = self;
        drop(tasks);
        if let Ok(ended) = ended.lock() {
            // Nothing is ever sent: what comes is the end.
            let _: Result<(), _> = ended.recv();
        }
    }

    fn name(&self) -> String {
        format!("{}:{} {}", self.info.backend, self.info.index, self.info.name)
    }

    /// Has the thread begin something; [`Remote::end`] waits for its answer.
    pub fn begin<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut dyn Device) -> Result<T> + Send + 'static,
    ) -> Receiver<Result<T>> {
        let (answer, answered) = channel();
        // A thread that has ended is noticed where the answer is awaited.
        let _ = self.tasks.send(Box::new(move |device| drop(answer.send(task(device)))));
        answered
    }

    /// Waits for the answer to something begun.
    ///
    /// # Errors
    /// The device's, with its name; `DeviceLost` where its thread has ended.
    pub fn end<T>(&self, answer: &Receiver<Result<T>>) -> Result<T> {
        let answer = answer.recv().unwrap_or_else(|_| Err(gone(&self.name())));
        answer.map_err(|error| of(&self.name(), error))
    }

    /// Has the thread do something and waits for it.
    ///
    /// # Errors
    /// As [`Remote::end`].
    pub fn call<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut dyn Device) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.end(&self.begin(task))
    }
}

fn gone(name: &str) -> Error {
    Error::DeviceLost(format!("the thread of {name} has ended"))
}

/// The error with the device's name, since there are several.
fn of(name: &str, error: Error) -> Error {
    match error {
        Error::DeviceLost(text) => Error::DeviceLost(format!("{name}: {text}")),
        Error::OutOfMemory(text) => Error::OutOfMemory(format!("{name}: {text}")),
        Error::Unsupported(text) => Error::Unsupported(format!("{name}: {text}")),
        Error::Device(text) => Error::Device(format!("{name}: {text}")),
        other => other,
    }
}

impl Device for Remote {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        let source = source.clone();
        self.call(move |device| device.build(id, &source))
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.call(move |device| device.alloc(id, bytes, kind))
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        let data = data.to_vec();
        self.call(move |device| device.write(id, &data))
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        self.call(move |device| device.read(id))
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let recording = recording.clone();
        self.call(move |device| device.run(&recording))
    }

    fn reset(&mut self) {
        // A thread that has ended says so at the next call that can fail.
        let _ = self.call(|device| {
            device.reset();
            Ok(())
        });
    }
}

/// Real devices, each with its thread.
struct Threads(Vec<Remote>);

impl MultiDevice for Threads {
    fn run(&mut self, recordings: &[Recording]) -> Result<Vec<Part>> {
        let busy = recordings.iter().filter(|recording| !recording.steps.is_empty()).count();
        // Everybody is awake before anybody begins.
        let start = Arc::new(Barrier::new(busy));
        let begun: Vec<_> = self
            .0
            .iter()
            .zip(recordings)
            .map(|(remote, recording)| {
                let (recording, start) = (recording.clone(), Arc::clone(&start));
                (!recording.steps.is_empty()).then(|| {
                    remote.begin(move |device| {
                        start.wait();
                        let begun = Instant::now();
                        let timeline = device.run(&recording)?;
                        Ok((begun, Instant::now(), timeline))
                    })
                })
            })
            .collect();
        // All are waited for even where one has failed: none shall run on into the next start.
        let answers: Vec<_> =
            self.0.iter().zip(&begun).map(|(r, b)| b.as_ref().map(|b| r.end(b))).collect();
        let answers = answers.into_iter().map(Option::transpose).collect::<Result<Vec<_>>>()?;
        let first = answers.iter().flatten().map(|(begun, ..)| *begun).min();
        let Some(first) = first else { return Ok(vec![idle(); recordings.len()]) };
        let part = |answer: Option<(Instant, Instant, Timeline)>| {
            answer.map_or_else(idle, |(begun, ended, timeline)| {
                let since = |at: Instant| at.duration_since(first).as_secs_f64();
                on_common_clock(since(begun), since(ended), timeline)
            })
        };
        Ok(answers.into_iter().map(part).collect())
    }
}

fn idle() -> Part {
    Part { begun: 0.0, ended: 0.0, steps: vec![], dropped: None }
}

/// Steps by a device's own clock, moved so that the last ends when the host saw it end.
fn on_common_clock(begun: f64, ended: f64, timeline: Timeline) -> Part {
    let Timeline { steps, dropped, .. } = timeline;
    let last = steps.iter().map(|step| step.ended).fold(f64::NEG_INFINITY, f64::max);
    let steps = steps.iter().map(|step| step.map(|time| time + (ended - last))).collect();
    Part { begun, ended, steps, dropped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Clock;

    #[test]
    fn steps_end_when_the_host_saw_them_end() {
        let step = |started: f64, ended: f64| StepTimes {
            queued: started,
            submitted: started,
            started,
            ended,
        };
        let steps = vec![step(100.0, 101.0), step(101.0, 103.0)];
        let (clock, resolution) = (Clock::Device, 1e-9);
        let timeline =
            Timeline { steps, clock, resolution, wall: 3.0, dropped: Some("reversed".into()) };
        let part = on_common_clock(0.5, 4.5, timeline);
        assert_eq!((part.begun, part.ended), (0.5, 4.5));
        assert_eq!(part.dropped.as_deref(), Some("reversed"));
        assert_eq!((part.steps[0].started, part.steps[1].ended), (1.5, 4.5));
    }

    #[test]
    fn what_cannot_be_concurrent_is_reported() {
        let open = |wanted: &[(&str, usize)]| {
            let wanted: Vec<_> = wanted.iter().map(|(b, i)| ((*b).to_owned(), *i)).collect();
            open_multi_device(&wanted, &Sim::default()).map(|_| ()).unwrap_err().to_string()
        };
        assert!(open(&[("sim", 0), ("nowhere", 0)]).contains("no clock in common"));
        assert!(open(&[("nowhere", 0), ("nowhere", 1)]).contains("no backend `nowhere`"));
        assert!(open(&[("sim", 0), ("sim", 99)]).contains("no sim device 99"));
    }
}
