//! Which launches are held out at a time, so that each is predicted by a fit that knew nothing of it.

use super::Launch;
use std::collections::{BTreeMap, BTreeSet};

/// Folds of workloads, at most.
const MAX_FOLDS: usize = 64;

/// Whether both are the same launch under two workloads' names: either reveals the other.
fn equal_launches(one: &Launch, other: &Launch) -> bool {
    let work = |launch: &Launch| [launch.operations, launch.bytes, launch.passes, launch.buffers];
    one.key.workload != other.key.workload
        && one.kernel == other.kernel
        && work(one) == work(other)
        && one.counted == other.counted
}

/// Of workloads measured at two sizes or more, sizes of several at a time, never two of one. Equal launches go
/// together, and neighbours by name lose other ranks. By position.
pub fn of_sizes(launches: &[&Launch]) -> Vec<Vec<usize>> {
    let mut sizes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, launch) in launches.iter().enumerate() {
        sizes.entry(&launch.key.workload).or_default().push(i);
    }
    sizes.retain(|_, places| places.len() > 1);
    let fold_count = sizes.values().map(Vec::len).max().unwrap_or(0);
    let mut folds: Vec<Vec<usize>> = vec![vec![]; fold_count];
    for (number, places) in sizes.values().enumerate() {
        let (mut taken, mut alone) = (BTreeSet::new(), vec![]);
        for &place in places {
            let is_equal_launch = |other: &usize| equal_launches(launches[place], launches[*other]);
            match folds.iter().position(|fold| fold.iter().any(is_equal_launch)) {
                Some(fold) if taken.insert(fold) => folds[fold].push(place),
                _ => alone.push(place),
            }
        }
        let ranks = (0..fold_count).map(|rank| (number + rank) % fold_count);
        let free: Vec<usize> = ranks.filter(|fold| !taken.contains(fold)).collect();
        alone.iter().zip(free).for_each(|(&place, fold)| folds[fold].push(place));
    }
    folds
}

/// Each workload with all its variants; of more than [`MAX_FOLDS`], several at a time. By position.
pub fn of_workloads(launches: &[&Launch]) -> Vec<Vec<usize>> {
    let names: BTreeSet<&str> = launches.iter().map(|launch| workload(launch)).collect();
    let numbers: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let mut folds = vec![vec![]; names.len().min(MAX_FOLDS)];
    for (i, launch) in launches.iter().enumerate() {
        folds[numbers[workload(launch)] % MAX_FOLDS].push(i);
    }
    folds
}

/// The positions of all launches but `out` and their equal launches.
pub fn without(launches: &[&Launch], out: &[usize]) -> Vec<usize> {
    let is_equivalent = |i: usize, o: usize| i == o || equal_launches(launches[i], launches[o]);
    (0..launches.len()).filter(|&i| !out.iter().any(|&o| is_equivalent(i, o))).collect()
}

/// The positions of all launches of other kernels than those of `out`, and not equal to any of it: the same kernel may
/// be another workload's, and what it takes there says what it takes here.
pub fn without_kernels(launches: &[&Launch], out: &[usize]) -> Vec<usize> {
    let kernels: BTreeSet<&str> = out.iter().map(|&o| launches[o].kernel.as_str()).collect();
    let others = without(launches, out).into_iter();
    others.filter(|&i| !kernels.contains(launches[i].kernel.as_str())).collect()
}

/// The workload of a launch, whose variants (`name/…`) count as it.
pub fn workload(launch: &Launch) -> &str {
    base_of(&launch.key.workload)
}

/// The workload that a name is one of, or a variant of.
pub(super) fn base_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::OwnRoof;
    use gpubench_core::record::sample;

    /// One of `kernel` that moves so many bytes.
    fn launch(workload: &str, size: i64, kernel: &str, bytes: f64) -> Launch {
        Launch {
            key: sample::key(workload, size),
            kernel: kernel.into(),
            passes: 1.0,
            operations: 0.0,
            bytes,
            buffers: bytes,
            own_roof: OwnRoof::default(),
            counted: Err("not counted".into()),
            seconds: 1.0,
        }
    }

    /// Two workloads of one kernel share their larger sizes; the strides of a third do the same work.
    fn some() -> Vec<Launch> {
        vec![
            launch("long", 1, "product", 1.0),
            launch("long", 2, "product", 2.0),
            launch("long", 3, "product", 3.0),
            launch("square", 8, "product", 3.0),
            launch("square", 9, "product", 2.0),
            launch("gather", 1, "gather", 5.0),
            launch("gather", 2, "gather", 5.0),
        ]
    }

    #[test]
    fn what_is_held_out_goes_with_its_equal_launches_and_with_nothing_else() {
        let launches = some();
        let launches: Vec<&Launch> = launches.iter().collect();
        assert_eq!(
            without(&launches, &[1]),
            [0, 2, 3, 5, 6],
            "the other square is the same launch"
        );
        assert_eq!(without(&launches, &[0]), [1, 2, 3, 4, 5, 6]);
        assert_eq!(
            without(&launches, &[5]),
            [0, 1, 2, 3, 4, 6],
            "another stride is no equal launch"
        );
    }

    #[test]
    fn of_a_workload_never_seen_no_kernel_was_seen() {
        let launches = some();
        let launches: Vec<&Launch> = launches.iter().collect();
        assert_eq!(without_kernels(&launches, &[3, 4]), [5, 6], "the long product's, too");
        assert_eq!(without_kernels(&launches, &[5, 6]), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_fold_of_sizes_has_one_of_each_workload_and_equal_launches_in_one() {
        let launches = some();
        let folds = of_sizes(&launches.iter().collect::<Vec<_>>());
        let mut all = folds.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
        for fold in &folds {
            let names: BTreeSet<&str> = fold.iter().map(|&i| workload(&launches[i])).collect();
            assert_eq!(names.len(), fold.len(), "{folds:?}");
        }
        let in_one = |one, other| folds.iter().any(|f| f.contains(&one) && f.contains(&other));
        assert!(in_one(1, 4) && in_one(2, 3), "{folds:?}");
    }

    #[test]
    fn what_was_measured_at_one_size_is_in_no_fold_of_sizes() {
        let mut launches = some();
        launches.insert(3, launch("once", 1, "once", 7.0));
        let folds = of_sizes(&launches.iter().collect::<Vec<_>>());
        assert!(folds.iter().flatten().all(|&i| i != 3), "{folds:?}");
        assert_eq!(folds.concat().len(), 7);
    }

    #[test]
    fn a_fold_of_workloads_has_all_their_variants() {
        let launches =
            [launch("a/x", 1, "k", 1.0), launch("b", 1, "l", 1.0), launch("a/y", 1, "m", 1.0)];
        let folds = of_workloads(&launches.iter().collect::<Vec<_>>());
        assert_eq!(folds, [vec![0, 2], vec![1]]);
    }
}
