use super::*;
use crate::testing::{KINDS, SUITE, load_with, message, mistake};

/// A transfer of these sizes.
fn transfer(name: &str, sizes: &str) -> String {
    format!(
        "  {name}:\n    sizes: {sizes}\n    params: {{}}\n    verify: none\n    measure: [copies]\n"
    )
}

/// The suite `s.yaml` among these files.
fn loaded(text: &str, files: &[(&str, &str)]) -> Result<Suite, Vec<String>> {
    load_with(SUITE, text, files)
        .map_err(|found| found.into_iter().map(|one| one.message).collect())
}

fn numbers(n: usize) -> String {
    let all: Vec<_> = (1..=n).map(|i| i.to_string()).collect();
    format!("{{ n: [{}] }}", all.join(", "))
}

#[test]
fn a_suite_has_ten_thousand_cases_and_no_more() {
    let suite = |last: usize| {
        let each: String = (0..10)
            .map(|i| transfer(&format!("w{i}"), &numbers(if i == 9 { last } else { 1000 })))
            .collect();
        format!("version: 1\nworkloads:\n{each}")
    };
    let all = suite(1000);
    assert_eq!(loaded(&all, &[]).unwrap().cases(), 10_000);
    let more = all + &transfer("more", "{ n: [1] }");
    assert_eq!(
        loaded(&more, &[]).map(|suite| suite.cases()),
        Err(vec!["a suite has at most 10000 cases".to_owned()])
    );
    // Of what is included only what is selected counts.
    let select = |one: usize| {
        format!(
            "version: 1\ninclude: [all.yaml]\nselect: {{ w0: {{}}, w9: {{ n: [1] }} }}\nworkloads:\n{}{}",
            (0..8).map(|i| transfer(&format!("v{i}"), &numbers(1000))).collect::<String>(),
            transfer("last", &numbers(one)),
        )
    };
    let files = [("all.yaml", &suite(1000)[..])];
    assert_eq!(loaded(&select(999), &files).unwrap().cases(), 10_000);
    assert_eq!(
        loaded(&select(1000), &files).map(|suite| suite.cases()),
        Err(vec!["a suite has at most 10000 cases".to_owned()])
    );
}

