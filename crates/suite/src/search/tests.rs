use super::*;
use crate::testing::{SUITE, decoded, message, mistake, workload_with, wrong};
use gpubench_core::gpu::Constant::Int;

fn kernel() -> Kernel {
    workload_with("group: [64]", "group: [64], constants: { A: 7, B: 8 }").kernel.unwrap()
}

fn labels(search: &Search) -> Vec<String> {
    search.variants(&kernel(), &[]).unwrap().into_iter().map(|variant| variant.label).collect()
}

#[test]
fn variants_are_the_product_of_all_axes() {
    let groups = vec![[8, 1, 1], [4, 4, 1]];
    let constants = vec![("A".to_owned(), vec![Int(1), Int(2)]), ("C".to_owned(), vec![Int(3)])];
    let search = Search { groups, constants, ..Search::default() };
    assert_eq!(labels(&search), ["8 A=1 C=3", "8 A=2 C=3", "4x4 A=1 C=3", "4x4 A=2 C=3"]);
    let variant = search.variants(&kernel(), &[]).unwrap().remove(3);
    let constants: Vec<_> =
        variant.constants.iter().map(|(n, value)| (&n[..], value.number())).collect();
    assert_eq!((variant.group, constants), ([4, 4, 1], vec![("B", 8.0), ("A", 2.0), ("C", 3.0)]));
    let numbers: Vec<_> =
        variant.numbers().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(numbers, ["GROUP_X=4", "GROUP_Y=4", "GROUP_Z=1", "B=8", "A=2", "C=3"]);
    let own = Search { groups: vec![], ..search };
    assert_eq!(labels(&own), ["A=1 C=3", "A=2 C=3"]);
    assert_eq!(own.variants(&kernel(), &[]).unwrap()[0].group, [64, 1, 1]);
}

#[test]
fn a_variant_is_kept_where_all_conditions_hold() {
    let groups = vec![[8, 1, 1], [16, 1, 1], [32, 1, 1]];
    let conditions = ["GROUP_X > 8", "GROUP_X <= n"].map(|text| Condition::parse(text).unwrap());
    let search = Search { groups, conditions: conditions.to_vec(), ..Search::default() };
    let left = |scope: &Scope| {
        search
            .variants(&kernel(), scope)
            .map(|all| all.iter().map(|v| v.group[0]).collect::<Vec<_>>())
    };
    let at = |name: &str, value| (name.to_owned(), value);
    assert_eq!(left(&[at("n", 16.0)]), Ok(vec![16]));
    assert_eq!(left(&[at("n", 4.0)]), Ok(vec![]));
    // Of equal names that of the scope wins.
    assert_eq!(left(&[at("n", 9.0), at("GROUP_X", 9.0)]), Ok(vec![8, 16, 32]));
    assert!(left(&[]).unwrap_err().contains("`n`"));
}

#[test]
fn a_kernel_in_a_variant_has_nothing_left_to_search() {
    let searched = "    search: { group: [[8], [16]], constants: { A: [1] } }\n    params:";
    let kernel = workload_with("    params:", searched).kernel.unwrap();
    assert_eq!(kernel.searched_in_run().map(|search| search.groups.len()), Some(2));
    let variant = Variant {
        group: [8, 1, 1],
        constants: vec![("A".to_owned(), Int(1))],
        label: "8 A=1".into(),
    };
    let chosen = kernel.in_variant(&variant);
    assert_eq!(
        (chosen.group, &chosen.variant[..], chosen.constants),
        ([8, 1, 1], "8 A=1", variant.constants)
    );
    assert!(chosen.search.is_none() && chosen.entry == "copy");
    let tuned = workload_with("    params:", "    search: { group: [[8]], by: tune }\n    params:");
    let tuned = tuned.kernel.unwrap();
    assert!(tuned.searched_in_run().is_none() && tuned.search.is_some());
}

