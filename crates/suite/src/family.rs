//! The ranking a workload counts in, where its file does not name it.

use super::evaluate::{kernel_values, size_values};
use super::file;
use super::keywords::Family;
use super::requested::Asked;
use super::types::{PASS, Workload};
use gpubench_core::workload::Size;

/// Operations a byte from which on a kernel counts as bound by arithmetic. At fewer, memory bounds it
/// on every device that gpubench describes (crates/device/src/sim/devices), of which the GeForce
/// GTX 260 needs the fewest: its 715 GFLOP/s and 112 GB/s balance at 6.4.
pub const COMPUTE_INTENSITY: f64 = 6.0;

/// The family that the file names, or the first experiment suggests, or else the arithmetic intensity
/// at the size with the most operations.
pub fn family(spec: &file::Workload, asked: &[Asked], workload: &Workload) -> Family {
    let suggested = || asked.first().and_then(|asked| asked.experiment.family());
    let named = spec.family.as_ref().map(|family| family.value);
    named.or_else(suggested).unwrap_or_else(|| by_work(workload))
}

fn by_work(workload: &Workload) -> Family {
    let amounts = workload.sizes.iter().filter_map(|size| work(workload, size));
    let largest = amounts.max_by(|(one, _), (other, _)| one.total_cmp(other));
    match largest {
        // Where nobody says how many bytes move, these are no bound.
        Some((flops, bytes)) if flops > 0.0 && flops >= COMPUTE_INTENSITY * bytes => {
            Family::Compute
        }
        _ => Family::Memory,
    }
}

/// Operations and bytes at `size`; `None` where they have no value, which is reported elsewhere.
fn work(workload: &Workload, size: &Size) -> Option<(f64, f64)> {
    let mut known = size_values(size);
    known.extend(workload.passes.is_some().then(|| (PASS.to_owned(), 0.0)));
    let mut values = kernel_values(workload);
    values.extend(size_values(size));
    for (name, expr, _) in &workload.params {
        values.push((name.clone(), expr.eval(&known).ok()?));
    }
    let amount = |expr: &super::Expr| expr.eval(&values).ok();
    Some((amount(&workload.work.flops)?, amount(&workload.work.bytes)?))
}

#[cfg(test)]
mod tests {
    use crate::testing::{SUITE, load_with, workload_with};

    #[test]
    fn the_size_with_the_most_operations_says_what_bounds_a_kernel() {
        let family = |work: &str| workload_with("{ flops: 0, bytes: 8*n }", work).family;
        assert_eq!(
            (family("{ flops: 6*n, bytes: n }"), family("{ flops: 5.9*n, bytes: n }")),
            ("compute".into(), "memory".into())
        );
        assert_eq!(
            (family("{ flops: n }"), family("{ bytes: n }"), family("{}")),
            ("compute".into(), "memory".into(), "memory".into())
        );
        // Of 64, 128 and 256 the last: 256 operations for 40 bytes, though the first has 64 for 232.
        assert_eq!(family("{ flops: n, bytes: 296 - n }"), "compute");
        assert_eq!(
            family("{ flops: 320 - n, bytes: n/4 }"),
            "compute",
            "256 operations for 16 bytes at the first"
        );
        assert_eq!(workload_with("grid: [n]", "grid: [n]\n    family: compute").family, "compute");
        let copied = |more: &str| {
            workload_with("grid: [n]", &format!("grid: [n]\n    measure: [every_copy]{more}"))
                .family
        };
        assert_eq!(
            (copied(""), copied("\n    family: memory")),
            ("transfer".into(), "memory".into())
        );
    }

    #[test]
    fn work_is_made_of_parameters_and_constants_too() {
        let with = |flops: &str| {
            let suite = SUITE
                .replace("wgsl: k.wgsl, ", "")
                .replace("group: [64]", "group: [64], constants: { C: 3 }");
            let suite = suite
                .replace("{ n: n }", "{ n: n, rows: 2*n + pass }")
                .replace("flops: 0, bytes: 8*n", &format!("flops: {flops}, bytes: n"));
            load_with(SUITE, &suite.replace("grid: [n]", "grid: [n]\n    passes: 2"), &[])
                .unwrap()
                .workloads[0]
                .family
                .clone()
        };
        assert_eq!(
            (with("3*rows"), with("2*rows + n"), with("C*rows"), with("GROUP_X*n")),
            ("compute".into(), "memory".into(), "compute".into(), "compute".into())
        );
    }
}
