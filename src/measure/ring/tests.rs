//! Rings whose ranks are threads of one process.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};

/// Ranks as threads of one process.
struct Threads {
    rank: usize,
    size: usize,
    before: Sender<Vec<f32>>,
    behind: Receiver<Vec<f32>>,
    barrier: Arc<Barrier>,
    gathered: Arc<Mutex<Vec<Vec<f32>>>>,
    values: Arc<Mutex<Vec<f64>>>,
}

impl Neighbours for Threads {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }
    fn exchange(&self, strip: &[f32], into: &mut [f32]) {
        self.before.send(strip.to_vec()).unwrap();
        into.copy_from_slice(&self.behind.recv().unwrap());
    }
    fn barrier(&self) {
        self.barrier.wait();
    }
    fn largest(&self, value: f64) -> f64 {
        self.values.lock().unwrap()[self.rank] = value;
        self.barrier.wait();
        let largest = self.values.lock().unwrap().iter().copied().fold(value, f64::max);
        // Nobody notes the next one before all have read these.
        self.barrier.wait();
        largest
    }
    fn gather(&self, mine: &[f32]) -> Option<Vec<f32>> {
        self.gathered.lock().unwrap()[self.rank] = mine.to_vec();
        self.barrier.wait();
        (self.rank == 0).then(|| self.gathered.lock().unwrap().concat())
    }
}

fn suite() -> Suite {
    let references: Vec<_> = crate::reference::names().collect();
    crate::suite::load("ring", &references).unwrap()
}

/// The product of so many ranks, each on a simulated device of its own.
fn product(n: usize, ranks: usize) -> Vec<f32> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let barrier = Arc::new(Barrier::new(ranks));
    let gathered = Arc::new(Mutex::new(vec![vec![]; ranks]));
    let values = Arc::new(Mutex::new(vec![0.0; ranks]));
    let threads: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(rank, behind)| {
            let before = senders[(rank + ranks - 1) % ranks].clone();
            let (barrier, gathered) = (Arc::clone(&barrier), Arc::clone(&gathered));
            let (size, values) = (ranks, Arc::clone(&values));
            std::thread::spawn(move || {
                let me = Threads { rank, size, before, behind, barrier, gathered, values };
                let device = Remote::open("sim", 0).unwrap();
                ring(&device, &me, suite(), n, 5).unwrap()
            })
        })
        .collect();
    let ended: Vec<Ringed> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(ended.iter().all(|r| r.runs.len() == 3 && r.computation > 0.0));
    let slowest = |r: &Ringed| (r.computation, r.transfer, r.communication, r.runs.clone());
    assert!(ended.iter().all(|r| slowest(r) == slowest(&ended[0])), "the slowest rank's, on all");
    assert!(ended[1..].iter().all(|ringed| ringed.product.is_none()));
    ended.into_iter().next().unwrap().product.unwrap()
}

#[test]
fn two_and_four_ranks_compute_what_one_does() {
    let alone = product(64, 1);
    assert_eq!(alone.len(), 64 * 64);
    for ranks in [2, 4] {
        assert_eq!(product(64, ranks), alone, "{ranks} ranks, bit for bit");
    }
}

#[test]
fn ranks_that_do_not_divide_n_are_told_what_would() {
    assert_eq!(columns(1024, 4).unwrap(), 256);
    let told = |n, ranks| columns(n, ranks).unwrap_err().to_string();
    assert_eq!(told(1000, 3), "3 ranks do not divide n = 1000: take 999 or 1002");
    assert_eq!(told(2, 4), "4 ranks do not divide n = 2: take 4");
    assert!(columns(0, 2).is_err());
}
