//! Instructions that do one operation at a time, and those that do several.

use super::tests::{ceiling, computes, hidden, typed};
use crate::{Roof, aggregate};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::Record;
use gpubench_core::workload::Ceiling;

#[test]
fn a_dot_product_and_plain_arithmetic_bound_kernels_but_not_each_other() {
    let fma = ceiling(Ceiling::Flops, computes("fma", 1024, 31.2e9));
    let dot = |rate| ceiling(Ceiling::DotProduct, computes("dot", 1024, rate));
    let kernel = |rate| computes("matmul", 1024, rate);
    let fast = |kernel| hidden(&[fma.clone(), dot(4.0 * 31.2e9), kernel]);
    assert_eq!(fast(kernel(3.5 * 31.2e9)), [false; 3]);
    assert_eq!(fast(kernel(5.0 * 31.2e9)), [false, false, true]);
    // A device may do it by several plain instructions.
    assert_eq!(hidden(&[fma.clone(), dot(17e9)]), [false; 2]);
    assert_eq!(hidden(&[fma.clone(), dot(17e9), kernel(40e9)]), [false, false, true]);
    let chains = ceiling(Ceiling::Flops, computes("chains", 1024, 25e9));
    assert_eq!(hidden(&[fma, dot(17e9), chains]), [true, false, false], "arithmetic does");
}

/// Matrix units do many operations in one instruction.
#[test]
fn a_kernel_stands_under_the_instructions_that_its_rate_shows() {
    let half = |record: Record| typed(record, &[(Scalar::F16, 1.0)]);
    let vectors = half(ceiling(Ceiling::Flops, computes("arithmetic", 1024, 1e12)));
    let units = half(ceiling(Ceiling::DotProduct, computes("matrix", 1024, 8e12)));
    let both = Roof::of(&[vectors.clone(), units.clone()]);
    let peak = |roof: &Roof, rate| roof.peak_of(&half(computes("kernel", 64, rate)));
    assert_eq!([0.5e12, 1.1e12, 3e12].map(|rate| peak(&both, rate)), [1e12, 1e12, 8e12].map(Some));
    assert_eq!(both.types().collect::<Vec<_>>(), [(Scalar::F16, 1e12)]);
    assert_eq!(
        peak(&Roof::of(std::slice::from_ref(&units)), 0.5e12),
        Some(8e12),
        "no other was measured"
    );
    // A kernel that is no ceiling raises the one that it is near.
    let shown = |records: &[Record]| {
        let cases = aggregate(records);
        let roof = Roof::at_values(&cases);
        let rounded = |(of, rate): (Scalar, f64)| (of, 1e9 * (rate / 1e9).round());
        (roof.types().next().map(rounded), roof.does_several(Scalar::F16, 3e12))
    };
    let kernel = |rate| half(computes("kernel", 1024, rate));
    let all = |rate| [vectors.clone(), units.clone(), kernel(rate)];
    assert_eq!(shown(&all(1.1e12)), (Some((Scalar::F16, 1.1e12)), true));
    assert_eq!(shown(&all(7e12)), (Some((Scalar::F16, 1e12)), true), "one of matrix units");
    assert_eq!(shown(&[vectors.clone(), kernel(3e12)]), (Some((Scalar::F16, 3e12)), false));
    assert_eq!(shown(&[units.clone(), kernel(1e12)]), (Some((Scalar::F16, 8e12)), true));
}