#[test]
fn a_suite_has_a_hundred_files_and_no_more() {
    let leaves: Vec<(String, String)> = (0..100)
        .map(|i| {
            (
                format!("f{i}.yaml"),
                format!("version: 1\nworkloads:\n{}", transfer(&format!("w{i}"), "{ n: [1] }")),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> =
        leaves.iter().map(|(name, text)| (&name[..], &text[..])).collect();
    let with = |n: usize| {
        let names: Vec<_> = (0..n).map(|i| format!("f{i}.yaml")).collect();
        loaded(&format!("version: 1\ninclude: [{}]\n", names.join(", ")), &files)
            .map(|suite| suite.workloads.len())
    };
    assert_eq!(
        (with(99), with(100)),
        (Ok(99), Err(vec!["a suite includes at most 100 files".to_owned()]))
    );
}

#[test]
fn budgets_are_within_their_limits() {
    let with =
        |budget: &str| loaded(&SUITE.replace("name: one", &format!("budget: {{ {budget} }}")), &[]);
    let budget = with("total: 1.0e-3, case: 1000000, rounds: 10000, target: 1.0e-9, memory: 2 KiB, process: 1 MiB")
        .unwrap()
        .budget;
    assert_eq!(
        (budget.total, budget.case, budget.rounds, budget.target),
        (Some(1e-3), Some(1e6), Some(10_000), Some(1e-9))
    );
    assert_eq!(
        [budget.memory, budget.process].map(|of| of.map(|bytes| bytes.0)),
        [Some(2048), Some(1 << 20)]
    );
    assert_eq!(with("rounds: 1").unwrap().budget, Budget { rounds: Some(1), ..Budget::default() });
    for (budget, message) in [
        ("total: 0.0009", "a budget is 0.001 to 1000000 seconds, not 0.0009"),
        ("case: 1000001", "a budget is 0.001 to 1000000 seconds, not 1000001"),
        ("rounds: 0", "a run has 1 to 10000 rounds, not 0"),
        ("rounds: 10001", "a run has 1 to 10000 rounds, not 10001"),
        ("target: 0", "a target is a positive number, not 0"),
        ("target: -1", "a target is a positive number, not -1"),
    ] {
        assert_eq!(with(budget).map(|_| ()), Err(vec![message.to_owned()]), "{budget}");
    }
}

#[test]
fn a_suite_is_named_by_its_key_or_its_file() {
    assert_eq!(load_with("name: one", "name: other", &[]).unwrap().name, "other");
    assert_eq!(load_with("name: one\n", "", &[]).unwrap().name, "s");
    for name in ["quick", "quick.yaml", "suites/quick", "suites/quick.yaml"] {
        let (root, source) = find(name).unwrap();
        assert!(matches!(root, Root::Embedded) && source.path == "quick.yaml", "{name}");
        assert_eq!(*source.file, *"suites/quick.yaml (embedded)");
    }
    let why = |name: &str| load(name, &[], &KINDS).map(|_| ()).unwrap_err().to_string();
    assert!(why("quik").contains("there is no file and no suite `quik`; did you mean `quick`?"));
    assert!(why("/").contains("(name a file in YAML, or one of the embedded suites)"));
}

#[test]
fn equal_files_make_equal_hashes() {
    let files = |path: &str, hash: &str| {
        BTreeMap::from([("s.yaml".to_owned(), "0".to_owned()), (path.to_owned(), hash.to_owned())])
    };
    let one = hash(&files("k.cl", "1"));
    assert_eq!(one, sha256_hex("1 k.cl\n0 s.yaml\n"));
    assert!(
        one == hash(&files("k.cl", "1"))
            && one != hash(&files("k.cl", "2"))
            && one != hash(&files("l.cl", "1"))
    );
}

#[test]
fn what_is_wrong_with_a_file_as_a_whole_is_said() {
    for (text, message) in [
        ("", "the file is empty"),
        ("version: 1\n", "the suite has no workloads"),
        ("version: 2\nworkloads: {}\n", "this gpubench knows version 1 of suites, not 2"),
        ("version: 1\nname: '?which'\nworlds: 3\n", "still to answer: which"),
        (
            "version: 1\ndefaults: { variants: { a: {} } }\nworkloads: {}\n",
            "defaults have no variants",
        ),
        ("version: 1\ninclude: [s.yaml]\n", "`s.yaml` includes itself: s.yaml"),
        ("version: 1\ninclude: [none.yaml]\n", "cannot include `none.yaml`: there is no such file"),
    ] {
        assert_eq!(loaded(text, &[]).map(|_| ()), Err(vec![message.to_owned()]), "{text}");
    }
    assert_eq!(loaded("version: 1\nworkloads: {}\n", &[]).unwrap().cases(), 0);
    // Wrong defaults are no reason to say more of each workload.
    let text = SUITE
        .replace("workloads:", "defaults: { gird: [n] }\nworkloads:")
        .replace("grid: [n]", "grid: [m]");
    assert_eq!(loaded(&text, &[]).map(|_| ()), Err(vec!["unknown key `gird`".to_owned()]));
    assert_eq!(message("work:", "wrok:", &[]), "unknown key `wrok`");
}

#[test]
fn defaults_are_for_the_workloads_of_their_file() {
    let text = SUITE.replace("workloads:", "defaults: { tags: [mine] }\nworkloads:");
    assert_eq!(loaded(&text, &[]).unwrap().workloads[0].tags, ["mine"]);
}

#[test]
fn two_workloads_have_two_names() {
    let text = SUITE.replace("name: one", "include: [other.yaml]");
    let other = format!("version: 1\nworkloads:\n{}", transfer("copy", "{ n: [1] }"));
    let (said, at) = mistake(SUITE, &text, &[("other.yaml", &other)]);
    assert_eq!((&said[..], &at[..]), ("there are two workloads called `copy`", "copy"));
    // One that is wrong is none.
    let wrong = text.replace("grid: [n]", "grid: [m]");
    assert_eq!(mistake(SUITE, &wrong, &[("other.yaml", &other)]).0, "there is no `m` here");
}

/// A kernel in a file that two workloads name is one file of the suite.
#[test]
fn included_files_count_once_and_their_kernels_belong_to_the_suite() {
    let one =
        format!("version: 1\ninclude: [leaf.yaml]\nworkloads:\n{}", transfer("w", "{ n: [1] }"));
    let files = |kernel: &'static str| {
        [("one.yaml", one.clone()), ("leaf.yaml", SUITE.to_owned()), ("k.cl", kernel.to_owned())]
    };
    let suite = |kernel| {
        let files = files(kernel);
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, &text[..])).collect();
        loaded("version: 1\ninclude: [one.yaml, leaf.yaml]\n", &files).unwrap()
    };
    let names: Vec<_> = suite("int a;").workloads.into_iter().map(|w| w.name).collect();
    assert_eq!(names, ["copy", "w"]);
    assert_ne!(suite("int a;").hash, suite("int b;").hash);
}

