//! What the terms count and what they cost.

use super::*;

const SHEET: Sheet = Sheet {
    units: 10.0,
    warp: 32.0,
    clock: 1e9,
    lanes: 64.0,
    conversions: 16.0,
    bandwidth: 1e11,
    groups: 16.0,
    warps: 64.0,
    registers: 65536.0,
    local: 65536.0,
    shared_cache: 4e6,
    masking: Masking::Predicated,
};

#[test]
fn local_memory_and_registers_limit_the_warps() {
    let group = Variant { group_warps: 4.0, outputs: 1.0, accumulators: 1.0, ..Variant::default() };
    // 28 registers: 18 groups, more than the 16 that warps allow.
    assert_eq!(SHEET.resident_warps(&group), 64.0);
    assert_eq!(SHEET.resident_warps(&Variant { group_warps: 8.0, ..group }), 64.0);
    assert_eq!(SHEET.resident_warps(&Variant { local_bytes: 20000.0, ..group }), 12.0);
    // 40 + 64 registers · 128 work-items: four groups.
    assert_eq!(SHEET.resident_warps(&Variant { outputs: 16.0, accumulators: 16.0, ..group }), 16.0);
    let too_large = Variant { local_bytes: 1e6, ..group };
    assert_eq!(SHEET.resident_warps(&too_large), 4.0, "a group at least");
}

#[test]
fn what_is_read_again_takes_registers_where_compilers_keep_it() {
    let v = Variant {
        outputs: 4.0,
        accumulators: 4.0,
        group_warps: 4.0,
        distinct: 1.0,
        held: 60.0,
        ..Variant::default()
    };
    let branched = Sheet { masking: Masking::Branched, ..SHEET };
    let wanted = |sheet: &Sheet, v: Variant| sheet.wanted_registers(&v);
    assert_eq!(wanted(&SHEET, v), 40.0, "the loads move to their uses");
    assert_eq!(wanted(&SHEET, Variant { read_only: true, ..v }), 100.0);
    assert_eq!(wanted(&SHEET, Variant { read_only: true, overhangs: true, ..v }), 40.0);
    assert_eq!(wanted(&branched, v), 100.0);
    assert_eq!(wanted(&branched, Variant { overhangs: true, ..v }), 40.0);
    assert_eq!(wanted(&branched, Variant { distinct: 0.0, ..v }), 40.0, "local memory");
    assert_eq!((branched.spilled(&v), SHEET.spilled(&v)), (0.0, 0.0));
    // 40 + 176 registers, of which there are 128: half of the 176 words have no room. 40 + 1,000 of 255: all but 215.
    assert_eq!(branched.spilled(&Variant { held: 176.0, ..v }), 0.5);
    let read_only = Variant { held: 1000.0, read_only: true, ..v };
    assert_eq!(SHEET.spilled(&read_only), 0.785);
}

#[test]
fn effects_add_up_and_each_can_be_excluded() {
    let variant = Variant {
        groups: 1e4,
        group_warps: 4.0,
        outputs: 4.0,
        accumulators: 4.0,
        multiply_adds: 1e8,
        distinct: 1e7,
        loads: 2e7,
        overhangs: true,
        read_only: true,
        ..Variant::default()
    };
    let all = SHEET.seconds(&variant);
    let sum: f64 = SHEET.effects(&variant).iter().sum();
    assert!((all / sum - 1.0).abs() < 1e-12);
    // Cycles of 10 units at 1 GHz: 0.897·1e8·32/64, 0.76·2e7, 1.16·5.4·2e7·32/64, and 57.3·1e4·4.
    let rates = SHEET.effects(&variant)[Effect::Rates as usize];
    assert!((rates - (4.485e7 + 1.52e7 + 6.264e7 + 2.292e6) / 1e10).abs() < 1e-12, "{rates}");
    let unguarded = SHEET.seconds_without(&variant, Effect::Guards);
    // 40 registers: 12 groups, 48 warps.
    let guards = (7.66 * 2e7 / 48.0 + 0.876 * 2e7) / 1e10;
    assert!((unguarded + guards - all).abs() < 1e-12, "{unguarded} of {all}");
    let branched = Sheet { masking: Masking::Branched, ..SHEET };
    let slower = |sheet: &Sheet| sheet.effects(&variant)[Effect::Guards as usize];
    assert!(slower(&branched) > 40.0 * slower(&SHEET), "a branch around every load");
}

/// A launch with something of most terms, and the device that it runs on.
fn launch() -> (Sheet, Variant) {
    let sheet = Sheet { warp: 64.0, lanes: 16.0, conversions: 8.0, ..SHEET };
    let mut v = Variant {
        groups: 500.0,
        group_warps: 4.0,
        outputs: 4.0,
        accumulators: 4.0,
        ..Variant::default()
    };
    (v.multiply_adds, v.conversions, v.instructions) = (3.0, 160.0, 640.0);
    (v.local_reads, v.conflicts, v.distinct, v.loads) = (3.0, 2.0, 7.0, 72.0);
    (v.staging, v.staged_bytes, v.passes) = (48.0, 1280.0, 9.0);
    (v.overhangs, v.adjacent_x) = (true, true);
    (sheet, v)
}

const USUAL: [f64; TERM_COUNT] = [
    12.0, 20.0, 30.0, 6.0, 4.0, 0.125, 2.0, 10.0, 72.0, 0.0, 0.0, 0.0, 3.0, 72.0, 3.0, 3.0, 0.0,
    0.0, 0.0, 9.0, 2000.0, 72.0, 0.0,
];

