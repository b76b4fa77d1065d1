//! Model 9, the six rules of TPSM: sizes of the parts by what bounds the problem.
//!
//! Source: C13 §4.2. The paper solves for the growth `a` in closed form (4.19); here a root finder
//! does, which also holds where one direction slows the other. Its equations 4.17 and 4.24 print a
//! wrong exponent and lack a rate; the rules below follow from the steps themselves. Where a rule
//! would need a growth of 1 or less, it does not apply.

use super::schedule::{Class, Heavy, Plan, Problem};

/// Most parts that the rule for uploads tries; more never pay on a link with a latency.
const MAX_TRIED_PARTS: u32 = 64;

impl Class {
    /// The plan of its rule; `None` where that does not apply.
    pub fn plan(self, problem: &Problem) -> Option<Plan> {
        match (self.kernel_bound, self.heavy) {
            (true, Heavy::Upload) => kernel_bound_upload_heavy(problem),
            (true, Heavy::Download) => kernel_bound_download_heavy(problem),
            (true, Heavy::General) => kernel_bound_general(problem),
            (false, Heavy::Upload) => Some(transfer_bound_upload_heavy(problem)),
            (false, Heavy::Download) => transfer_bound_download_heavy(problem),
            (false, Heavy::General) => Some(transfer_bound_general(problem)),
        }
    }
}

/// The plan of the problem's own class; equal parts as for a transfer bound, general one where its
/// rule does not apply, such as where the kernel outlasts either direction and not both together.
pub fn plan(problem: &Problem) -> Plan {
    Class::of(problem.whole).plan(problem).unwrap_or_else(|| transfer_bound_general(problem))
}

/// Grows by `a = S_S·T_k/D_s`, so that each part's upload takes as long as the kernel of the part before; downloads
/// all in the last step.
fn kernel_bound_upload_heavy(problem: &Problem) -> Option<Plan> {
    let growth = problem.whole.kernel / problem.whole.upload;
    let sizes = (growth > 1.0).then(|| growing(problem.smallest(), growth))?;
    Some(Plan { download_all_last: true, ..Plan::of(sizes) })
}

/// Uploads all in the first step, shrinks by `a = R_R·T_k/D_r`: each part's kernel takes as long as the download of the
/// part before.
fn kernel_bound_download_heavy(problem: &Problem) -> Option<Plan> {
    let growth = problem.whole.kernel / problem.whole.download;
    let mut sizes = (growth > 1.0).then(|| growing(problem.smallest(), growth))?;
    sizes.reverse();
    Some(Plan { upload_all_first: true, ..Plan::of(sizes) })
}

/// Grows by the largest `a` with `H ≤ kernel` in every step, shrinks by `b = R_R·T_k/D_r`.
fn kernel_bound_general(problem: &Problem) -> Option<Plan> {
    let whole = problem.whole;
    // With equal kernels of T_k a step uploads `a` times and downloads `1/a` times that share.
    let slack = |a: f64| whole.kernel - problem.both(a * whole.upload, whole.download / a);
    let max_growth = whole.kernel / whole.upload; // the upload alone takes as long as the kernel
    if slack(1.0) < 0.0 {
        return None;
    }
    if whole.upload + whole.download <= 0.0 {
        // No part waits for a copy.
        return Some(Plan::equal(1));
    }
    let grow = if slack(max_growth) >= 0.0 { max_growth } else { root(slack, 1.0, max_growth) };
    let shrink = whole.kernel / whole.download;
    Some(Plan::of(growing_then_shrinking(problem.smallest(), grow, shrink)))
}

/// Shrinks by the `a` that takes least in steps: a short kernel and download are left behind the last upload.
fn transfer_bound_upload_heavy(problem: &Problem) -> Plan {
    let smallest = problem.smallest();
    let max_parts = (1.0 / smallest).floor().min(f64::from(MAX_TRIED_PARTS)) as u32;
    let shrinking = |parts: u32| {
        let n = f64::from(parts);
        let sum = |a: f64| smallest * (n * a.ln()).exp_m1() / (a - 1.0);
        // `m = log_a(D_s(a − 1)/ds_min + 1)`, solved for `a`.
        let ratio = root(|a| 1.0 - sum(a), 1.0 + 1e-9, 1.0 / smallest);
        let sizes: Vec<f64> = (0..parts).rev().map(|i| ratio.powi(i as i32)).collect();
        let total: f64 = sizes.iter().sum();
        Plan::of(sizes.into_iter().map(|size| size / total).collect())
    };
    fastest((1..=max_parts).map(shrinking), problem)
}

