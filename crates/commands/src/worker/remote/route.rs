//! Another machine: how to get there, what it is, and the link to it.

use super::super::client::LISTING;
use super::super::host::version;
use super::link::{Link, NoLink};
use super::message::{Answer, Ask, SILENCE};
use super::push;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Host, Outcome, RemoteHost};
use gpubench_core::text::printable;
use gpubench_device::device_choice::Selector;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait before a lost link is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the other side may take for what needs no device.
pub(super) const SHORT: Duration = Duration::from_secs(60);

/// A link that was lost so often in a row is not tried again: two tries of each of three cases, after which a device
/// is in quarantine, and the machine's others need not try as often.
const GIVEN_UP: u32 = 6;

/// How to get to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What it is called here.
    pub name: String,
    /// The words of the command.
    pub command: Vec<String>,
    /// The gpubench there; `None`: the one in its `PATH`, or where it is sent to.
    pub binary: Option<String>,
    /// After so long without a byte the link counts as lost.
    pub silence: Duration,
    /// Names that may have been meant, where this one is not known.
    pub other_names: Vec<String>,
}

/// Another machine and the link to it.
#[derive(Debug)]
pub struct Remote {
    name: String,
    words: Vec<String>,
    silence: Duration,
    host: Host,
    identities: Vec<String>,
    trusted: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    link: Option<Link>,
    /// How often in a row it was lost.
    lost: u32,
    /// Devices that this run may measure there.
    locked: Vec<DeviceInfo>,
    /// Files that the relay has, by their hash.
    pub(super) sent: BTreeSet<String>,
}

impl Remote {
    /// Gets there, sending the binary in `push` where there is one and the machine has another.
    ///
    /// # Errors
    /// `Usage` where nobody answers, or another version; `Io` where the file cannot be read.
    pub fn connect(route: &Route, push: Option<&Path>) -> Result<Self> {
        let binary = match (push, &route.binary) {
            (Some(file), _) => push::ensure(route, file)?,
            (None, Some(binary)) => push::plain(binary)?.to_owned(),
            (None, None) => "gpubench".to_owned(),
        };
        let words = relay_words(route, &binary);
        let (link, greeting) =
            Link::open(&words, route.silence).map_err(|no| unreachable(route, &no))?;
        let there = printable(&greeting.gpubench, 80);
        if there != version() {
            return Err(Error::Usage(format!(
                "{}: gpubench {there} is there, {} is here: install the same, or send one with --push FILE",
                route.name,
                version()
            )));
        }
        let state = State { link: Some(link), ..State::default() };
        Ok(Self {
            name: route.name.clone(),
            words,
            silence: route.silence,
            host: greeting.host,
            identities: greeting.identities,
            trusted: AtomicBool::new(false),
            state: Mutex::new(state),
        })
    }

    /// What it is called here.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The devices that a selector's backends have there, and notes about those that failed.
    ///
    /// # Errors
    /// The error instead.
    pub fn list(&self, selector: &Selector) -> Result<(Vec<DeviceInfo>, Vec<String>), Outcome> {
        let ask = Ask::List(selector.clone());
        self.with_link(|link, _| match link.ask_once(ask, "listing the devices", 2 * LISTING)? {
            Answer::Listed { mut devices, notes } => {
                devices.iter_mut().for_each(|device| device.remote = Some(self.name.clone()));
                Ok((devices, notes))
            }
            other => Err(link.confused(&other)),
        })
    }

    /// Locks devices there until they are given back or the link ends. Where another run has one of them: its process, if it is
    /// known, and the device.
    ///
    /// # Errors
    /// The error instead.
    pub fn lock(&self, devices: &[DeviceInfo]) -> Result<Option<(Option<u32>, String)>, Outcome> {
        let devices: Vec<DeviceInfo> = devices.iter().map(as_there).collect();
        // Another run tries anew.
        self.state().lost = 0;
        self.with_link(|link, state| {
            let held = lock(link, &devices)?;
            if held.is_none() {
                state.locked.extend(devices);
            }
            Ok(held)
        })
    }

    /// Gives back what [`Remote::lock`] has locked there.
    ///
    /// # Errors
    /// The error instead.
    pub fn unlock(&self) -> Result<(), Outcome> {
        self.with_link(|link, state| {
            state.locked.clear();
            match link.ask_once(Ask::Unlock, "giving devices back", SHORT)? {
                Answer::Unlocked => Ok(()),
                other => Err(link.confused(&other)),
            }
        })
    }

    /// Tells the other side that the user trusts the kernels that it will be sent.
    pub fn trust(&self) {
        self.trusted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.trusted.load(Ordering::Relaxed)
    }

    /// Does something with the link, which is made again where it was lost.
    pub(super) fn with_link<T>(
        &self,
        job: impl FnOnce(&mut Link, &mut State) -> Result<T, Outcome>,
    ) -> Result<T, Outcome> {
        let mut state = self.state();
        if state.lost >= GIVEN_UP {
            let why = format!("it was lost {GIVEN_UP} times in a row and is not tried again");
            return Err(Outcome::LinkLost(why));
        }
        let link = match state.link.take() {
            Some(link) => Ok(link),
            None => self.again(&mut state),
        };
        let result = link.and_then(|mut link| {
            let result = job(&mut link, &mut state);
            if !matches!(result, Err(Outcome::LinkLost(_))) {
                state.link = Some(link);
            }
            result
        });
        state.lost = match result {
            Err(Outcome::LinkLost(_)) => state.lost + 1,
            _ => 0,
        };
        result
    }

