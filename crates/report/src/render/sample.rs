//! A section with one of everything, with friendly and with hostile content.

use gpubench_document::{
    Axis, Cell, Column, Direction, Mark, Plot, Quantity, Scale, Section, Sentence, Series, Style,
    Table, Timeline, Unit,
};

/// A name as nobody should give it.
pub(crate) const NAME: &str =
    "=cmd|</script><img src=x onerror=alert(1)>\u{1b}[31m\u{202e}\u{7}`*_[x](y)\n| a |";

/// Whether a terminal or a reader would be misled by it.
pub(crate) fn speaks(c: char) -> bool {
    c.is_control() && c != '\n' || c == '\u{202e}'
}

/// An overlap experiment as its `section.rs` would tell it.
pub(crate) fn section() -> Section {
    let case = Section::new(
        "matmul_opencl_0",
        Sentence::new().name("matmul n=512").text(" on ").name("opencl:0"),
    )
    .text(
        Sentence::new()
            .text("isolated: upload ")
            .value(1.25e-3, Unit::Seconds)
            .text(", kernel ")
            .value(2e-3, Unit::Seconds),
    )
    .figure("best", "best", Quantity::between(2.5e-3, [2.45e-3, 2.6e-3]), Unit::Seconds)
    .fact("engines", "copy engines", "1 (copies run with kernels, but one direction at a time)")
    .plot(chunks("matmul"))
    .timeline(timeline("upload 0"))
    .table(runs("matmul"))
    .section(Section::new("matrix", "Pairs").folded().table(matrix("sepia")))
    .note("the clock is the host's");
    let intro =
        "A problem is cut into chunks, so that one chunk is copied while another is computed.";
    Section::new("overlap", "Overlap").text(intro).section(case)
}

/// Every name is hostile, every number extreme or none.
pub(crate) fn hostile() -> Section {
    let name = || NAME.to_owned();
    let mut table = Table::new(
        NAME,
        name(),
        [Column::text(NAME, name()), Column::new(NAME, name(), Unit::Seconds)],
    );
    for value in [1e-290, f64::MAX, 5e-324, -1e300, f64::NAN, f64::INFINITY] {
        table.row([name().into(), value.into()]);
    }
    let (x, y) = (
        Axis::new(name(), Unit::Seconds, Scale::Log10),
        Axis::new(name(), Unit::Bytes, Scale::Linear),
    );
    let extremes = [(1e-290, 1e300), (1e300, -1e300), (5e-324, 0.0), (0.0, 1.0), (-1.0, 2.0)];
    let mut plot = Plot::new(NAME, name(), x, y).limit(Direction::Vertical, 1e-300, name());
    for style in [Style::Joined, Style::Line, Style::Points, Style::Open, Style::Steps, Style::Bars]
    {
        plot = plot.series(Series::new(name(), style).points(extremes).along([name().into()]));
    }
    let bands = Plot::new(
        "bands",
        name(),
        Axis::categories(name(), [name(), name()]),
        Axis::new(name(), Unit::Seconds, Scale::Linear),
    )
    .series(Series::new(name(), Style::Bars).points([
        (0.0, 1e-290),
        (1.0, 1e200),
        (7.0, 1.0),
        (-3.0, 1.0),
    ]));
    Section::new(NAME, name())
        .text(name())
        .note(Sentence::new().value(f64::NAN, Unit::Seconds).value(1e-290, Unit::Fraction))
        .figure(NAME, name(), 1e30, Unit::Bytes)
        .table(table)
        .plot(plot)
        .plot(bands)
        .timeline(timeline(NAME))
        .section(Section::new(NAME, name()).folded().text(name()))
}

fn chunks(of: &str) -> Plot {
    let measured = Series::new("measured, 3 queues", Style::Points).quantities([
        (1.0, Quantity::between(4e-3, [3.9e-3, 4.2e-3])),
        (4.0, Quantity::between(2.5e-3, [2.45e-3, 2.6e-3])),
    ]);
    Plot::new(
        "against_chunks",
        Sentence::new().text("Time against chunks of ").name(of),
        Axis::new("chunks", Unit::Count, Scale::Log2),
        Axis::new("time", Unit::Seconds, Scale::Linear),
    )
    .describe(Sentence::new().text("The best run took ").value(2.5e-3, Unit::Seconds).text("."))
    .series(measured)
    .series(
        Series::new("streams model", Style::Line)
            .look(2, 1)
            .points([(1.0, 4.1e-3), (4.0, 2.3e-3)])
            .along([Sentence::from("gains ").value(1.8e-3, Unit::Seconds)]),
    )
    .limit(Direction::Horizontal, 4.25e-3, "no overlap")
    .limit(Direction::Horizontal, 2e-3, "ideal overlap")
}

fn runs(of: &str) -> Table {
    let title = Sentence::new().text("Measured, and predicted, of ").name(of);
    let columns = [
        Column::text("kind", "run"),
        Column::new("chunks", "chunks", Unit::Count),
        Column::new("seconds", "median", Unit::Seconds),
        Column::new("hidden", "hidden", Unit::Fraction),
        Column::text("verified", "verified"),
        Column::text("paid", "pays"),
    ];
    let mut table = Table::new("runs", title, columns);
    let time = Quantity::between(4e-3, [3.9e-3, 4.2e-3]);
    table.row([
        "serial".into(),
        1u64.into(),
        time.into(),
        Cell::Missing,
        Mark::Verified.into(),
        false.into(),
    ]);
    let cut = Sentence::new().text("cut into ").counted(4, "chunk");
    table.row([
        cut.into(),
        4u64.into(),
        2.5e-3.into(),
        0.78.into(),
        Mark::Verified.into(),
        true.into(),
    ]);
    table.best("seconds");
    table
}

fn matrix(second: &str) -> Table {
    let columns =
        [Column::text("first", "first, with"), Column::new(second, second.to_owned(), Unit::Ratio)];
    let table = Table::new("speedup", "Speedup over serial", columns);
    let mut table = table.shaded(Scale::Linear, [1.0, 2.0]);
    table.row(["matmul".into(), 1.6.into()]);
    table
}

fn timeline(span: &str) -> Option<Timeline> {
    let seen = |name: &str, start, end| (name.to_owned(), start, end);
    let tracks = [
        ("upload".into(), vec![seen(span, 100.0, 100.001), seen("upload 1", 100.001, 100.002)]),
        ("kernel".into(), vec![seen("kernel 0", 100.001, 100.003)]),
    ];
    Timeline::new("best_run", "Timeline of the best run", tracks)
}
