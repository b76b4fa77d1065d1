//! Ctrl-C: the first one asks, the second one does.

use crate::worker::kill_all;
use gpubench_report::progress::say;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);
static WAITING: AtomicBool = AtomicBool::new(false);

/// Exit code of an interrupted run.
pub const EXIT: u8 = 130;

/// From now on, the first interruption is noted and the second kills the workers and exits.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(set_handler);
}

fn set_handler() {
    let handler = || match COUNT.fetch_add(1, Ordering::SeqCst) {
        0 if WAITING.load(Ordering::SeqCst) => say("nothing has begun: stopping"),
        0 => say("finishing the case in hand; once more stops at once"),
        _ => {
            kill_all();
            std::process::exit(i32::from(EXIT));
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        say(&format!("Ctrl-C will stop at once: {error}"));
    }
}

/// Notes whether another run's end is waited for, so that there is no case in hand.
pub fn waiting(is: bool) {
    WAITING.store(is, Ordering::SeqCst);
}

/// Whether an end was requested.
pub fn asked() -> bool {
    COUNT.load(Ordering::SeqCst) > 0
}