#[test]
fn a_partner_is_a_workload_with_a_kernel_of_one_pass() {
    let with = |copy: &str, sizes: &str, measure: &str| {
        let suite = SUITE.replace("grid: [n]", &format!("grid: [n]{copy}"));
        let other = transfer("w", sizes).replace("[copies]", measure);
        loaded(&(suite + &other), &[]).map(|suite| suite.workloads.len())
    };
    let wrong = |why: &str| Err(vec![why.to_owned()]);
    assert_eq!(with("", "{ m: [1] }", "{ copies: copy }"), Ok(2));
    assert_eq!(
        with("", "{ m: [1] }", "{ copies: cop }"),
        wrong("there is no workload called `cop` in this suite")
    );
    assert_eq!(with("", "{ m: [1] }", "{ copies: w }"), wrong("`w` has no kernel to run"));
    let passes = "\n    passes: 2";
    assert_eq!(
        with(passes, "{ m: [1] }", "{ copies: copy }"),
        wrong("`copy` has several passes, and here one launch is all")
    );
    // What else is wrong comes first.
    assert_eq!(
        with("\n    divide: m", "{ m: [1] }", "{ copies: cop }"),
        wrong("there is no parameter `m`")
    );
    let all = |sizes: &str| {
        let other = transfer("w", sizes).replace("[copies]", "{ every_copy: copy }")
            + "    buffers: { a: { type: u32, count: 1, fill: index } }\n";
        loaded(&(SUITE.to_owned() + &other), &[]).map(|suite| suite.workloads.len())
    };
    assert_eq!(
        (all("{ n: [1] }"), all("{ n: [1], m: [1] }")),
        (Ok(2), wrong("`copy` has not the sizes of this workload"))
    );
    let (said, at) = mistake("grid: [n]", "grid: [n]\n    measure: { kernel: cop }", &[]);
    assert!(said.contains("`cop`") && at == "cop", "{said}: {at}");
}

/// A workload that is wrong at a size counts neither as a second of its name nor as cases.
#[test]
fn what_is_wrong_is_no_workload() {
    let other = format!("version: 1\nworkloads:\n{}", transfer("copy", "{ n: [1] }"));
    let text =
        SUITE.replace("name: one", "include: [other.yaml]").replace("grid: [n]", "grid: [n - 64]");
    let (said, _) = mistake(SUITE, &text, &[("other.yaml", &other)]);
    assert_eq!(said, "grid at n=64: a launch has at least one work-item");
}
