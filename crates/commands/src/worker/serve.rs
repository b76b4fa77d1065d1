//! The worker: one open device or several, one case after the other.

use super::protocol::{Reply, Request};
use super::transport::{Transport, die_with};
use gpubench_core::error::{Error, Result};
use gpubench_core::record::Outcome;
use gpubench_device::sim::Sim;
use gpubench_device::{Backend, open_multi_device};
use gpubench_experiments::{
    DeviceGroup, Session, build, compute, iterate, measure_multi_device, measure_with_drift_guard,
};

/// What a worker is to own.
pub enum Wanted {
    /// No device: it lists the backend's.
    List(Box<dyn Backend>),
    /// The backend's device of this position.
    One(Box<dyn Backend>, usize),
    /// Several devices, by backend and position, simulated ones as described.
    Several(Vec<(String, usize)>, Sim),
}

/// What a worker owns.
enum Held {
    Nothing,
    Backend(Box<dyn Backend>),
    One(Box<Session>),
    Several(DeviceGroup),
}

/// Serves what is wanted until stdin ends. Ends with `parent`, the process that
/// started it.
///
/// # Errors
/// When the parent is gone. What fails on a device is answered, not returned.
pub fn serve(wanted: impl FnOnce() -> Result<Wanted>, parent: u32) -> Result<()> {
    die_with(parent);
    let mut transport = Transport::open()?;
    let (reply, mut held) =
        wanted().and_then(open).unwrap_or_else(|error| (failed(error), Held::Nothing));
    transport.send(&reply)?;
    if matches!(held, Held::Nothing) {
        return Ok(());
    }
    while let Some(request) = transport.next_request() {
        let reply = answer(&mut held, request, &mut transport);
        transport.send(&reply)?;
    }
    Ok(())
}

fn open(wanted: Wanted) -> Result<(Reply, Held)> {
    Ok(match wanted {
        Wanted::List(backend) => (Reply::Devices(backend.devices()?), Held::Backend(backend)),
        Wanted::One(backend, index) => {
            let device = backend.open(index)?;
            let ready = Reply::Ready(vec![device.info().clone()]);
            (ready, Held::One(Box::new(Session::new(device))))
        }
        Wanted::Several(devices, sim) => {
            let (devices, launcher) = open_multi_device(&devices, &sim)?;
            let infos = devices.iter().map(|device| device.info().clone()).collect();
            (Reply::Ready(infos), Held::Several(DeviceGroup::new(devices, launcher)))
        }
    })
}

fn answer(held: &mut Held, request: Request, transport: &mut Transport) -> Reply {
    // A stage that cannot be sent shows that the parent is gone: the reply will fail too.
    let mut stage = |stage| drop(transport.send(&Reply::Stage(stage)));
    match (request, held) {
        (Request::Measure { case, policy, reference_kernel }, Held::One(session)) => {
            let measurement =
                measure_with_drift_guard(session, &case, &policy, reference_kernel, &mut stage);
            Reply::Record(Box::new(measurement.into_record(&case, 0, 0)))
        }
        (Request::MultiDevice { cases, policy }, Held::Several(device_group)) => {
            let measurement = measure_multi_device(device_group, &cases, &policy, &mut stage);
            match cases.first() {
                Some(case) => Reply::Record(Box::new(measurement.into_record(case, 0, 0))),
                None => Reply::Failed(measurement.outcome.unwrap_or(Outcome::Ok)),
            }
        }
        (Request::Build { case }, Held::One(session)) => {
            build(session, &case, &mut stage).map_or_else(failed, |()| Reply::Built)
        }
        (Request::Compute { case, file }, Held::One(session)) => {
            let written = compute(session, &case, &mut stage)
                .and_then(|bytes| std::fs::write(&file, bytes).map_err(|e| Error::io(&file, e)));
            written.map_or_else(failed, |()| Reply::Computed)
        }
        (Request::Iterate { case, queues, states, file }, Held::One(session)) => {
            let ended = iterate(session, &case, queues, &states, &mut stage).and_then(|ended| {
                std::fs::write(&file, &ended.state).map_err(|e| Error::io(&file, e))?;
                Ok(ended.from)
            });
            ended.map_or_else(failed, Reply::Iterated)
        }
        (Request::Signatures { device, source }, Held::Backend(backend)) => {
            backend.signatures(device, &source).map_or_else(failed, Reply::Signatures)
        }
        _ => Reply::Failed(Outcome::Failed("the request is not for these devices".into())),
    }
}

fn failed(error: Error) -> Reply {
    Reply::Failed(error.into())
}
