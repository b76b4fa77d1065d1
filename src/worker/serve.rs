//! The worker: one open device, one case after the other.

use super::protocol::{Reply, Request};
use super::wire::{Wire, die_with};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::measure::{Session, compute, outcome_of, watched};

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
    while let Some(request) = wire.next_request() {
        let reply = answer(&mut session, request, &mut wire);
        wire.send(&reply)?;
    }
    Ok(())
}

fn answer(session: &mut Session, request: Request, wire: &mut Wire) -> Reply {
    // A stage that cannot be told shows that the parent is gone: the reply will fail too.
    let mut stage = |stage| drop(wire.send(&Reply::Stage(stage)));
    match request {
        Request::Measure { case, policy, sentinel } => {
            let finding = watched(session, &case, &policy, sentinel, &mut stage);
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
