//! Who may connect, and the one page that is the device.

use super::http::{header, is_local, read_head, respond};
use super::link::config;
use super::relay;
use gpubench_core::error::{Error, Result};
use gpubench_core::hash::hex;
use serde::Serialize;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tungstenite::handshake::server::{create_response, write_response};
use tungstenite::http::Request;
use tungstenite::protocol::Role;
use tungstenite::{Bytes, Message, WebSocket};

/// How long somebody who connects may take to say what for, and a page to take what it is sent.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a second page waits for the first to be gone: that of a reload is about to be.
const RELOAD: Duration = Duration::from_secs(1);
/// How long a worker waits for a page: a reload takes less.
const RETURN: Duration = Duration::from_secs(10);

/// How many may be connected at once: a page, workers, and what a browser asks for; any page of a browser could come
/// in crowds.
const CONNECTIONS: usize = 64;
/// How many answers of a page may wait: one to the worker in force, and those to workers that were killed.
pub(super) const ANSWERS: usize = 8;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = concat!(
    include_str!("images.js"),
    "\n",
    include_str!("session.js"),
    "\n",
    include_str!("page.js")
);

/// A server on the loopback address. It ends with the process.
pub struct Hub {
    port: u16,
    shared: Arc<Shared>,
}

/// What the threads of all connections share.
pub(super) struct Shared {
    /// In the page's address: who does not know it is a stranger.
    token: String,
    /// In the workers' address.
    key: String,
    state: Mutex<State>,
    changed: Condvar,
    connections: AtomicUsize,
}

#[derive(Default)]
struct State {
    page: Option<Page>,
    /// Pages so far.
    pages: u64,
}

/// The page that is connected.
struct Page {
    /// Its number.
    number: u64,
    out: Arc<Mutex<WebSocket<TcpStream>>>,
    /// Where its answers go: to the session in force.
    answers: Option<SyncSender<Bytes>>,
}

/// A worker's turn with a page.
pub(super) struct Turn {
    pub out: Arc<Mutex<WebSocket<TcpStream>>>,
    /// Ends when the page goes, or another worker's turn begins.
    pub answers: Receiver<Bytes>,
}

/// Messages to a page that are no requests.
#[derive(Serialize)]
#[serde(tag = "show", rename_all = "snake_case")]
enum Note<'a> {
    Occupied,
    Doing { text: &'a str },
    Done { text: &'a str },
    Results { document: &'a str },
}

impl Hub {
    /// Listens on the loopback address; port 0 is any that is free.
    ///
    /// # Errors
    /// `Usage` where the port is taken.
    pub fn start(port: u16) -> Result<Self> {
        let failed = |e| Error::Usage(format!("cannot listen on 127.0.0.1:{port}: {e}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let shared = Arc::new(Shared {
            token: secret()?,
            key: secret()?,
            state: Mutex::default(),
            changed: Condvar::new(),
            connections: AtomicUsize::new(0),
        });
        let of_threads = Arc::clone(&shared);
        std::thread::Builder::new()
            .spawn(move || accept(&listener, &of_threads))
            .map_err(failed)?;
        Ok(Self { port, shared })
    }

    /// The page's address, its token included.
    pub fn page_address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.shared.token)
    }

    /// Where workers find the hub: the value of [`super::HUB`].
    pub fn worker_address(&self) -> String {
        format!("127.0.0.1:{}/{}/worker", self.port, self.shared.key)
    }

    /// The number of the page that is connected; 0 where there is none.
    pub fn page(&self) -> u64 {
        self.shared.lock().page.as_ref().map_or(0, |page| page.number)
    }

    /// Waits at most so long for a page with a number above `seen`.
    pub fn wait(&self, seen: u64, limit: Duration) -> Option<u64> {
        let number = |state: &State| state.page.as_ref().map(|page| page.number);
        let state = self.shared.wait(limit, |state| number(state).is_some_and(|n| n > seen));
        number(&state).filter(|n| *n > seen)
    }

    /// Shows on the page what is being done.
    pub fn doing(&self, text: &str) {
        self.shared.show(&Note::Doing { text });
    }

    /// Shows on the page what has ended.
    pub fn done(&self, text: &str) {
        self.shared.show(&Note::Done { text });
    }

    /// Has the page show a document in HTML. After this call all of it is on its way: the program may end.
    pub fn results(&self, document: &str) {
        let Some(out) = self.shared.out() else { return };
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.send(text(&Note::Results { document }));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked has left is whole: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state when `is_there`, or when the time is over.
    fn wait(
        &self,
        limit: Duration,
        mut is_there: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |s| !is_there(s));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A turn with the page, when there is one.
    pub fn turn(&self) -> Option<Turn> {
        let mut state = self.wait(RETURN, |state| state.page.is_some());
        let page = state.page.as_mut()?;
        let (sender, answers) = sync_channel(ANSWERS);
        page.answers = Some(sender);
        Some(Turn { out: Arc::clone(&page.out), answers })
    }

    /// The way to the page, where there is one.
    fn out(&self) -> Option<Arc<Mutex<WebSocket<TcpStream>>>> {
        self.lock().page.as_ref().map(|page| Arc::clone(&page.out))
    }

    /// Shows something on the page, unless it is being sent something else: nobody waits for this.
    fn show(&self, note: &Note<'_>) {
        let Some(out) = self.out() else { return };
        let mut out = match out.try_lock() {
            Ok(out) => out,
            Err(TryLockError::Poisoned(out)) => out.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let _ = out.send(text(note));
    }

    /// The page's number, if it may be the device.
    fn admit(&self, out: &Arc<Mutex<WebSocket<TcpStream>>>) -> Option<u64> {
        let mut state = self.wait(RELOAD, |state| state.page.is_none());
        if state.page.is_some() {
            return None;
        }
        state.pages += 1;
        let number = state.pages;
        state.page = Some(Page { number, out: Arc::clone(out), answers: None });
        self.changed.notify_all();
        Some(number)
    }

    /// Hands an answer of the page on, unless nobody waits for one; whether the page says no more than it is asked for.
    fn answer(&self, bytes: Bytes) -> bool {
        let state = self.lock();
        let answers = state.page.as_ref().and_then(|page| page.answers.as_ref());
        // Where the worker was killed, nobody takes it.
        answers.is_none_or(|answers| !matches!(answers.try_send(bytes), Err(TrySendError::Full(_))))
    }

    fn forget_page(&self) {
        self.lock().page = None;
        self.changed.notify_all();
    }
}

fn text(note: &Note<'_>) -> Message {
    Message::text(serde_json::to_string(note).unwrap_or_default())
}

/// 128 bits that nobody can guess.
fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Error::Device(format!("no random numbers: {e}")))?;
    Ok(hex(&bytes))
}

