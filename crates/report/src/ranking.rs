//! Devices in order of their speed over the cases that all of them got right.

use super::csv::{csv, number};
use super::labels::{capitalised, range, with_reasons};
use super::{predicted_ranking, ranking_matrix, ranking_verdict, render};
use gpubench_analysis::Energy;
use gpubench_analysis::rank::{Device, Family, Ranking, Row};
use gpubench_core::text::printable;
use gpubench_document::{
    Axis, Cell, Column, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table, Unit,
};
use gpubench_stats::Level;

/// Version of the JSON format.
pub const VERSION: u32 = 3;

/// The whole ranking: overall, by family, by energy, as predicted, and what takes no part.
pub fn section(ranking: &Ranking) -> Section {
    let section = Section::new("ranking", "Ranking");
    let said = ranking.families.first().map(|overall| {
        let verdict = ranking_verdict::verdict(ranking, overall);
        [verdict, ranking_verdict::stability(ranking, overall)]
    });
    let said = said.into_iter().flatten().flatten();
    let section = said.fold(section, Section::text);
    let section = section.text(
        "Speed is the reference's time over the device's own, case by case; a device's is the \
         geometric mean over the common set: the cases that all of them got right, by the same clock. \
         Families weigh alike unless --weight says otherwise; copies of one size count once. Intervals are \
         95 % intervals; where two devices' ranks overlap, the data do not distinguish them.",
    );
    let is_single = |family: &Family| family.rows.iter().any(|row| row.rounds[0] == 1);
    let section = match ranking.families.first().is_some_and(is_single) {
        true => section.text(
            "Some cases have one round. How far another round would be is not in these intervals: those of \
             the results may be wider.",
        ),
        false => section,
    };
    let known = |family: &&Family| family.cases > 0;
    // Of a family without common cases there is nothing to show: why is said of each case.
    let ranks = |family: &&Family| !family.rows.is_empty();
    let Some(overall) = ranking.families.first().filter(known) else {
        return section.text("Nothing to rank.").section(excluded(ranking));
    };
    let mut families = Section::new("families", "By family").folded();
    for family in ranking.families.iter().skip(1).filter(ranks) {
        let name = Sentence::from(capitalised(&family.name));
        families = families.section(ranked(Section::new(&family.name, name), ranking, family));
    }
    ranked(section, ranking, overall)
        .section(ranking_matrix::section(ranking, overall))
        .section(ranking_verdict::weights(ranking, overall))
        .section(families)
        .section(energy(ranking))
        .section(predicted_ranking::section(ranking))
        .section(skipped(overall))
        .section(excluded(ranking))
}

/// One line a family and device.
pub fn spreadsheet(ranking: &Ranking) -> String {
    let head = "family,rank,rank_best,rank_worst,device,vendor,api,kind,driver,runs,speed,\
                speed_low,speed_high,verified,rounds_min,rounds_max,cases,common,roofline,reference,per_joule,pareto,\
                predicted_cases,measured_speed,measured_rank,predicted_speed,predicted_rank";
    let mut lines = vec![head.split(',').map(str::to_owned).collect::<Vec<_>>()];
    for family in &ranking.families {
        let reference = family.reference.map(|r| ranking.devices[r].info.slug());
        for (place, row) in family.rows.iter().enumerate() {
            let Device { info, runs, .. } = &ranking.devices[row.device];
            let overall = family.name == ranking.families[0].name;
            let drawn = ranking.energy.iter().filter(|_| overall).flat_map(|energy| &energy.rows);
            let drawn = drawn.into_iter().find(|drawn| drawn.device == row.device);
            let prediction = ranking.prediction.as_ref().filter(|_| overall);
            let mut line = vec![
                family.name.clone(),
                (place + 1).to_string(),
                row.ranks[0].to_string(),
                row.ranks[1].to_string(),
                info.name.clone(),
                info.vendor.clone(),
                info.backend.clone(),
                format!("{:?}", info.kind).to_lowercase(),
                info.driver.clone(),
                runs.to_string(),
                number(Some(row.speed)),
                number(Some(row.interval[0])),
                number(Some(row.interval[1])),
                row.verified.to_string(),
                row.rounds[0].to_string(),
                row.rounds[1].to_string(),
                family.cases.to_string(),
                family.common.len().to_string(),
                number(row.roofline),
                reference.clone().unwrap_or_default(),
                number(drawn.map(|row| row.per_joule)),
                drawn.map_or_else(String::new, |row| row.pareto.to_string()),
            ];
            line.extend(predicted_ranking::spreadsheet(prediction, row.device));
            lines.push(line);
        }
    }
    csv(lines)
}

/// Everything, for programs: `{"version": 3, "ranking": …}` with the fields of [`Ranking`].
pub fn json(ranking: &Ranking) -> String {
    render::json::json(&serde_json::json!({ "version": VERSION, "ranking": ranking }))
}

/// A family's plot and table.
fn ranked(section: Section, ranking: &Ranking, family: &Family) -> Section {
    let section = match family.rows.len() {
        0 => section.text(
            title(family).text("; no case was right on every device, so nothing can be ranked."),
        ),
        1 => section.text("One device alone cannot be ranked."),
        _ => section.plot(plot(ranking, family)),
    };
    section.table(table(ranking, family))
}

