//! A ranking for terminals, Markdown, spreadsheets and programs.

use super::csv::{csv, number};
use super::grid::{Grid, escaped};
use super::labels::case_name;
use super::predicted_ranking;
use gpubench_analysis::Energy;
use gpubench_analysis::rank::{Device, Family, Ranking, Row};
use gpubench_core::gpu::DeviceKind;
use gpubench_core::text::{counted, printable};
use gpubench_core::workload::CaseKey;
use gpubench_stats::Level;
use std::fmt::Write;

/// Version of the JSON format.
pub const VERSION: u32 = 2;

/// For a terminal of `width` columns.
pub fn text(ranking: &Ranking, width: u16) -> String {
    let mut out = String::new();
    for family in ranking.families.iter().filter(|family| family.cases > 0) {
        let _ = writeln!(out, "{}", heading(ranking, family));
        out += &rows(ranking, family, &plain).text(width);
        out += &absent(ranking, family, &plain);
        out.push('\n');
    }
    if let Some(overall) = ranking.families.first() {
        let winners = winners(ranking, overall, &plain);
        if !winners.is_empty() {
            let _ = writeln!(out, "Fastest by workload\n{}", winners.text(width));
        }
        match &ranking.energy {
            Some(energy) => {
                let table = drawn(ranking, energy, &plain).text(width);
                let _ = writeln!(out, "{}\n{table}", energy_heading(ranking, energy, &plain));
            }
            None if !overall.rows.is_empty() => {
                let _ = writeln!(out, "{NO_ENERGY}\n");
            }
            None => {}
        }
        out += &predicted_ranking::text(ranking, width);
        if !overall.skipped.is_empty() {
            let _ =
                writeln!(out, "Outside the common set: {}", counted(overall.skipped.len(), "case"));
            for (reason, keys) in grouped(&overall.skipped) {
                let _ = writeln!(out, "  {}\n      {} × {}", plain(reason), keys.len(), few(&keys));
            }
            out.push('\n');
        }
    }
    out += &excluded(ranking, &plain);
    out
}

/// For a pull request or a page of Markdown.
pub fn markdown(ranking: &Ranking) -> String {
    let mut out = String::new();
    for family in ranking.families.iter().filter(|family| family.cases > 0) {
        let heading = heading(ranking, family);
        let (first, more) = heading.split_once('\n').unwrap_or((&heading, ""));
        let _ = writeln!(out, "### {}\n", escaped(first));
        if !more.is_empty() {
            let _ = writeln!(out, "{}\n", escaped(more));
        }
        out += &rows(ranking, family, &escaped_once).markdown();
        let absent = absent(ranking, family, &escaped);
        let _ = writeln!(out, "{absent}");
    }
    if let Some(overall) = ranking.families.first() {
        let winners = winners(ranking, overall, &escaped_once);
        if !winners.is_empty() {
            let _ = writeln!(out, "### Fastest by workload\n\n{}", winners.markdown());
        }
        if let Some(energy) = &ranking.energy {
            let table = drawn(ranking, energy, &escaped_once).markdown();
            let heading = energy_heading(ranking, energy, &escaped);
            let _ = writeln!(out, "### Performance per watt\n\n{heading}\n\n{table}");
        }
        out += &predicted_ranking::markdown(ranking);
        if !overall.skipped.is_empty() {
            let n = counted(overall.skipped.len(), "case");
            let _ = writeln!(out, "### Outside the common set: {n}\n");
            for (reason, keys) in grouped(&overall.skipped) {
                let (reason, names) = (escaped(reason), escaped(&few(&keys)));
                let _ = writeln!(out, "- {reason}: {} × {names}", keys.len());
            }
            out.push('\n');
        }
    }
    out += &excluded(ranking, &escaped);
    out
}

