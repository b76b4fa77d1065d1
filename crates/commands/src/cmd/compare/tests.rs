use super::*;

#[test]
fn planned_comparisons_are_chosen_by_name_and_size() {
    use gpubench_core::record::sample::{device, header, key, record};
    let records = [record(key("a", 1), 1.0), record(key("a", 2), 1.0), record(key("b", 2), 1.0)];
    let cases = collect(&header(vec![device("opencl")]), &records).remove(0);
    let of = |filters: &[&str]| -> Vec<CaseKey> {
        let filters: Vec<Filter> = filters.iter().map(|f| Filter::parse(f).unwrap()).collect();
        planned_cases(&cases, &filters).into_iter().collect()
    };
    assert_eq!(of(&["a", "n=2"]), [key("a", 2)]);
    assert_eq!(of(&["a"]).len(), 2);
    assert!(of(&[]).is_empty() && Filter::parse("n>=").is_err());
}

#[test]
fn a_percentage_is_one_with_its_sign_or_without() {
    assert_eq!((percent("5%"), percent("5"), percent("0")), (Ok(0.05), Ok(0.05), Ok(0.0)));
    assert_eq!(percent("0.5 %"), Ok(0.005));
    for bad in ["", "x", "-1%", "100%", "nan"] {
        assert!(percent(bad).is_err(), "{bad}");
    }
    assert!(percent("0.05").unwrap_err().contains("5% or 0.05%"));
}

#[test]
fn a_gate_fails_on_what_it_names() {
    assert_eq!(fail_on("slower:5"), Ok(Gate { slower: Some(0.05), ..Gate::OPEN }));
    let gate =
        |text: &str| gate_of(&text.split(',').map(|one| fail_on(one).unwrap()).collect::<Vec<_>>());
    assert_eq!(gate(DEFAULT_GATE), Gate::default());
    assert_eq!(gate("unsure"), Gate { unsure: true, ..Gate::OPEN });
    assert!(fail_on("faster").is_err() && fail_on("slower:").is_err());
}