#[test]
fn work_groups_are_a_list_or_a_product_of_axes() {
    let groups = |text: &str| decoded::<SearchGroups>(text).map(|groups| groups.0);
    assert_eq!(groups("[[8], [4, 2]]"), Ok(vec![[8, 1, 1], [4, 2, 1]]));
    assert_eq!(groups("{ x: [8, 16], z: [2] }"), Ok(vec![[8, 1, 2], [16, 1, 2]]));
    assert_eq!(groups("{ y: [3, 4] }"), Ok(vec![[1, 3, 1], [1, 4, 1]]));
    assert_eq!(groups("{}"), Ok(vec![[1, 1, 1]]));
    let product = groups("{ x: [1, 2], y: [3, 4] }");
    assert_eq!(product, Ok(vec![[1, 3, 1], [1, 4, 1], [2, 3, 1], [2, 4, 1]]));
    assert_eq!(wrong::<SearchGroups>("{ x: [] }").0, "an axis of a work-group without a size");
    assert_eq!(wrong::<SearchGroups>("{ x: [8, 0] }").1, "0");
    assert_eq!(wrong::<SearchGroups>("{ w: [8] }").0, "unknown key `w`");
}

#[test]
fn work_groups_are_at_most_a_million() {
    let numbers = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let with = |x: usize, y: usize| {
        decoded::<SearchGroups>(&format!("{{ x: [{}], y: [{}] }}", numbers(x), numbers(y)))
    };
    assert_eq!(with(1000, 1000).map(|groups| groups.0.len()), Ok(1_000_000));
    assert_eq!(with(1000, 1001).unwrap_err()[0].0, "more work-groups than a plan lists");
}

#[test]
fn a_run_searches_a_thousand_variants_and_tune_a_million() {
    let numbers = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let with = |by: &str, groups: usize, values: usize| {
        let groups = numbers(groups);
        let search = format!(
            "search: {{ by: {by}, group: {{ x: [{groups}] }}, constants: {{ A: [{}] }} }}",
            numbers(values)
        );
        let suite = SUITE
            .replace("wgsl: k.wgsl, ", "")
            .replace("group: [64]", "group: [64], constants: { A: 1 }");
        suite.replace("    params:", &format!("    {search}\n    params:"))
    };
    let variants = |by, groups, values| {
        let search =
            workload_with(SUITE, &with(by, groups, values)).kernel.unwrap().search.unwrap();
        search.product()
    };
    assert_eq!((variants("run", 100, 10), variants("tune", 1000, 1000)), (1000, 1_000_000));
    let (said, at) = mistake(SUITE, &with("run", 1001, 1), &[]);
    assert_eq!(
        (&said[..], &at[..]),
        ("a search has between 1 and 1000 variants, not 1001", "search")
    );
    let said = message(SUITE, &with("tune", 1000, 1001), &[]);
    assert_eq!(said, "a search has between 1 and 1000000 variants, not 1001000");
}

#[test]
fn mistakes_of_a_search_are_said() {
    let with =
        |search: &str| mistake("    params:", &format!("    search: {search}\n    params:"), &[]);
    for (search, message, at) in [
        ("{ by: tune, constants: { A: [1] } }", "the kernel has no constant `A`", "A"),
        ("{ constants: { A: [] } }", "there is no value to try", "A"),
        ("{ constants: { GROUP_X: [1] } }", "`GROUP_X` cannot name a constant", "GROUP_X"),
        ("{ where: [WIDTH < 2] }", "there is no `WIDTH` here", "WIDTH < 2"),
        ("{ where: [GROUP_X > n] }", "search at n=64: no variant fulfils all conditions", "search"),
        ("{ where: [1/(n-64) > 0] }", "search at n=64: `1/(n-64)`: 1 is divided by 0", "search"),
    ] {
        let (said, place) = with(search);
        assert_eq!((said.trim(), &place[..]), (message, at), "{search}");
    }
    // What every run tries needs no value of its own, and a condition sees it.
    let own = "    search: { constants: { A: [1, 2] }, where: [A < n, GROUP_Y == 1] }\n    params:";
    assert_eq!(
        workload_with("    params:", own).kernel.unwrap().search.unwrap().conditions.len(),
        2
    );
}

#[test]
fn what_is_too_much_for_a_run_is_left_to_tune() {
    let help = |by: &str, groups: usize, values: usize| {
        let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let search = format!(
            "search: {{ by: {by}, group: {{ x: [{}] }}, constants: {{ A: [{}] }} }}",
            list(groups),
            list(values)
        );
        let suite = SUITE
            .replace("group: [64]", "group: [64], constants: { A: 1 }")
            .replace("    params:", &format!("    {search}\n    params:"));
        crate::testing::load_with(SUITE, &suite, &[]).map(|_| ()).unwrap_err().remove(0).help
    };
    assert!(help("run", 1001, 1).unwrap().contains("`by: tune`"));
    assert_eq!(help("tune", 1001, 1000), None);
}
