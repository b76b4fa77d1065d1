//! Devices of other machines.
//!
//! A command whose stdin and stdout lead there (`ssh board`, `adb -s X shell`, `env`) starts `gpubench relay`. The
//! relay is there what a run is here: it starts workers, keeps their deadlines, kills them, and ends with its
//! stdin. This side sends it the requests that a worker of this machine would get, and it answers with what
//! would have come of them here. Lines are numbered and hashed, both sides say every few seconds that they live,
//! and one that hears nothing for long takes the other for gone.

mod files;
mod frame;
mod life;
mod link;
mod message;
mod push;
mod relay;
mod route;
mod trusted;
mod worker;

pub use message::{SILENCE, SILENCES};
pub use relay::relay;
pub use route::{Remote, Remotes, Route};
pub(super) use worker::RemoteWorker;