/// Fails where a variant of the launch does not have the usual amounts but for these.
fn differs(variant: &Variant, amounts: &[(usize, f64)]) {
    let mut expected = USUAL;
    amounts.iter().for_each(|&(i, amount)| expected[i] = amount);
    assert_eq!(launch().0.amounts(variant), expected, "{amounts:?}");
}

/// By hand: 40 registers an item of 4 · 64 let 6 groups in, 24 warps.
#[test]
fn amounts_are_what_the_launch_does_over_what_a_unit_does_in_a_cycle() {
    let (sheet, v) = launch();
    assert_eq!((sheet.amounts(&v), sheet.occupancy(&v)), (USUAL, 0.375));
    let inside = Variant { overhangs: false, ..v };
    let unguarded = [(12, 0.0), (13, 0.0), (14, 0.0), (15, 0.0)];
    for (other, different) in [
        (Variant { sectors: 6.0, ..v }, &[(8, 0.0), (12, 0.0), (13, 0.0), (18, 3.0)][..]),
        (
            Variant { sectors: 6.0, read_only: true, ..v },
            &[(8, 0.0), (12, 0.0), (13, 0.0), (18, 3.0)],
        ),
        (inside, &[&[(8, 7.0), (10, 7.0 / 24.0), (16, 7.0)], &unguarded[..]].concat()),
        // 5.4 instructions for each load, and 4.2 for each place.
        (Variant { read_only: true, ..v }, &[(9, 5.4 * 72.0)]),
        (
            Variant { read_only: true, ..inside },
            &[&[(8, 7.0), (9, 4.2 * 7.0), (10, 7.0 / 24.0)], &unguarded[..]].concat(),
        ),
        // Of 40 + 430 registers 255: one group, and half of the 65 loads of what is read again.
        (
            Variant { read_only: true, held: 430.0, ..inside },
            &[
                &[(5, 0.75), (6, 12.0), (8, 7.0), (9, 4.2 * 7.0), (10, 1.75), (11, 32.5)],
                &unguarded[..],
            ]
            .concat(),
        ),
    ] {
        differs(&other, different);
    }
}

#[test]
fn amounts_follow_outputs_and_how_they_lie() {
    let (_, v) = launch();
    for (other, different) in [
        (Variant { staging: 0.0, ..v }, &[(6, 0.0), (14, 0.0), (15, 0.0)][..]),
        (Variant { adjacent_x: false, adjacent_y: true, ..v }, &[(21, 0.0), (22, 72.0)]),
        // 56, 104 and 28 registers: 4, 2 and 9 groups.
        (
            Variant { outputs: 8.0, accumulators: 8.0, ..v },
            &[(2, 35.0), (5, 0.1875), (6, 3.0), (12, 4.5)],
        ),
        (
            Variant { outputs: 16.0, accumulators: 16.0, ..v },
            &[(2, 37.5), (5, 0.375), (6, 6.0), (12, 9.0), (15, 0.0)],
        ),
        (
            Variant { outputs: 1.0, accumulators: 1.0, ..v },
            &[(2, 0.0), (5, 3.0 / 36.0), (6, 48.0 / 36.0), (12, 2.0), (15, 0.0)],
        ),
    ] {
        differs(&other, different);
    }
}

/// Registers leave room for 4 groups on each of 10 units, whose passes go through 1,000 bytes each: where the cache
/// holds as many, it has lost half when the next pass begins; of 4 outputs a third counts.
#[test]
fn a_shared_cache_loses_what_does_not_fit() {
    let v = Variant {
        group_warps: 4.0,
        outputs: 4.0,
        accumulators: 8.0,
        sectors: 6e9,
        pass_bytes: 1000.0,
        ..Variant::default()
    };
    let lost = |shared_cache: f64, v: &Variant| {
        let sheet = Sheet { shared_cache, warp: 64.0, ..SHEET };
        sheet.amounts(v)[17]
    };
    assert_eq!(lost(4e4, &Variant { pass_bytes: 0.0, ..v }), 0.0, "nothing to lose");
    let whole = 6e9 * 32.0 / 1e11;
    assert!((lost(40_000.0, &v) - whole / 3.0 / 2.0).abs() < 1e-12);
    assert!((lost(20_000.0, &v) - whole / 3.0 * 0.8).abs() < 1e-12, "twice as much");
    let many = Variant { outputs: 12.0, ..v };
    assert!((lost(40_000.0, &many) - whole / 2.0).abs() < 1e-12);
    let seconds = Sheet { shared_cache: 40_000.0, warp: 64.0, ..SHEET };
    let seconds = seconds.effects(&many)[Effect::SharedCache as usize];
    assert!((seconds - 0.0451 * whole / 2.0).abs() < 1e-12, "{seconds}");
}

#[test]
fn prices_are_the_architectures_and_cycles_the_devices() {
    // 1.6e11 conversions at 16 a cycle of 10 units at 1 GHz: a second at a price of 1.
    let v =
        Variant { group_warps: 1.0, conversions: 1.6e11, read_only: true, ..Variant::default() };
    for (masking, warp, price) in [
        (Masking::Predicated, 32.0, 1.04),
        (Masking::Predicated, 64.0, 1.04),
        (Masking::Branched, 64.0, 1.58),
        (Masking::Branched, 32.0, 3.9),
    ] {
        let found = Sheet { masking, warp, ..SHEET }.seconds(&v);
        assert!((found - price).abs() < 1e-12, "{masking:?} {warp}: {found}");
    }
    let labels: std::collections::BTreeSet<_> = Effect::ALL.map(Effect::label).into();
    assert!(labels.len() == 9 && labels.contains("shared cache"), "{labels:?}");
}