/// Grows while `kernel ≤ H`, so that the downloads start early, then so that each kernel is as long as the concurrent
/// download, which waits for none.
fn transfer_bound_download_heavy(problem: &Problem) -> Option<Plan> {
    let whole = problem.whole;
    let later = whole.download / whole.kernel; // kernel as long as the download of the part before
    if later <= 1.0 || !later.is_finite() {
        return None;
    }
    // Growth beyond that holds while the concurrent upload fills the step; H is least where both copies
    // of a step are equally long.
    let surplus = |a: f64| problem.both(a * whole.upload, whole.download / a) - whole.kernel;
    let equal = (whole.download / whole.upload).sqrt();
    let max_first = if equal.is_finite() { equal.max(later) } else { later };
    let first = if surplus(max_first) >= 0.0 { max_first } else { root(surplus, later, max_first) };
    let smallest = problem.smallest();
    let steps = growing(smallest, first).len();
    // Where to switch is tried at no more than 17 places: long plans have many much alike.
    let places = (0..=steps).step_by(steps / 16 + 1);
    let switched = places.map(|at| Plan::of(growing_at_two_rates(smallest, first, later, at)));
    Some(fastest(switched, problem))
}

/// `m = sqrt(2(D_s/S_S + D_r/R_R − H)/t_sync)` equal parts.
fn transfer_bound_general(problem: &Problem) -> Plan {
    let whole = problem.whole;
    let hidden = whole.upload + whole.download - problem.both(whole.upload, whole.download);
    let parts = (2.0 * hidden / problem.engines.command).sqrt().round();
    let max_parts = (1.0 / problem.smallest()).floor();
    // No command cost asks for as many parts as there can be; nothing to hide, for one.
    Plan::equal(if hidden > 0.0 { parts.min(max_parts) as u32 } else { 1 })
}

/// Of plans in steps.
fn fastest(plans: impl Iterator<Item = Plan>, problem: &Problem) -> Plan {
    plans
        .map(|plan| (plan.stepwise(problem), plan))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(|| Plan::equal(1), |(_, plan)| plan)
}

/// Shares from `smallest` on, each `ratio` times the one before, the last what is left.
fn growing(smallest: f64, ratio: f64) -> Vec<f64> {
    growing_at_two_rates(smallest, ratio, ratio, 0)
}

/// Shares from `smallest` on that grow by `first` for `steps` steps and by `later` from then on;
/// what is left in the end stands between the two.
fn growing_at_two_rates(smallest: f64, first: f64, later: f64, steps: usize) -> Vec<f64> {
    let mut sizes = Vec::new();
    let (mut left, mut next) = (1.0, smallest);
    while left > next {
        sizes.push(next);
        left -= next;
        next *= if sizes.len() < steps { first } else { later };
    }
    let middle = if (1..sizes.len()).contains(&steps) { steps } else { sizes.len() };
    insert(&mut sizes, middle, left, smallest);
    sizes
}

/// Shares that grow by `grow` from `smallest` on, and shrink by `shrink` down to it, with what is
/// left in the middle.
fn growing_then_shrinking(smallest: f64, grow: f64, shrink: f64) -> Vec<f64> {
    let (mut up, mut down) = (vec![smallest], vec![smallest]);
    let mut left = 1.0 - 2.0 * smallest;
    if left <= 0.0 {
        return vec![1.0];
    }
    let (mut next_up, mut next_down) = (smallest * grow, smallest * shrink);
    while left > next_up.min(next_down) {
        if next_up <= next_down {
            up.push(next_up);
            left -= next_up;
            next_up *= grow;
        } else {
            down.push(next_down);
            left -= next_down;
            next_down *= shrink;
        }
    }
    let middle = up.len();
    up.extend(down.into_iter().rev());
    insert(&mut up, middle, left, smallest);
    up
}