/// What people call a device.
pub(super) fn device(device: &Device) -> Sentence {
    Sentence::new().name(&device.name)
}

/// `Overall: 12 of 14 cases common to 3 devices (1 without any)`.
fn title(family: &Family) -> Sentence {
    let title = Sentence::new().name(capitalised(&family.name)).text(": ");
    let title = title.value(family.common.len() as f64, Unit::Count).text(" of ");
    let title = title.counted(family.cases as u64, "case").text(" common to ");
    let title = title.counted((family.rows.len() + family.absent.len()) as u64, "device");
    match family.absent.len() {
        0 => title,
        absent => title.text(" (").value(absent as f64, Unit::Count).text(" without any)"),
    }
}

/// One line a device, in the colour of its position.
fn plot(ranking: &Ranking, family: &Family) -> Plot {
    let name = |row: &Row| device(&ranking.devices[row.device]).text_with(Clone::clone);
    let x = Axis::categories("device", family.rows.iter().map(name));
    // The table has the reference's name, which is longer than an axis.
    let y = Axis::new("speed; the reference has 1", Unit::Relative, Scale::Log10);
    let order = family
        .rows
        .iter()
        .map(|row| ranks(row).text(" ").name(name(row)).text(" ").value(row.speed, Unit::Relative));
    let mut plot = Plot::new(&format!("{} speed", family.name), title(family), x, y)
        .describe(Sentence::from("In order: ").list(", ", order).text("."))
        .tabled_in(&family.name);
    for (place, row) in family.rows.iter().enumerate() {
        let series = Series::new(name(row), Style::Points).look(row.device, 0);
        plot = plot.series(series.quantities([(place as f64, speed(row, family))]));
    }
    plot
}

/// `speed relative to A100 (opencl)`.
fn reference(ranking: &Ranking, family: &Family) -> Sentence {
    let speed = Sentence::from("speed");
    match family.reference {
        Some(at) => speed.text(" relative to ").then(device(&ranking.devices[at])),
        None => speed,
    }
}

/// The reference's is 1 whatever was measured: it has no interval.
fn speed(row: &Row, family: &Family) -> Option<Quantity> {
    let speed = Quantity::new(row.speed)?;
    let is_reference = family.reference == Some(row.device);
    Some(if is_reference { speed } else { speed.with_interval(row.interval) })
}

fn table(ranking: &Ranking, family: &Family) -> Table {
    let columns = [
        Column::names("device", "device"),
        Column::new("rank", "rank", Unit::Count),
        Column::new("speed", "speed", Unit::Relative),
        Column::new("verified", "verified", Unit::Count),
        Column::new("rounds", "rounds", Unit::Count),
        Column::new("roofline", "of roofline", Unit::Fraction),
    ];
    let level = match family.level {
        _ if family.rows.len() < 2 => "",
        Level::Rounds => "; too few cases to stand for others: the intervals are of these alone",
        Level::Cases => "; the intervals are for cases like these",
    };
    let title = title(family).text("; ").then(reference(ranking, family)).text(level);
    let mut table = Table::new(&family.name, title, columns);
    let verified = |n: usize| {
        let n = Sentence::new().value(n as f64, Unit::Count).text("/");
        Cell::from(n.value(family.cases as f64, Unit::Count))
    };
    for row in &family.rows {
        let who = &ranking.devices[row.device];
        table.row([
            device(who).into(),
            ranks(row).into(),
            speed(row, family).into(),
            verified(row.verified),
            rounds(row).into(),
            row.roofline.into(),
        ]);
    }
    for &absent in &family.absent {
        let who = &ranking.devices[absent];
        table.row([device(who).into(), Cell::Missing, Cell::Missing, verified(0)]);
    }
    table
}

/// `1` or `1–2`.
fn ranks(row: &Row) -> Sentence {
    range(row.ranks.map(|n| n as f64))
}

/// `3`, or `1–3` where its cases differ.
fn rounds(row: &Row) -> Sentence {
    range(row.rounds.map(f64::from))
}

fn energy(ranking: &Ranking) -> Section {
    let section = Section::new("energy", "Performance per watt");
    let Some(energy) = &ranking.energy else { return section };
    let name = |at: usize| device(&ranking.devices[at]);
    let over = Sentence::from("Over ").counted(energy.common.len() as u64, "case");
    let section = section
        .text(over.text("; ").then(name(energy.reference)).text(" is 1."))
        .table(energy_table(ranking, energy));
    match energy.unknown.as_slice() {
        [] => section,
        unknown => section
            .text(Sentence::from("Not measured: ").list(", ", unknown.iter().map(|&at| name(at)))),
    }
}

fn energy_table(ranking: &Ranking, energy: &Energy) -> Table {
    let title = "Work per joule beside speed; Pareto: no other device beats it in both";
    Table::of("energy", title, &energy.rows)
        .column(Column::text("device", "device"), |row| device(&ranking.devices[row.device]))
        .column(Column::new("per_watt", "per watt", Unit::Relative), |row| row.per_joule)
        .column(Column::new("speed", "speed", Unit::Relative), |row| row.speed)
        .column(Column::text("pareto", "Pareto"), |row| row.pareto)
        .table()
}

