use super::*;
use crate::testing::{SUITE, load_with, mistake, workload_with};

fn wrong(from: &str, to: &str) -> (String, String) {
    mistake(from, to, &[])
}

/// Mistakes: what of the suite is replaced, by what, the message, and where it stands.
fn all_wrong(cases: &[[&str; 4]]) {
    for [from, to, message, at] in cases {
        let (said, place) = wrong(from, to);
        assert_eq!((&said[..], &place[..]), (*message, *at), "{to}");
    }
}

#[test]
fn what_has_no_value_at_a_size_is_said_with_the_first_such_size() {
    all_wrong(&[
        [
            "type: f32, count: n }",
            "type: f32, count: n - 64 }",
            "buffer `out` at n=64: a buffer has at least one element",
            "n - 64",
        ],
        [
            "grid: [n]",
            "grid: [128 - n]",
            "grid at n=128: a launch has at least one work-item",
            "128 - n",
        ],
        [
            "grid: [n]",
            "grid: [n, n/128]",
            "grid at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)",
            "n/128",
        ],
        [
            "bytes: 8*n",
            "bytes: 65 - n",
            "work at n=128: `65 - n` is -63, but work is not negative",
            "65 - n",
        ],
        [
            "bytes: 8*n",
            "bytes: 1/(128 - n)",
            "work at n=128: `1/(128 - n)`: 1 is divided by 0",
            "1/(128 - n)",
        ],
        [
            "bytes: 8*n",
            "working_set: -n",
            "work at n=64: `-n` is -64, but work is not negative",
            "-n",
        ],
        [
            "bytes: 8*n",
            "types: { f64: -n }",
            "work at n=64: `-n` is -64, but work is not negative",
            "-n",
        ],
    ]);
}

#[test]
fn operations_parameters_and_passes_have_limits_at_each_size() {
    all_wrong(&[
        [
            "flops: 0",
            "flops: n, types: { f64: n - 64, u32: 65 }",
            "work at n=64: more operations have a type than there are",
            "types",
        ],
        [
            "{ n: n }",
            "{ n: n*2^25 }",
            "parameter `n` at n=128: 4294967296 does not fit into u32",
            "n*2^25",
        ],
        [
            "grid: [n]",
            "grid: [n]\n    passes: 64 - n",
            "passes at n=64: there are 1 to 65536 passes, not 0",
            "64 - n",
        ],
        [
            "grid: [n]",
            "grid: [n]\n    passes: 65537",
            "passes at n=64: there are 1 to 65536 passes, not 65537",
            "65537",
        ],
        [
            "grid: [n]",
            "grid: [n]\n    passes: n/128",
            "passes at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)",
            "n/128",
        ],
    ]);
}

#[test]
fn limits_themselves_are_taken() {
    let passes = workload_with("grid: [n]", "grid: [n]\n    passes: 65536").passes.unwrap();
    assert_eq!(passes.count(&[]), Ok(65_536));
    workload_with("grid: [n]", "grid: [n]\n    passes: 1");
    workload_with("flops: 0, bytes: 8*n", "flops: n, bytes: 0, types: { f64: n - 1, u32: 1 }");
}

#[test]
fn the_last_pass_has_values_too() {
    let with = |passes: &str, value: &str| {
        let suite = SUITE.replace("{ n: n }", &format!("{{ k: {value} }}"));
        suite.replace("grid: [n]", &format!("grid: [n]\n    passes: {passes}"))
    };
    assert!(load_with(SUITE, &with("3", "2 - pass"), &[]).is_ok());
    let (said, at) = wrong(SUITE, &with("4", "2 - pass"));
    assert_eq!(
        (&said[..], &at[..]),
        ("parameter `k` at n=64: -1 does not fit into u32", "2 - pass")
    );
    // Grid and work see the parameters of each pass.
    let (said, _) = wrong(SUITE, &with("4", "3 - pass").replace("grid: [n]", "grid: [k]"));
    assert_eq!(said, "grid at n=64: a launch has at least one work-item");
}

