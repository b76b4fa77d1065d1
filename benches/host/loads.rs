//! Loads that wait for each other, by the working set: where they get slower is a cache's end, as `chase` of the suite
//! `ceilings` finds it through a driver.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::hint::black_box;
use std::time::Instant;

/// Words of a line of cache.
const LINE: usize = 16;
/// Loads that are timed.
const LOADS: usize = 4_000_000;
/// The fastest of so many counts.
const TURNS: usize = 3;

/// Working sets of KiB and seconds of a load, two an octave, up to so many MiB.
pub fn loads(mib: usize) -> impl Iterator<Item = (f64, f64)> {
    let sizes = (8..).map(|half_octave| 1024.0 * (f64::from(half_octave) / 2.0).exp2());
    let sizes = sizes.take_while(move |bytes| *bytes <= (mib << 20) as f64);
    sizes.map(|bytes| (bytes / 1024.0, load(bytes as usize)))
}

/// Seconds of a load that follows a cycle through all lines of so many bytes, in random order.
fn load(bytes: usize) -> f64 {
    let lines = (bytes / (4 * LINE)).max(2);
    let mut order: Vec<usize> = (0..lines).collect();
    // Equal sizes have equal orders.
    let mut random = Pcg64Mcg::seed_from_u64(lines as u64);
    order.shuffle(&mut random);
    let mut next = vec![0_u32; lines * LINE];
    for (from, to) in order.iter().zip(order.iter().cycle().skip(1)) {
        next[from * LINE] = (to * LINE) as u32;
    }
    let mut at = (random.random_range(0..lines) * LINE) as u32;
    let mut follow = |loads: usize| {
        for _ in 0..loads {
            at = next[at as usize];
        }
        black_box(at)
    };
    follow(lines);
    let turn = |_| {
        let begun = Instant::now();
        follow(LOADS);
        begun.elapsed().as_secs_f64() / LOADS as f64
    };
    (0..TURNS).map(turn).fold(f64::INFINITY, f64::min)
}