fn skipped(overall: &Family) -> Section {
    let title = Sentence::from("Outside the common set: ");
    let title = title.counted(overall.skipped.len() as u64, "case");
    with_reasons(Section::new("skipped", title).folded(), &overall.skipped)
}

fn excluded(ranking: &Ranking) -> Section {
    with_devices(Section::new("excluded", "Not ranked"), ranking, &ranking.excluded)
}

/// A line for each of some devices, with its reason.
pub(super) fn with_devices(
    section: Section,
    ranking: &Ranking,
    reasons: &[(usize, String)],
) -> Section {
    reasons.iter().fold(section, |section, (at, reason)| {
        let who = device(&ranking.devices[*at]).text(": ");
        section.text(who.name(printable(reason, 200)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::section as text;
    use gpubench_analysis::fit::Model;
    use gpubench_analysis::rank::{DeviceTimes, Options, predict_ranking, rank};
    use gpubench_analysis::result_matrix;
    use gpubench_core::gpu::DeviceKind;
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Monitor, Outcome, Record};

    const HOSTILE: &str = "=1+\u{1b}[31mGPU</script>|\u{202e}x";

    fn sample() -> Ranking {
        let mut header =
            header(vec![device("opencl"), device("wgpu"), device("sim"), device("opencl")]);
        header.devices[0].name = "A card with a rather long name, as vendors like them".into();
        header.devices[1].name = HOSTILE.repeat(300);
        header.devices[2].kind = DeviceKind::Simulated;
        header.devices[3].kind = DeviceKind::Cpu;
        let mut records = vec![];
        for (place, factor) in [1.0, 1.3, 9.0, 250.0].into_iter().enumerate() {
            for n in 1..=7 {
                let wobble = 1.0 + 0.3 * f64::from((n * 5 + place as i32 * 3) % 7);
                let key = key(if n < 5 { "matmul" } else { "sepia" }, i64::from(n));
                let family = if n < 5 { "compute" } else { "memory" }.to_owned();
                let record = record(key, factor * wobble * 1e-3);
                let joules = [Some(0.3), Some(0.2), None, None][place];
                let monitor = Monitor { joules, ..Monitor::default() };
                records.push(Record { device: place, family, monitor, ..record });
            }
        }
        records.push(Record { device: 1, ..outcome(key("sepia", 6), Outcome::Unchecked) });
        let options = Options { include_cpu: true, ..Options::default() };
        let matrix = result_matrix([(&header, &records[..])]);
        let mut ranking = rank(&matrix, &options).unwrap();
        let overall = &ranking.families[0];
        let seconds = |device: usize| {
            let one = |n: usize| Ok(1e-3 * (1 + n + 2 * device) as f64);
            let mut all: Vec<Result<f64, String>> = (0..overall.common.len()).map(one).collect();
            all[0] = Err(HOSTILE.into());
            DeviceTimes { device, seconds: all }
        };
        let unknown = vec![(3, format!("no profile {HOSTILE}"))];
        let predicted = [seconds(0), seconds(1)];
        ranking.prediction =
            predict_ranking(&matrix, overall, Model::COMPONENTS, &predicted, unknown);
        ranking
    }

    #[test]
    fn a_ranking_reads_well() {
        insta::assert_snapshot!(text(&section(&sample()), Some(80)));
    }

    #[test]
    fn it_fits_eighty_columns_and_says_nothing_to_the_terminal() {
        let text = text(&section(&sample()), Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn markdown_stays_markdown() {
        let text = crate::render::markdown::section(&section(&sample()), 2);
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("</script"));
        assert!(text.contains("&lt;/script&gt;\\|"), "{text}");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        for line in text.lines().filter(|line| line.starts_with("| 1")) {
            assert_eq!(bars(line), 6, "{line}");
        }
    }

    #[test]
    fn every_device_has_its_band_and_no_legend_repeats_it() {
        let section = section(&sample());
        let page = crate::render::html::body(&section, 2, &mut Default::default()).0;
        assert_eq!(page.matches("<figure>").count(), 3);
        assert_eq!(page.matches("\"band\"").count(), 9);
        assert_eq!(page.matches("\"limit\"").count(), 9);
        assert!(!page.contains("<li>"));
    }

    #[test]
    fn a_spreadsheet_runs_nothing() {
        let text = spreadsheet(&sample());
        assert!(text.contains(",'=1+"), "{text}");
        assert_eq!(text.lines().count(), 1 + 3 * 3);
    }

    #[test]
    fn json_says_all_and_its_version() {
        let value: serde_json::Value = serde_json::from_str(&json(&sample())).unwrap();
        assert_eq!(value["version"], 3);
        let overall = &value["ranking"]["families"][0];
        assert_eq!(overall["rows"].as_array().map(Vec::len), Some(3));
        assert_eq!(overall["skipped"].as_array().map(Vec::len), Some(1));
        assert_eq!(overall["level"], "cases");
    }
}