#[test]
fn a_parameter_that_is_not_given_is_wrong_at_the_sizes() {
    let suite =
        SUITE.replace("    params: { n: n }\n", "").replace("n: [64, 128, 256]", "n: [4294967296]");
    let (said, at) = wrong(SUITE, &suite);
    assert_eq!(
        (&said[..], &at[..]),
        ("parameter `n` at n=4294967296: 4294967296 does not fit into u32", "sizes")
    );
}

#[test]
fn a_workload_without_sizes_names_none() {
    let suite = SUITE
        .replace("    sizes: { n: [64, 128, 256] }\n", "")
        .replace("{ n: n }", "{ n: -1 }")
        .replace("count: n", "count: 1");
    let suite = suite.replace("grid: [n]", "grid: [1]").replace("8*n", "8");
    assert_eq!(wrong(SUITE, &suite).0, "parameter `n`: -1 does not fit into u32");
}

#[test]
fn programs_are_unrolled_at_each_size() {
    let with = |repeat: &str, grid: &str| {
        let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("{ reference: copy }", "none");
        let step = format!("{{ kernel: {{ entry: copy }}, grid: [{grid}] }}");
        let steps = format!(
            "steps: [{{ repeat: {repeat}, index: i, steps: [{{ repeat: 2, index: j, steps: [{step}] }}] }}]"
        );
        suite.replace("grid: [n]", &steps)
    };
    workload_with(SUITE, &with("n/64", "n"));
    assert_eq!(
        wrong(SUITE, &with("n/128", "n")).0,
        "repeat at n=64: `n/128` is 0.5, but a count is whole: use floor(…) or ceil_div(…)"
    );
    let (said, at) = wrong(SUITE, &with("2", "1 - i - j"));
    assert_eq!(
        (&said[..], &at[..]),
        ("step at n=64 i=1 j=1: grid: `1 - i - j` is -1, but a count is not negative", "kernel")
    );
}

#[test]
fn values_of_a_kernel_are_its_group_and_the_first_of_a_search() {
    let search =
        "group: [8, 4], constants: { A: 7, T: f32x4 } }\n    search: { constants: { A: [2, 3] } }";
    let suite = SUITE.replace("wgsl: k.wgsl, ", "").replace("group: [64] }", search);
    let values = kernel_values(&workload_with(SUITE, &suite));
    let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(values, ["GROUP_X=8", "GROUP_Y=4", "GROUP_Z=1", "A=7", "T=4", "A=2"]);
    assert_eq!(
        size_values(&vec![("n".to_owned(), 3), ("m".to_owned(), -1)]),
        [("n".to_owned(), 3.0), ("m".to_owned(), -1.0)]
    );
}

#[test]
fn an_option_is_checked_at_each_size() {
    let with = |size| format!("grid: [n]\n    measure: {{ kernel: not n={size} }}");
    let (said, at) = wrong("grid: [n]", &with(128));
    assert_eq!((&said[..], &at[..]), ("option at n=128: no", "not n=128"));
    assert!(load_with("grid: [n]", &with(100), &[]).is_ok());
}

/// What follows from a mistake, or what a later pass adds, is not said.
#[test]
fn the_first_mistake_of_a_size_is_enough() {
    let both = "grid: [n - 64]\n    measure: { kernel: not n=64 }";
    assert_eq!(wrong("grid: [n]", both).0, "grid at n=64: a launch has at least one work-item");
    let passes =
        SUITE.replace("{ n: n }", "{ k: pass }").replace("grid: [n]", "grid: [n]\n    passes: 3");
    let (said, _) = wrong(SUITE, &passes.replace("8*n", "k - 5"));
    assert_eq!(said, "work at n=64: `k - 5` is -5, but work is not negative");
}
