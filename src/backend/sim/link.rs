//! The link to the host's memory and its copy engines.

use super::description::Rates;
use std::collections::VecDeque;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From host to device.
    Send,
    /// From device to host.
    Receive,
}

/// A copy between host and device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Which way.
    pub direction: Direction,
    /// How much.
    pub bytes: f64,
    /// The link's rates for the kind of host memory.
    pub rates: Rates,
}

/// A copy under way: first its latency passes, then its bytes move.
struct Active {
    step: usize,
    transfer: Transfer,
    noise: f64,
    latency: f64,
    bytes: f64,
}

impl Active {
    fn moves(&self) -> bool {
        self.latency <= 0.0
    }

    /// Seconds until the latency has passed or, after it, until the last byte has moved.
    fn next(&self, together: bool) -> f64 {
        if self.moves() { self.bytes / self.rate(together) } else { self.latency }
    }

    fn rate(&self, together: bool) -> f64 {
        let rates = &self.transfer.rates;
        let rate = match (self.transfer.direction, together) {
            (Direction::Send, false) => rates.send,
            (Direction::Send, true) => rates.send_together,
            (Direction::Receive, false) => rates.receive,
            (Direction::Receive, true) => rates.receive_together,
        };
        rate / self.noise
    }
}

/// The copy engines and what waits for them, first ready first served.
pub(super) struct Link {
    engines: u8,
    waiting: VecDeque<(usize, Transfer, f64)>,
    /// At most one a direction; with fewer than two engines at most one in all.
    active: Vec<Active>,
}

impl Link {
    pub fn new(engines: u8) -> Self {
        Self { engines, waiting: VecDeque::new(), active: vec![] }
    }

    /// Queues a copy whose every second takes `noise` seconds.
    pub fn queue(&mut self, step: usize, transfer: Transfer, noise: f64) {
        self.waiting.push_back((step, transfer, noise));
    }

    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// Begins the copies for which an engine is free, and returns their steps.
    pub fn begin(&mut self) -> Vec<usize> {
        let mut begun = vec![];
        let mut i = 0;
        while i < self.waiting.len() {
            let direction = self.waiting[i].1.direction;
            let busy = |a: &Active| self.engines < 2 || a.transfer.direction == direction;
            if self.active.iter().any(busy) {
                i += 1;
            } else if let Some((step, transfer, noise)) = self.waiting.remove(i) {
                begun.push(step);
                let (latency, bytes) = (transfer.rates.latency * noise, transfer.bytes);
                self.active.push(Active { step, transfer, noise, latency, bytes });
            }
        }
        begun
    }

    /// Whether bytes move in both directions.
    fn together(&self) -> bool {
        self.active.iter().filter(|a| a.moves()).count() == 2
    }

    /// Seconds until something changes, if a copy is under way.
    pub fn next(&self) -> Option<f64> {
        let together = self.together();
        self.active.iter().map(|a| a.next(together)).min_by(f64::total_cmp)
    }

    /// Lets `dt` seconds pass, and returns the steps that ended.
    pub fn advance(&mut self, dt: f64) -> Vec<usize> {
        let together = self.together();
        let mut ended = vec![];
        self.active.retain_mut(|a| {
            let over = super::is_over(a.next(together), dt);
            match (a.moves(), over) {
                (true, true) => ended.push(a.step),
                (true, false) => a.bytes -= dt * a.rate(together),
                (false, true) => a.latency = 0.0,
                (false, false) => a.latency -= dt,
            }
            !(a.moves() && ended.last() == Some(&a.step))
        });
        ended
    }
}