/// Somebody who is connected; dropped when he is gone.
struct Connection(Arc<Shared>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        let connection = Connection(Arc::clone(shared));
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            continue;
        }
        // Where the system has no thread left, whoever connected is left alone.
        let _ = std::thread::Builder::new().spawn(move || {
            let _ = serve(stream, &connection.0);
        });
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    const HTML: &str = "text/html";
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let request = read_head(&mut stream, Instant::now() + SILENCE)?;
    let mut path = request.uri().path().trim_start_matches('/').splitn(2, '/');
    let (secret, rest) = (path.next().unwrap_or_default(), path.next());
    let upgrades = header(&request, "upgrade").is_some();
    let document = match (rest, upgrades) {
        _ if !is_local(&request) => None,
        (Some("worker"), true) if secret == shared.key => {
            return open(stream, &request).map(|socket| relay::relay(socket, shared));
        }
        _ if secret != shared.token => None,
        (Some("page"), true) => return hold(stream, &request, shared),
        (Some(""), _) => Some((HTML, PAGE.to_owned())),
        (Some("page.js"), _) => Some(("text/javascript", SCRIPT.to_owned())),
        _ => None,
    };
    match document {
        Some((kind, body)) => respond(&mut stream, "200 OK", kind, body.as_bytes()),
        None => {
            let why = "The address is not complete: it is the one that gpubench printed.\n";
            respond(&mut stream, "403 Forbidden", "text/plain", why.as_bytes())
        }
    }
}

/// Opens a WebSocket.
fn open(mut stream: TcpStream, request: &Request<()>) -> std::io::Result<WebSocket<TcpStream>> {
    let response = create_response(request).map_err(std::io::Error::other)?;
    write_response(&mut stream, &response).map_err(std::io::Error::other)?;
    stream.flush()?;
    stream.set_read_timeout(None)?;
    Ok(WebSocket::from_raw_socket(stream, Role::Server, Some(config())))
}

/// Holds a page as the device until it goes.
fn hold(stream: TcpStream, request: &Request<()>, shared: &Shared) -> std::io::Result<()> {
    let begun = Instant::now();
    let mut from = open(stream, request)?;
    let out = from.get_ref().try_clone()?;
    let out = WebSocket::from_raw_socket(out, Role::Server, Some(config()));
    let out = Arc::new(Mutex::new(out));
    let Some(number) = shared.admit(&out) else {
        tracing::warn!("a second page is refused: another one is the device");
        let _ = from.send(text(&Note::Occupied));
        let _ = from.close(None);
        return from.flush().map_err(std::io::Error::other);
    };
    tracing::debug!(number, "a page is the device");
    loop {
        match from.read() {
            Ok(Message::Binary(bytes)) => {
                if !shared.answer(bytes) {
                    tracing::warn!("the page answers what nobody asked: it is turned away");
                    break;
                }
            }
            Ok(Message::Close(_)) | Err(_) => break,
            Ok(_) => {}
        }
    }
    tracing::debug!(number, seconds = begun.elapsed().as_secs_f64(), "the page is gone");
    shared.forget_page();
    Ok(())
}
