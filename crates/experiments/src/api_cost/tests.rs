//! Invented figures of one GPU through three APIs, expected values by hand.

use super::*;
use gpubench_analysis::Source;
use gpubench_core::gpu::BuildReport;
use gpubench_core::record::{Built, Detail, Record, sample};
use gpubench_core::workload::Kind;
use gpubench_report::render::text;

fn header() -> gpubench_core::record::Header {
    let card =
        |backend: &str| DeviceInfo { uuid: Some("ab".repeat(16)), ..sample::device(backend) };
    // The first is another GPU's.
    sample::header(vec![sample::device("opencl"), card("opencl"), card("vulkan"), card("wgpu")])
}

fn on(device: usize, name: &str, seconds: f64, clock: Clock) -> Record {
    let mut record = Record { device, ..sample::record(sample::key(name, 8), seconds) };
    let measured = record.measured.as_mut().unwrap();
    measured.samples = (0..15).map(|i| seconds * (1.0 + 0.01 * f64::from(i - 7))).collect();
    measured.clock = clock;
    record
}

fn records() -> Vec<Record> {
    let mut all = vec![on(0, "alone", 1e-3, Clock::Device)];
    for (device, factor) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
        all.push(on(device, "first", 1e-3 * factor, Clock::Device));
        all.push(on(device, "second", 1e-3 * factor * factor, Clock::Device));
        let clock = if device == 1 { Clock::Device } else { Clock::Host };
        let mut launch = on(device, "launch", 1e-5 * factor, clock);
        launch.key.measure = Kind::new("launch");
        let (one, several) = (vec![factor * 1e-5; 9], vec![factor * 7.3e-5; 9]);
        launch.detail = Some(Detail::new(&crate::launch::Submissions {
            clock: Clock::Host,
            one,
            several,
            count: 64,
            first: vec![],
        }));
        all.push(launch);
    }
    all
}

fn with_input<T>(records: &[Record], read: impl FnOnce(&ReportInput) -> T) -> T {
    let header = header();
    let (name, footer, warnings) = ("sample.jsonl".into(), None, vec![]);
    read(&ReportInput::new(vec![Source { name, header: &header, records, footer, warnings }]))
}

#[test]
fn views_of_one_gpu_are_compared_and_another_gpu_is_not() {
    with_input(&records(), |input| {
        assert_eq!(physical_views(input), [[1, 2, 3]]);
        let lines = lines(input, &[1, 2, 3]);
        assert!(lines.iter().all(|line| line.what != "alone n=8"), "{lines:?}");
        let first = lines.iter().find(|line| line.what == "first n=8").unwrap();
        let [opencl, vulkan, wgpu] = first.figures[..] else { panic!("three views") };
        let ratio = wgpu.unwrap().over(&vulkan.unwrap()).unwrap();
        // Fifteen samples: the 4th and the 12th, 4 % on either side of both.
        let high = 2.0 * (1.04f64.ln().hypot(-(0.96f64.ln()))).exp();
        assert!(
            (ratio.value - 2.0).abs() < 1e-12 && (ratio.interval.unwrap()[1] - high).abs() < 1e-9
        );
        assert!((1.88..1.9).contains(&ratio.interval.unwrap()[0]), "{ratio:?}");
        let launch = lines.iter().find(|line| line.group == "launch").unwrap();
        let [device, host, _] = launch.figures.each();
        assert_eq!(host.over(&device), None, "two clocks");
        assert!(opencl.is_some_and(|figure| (figure.seconds - 1e-3).abs() < 1e-12));
    });
}

trait Each {
    fn each(&self) -> [Figure; 3];
}

impl Each for Vec<Option<Figure>> {
    fn each(&self) -> [Figure; 3] {
        let all: Vec<Figure> = self.iter().flatten().copied().collect();
        all.try_into().unwrap()
    }
}

#[test]
fn a_cost_whose_interval_touches_0_keeps_its_value() {
    let figure = |low| Figure::new(2.0, Some([low, 3.0]), Clock::Host).unwrap();
    assert_eq!(figure(0.0), Figure { seconds: 2.0, interval: None, clock: Clock::Host });
    let ratio = figure(1.0).over(&figure(0.0)).unwrap();
    assert_eq!(ratio, Ratio { value: 1.0, interval: None });
}

#[test]
fn a_mean_ratio_is_geometric_and_its_interval_is_that_of_the_cases() {
    let ratio = |value: f64| Ratio { value, interval: Some([value * 0.9, value * 1.1]) };
    assert_eq!(Ratio::mean(&[ratio(2.0)]), Some(ratio(2.0)));
    assert_eq!(Ratio::mean(&[]), None);
    let mean = Ratio::mean(&[ratio(2.0), ratio(8.0)]).unwrap();
    assert!((mean.value - 4.0).abs() < 1e-12);
    // Logarithms ln 2 from their mean on either side: 12.706 standard errors of ln 2.
    let high = 4.0 * (12.7062 * 2f64.ln()).exp();
    assert!((mean.interval.unwrap()[1] / high - 1.0).abs() < 1e-3, "{mean:?}");
}

