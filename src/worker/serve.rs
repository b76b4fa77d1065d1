//! The worker: one open device, one case after the other.

use super::protocol::{Reply, Request};
use super::wire::{Wire, die_with};
use crate::backend::Backend;
use crate::backend::throttle::Throttle;
use crate::error::{Error, Result};
use crate::measure::{Session, compute, measure, outcome_of};
use crate::record::Flag;

/// Serves device `index` of `backend` until stdin ends; without an index, lists the devices.
/// Ends with `parent`, the process that started it.
///
/// # Errors
/// When the parent is gone. What fails on the device is answered, not returned.
pub fn serve(
    backend: impl FnOnce() -> Result<Box<dyn Backend>>,
    index: Option<usize>,
    parent: u32,
) -> Result<()> {
    die_with(parent);
    let mut wire = Wire::open()?;
    let opened = backend().and_then(|backend| match index {
        None => Ok(Reply::Devices(backend.devices()?)).map(|list| (list, None)),
        Some(index) => {
            let device = backend.open(index)?;
            let ready = Reply::Ready(Box::new(device.info().clone()));
            Ok((ready, Some(Session::new(device))))
        }
    });
    let (reply, session) = opened.unwrap_or_else(|error| (failed(error), None));
    wire.send(&reply)?;
    let Some(mut session) = session else { return Ok(()) };
    let throttle = Throttle::of(session.device.info());
    while let Some(request) = wire.next_request() {
        let reply = answer(&mut session, request, &throttle, &mut wire);
        wire.send(&reply)?;
    }
    Ok(())
}

fn answer(session: &mut Session, request: Request, throttle: &Throttle, wire: &mut Wire) -> Reply {
    // A stage that cannot be told shows that the parent is gone: the reply will fail too.
    let mut stage = |stage| drop(wire.send(&Reply::Stage(stage)));
    match request {
        Request::Measure { case, policy } => {
            let mut finding = measure(session, &case, &policy, &mut stage);
            if finding.measured.is_some() {
                // At once: a device that has nothing to do soon has no reason any more.
                throttle.reasons().into_iter().for_each(|why| finding.flag(Flag::Throttled(why)));
            }
            Reply::Record(Box::new(finding.into_record(&case, 0, 0)))
        }
        Request::Compute { case, file } => {
            let written = compute(session, &case, &mut stage)
                .and_then(|bytes| std::fs::write(&file, bytes).map_err(|e| Error::io(&file, e)));
            match written {
                Ok(()) => Reply::Computed,
                Err(error) => failed(error),
            }
        }
    }
}

fn failed(error: Error) -> Reply {
    Reply::Failed(outcome_of(error))
}
