use super::*;

#[test]
fn rows_are_as_wide_as_the_table_and_keys_distinct() {
    let mut table = Table::new(
        "Runs",
        "runs",
        [Column::text("name", "name"), Column::new("Time", "time", Unit::Seconds)]
            .into_iter()
            .chain([Column::new("time", "again", Unit::Seconds)]),
    );
    table.best("time");
    table.row(["a".into()]);
    table.row(["b".into(), f64::NAN.into(), 2.0.into(), 3u64.into()]);
    table.best("time_2");
    assert_eq!(table.key(), "runs");
    assert_eq!(
        table.columns().iter().map(Column::key).collect::<Vec<_>>(),
        ["name", "time", "time_2"]
    );
    assert!(table.rows().iter().all(|row| row.len() == 3));
    assert_eq!(table.rows()[1][1], Cell::Missing);
    assert!(table.is_best(1, 2) && table.bests().len() == 1);
    let mut sparse = Table::new(
        "t",
        "t",
        [Column::text("a", "a"), Column::text("b", "b"), Column::text("c", "c")],
    );
    sparse.row(["x".into(), Cell::Missing, "y".into()]);
    sparse.best("c");
    let filled = sparse.without_missing();
    assert_eq!((filled.columns().len(), filled.bests()), (2, &[(0, 1)][..]));
    assert_eq!(Table::new("t", "t", []).shaded(Scale::Linear, [1.0, f64::NAN]).shade(), None);
}

#[test]
fn each_item_is_a_row_and_each_column_shows_something_of_it() {
    let table = Table::of("t", "t", [("a", 1u64), ("b", 2)])
        .column(Column::text("name", "name"), |(name, _)| *name)
        .columns(
            [10, 20],
            |factor| Column::new("n", format!("× {factor}"), Unit::Count),
            |(_, n), factor| n * factor,
        )
        .table();
    let keys: Vec<&str> = table.columns().iter().map(Column::key).collect();
    assert_eq!(keys, ["name", "n", "n_2"]);
    assert_eq!(table.rows()[1], ["b".into(), Cell::Count(20), Cell::Count(40)]);
}