/// One line a family and device.
pub fn spreadsheet(ranking: &Ranking) -> String {
    let head = "family,rank,rank_best,rank_worst,device,vendor,api,kind,drivers,runs,speed,\
                speed_low,speed_high,verified,cases,common,roofline,reference,per_joule,pareto,\
                predicted_cases,measured_speed,measured_rank,predicted_speed,predicted_rank";
    let mut lines = vec![head.split(',').map(str::to_owned).collect::<Vec<_>>()];
    for family in &ranking.families {
        let reference = family.reference.map(|r| ranking.devices[r].info.slug());
        for (place, row) in family.rows.iter().enumerate() {
            let Device { info, drivers, runs } = &ranking.devices[row.device];
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
                drivers.join("; "),
                runs.to_string(),
                number(Some(row.speed)),
                number(Some(row.interval[0])),
                number(Some(row.interval[1])),
                row.verified.to_string(),
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

/// Everything, for programs: `{"version": 2, "ranking": …}` with the fields of [`Ranking`].
pub fn json(ranking: &Ranking) -> String {
    let document = serde_json::json!({ "version": VERSION, "ranking": ranking });
    format!("{document:#}\n")
}

/// `Overall: 12 of 14 cases common to 2 devices; speed 1 is A100 (opencl)`.
fn heading(ranking: &Ranking, family: &Family) -> String {
    let mut name = family.name.clone();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let devices = counted(family.rows.len() + family.absent.len(), "device");
    let (common, all) = (family.common.len(), counted(family.cases, "case"));
    let mut out = format!("{}: {common} of {all} common to {devices}", plain(&name));
    if !family.absent.is_empty() {
        let _ = write!(out, " ({} without any)", family.absent.len());
    }
    if let Some(reference) = family.reference {
        let info = &ranking.devices[reference].info;
        let (name, api) = (printable(&info.name, 50), plain(&info.backend));
        let _ = write!(out, "\nSpeed 1: {name} ({api})");
        if family.level == Level::Rounds {
            out += "\nToo few cases to stand for others: the intervals are of these alone";
        }
    }
    out
}

fn rows(ranking: &Ranking, family: &Family, shown: &dyn Fn(&str) -> String) -> Grid {
    let headings = ["rank", "device", "API", ">speed", ">95 %", ">verified", ">of roofline"];
    let known = family.rows.iter().any(|row| row.roofline.is_some());
    let shown_columns = if known { 7 } else { 6 };
    let mut grid = Grid::new(&headings[..shown_columns]);
    for row in &family.rows {
        let device = &ranking.devices[row.device];
        let cells = [
            ranks(row),
            shown(&name(device)),
            shown(&device.info.backend),
            speed(row.speed),
            interval(row, family),
            format!("{}/{}", row.verified, family.cases),
            row.roofline.map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share)),
        ];
        grid.row(cells.into_iter().take(shown_columns));
    }
    grid
}

/// `1` or `1–2`.
fn ranks(row: &Row) -> String {
    match row.ranks {
        [best, worst] if best == worst => best.to_string(),
        [best, worst] => format!("{best}–{worst}"),
    }
}

fn interval(row: &Row, family: &Family) -> String {
    match family.reference == Some(row.device) {
        true => String::new(),
        false => format!("{}–{}", speed(row.interval[0]), speed(row.interval[1])),
    }
}

/// Three digits, whatever the size.
pub(super) fn speed(x: f64) -> String {
    match x.abs() {
        a if a >= 99.95 => format!("{x:.0}"),
        a if a >= 9.995 => format!("{x:.1}"),
        a if a >= 0.0995 => format!("{x:.2}"),
        _ => format!("{x:.2e}"),
    }
}

/// The device's name, and what marks it where it is no GPU.
pub(super) fn name(device: &Device) -> String {
    let name = printable(&device.info.name, 40);
    match device.info.kind {
        DeviceKind::Cpu => format!("{name} (CPU implementation)"),
        DeviceKind::Simulated => format!("{name} (simulated)"),
        _ => name,
    }
}

fn absent(ranking: &Ranking, family: &Family, shown: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    for &device in &family.absent {
        let device = &ranking.devices[device];
        let (name, api) = (shown(&name(device)), shown(&device.info.backend));
        let _ = writeln!(out, "not ranked: {name} ({api}) has no verified case here");
    }
    out
}

fn winners(ranking: &Ranking, family: &Family, shown: &dyn Fn(&str) -> String) -> Grid {
    let mut grid = Grid::new(&["workload", ">cases", "fastest", "API", ">ahead of the next"]);
    for winner in &family.winners {
        let device = &ranking.devices[winner.device];
        grid.row([
            shown(&printable(&winner.workload, 60)),
            winner.cases.to_string(),
            shown(&name(device)),
            shown(&device.info.backend),
            format!("{}×", speed(winner.lead)),
        ]);
    }
    grid
}

/// What a ranking says where no run reports energy.
pub(super) const NO_ENERGY: &str = "Performance per watt: not measured (no run reports energy)";

/// Over which cases, and who is left out.
pub(super) fn energy_heading(
    ranking: &Ranking,
    energy: &Energy,
    shown: &dyn Fn(&str) -> String,
) -> String {
    let name = |device: usize| shown(&printable(&ranking.devices[device].info.name, 50));
    let mut out = format!(
        "Performance per watt over {}\n1 is {}\n* marks devices that no other beats in both",
        counted(energy.common.len(), "case"),
        name(energy.reference)
    );
    if !energy.unknown.is_empty() {
        let unknown: Vec<_> = energy.unknown.iter().map(|&device| name(device)).collect();
        let _ = write!(out, "\nNot measured: {}", unknown.join(", "));
    }
    out
}

fn drawn(ranking: &Ranking, energy: &Energy, shown: &dyn Fn(&str) -> String) -> Grid {
    let mut grid = Grid::new(&["device", "API", ">per watt", ">speed", "best"]);
    for row in &energy.rows {
        let device = &ranking.devices[row.device];
        grid.row([
            shown(&name(device)),
            shown(&device.info.backend),
            speed(row.per_joule),
            speed(row.speed),
            if row.pareto { "*".to_owned() } else { String::new() },
        ]);
    }
    grid
}

fn excluded(ranking: &Ranking, shown: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    for (device, reason) in &ranking.excluded {
        let info = &ranking.devices[*device].info;
        let (name, api) = (shown(&info.name), shown(&info.backend));
        let _ = writeln!(out, "not ranked: {name} ({api}) {}", shown(reason));
    }
    out
}

/// Cases under the reason that they share, most frequent first.
pub(super) fn grouped(skipped: &[(CaseKey, String)]) -> Vec<(&str, Vec<&CaseKey>)> {
    let mut groups: Vec<(&str, Vec<&CaseKey>)> = vec![];
    for (key, reason) in skipped {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, keys)) => keys.push(key),
            None => groups.push((reason, vec![key])),
        }
    }
    groups.sort_by_key(|(_, keys)| std::cmp::Reverse(keys.len()));
    groups
}

