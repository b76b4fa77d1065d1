//! Rings whose ranks are threads of one process.

use super::*;
use crate::ranks::threads::on_ranks;

fn suite() -> Suite {
    crate::load("ring").unwrap()
}

/// The product of so many ranks, each on a simulated device of its own.
fn product(n: usize, ranks: usize) -> Vec<f32> {
    let ended = on_ranks(ranks, |me| {
        let device = Remote::open("sim", 0).unwrap();
        ring(&device, me, suite(), n, 5, &Variant::ALL).unwrap()
    });
    let run = |r: &Ringed| r.runs.iter().map(|(variant, ..)| *variant).collect::<Vec<_>>();
    assert!(ended.iter().all(|r| run(r) == Variant::ALL && r.computation > 0.0));
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
fn for_ranks_that_do_not_divide_n_divisors_are_suggested() {
    assert_eq!(columns(1024, 4).unwrap(), 256);
    let message = |n, ranks| columns(n, ranks).unwrap_err().to_string();
    assert_eq!(message(1000, 3), "3 ranks do not divide n = 1000: take 999 or 1002");
    assert_eq!(message(2, 4), "4 ranks do not divide n = 2: take 4");
    assert!(columns(0, 2).is_err());
    assert_eq!(message(64, 0), "a ring has a rank at least");
}

#[test]
fn matrices_grow_with_the_cube_root_of_the_ranks() {
    assert_eq!(alike(1024, 4, 4), 1024);
    assert_eq!(alike(1024, 8, 1), 512);
    assert_eq!((alike(1024, 4, 1), alike(1024, 4, 2)), (645, 812));
    assert_eq!(alike(1, 4, 2), 2);
}

#[test]
fn model_2_expects_the_same_of_messages_that_do_not_block_and_of_a_thread() {
    let strategies = Variant::ALL.map(Variant::strategy);
    let expected = [Strategy::Synchronous, Strategy::Native, Strategy::Native, Strategy::Total];
    assert_eq!(strategies, expected);
    let ended = on_ranks(2, |me| {
        let device = Remote::open("sim", 0).unwrap();
        ring(&device, me, suite(), 32, 5, &[Variant::NonBlocking]).unwrap()
    });
    let Ringed { computation, transfer, communication, runs, .. } = &ended[0];
    let [(Variant::NonBlocking, _, predicted)] = runs[..] else { panic!("{runs:?}") };
    let wanted = 2.0 * transfer + f64::max(2.0 * computation, *communication);
    assert!((predicted / wanted - 1.0).abs() < 1e-12);
}
