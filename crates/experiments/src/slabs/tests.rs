//! Slabs whose ranks are threads of one process.

use super::*;
use crate::ranks::threads::on_ranks;
use gpubench_device::by_name;

fn suite() -> Suite {
    crate::load("seismic").unwrap()
}

/// A simulated device whose grids have three dimensions: the oldest have two.
fn position() -> usize {
    let devices = by_name("sim").unwrap().devices().unwrap();
    devices.iter().position(|gpu| gpu.name == "Tesla K40c").unwrap()
}

/// SHA-256 of what so many ranks compute, each on a simulated device of its own, by the first `of` of them.
fn field(ranks: usize, of: usize) -> String {
    let all = on_ranks(ranks, |me| {
        let group = me.first(of)?;
        let device = Remote::open("sim", position()).unwrap();
        Some(slabs(&device, group.as_ref(), &suite(), [6, 5, 8], 5).unwrap())
    });
    let all: Vec<Slabbed> = all.into_iter().flatten().collect();
    assert_eq!(all.len(), of);
    assert!(all.iter().all(|slabbed| slabbed.step > 0.0 && slabbed.computation > 0.0));
    assert!(all[1..].iter().all(|slabbed| slabbed.hash.is_none()));
    // Three fields each way, after velocities and stresses together six: of 30 cells.
    let bytes = [0, 3 * 4 * 30, 6 * 4 * 30][of.min(3) - 1];
    assert_eq!(all[0].bytes, bytes);
    all.into_iter().next().unwrap().hash.unwrap()
}

#[test]
fn two_four_and_eight_ranks_compute_what_one_does() {
    let alone = field(1, 1);
    for (ranks, of) in [(2, 2), (4, 4), (4, 2), (8, 8)] {
        assert!(field(ranks, of) == alone, "{of} of {ranks} ranks, bit for bit");
    }
}

#[test]
fn slabs_that_are_not_equal_are_rejected() {
    assert_eq!(slab([64, 64, 64], 4).unwrap(), [64, 64, 16]);
    let message = slab([64, 64, 64], 3).unwrap_err().to_string();
    assert_eq!(message, "3 ranks: 64 cells along z cannot be cut into 3 equal parts: take 2 or 4");
    assert!(slab([64; 3], 0).is_err());
}