/// Puts `share` at `at`, or adds it to the part before when it is less than the smallest.
fn insert(sizes: &mut Vec<f64>, at: usize, share: f64, smallest: f64) {
    match at.checked_sub(1).and_then(|before| sizes.get_mut(before)) {
        Some(before) if share < smallest => *before += share,
        _ => sizes.insert(at, share),
    }
}

/// Where a function that is not negative at `low` and not positive at `high` crosses zero.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) >= 0.0 { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::pipeline::Engines;
    use super::super::streams::Stages;
    use super::super::transfer::Duplex;
    use super::*;
    use proptest::prelude::*;

    fn problem(upload: f64, kernel: f64, download: f64, smallest: f64) -> Problem {
        let engines =
            Engines { count: 2, command: 1e-3, duplex: Duplex { upload: 0.8, download: 0.7 } };
        Problem { whole: Stages { upload, kernel, download }, engines, smallest }
    }

    fn near(x: f64, y: f64) {
        assert!((x - y).abs() < 1e-9, "{x} is not {y}");
    }

    #[test]
    fn kernel_bound_upload_heavy_hides_every_upload_but_the_first() {
        let problem = problem(4.0, 8.0, 0.0, 1.0 / 31.0);
        assert_eq!(Class::of(problem.whole).label(), "kernel bound, upload heavy");
        let plan = plan(&problem);
        for (size, parts) in plan.sizes.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            near(*size, parts / 31.0);
        }
        let free = Problem { engines: Engines::ideal(2), ..problem };
        near(plan.makespan(&free), 4.0 / 31.0 + 8.0);
    }

    #[test]
    fn kernel_bound_download_heavy_hides_every_download_but_the_last() {
        let problem = problem(0.0, 8.0, 4.0, 1.0 / 31.0);
        assert_eq!(Class::of(problem.whole).label(), "kernel bound, download heavy");
        let plan = plan(&problem);
        near(plan.sizes[0], 16.0 / 31.0);
        let free = Problem { engines: Engines::ideal(2), ..problem };
        near(plan.makespan(&free), 8.0 + 4.0 / 31.0);
    }

    #[test]
    fn kernel_bound_general_keeps_the_kernel_busy() {
        let problem = problem(2.0, 8.0, 2.0, 0.01);
        assert_eq!(Class::of(problem.whole).label(), "kernel bound, general");
        let free = Problem { engines: Engines { command: 0.0, ..problem.engines }, ..problem };
        let plan = plan(&free);
        assert!(plan.sizes.len() > 4, "{plan:?}");
        near(plan.makespan(&free), 0.02 + 8.0 + 0.02);
    }

    #[test]
    fn a_kernel_without_copies_is_not_cut() {
        assert_eq!(plan(&problem(0.0, 8.0, 0.0, 0.01)).sizes, [1.0]);
    }

    #[test]
    fn growth_of_the_general_rule_fills_the_step_exactly() {
        // H(a·3, 4/a) = 8 with both slowed: found by the root finder, checked by H itself.
        let problem = problem(3.0, 8.0, 4.0, 0.001);
        let plan = kernel_bound_general(&problem).unwrap();
        let a = plan.sizes[1] / plan.sizes[0];
        near(problem.both(a * 3.0, 4.0 / a), 8.0);
    }

    #[test]
    fn transfer_bound_upload_heavy_shrinks_to_the_smallest() {
        let problem = problem(8.0, 3.0, 0.5, 0.01);
        assert_eq!(Class::of(problem.whole).label(), "transfer bound, upload heavy");
        let sizes = plan(&problem).sizes;
        assert!(sizes.len() > 1 && sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
        near(*sizes.last().unwrap(), 0.01);
        let ratios: Vec<f64> = sizes.windows(2).map(|w| w[0] / w[1]).collect();
        assert!(ratios.iter().all(|r| (r - ratios[0]).abs() < 1e-6), "{ratios:?}");
    }

    #[test]
    fn transfer_bound_download_heavy_never_lets_the_downloads_wait() {
        let problem = problem(1.0, 4.0, 8.0, 0.01);
        assert_eq!(Class::of(problem.whole).label(), "transfer bound, download heavy");
        let free = Problem { engines: Engines::ideal(2), ..problem };
        let plan = plan(&free);
        assert!(plan.sizes.is_sorted(), "{plan:?}");
        near(plan.makespan(&free), 0.01 * (1.0 + 4.0) + 8.0);
    }

    #[test]
    fn transfer_bound_general_cuts_into_equal_parts_by_the_square_root() {
        // H(6, 6) at 0.8 and 0.7: uploads 6/0.8 = 7.5, downloads by then 0.7·7.5, the rest alone.
        let problem = problem(6.0, 2.0, 6.0, 0.001);
        assert_eq!(Class::of(problem.whole).label(), "transfer bound, general");
        let h: f64 = 7.5 + (6.0 - 0.7 * 7.5);
        let parts = (2.0 * (12.0 - h) / 1e-3).sqrt().round();
        assert_eq!(plan(&problem), Plan::equal(parts as u32));
        let one_engine = Problem { engines: Engines::ideal(1), ..problem };
        assert_eq!(transfer_bound_general(&one_engine), Plan::equal(1), "nothing to hide");
    }

    #[test]
    fn a_rule_that_cannot_grow_does_not_apply() {
        let transfer = problem(6.0, 2.0, 6.0, 0.001);
        assert_eq!(kernel_bound_upload_heavy(&transfer), None);
        assert_eq!(kernel_bound_download_heavy(&transfer), None);
        assert_eq!(kernel_bound_general(&transfer), None);
        assert_eq!(transfer_bound_download_heavy(&problem(1.0, 9.0, 1.0, 0.01)), None);
    }

    proptest! {
        #[test]
        fn every_plan_is_a_partition(
            upload in 0.0..10.0, kernel in 0.001..10.0, download in 0.0..10.0, smallest in 1e-4..1.0,
            count in 0u32..3, command in 0.0..0.1,
        ) {
            let engines =
                Engines { count, command, duplex: Duplex { upload: 0.7, download: 0.9 } };
            let problem = Problem { whole: Stages { upload, kernel, download }, engines, smallest };
            for class in Class::ALL {
                let Some(plan) = class.plan(&problem) else { continue };
                let sum: f64 = plan.sizes.iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-9, "{class:?} {sum}");
                prop_assert!(plan.sizes.iter().all(|size| *size > 0.0), "{class:?} {plan:?}");
                prop_assert!(plan.sizes.len() <= 1001);
                prop_assert!(plan.makespan(&problem).is_finite());
            }
        }
    }

    #[test]
    fn parts_grow_at_two_rates_with_what_is_left_between() {
        let sizes = growing_at_two_rates(0.05, 3.0, 2.0, 2);
        assert_eq!(sizes.len(), 4);
        for (size, wanted) in sizes.iter().zip([0.05, 0.15, 0.5, 0.3]) {
            near(*size, wanted);
        }
    }

    /// With nothing to upload each kernel is as long as the download of the part before.
    #[test]
    fn transfer_bound_download_heavy_grows_by_download_over_kernel() {
        let plan = plan(&problem(0.0, 4.0, 8.0, 1.0 / 31.0));
        assert_eq!(plan.sizes.len(), 5);
        for (size, parts) in plan.sizes.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            near(*size, parts / 31.0);
        }
    }

    /// `H(a, 8/a) = 4` at 0.8 and 0.7: `a/0.8 + 8/a − 0.7·a/0.8 = 4`, of which 8/3 is the smaller root.
    #[test]
    fn transfer_bound_download_heavy_grows_first_while_copies_fill_the_step() {
        let problem = problem(1.0, 4.0, 8.0, 0.01);
        near(problem.both(8.0 / 3.0, 3.0), 4.0);
        let plan = transfer_bound_download_heavy(&problem).unwrap();
        let all = (0..=16).map(|at| growing_at_two_rates(0.01, 8.0 / 3.0, 2.0, at));
        let seconds = |sizes: Vec<f64>| Plan::of(sizes).stepwise(&problem);
        near(plan.stepwise(&problem), all.map(seconds).fold(f64::INFINITY, f64::min));
    }
}
