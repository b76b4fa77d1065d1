//! How far a run has come: a bar on a terminal, now and then a line elsewhere, always on stderr.

use gpubench_core::text::{harmless, printable};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The least time between two lines where stderr is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The progress of one run, as one of those sees it that measure at the same time: clones share all but what they
/// are doing.
#[derive(Clone, Debug)]
pub struct Progress {
    shared: Arc<Mutex<Shared>>,
    doing: String,
}

#[derive(Debug)]
struct Shared {
    style: Style,
    total: u64,
    done: u64,
    begun: Instant,
    /// Cases of this invocation: a resumed run does not count those of the one before.
    here: u64,
    /// Seconds that the run may take, where they are limited.
    max_seconds: Option<f64>,
}

#[derive(Debug)]
enum Style {
    Bar(ProgressBar),
    Lines { last: Option<Instant> },
    Quiet,
}

impl Progress {
    /// Of `total` cases, of which `done` are done already; `max_seconds` seconds are given to the others.
    pub fn new(total: u64, done: u64, max_seconds: Option<f64>, quiet: bool) -> Self {
        let term = std::env::var_os("TERM");
        let style = match (quiet, draws(std::io::stderr().is_terminal(), term.as_deref())) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Bar(bar(total, done)),
            (false, false) => Style::Lines { last: None },
        };
        let shared = Shared { style, total, done, begun: Instant::now(), here: 0, max_seconds };
        Self { shared: Arc::new(Mutex::new(shared)), doing: String::new() }
    }

    /// A case begins.
    pub fn begin(&mut self, case: &str) {
        // A bar's text goes to the terminal by itself.
        self.doing = printable(case, 200);
        self.stage("");
    }

    /// The case enters a stage.
    pub fn stage(&mut self, stage: &str) {
        self.shared().show(&self.doing, stage);
    }

    /// There are so many cases more than was known.
    pub fn add(&mut self, cases: u64) {
        let mut shared = self.shared();
        shared.total += cases;
        if let Style::Bar(bar) = &shared.style {
            bar.set_length(shared.total);
        }
    }

    /// The case is done.
    pub fn end(&mut self) {
        let mut shared = self.shared();
        shared.done += 1;
        shared.here += 1;
        if let Style::Bar(bar) = &shared.style {
            bar.set_position(shared.done);
        }
    }

    /// Says something above the bar.
    pub fn say(&self, text: &str) {
        match &self.shared().style {
            Style::Bar(bar) => bar.suspend(|| say(text)),
            Style::Lines { .. } => say(text),
            Style::Quiet => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Style::Bar(bar) = &self.shared().style {
            bar.finish_and_clear();
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn show(&mut self, doing: &str, stage: &str) {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let left = time_left(elapsed, self.here, self.total - self.done, self.max_seconds);
        match &mut self.style {
            Style::Quiet => {}
            Style::Bar(bar) => {
                bar.set_prefix(left);
                bar.set_message(format!("{doing} {stage}"));
                bar.tick();
            }
            Style::Lines { last } => {
                if last.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
                    *last = Some(Instant::now());
                    let (done, total) = (self.done, self.total);
                    say(&format!("{done}/{total} cases, {left}: {doing}"));
                }
            }
        }
    }
}

fn bar(total: u64, done: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {prefix}\n{wide_msg}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar.set_position(done);
    bar
}

/// How long `left` cases take if they go on as the first `done` did in `elapsed` seconds, and no longer than
/// what is left of `max_seconds`.
fn time_left(elapsed: f64, done: u64, left: u64, max_seconds: Option<f64>) -> String {
    let alike = if done == 0 { f64::INFINITY } else { elapsed / done as f64 * left as f64 };
    let seconds = alike.min(max_seconds.map_or(f64::INFINITY, |max_seconds| max_seconds - elapsed));
    if seconds <= 0.0 && left > 0 {
        return "time budget used up".into();
    }
    if seconds.is_infinite() {
        return "time left unknown".into();
    }
    match seconds.ceil() as u64 {
        seconds @ 0..60 => format!("{seconds} s left"),
        seconds @ 60..6000 => format!("{}:{:02} min left", seconds / 60, seconds % 60),
        seconds => format!("{}:{:02} h left", seconds / 3600, seconds / 60 % 60),
    }
}

/// A line on stderr. A closed terminal is no reason to stop, nor to panic.
pub fn say(text: &str) {
    // In one piece, so that lines of two processes do not mix. There is nobody left to report to when
    // this fails.
    let _ = Stderr.write_all(format!("gpubench: {text}\n").as_bytes());
}

/// The one door to stderr: text passes, and nothing that commands a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        std::io::stderr().write_all(harmless(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Whether to draw on a terminal: one that calls itself dumb knows only lines.
pub fn draws(is_terminal: bool, term: Option<&OsStr>) -> bool {
    is_terminal && term.is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_reported_in_a_unit_that_fits() {
        let after = |done, left| time_left(10.0, done, left, None);
        assert_eq!(after(0, 10), "time left unknown");
        assert_eq!(after(10, 30), "30 s left");
        assert_eq!(after(10, 90), "1:30 min left");
        assert_eq!(after(1, 1000), "2:46 h left");
    }

    #[test]
    fn a_dumb_terminal_gets_lines() {
        assert!(draws(true, None) && draws(true, Some(OsStr::new("xterm"))));
        assert!(!draws(true, Some(OsStr::new("dumb"))) && !draws(false, None));
    }

    #[test]
    fn time_left_ends_with_the_budget() {
        assert_eq!(time_left(10.0, 0, 10, Some(60.0)), "50 s left");
        assert_eq!(time_left(10.0, 1, 1000, Some(60.0)), "50 s left");
        assert_eq!(time_left(10.0, 10, 30, Some(60.0)), "30 s left");
        assert_eq!(time_left(70.0, 10, 30, Some(60.0)), "time budget used up");
    }
}
