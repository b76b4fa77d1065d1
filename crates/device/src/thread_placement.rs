//! A driver that computes on the processor has threads for it, often as many as there are processors. Linux was seen
//! to wake two of them on one processor while another idled, launch after launch, each of which then took twice as
//! long (`docs/results/2026-11-30-placement.md`). So each is kept on a processor of its own.

/// How long each thread of this process has computed, in nanoseconds, by its number. Nothing but on Linux.
#[derive(Debug)]
pub struct ThreadTimes(Vec<(i32, u64)>);

impl ThreadTimes {
    /// Until now.
    pub fn now() -> Self {
        Self(system::thread_times())
    }

    /// Keeps each thread that has computed since on a processor of its own, where they are as many as the processors
    /// and these are alike. Returns how many were placed.
    pub fn place(&self) -> usize {
        place(&self.at_work(&Self::now()))
    }

    /// The threads that have computed for at least half as long as the busiest.
    fn at_work(&self, now: &Self) -> Vec<i32> {
        let before = |thread| self.0.iter().find(|&&(id, _)| id == thread).map_or(0, |&(_, t)| t);
        let spent: Vec<_> =
            now.0.iter().map(|&(id, time)| (id, time.saturating_sub(before(id)))).collect();
        let busiest = spent.iter().map(|&(_, time)| time).max().unwrap_or(0);
        let computed = |time: u64| time > 0 && time >= busiest / 2;
        spent.into_iter().filter(|&(_, time)| computed(time)).map(|(id, _)| id).collect()
    }
}

fn place(threads: &[i32]) -> usize {
    let processors = system::processors();
    if threads.len() < 2 || threads.len() != processors.len() || !system::are_alike(&processors) {
        return 0;
    }
    let pairs = threads.iter().zip(&processors);
    pairs.filter(|&(&thread, &processor)| system::keep(thread, processor)).count()
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
    use std::fs::read_to_string;

    /// What a thread's `schedstat` begins with is how long it has computed.
    pub fn thread_times() -> Vec<(i32, u64)> {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        threads
            .filter_map(|thread| {
                let id = thread.file_name().to_str()?.parse().ok()?;
                let text = read_to_string(thread.path().join("schedstat")).ok()?;
                Some((id, text.split_whitespace().next()?.parse().ok()?))
            })
            .collect()
    }

    /// The processors that this process may use.
    pub fn processors() -> Vec<usize> {
        let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect()
    }

    /// Whether none of them is slower than another. Where some are, the system may move a thread from a slow one to a
    /// fast one that has become idle.
    pub fn are_alike(processors: &[usize]) -> bool {
        let capacity = |cpu: &usize| {
            read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")).ok()
        };
        let mut capacities = processors.iter().map(capacity);
        let first = capacities.next();
        capacities.all(|capacity| Some(capacity) == first)
    }

    pub fn keep(thread: i32, processor: usize) -> bool {
        let mut alone = CpuSet::new();
        alone.set(processor);
        Pid::from_raw(thread).is_some_and(|thread| sched_setaffinity(Some(thread), &alone).is_ok())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn thread_times() -> Vec<(i32, u64)> {
        vec![]
    }

    pub fn processors() -> Vec<usize> {
        vec![]
    }

    pub fn are_alike(_: &[usize]) -> bool {
        false
    }

    pub fn keep(_: i32, _: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_at_work_are_those_that_computed_about_as_long_as_the_busiest() {
        let before = ThreadTimes(vec![(1, 900), (2, 50), (3, 0)]);
        let now = ThreadTimes(vec![(1, 910), (2, 150), (3, 0), (4, 60)]);
        assert_eq!(before.at_work(&now), [2, 4]);
        assert!(now.at_work(&now).is_empty(), "nobody computed");
    }

    /// Those of a process that has other threads besides.
    #[cfg(target_os = "linux")]
    #[test]
    fn as_many_threads_as_processors_get_one_each() {
        use std::sync::{Barrier, mpsc};
        let processors = system::processors();
        let (numbers, number) = mpsc::channel();
        let placed = Barrier::new(processors.len() + 1);
        let of_one = || {
            numbers.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            placed.wait();
            system::processors()
        };
        let (few, all, mut kept) = std::thread::scope(|scope| {
            let threads: Vec<_> = processors.iter().map(|_| scope.spawn(of_one)).collect();
            let ids: Vec<_> = number.iter().take(processors.len()).collect();
            let (few, all) = (place(&ids[1..]), place(&ids));
            placed.wait();
            let kept = threads.into_iter().map(|thread| thread.join().unwrap());
            (few, all, kept.collect::<Vec<Vec<usize>>>())
        });
        kept.sort();
        assert_eq!(few, 0, "fewer than processors");
        assert!(all == 0 || all == processors.len());
        if processors.len() > 1 && system::are_alike(&processors) {
            assert_eq!(kept, processors.iter().map(|&cpu| vec![cpu]).collect::<Vec<_>>());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_computes_is_seen_at_work() {
        let before = ThreadTimes::now();
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 50 {}
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        let time = |times: &ThreadTimes| times.0.iter().find(|&&(id, _)| id == me).map(|t| t.1);
        assert!(time(&ThreadTimes::now()) > time(&before));
    }
}
