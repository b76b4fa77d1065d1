//! Ranks as threads of one process.
#![allow(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use super::Neighbours;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Barrier, Condvar, Mutex};

/// What is sent from one rank to another and has not arrived, by group, sender and receiver.
type Mail = BTreeMap<(usize, usize, usize), VecDeque<Vec<u8>>>;

/// What the ranks of a process share. A group of ranks is named by its size.
#[derive(Default)]
struct Shared {
    mail: Mutex<Mail>,
    posted: Condvar,
    barriers: Mutex<BTreeMap<usize, Arc<Barrier>>>,
    gathered: Mutex<BTreeMap<(usize, usize), Vec<u8>>>,
    values: Mutex<BTreeMap<(usize, usize), f64>>,
}

struct Threads {
    rank: usize,
    size: usize,
    shared: Arc<Shared>,
}

impl Threads {
    fn send(&self, to: usize, what: &[u8]) {
        let key = (self.size, self.rank, to);
        self.shared.mail.lock().unwrap().entry(key).or_default().push_back(what.to_vec());
        self.shared.posted.notify_all();
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let key = (self.size, from, self.rank);
        let mut mail = self.shared.mail.lock().unwrap();
        loop {
            if let Some(arrived) = mail.get_mut(&key).and_then(VecDeque::pop_front) {
                return arrived;
            }
            mail = self.shared.posted.wait(mail).unwrap();
        }
    }
}

impl Neighbours for Threads {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }
    fn exchange(&self, strip: &[u8], into: &mut [u8]) {
        self.send((self.rank + self.size - 1) % self.size, strip);
        into.copy_from_slice(&self.receive((self.rank + 1) % self.size));
    }
    fn exchange_during(&self, strip: &[u8], into: &mut [u8], work: &mut dyn FnMut()) {
        self.send((self.rank + self.size - 1) % self.size, strip);
        work();
        into.copy_from_slice(&self.receive((self.rank + 1) % self.size));
    }
    fn swap(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        self.send(with, mine);
        theirs.copy_from_slice(&self.receive(with));
    }
    fn barrier(&self) {
        let mut barriers = self.shared.barriers.lock().unwrap();
        let new = || Arc::new(Barrier::new(self.size));
        let barrier = Arc::clone(barriers.entry(self.size).or_insert_with(new));
        drop(barriers);
        barrier.wait();
    }
    fn largest(&self, value: f64) -> f64 {
        self.shared.values.lock().unwrap().insert((self.size, self.rank), value);
        self.barrier();
        let values = self.shared.values.lock().unwrap();
        let mine = values.iter().filter(|((size, _), _)| *size == self.size);
        let largest = mine.map(|(_, value)| *value).fold(value, f64::max);
        drop(values);
        // Nobody notes the next one before all have read these.
        self.barrier();
        largest
    }
    fn gather(&self, mine: &[u8]) -> Option<Vec<u8>> {
        self.shared.gathered.lock().unwrap().insert((self.size, self.rank), mine.to_vec());
        self.barrier();
        let gathered = self.shared.gathered.lock().unwrap();
        let all = || (0..self.size).flat_map(|rank| gathered[&(self.size, rank)].clone()).collect();
        let all = (self.rank == 0).then(all);
        drop(gathered);
        self.barrier();
        all
    }
    fn first(&self, count: usize) -> Option<Box<dyn Neighbours + '_>> {
        let shared = Arc::clone(&self.shared);
        let group = Self { rank: self.rank, size: count, shared };
        (self.rank < count).then(|| Box::new(group) as Box<dyn Neighbours>)
    }
}

/// What `work` gives on each of so many ranks, rank 0 first.
pub fn on_ranks<T: Send>(size: usize, work: impl Fn(&dyn Neighbours) -> T + Sync) -> Vec<T> {
    let shared = Arc::new(Shared::default());
    let (shared, work) = (&shared, &work);
    std::thread::scope(|scope| {
        let rank =
            |rank| scope.spawn(move || work(&Threads { rank, size, shared: Arc::clone(shared) }));
        let threads: Vec<_> = (0..size).map(rank).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