    /// Does something with the link where there is one; one that is lost is made again when it is needed.
    pub(super) fn if_linked<T>(&self, job: impl FnOnce(&mut Link) -> Result<T, Outcome>) {
        let mut state = self.state();
        if let Some(mut link) = state.link.take() {
            state.link = job(&mut link).is_ok().then_some(link);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new link, with the locks that the old one had; files are to be sent again.
    fn again(&self, state: &mut State) -> Result<Link, Outcome> {
        std::thread::sleep(PAUSE);
        let (mut link, greeting) =
            Link::open(&self.words, self.silence).map_err(|no| Outcome::LinkLost(no.why))?;
        if greeting.gpubench != version() {
            return Err(Outcome::LinkLost("another gpubench answers now".into()));
        }
        let machine = |host: &Host| (host.name.clone(), host.class(), host.os.clone());
        if machine(&greeting.host) != machine(&self.host) {
            let why = format!("another machine answers now: {}", greeting.host.name);
            return Err(Outcome::LinkLost(why));
        }
        state.sent.clear();
        // The relay of the lost link holds its locks until it notices.
        let begun = Instant::now();
        while let Some((_, device)) = lock(&mut link, &state.locked)? {
            if begun.elapsed() > self.silence + PAUSE {
                let why = format!("{device} is measured by another run now");
                return Err(Outcome::LinkLost(why));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(link)
    }
}

fn lock(link: &mut Link, devices: &[DeviceInfo]) -> Result<Option<(Option<u32>, String)>, Outcome> {
    match link.ask_once(Ask::Lock(devices.to_vec()), "locking the devices", SHORT)? {
        Answer::Locked => Ok(None),
        Answer::HeldBy(pid, device) => Ok(Some((pid, device))),
        other => Err(link.confused(&other)),
    }
}

/// The device as its own machine names it.
pub(super) fn as_there(device: &DeviceInfo) -> DeviceInfo {
    DeviceInfo { remote: None, ..device.clone() }
}

/// The words that start a relay.
pub(super) fn relay_words(route: &Route, binary: &str) -> Vec<String> {
    let relay = [binary, "relay"].map(str::to_owned);
    let silence = (route.silence != SILENCE)
        .then(|| ["--silence".into(), route.silence.as_secs_f64().to_string()]);
    let silence = silence.into_iter().flatten();
    route.command.iter().cloned().chain(relay).chain(silence).collect()
}

fn unreachable(route: &Route, no: &NoLink) -> Error {
    const NOT_FOUND: [Option<i32>; 2] = [Some(126), Some(127)];
    const UNKNOWN_COMMAND: Option<i32> = Some(2);
    let help = match no.code {
        code if NOT_FOUND.contains(&code) => {
            "; is gpubench in its PATH? The hosts file may name it, and --push FILE sends one"
        }
        UNKNOWN_COMMAND => {
            "; a gpubench without relays is an older one: --push FILE sends this one"
        }
        _ => "",
    };
    let names = match route.other_names.as_slice() {
        [] => String::new(),
        names => format!("; the hosts file has {}", names.join(", ")),
    };
    let command = route.command.join(" ");
    Error::Usage(format!("no gpubench answers behind `{command}`: {}{help}{names}", no.why))
}

/// The other machines of a command.
#[derive(Clone, Debug, Default)]
pub struct Remotes(Vec<Arc<Remote>>);

impl Remotes {
    /// Gets to all of them: at once, but where something is sent, which two of them may lead to the same place.
    ///
    /// # Errors
    /// As [`Remote::connect`]; `Usage` where two have one name, or lead to one machine.
    pub fn connect(routes: &[Route], push: Option<&Path>) -> Result<Self> {
        let is_twice =
            |(at, route): &(usize, &Route)| routes[..*at].iter().any(|r| r.name == route.name);
        if let Some((_, route)) = routes.iter().enumerate().find(is_twice) {
            return Err(Error::Usage(format!("`{}` is named twice by --on", route.name)));
        }
        let connect = |route: &Route| Remote::connect(route, push).map(Arc::new);
        if push.is_some() {
            return routes.iter().map(connect).collect::<Result<Vec<_>>>().and_then(Self::apart);
        }
        let failed = |_| Err(Error::Device("a thread failed".into()));
        std::thread::scope(|scope| {
            let dialled: Vec<_> =
                routes.iter().map(|route| scope.spawn(move || connect(route))).collect();
            let answered = dialled.into_iter().map(|thread| thread.join().unwrap_or_else(failed));
            answered.collect::<Result<Vec<_>>>().and_then(Self::apart)
        })
    }

    /// That no two are one machine, whose devices would be measured at the same time, or wait for themselves.
    fn apart(remotes: Vec<Arc<Remote>>) -> Result<Self> {
        for (at, one) in remotes.iter().enumerate() {
            let is_same = |other: &&Arc<Remote>| {
                other.identities.iter().any(|identity| one.identities.contains(identity))
            };
            if let Some(other) = remotes[..at].iter().find(is_same) {
                let names = (printable(&other.name, 60), printable(&one.name, 60));
                let why = "are one machine, whose devices cannot be measured at the same time";
                return Err(Error::Usage(format!("`{}` and `{}` {why}", names.0, names.1)));
            }
        }
        Ok(Self(remotes))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Remote> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that a device is in.
    pub fn of(&self, device: &DeviceInfo) -> Option<&Arc<Remote>> {
        self.0.iter().find(|remote| Some(&remote.name) == device.remote.as_ref())
    }

    /// Those that devices of a run are in, for its header.
    pub fn hosts(&self, devices: &[DeviceInfo]) -> Vec<RemoteHost> {
        let is_used =
            |remote: &&Remote| devices.iter().any(|d| d.remote.as_deref() == Some(remote.name()));
        let host =
            |remote: &Remote| RemoteHost { name: remote.name.clone(), host: remote.host.clone() };
        self.iter().filter(is_used).map(host).collect()
    }
}