/// The first few names, and how many more there are.
pub(super) fn few(keys: &[&CaseKey]) -> String {
    const FEW: usize = 4;
    let mut names: Vec<String> =
        keys.iter().take(FEW).map(|key| printable(&case_name(key), 60)).collect();
    if keys.len() > FEW {
        names.push(format!("and {} more", keys.len() - FEW));
    }
    names.join(", ")
}

pub(super) fn plain(text: &str) -> String {
    printable(text, 100)
}

/// For cells that the table escapes itself.
fn escaped_once(text: &str) -> String {
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_analysis::fit::Model;
    use gpubench_analysis::rank::{DeviceTimes, Options, predict_ranking, rank};
    use gpubench_analysis::result_matrix;
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
            predict_ranking(&matrix, overall, Model::Components, &predicted, unknown);
        ranking
    }

    #[test]
    fn a_ranking_reads_well() {
        insta::assert_snapshot!(text(&sample(), 80));
    }

    #[test]
    fn it_fits_eighty_columns_and_says_nothing_to_the_terminal() {
        let text = text(&sample(), 80);
        for line in text.lines().filter(|line| !line.starts_with("not ranked")) {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn markdown_stays_markdown() {
        let text = markdown(&sample());
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("</script"));
        assert!(text.contains("&lt;/script&gt;\\|"), "{text}");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        for line in text.lines().filter(|line| line.starts_with("| 1")) {
            assert_eq!(bars(line), 7, "{line}");
        }
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
        assert_eq!(value["version"], 2);
        let overall = &value["ranking"]["families"][0];
        assert_eq!(overall["rows"].as_array().map(Vec::len), Some(3));
        assert_eq!(overall["skipped"].as_array().map(Vec::len), Some(1));
        assert_eq!(overall["level"], "cases");
    }
}
