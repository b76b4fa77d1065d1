//! The link to the host's memory and its copy engines.

use super::description::Rates;
use std::collections::VecDeque;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From host to device.
    Upload,
    /// From device to host.
    Download,
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
    fn next(&self, how: How) -> f64 {
        if self.moves() { self.bytes / self.rate(how) } else { self.latency }
    }

    fn rate(&self, how: How) -> f64 {
        let rates = &self.transfer.rates;
        let rate = match (self.transfer.direction, how.bidirectional) {
            (Direction::Upload, false) => rates.upload,
            (Direction::Upload, true) => rates.upload_bidirectional,
            (Direction::Download, false) => rates.download,
            (Direction::Download, true) => rates.download_bidirectional,
        };
        rate.min(how.limits[self.transfer.direction as usize]) / self.noise
    }
}

/// What decides how fast bytes move.
#[derive(Clone, Copy)]
struct How {
    /// Whether they move in both directions.
    bidirectional: bool,
    /// The most that the host lets through, to the device and from it.
    limits: [f64; 2],
}

/// The copy engines and what waits for them, first ready first served.
pub(super) struct Link {
    engines: u8,
    waiting: VecDeque<(usize, Transfer, f64)>,
    /// At most one a direction; with fewer than two engines at most one in all.
    active: Vec<Active>,
    /// The most that the host lets through at the moment, to the device and from it.
    limits: [f64; 2],
}

impl Link {
    pub fn new(engines: u8) -> Self {
        Self { engines, waiting: VecDeque::new(), active: vec![], limits: [f64::INFINITY; 2] }
    }

    /// Lets no more through than `limits` bytes a second, to the device and from it.
    pub fn limit(&mut self, limits: [f64; 2]) {
        self.limits = limits;
    }

    /// Whether bytes move to the device, and from it.
    pub fn moving(&self) -> [bool; 2] {
        [Direction::Upload, Direction::Download].map(|direction| {
            self.active.iter().any(|a| a.moves() && a.transfer.direction == direction)
        })
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

    fn how(&self) -> How {
        How { bidirectional: self.moving() == [true; 2], limits: self.limits }
    }

    /// Seconds until something changes, if a copy is under way.
    pub fn next(&self) -> Option<f64> {
        let how = self.how();
        self.active.iter().map(|a| a.next(how)).min_by(f64::total_cmp)
    }

    /// Lets `dt` seconds pass, and returns the steps that ended.
    pub fn advance(&mut self, dt: f64) -> Vec<usize> {
        let how = self.how();
        let mut ended = vec![];
        self.active.retain_mut(|a| {
            let over = super::is_over(a.next(how), dt);
            match (a.moves(), over) {
                (true, true) => ended.push(a.step),
                (true, false) => a.bytes -= dt * a.rate(how),
                (false, true) => a.latency = 0.0,
                (false, false) => a.latency -= dt,
            }
            !(a.moves() && ended.last() == Some(&a.step))
        });
        ended
    }
}
