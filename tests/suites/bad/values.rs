//! Names, sizes, expressions and what fills buffers.

use super::{VALID, diagnostics, rendered, spoiled};

#[test]
fn fills_of_integers_vary() {
    for (fill, word) in [
        ("u32, count: n, fill: { uniform: [0, 1] }", "all alike"),
        ("i32, count: n, fill: { uniform: [-1, 0.5] }", "all alike"),
        ("u32, count: n, fill: { uniform: [-5, 5] }", "u32 holds numbers from 0"),
        ("i32, count: n, fill: { uniform: [0, 2147483649] }", "i32 holds numbers from -2147483648"),
    ] {
        let found = rendered(&diagnostics(&VALID.replacen(
            "f32, count: n, fill: { uniform: [0, 1] }",
            fill,
            1,
        )));
        assert!(found.contains(word), "{fill}: {found}");
    }
}

#[test]
fn a_long_name_is_reported() {
    let long = "n".repeat(1001);
    let text = VALID.replacen("n: [1024]", &format!("n: [1024], {long}: [1]"), 1);
    let text =
        rendered(&diagnostics(&text.replacen("    params: { n: n, factor: { f32: 2 } }\n", "", 1)));
    assert!(text.contains("cannot name a size") && text.contains("at most 64"), "{text}");
}

#[test]
fn names() {
    spoiled("  scale:\n", "  sc ale:\n", "sc ale:", &["cannot name a workload"]);
    spoiled(
        "opencl: scale.cl, wgsl: scale.wgsl, entry: scale",
        "family: filters, entry: sepai",
        "sepai",
        &["no kernel `filters/sepai`", "did you mean `filters/sepia`"],
    );
    spoiled(
        "verify: none",
        "verify: { reference: sepai }",
        "sepai",
        &["no reference `sepai`", "did you mean `sepia`"],
    );
    spoiled("VALUES: 4", "GROUP_X: 4, VALUES: 4", "GROUP_X", &["`GROUP_X` cannot name a constant"]);
    spoiled("VALUES: 4", "VALUES: 4, \"A -I /\": 1", "\"A -I", &["cannot name a constant"]);
    spoiled(
        "group: [64]",
        "group: [64], needs: [subgroup]",
        "subgroup]",
        &["feature called `subgroup`", "`subgroups`"],
    );
    spoiled("verify: none", "divide: rows\n    verify: none", "rows", &["no parameter `rows`"]);
    spoiled("verify: none", "measure: [overlap]\n    verify: none", "overlap", &["needs `divide`"]);
}

#[test]
fn expressions() {
    spoiled(
        "count: n, fill",
        "count: m*n, fill",
        "m*n, fill:",
        &["there is no `m`", "there are: n"],
    );
    spoiled("8*n", "8*sise", "sise", &["there is no `sise`"]);
    spoiled("8*n", "8*(n", " }", &["expected an operator", "found the end"]);
    spoiled(
        "count: n, fill",
        "count: n-2000, fill",
        "n-2000, fi",
        &["at n=1024", "-976", "not negative"],
    );
    spoiled("count: n, fill", "count: n/3, fill", "n/3, fill:", &["whole", "ceil_div"]);
    spoiled("count: n, fill", "count: n-n, fill", "n-n, fill:", &["at least one element"]);
    spoiled("flops: n", "flops: n^999", "n^999, byt", &["overflow", "n=1024"]);
    spoiled("flops: n", "flops: 1e999", "1e999", &["finite"]);
    spoiled("flops: n", "flops: n/(n-1024)", "n/(n-1024)", &["divided by 0"]);
    spoiled("flops: n,", "flops: -n,", "-n, bytes:", &["not negative"]);
    spoiled(
        "n: n, factor",
        "n: n*2^40, factor",
        "n*2^40, fa",
        &["parameter `n`", "does not fit into u32"],
    );
    spoiled("f32: 2 }", "f64: 2 }", "f64: 2 } }", &["`f64` is no type of a parameter"]);
    spoiled("ceil_div(n, VALUES)", "floor(n/2000)", "\"floor", &["at least one work-item"]);
}

#[test]
fn an_expression_that_yaml_cuts_at_its_comma() {
    let found = diagnostics(&VALID.replace("\"ceil_div(n, VALUES)\"", "ceil_div(n, VALUES)"));
    let text = rendered(&found);
    assert!(text.starts_with("10:22: expected an operator"), "{text}");
    assert!(text.contains("needs quotes"), "{text}");
}

#[test]
fn sizes() {
    spoiled("[1024]", "[-1024]", "-1024", &["size n", "-1024", "not negative"]);
    spoiled("[1024]", "[2^54]", "2^54] }", &["at most 2^53"]);
    spoiled("[1024]", "[1024, k]", "k] }", &["there is no `k`"]);
    spoiled("[1024]", "[1024, 2^10]", "sizes", &["n=1024", "twice"]);
    spoiled("[1024]", "[]", "sizes", &["between 1 and 1000 sizes"]);
    spoiled(
        "{ n: [1024] }",
        "[{ n: 1 }, { m: 2 }]",
        "{ m: 2 }]",
        &["this size names m, the first one n"],
    );
    spoiled("{ n: [1024] }", "{ n: [1024], 9: [1] }", "9: [1", &["`9` cannot name a size"]);
}

#[test]
fn budgets_have_the_bounds_of_the_command_line() {
    let text = "version: 1
budget: { total: 1e300, case: 1e-9, rounds: 10001, target: 0 }
workloads: {}
";
    let text = rendered(&diagnostics(text));
    for part in ["2:18: a budget is", "2:31: a budget is", "10000 rounds, not 10001", "a target is"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}