#[test]
fn kernels_in_other_variants_or_under_checks_are_not_compared() {
    let built = |variant: &str| Built {
        hash: variant.into(),
        group: [64, 1, 1],
        groups: [1, 1, 1],
        bounds_checks: gpubench_core::gpu::BoundsChecks::Off,
        variant: variant.into(),
        tried: vec![],
        untried: 0,
        untimed: Default::default(),
        report: BuildReport { seconds: 0.01, ..Default::default() },
    };
    let with = |device: usize, variant: &str| Record {
        kernel: Some(built(variant)),
        ..on(device, "searched", 1e-3, Clock::Device)
    };
    let compared = |records: &[Record]| with_input(records, |input| lines(input, &[1, 2, 3]).len());
    assert_eq!(compared(&[with(1, "wide"), with(2, "narrow")]), 0);
    assert_eq!(compared(&[with(1, "wide"), with(2, "wide")]), 2, "its time and its build");
    // Whichever comes first: each is compared with those that run what it runs.
    let records = [with(1, "wide"), with(2, "narrow"), with(3, "narrow")];
    with_input(&records, |input| {
        let lines = lines(input, &[1, 2, 3]);
        assert_eq!(lines.len(), 2, "its time and its build: {lines:?}");
        let compared = |line: &Line| line.figures.iter().map(Option::is_some).collect::<Vec<_>>();
        assert!(lines.iter().all(|line| compared(line) == [false, true, true]), "{lines:?}");
        let [Uncompared { case, api: 0, variant, bounds_checks: Some(_) }] =
            &uncompared(input, &[1, 2, 3])[..]
        else {
            panic!("the first alone: {:?}", uncompared(input, &[1, 2, 3]))
        };
        assert_eq!([case, variant], ["searched n=8", "wide"]);
        let said = text::section(&section(input), None);
        let table = "Not compared: no other API ran this variant with these checks\n";
        assert!(said.contains(table), "{said}");
    });
}

#[test]
fn costs_that_the_first_api_does_not_show_are_compared_between_the_others() {
    let mut records = records();
    let of_the_first =
        records.iter_mut().find(|record| record.device == 1 && record.detail.is_some());
    of_the_first.unwrap().detail = None;
    with_input(&records, |input| {
        let lines = lines(input, &[1, 2, 3]);
        let line = lines.iter().find(|line| line.group == "each further launch in a submission");
        let [None, Some(vulkan), Some(wgpu)] = line.unwrap().figures[..] else {
            panic!("two views: {lines:?}")
        };
        assert!((wgpu.over(&vulkan).unwrap().value - 2.0).abs() < 1e-9);
    });
}

#[test]
fn the_section_reads_well() {
    let section = with_input(&records(), section);
    insta::assert_snapshot!(text::section(&section, Some(120)));
    let alone = with_input(&records()[..1], |input| super::section(input).is_empty());
    assert!(alone, "one API is compared with nothing");
}

#[test]
fn a_build_that_may_come_from_the_driver_s_cache_is_not_compared_with_the_first() {
    let with = |device: usize, first: Option<bool>, seconds: f64| {
        let report = BuildReport { seconds, first, ..Default::default() };
        let kernel = Some(Built { report, ..sample::built("ab") });
        Record { kernel, ..on(device, "built", 1e-3, Clock::Device) }
    };
    let groups = |one: Option<bool>, other: Option<bool>| {
        with_input(&[with(1, one, 0.06), with(2, other, 0.002)], |input| {
            lines(input, &[1, 2, 3]).into_iter().map(|line| line.group).collect::<Vec<_>>()
        })
    };
    assert_eq!(groups(Some(true), Some(true)), ["kernel", "first build"]);
    assert_eq!(groups(Some(false), Some(false)), ["kernel", "further build"]);
    assert_eq!(groups(None, None), ["kernel", "build"]);
    assert_eq!(groups(Some(true), Some(false)), ["kernel"]);
}

#[test]
fn the_build_of_a_program_that_was_kept_is_not_compared() {
    let groups = |kept: bool| {
        let records = [1, 2].map(|device| {
            let report = BuildReport { seconds: 0.06, kept, ..BuildReport::default() };
            let kernel = Some(Built { report, ..sample::built("ab") });
            Record { kernel, ..on(device, "built", 1e-3, Clock::Device) }
        });
        with_input(&records, |input| {
            lines(input, &[1, 2, 3]).into_iter().map(|line| line.group).collect::<Vec<_>>()
        })
    };
    assert_eq!(groups(false), ["kernel", "build"]);
    assert_eq!(groups(true), ["kernel"]);
}
