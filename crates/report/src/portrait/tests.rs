use crate::render::text;
use gpubench_analysis::{ReportInput, Source};
use gpubench_core::gpu::Scalar;
use gpubench_core::record::sample::{built, device, header, key, record};
use gpubench_core::record::{Built, Outcome, Record};
use gpubench_core::workload::Ceiling;

fn ceiling(name: &str, n: i64, of: Ceiling, work: f64, seconds: f64) -> Record {
    let mut record = Record { ceiling: Some(of), ..record(key(name, n), seconds) };
    record.family = if of == Ceiling::Flops { "compute" } else { "memory" }.into();
    record.working_set = Some(n as u64);
    let measured = record.measured.as_mut().unwrap();
    (measured.flops, measured.bytes) = match of {
        Ceiling::Flops | Ceiling::DotProduct => (work, 4.0),
        Ceiling::Bandwidth => (0.0, work),
    };
    record
}

#[test]
fn each_device_is_a_column() {
    let header = header(vec![device("opencl"), device("wgpu")]);
    let mut double = ceiling("arithmetic/f64", 8, Ceiling::Flops, 1e9, 1e-2);
    double.measured.as_mut().unwrap().types = vec![(Scalar::F64, 1e9)];
    let sets = [1 << 14, 1 << 16, 1 << 24, 1 << 26];
    let read = |n: i64| {
        let seconds = if n < 1 << 20 { 1e-3 } else { 1e-2 };
        ceiling("read_set", n, Ceiling::Bandwidth, 1e8, seconds)
    };
    let mut other = Record { device: 1, ..ceiling("arithmetic/f32", 8, Ceiling::Flops, 3e9, 1e-2) };
    let tried = vec![("T=f32x4 CHAINS=8".into(), Some(1e-2)), ("T=f32 CHAINS=4".into(), None)];
    let variant = "T=f32x4 CHAINS=8".into();
    other.kernel = Some(Built { variant, tried, untried: 3, ..built("ab") });
    let lacks = ceiling("arithmetic/f16", 8, Ceiling::Flops, 1e9, 1e-2);
    let lacks = Record { measured: None, outcome: Outcome::Unsupported("why".into()), ..lacks };
    let mut records = vec![ceiling("arithmetic/f32", 8, Ceiling::Flops, 2e9, 1e-2), double, other];
    records.push(lacks);
    records.extend(sets.map(read));
    // What the time budget left out might have reached more.
    let outcome = Outcome::Unsupported("too large".into());
    records.push(Record { measured: None, outcome, ceiling: None, ..read(1 << 28) });
    let name = "sample.jsonl".into();
    let source =
        Source { name, header: &header, records: &records, footer: None, warnings: vec![] };
    let section = super::section(&ReportInput::new(vec![source]), &[], |_| true);
    let text = text::section(&section, None);
    let line = |what: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(what));
        found.unwrap_or_else(|| panic!("no {what}: {text}")).to_owned()
    };
    let single = line("arithmetic/f32");
    assert!(
        single.contains("200 GFLOP/s ±0.0 % (n=8)") && single.contains("300 GFLOP/s"),
        "{single}"
    );
    let double = line("arithmetic/f64");
    assert!(double.contains("100 GFLOP/s") && double.contains('–'), "{double}");
    assert!(line("arithmetic/f16").contains("unsupported"), "{text}");
    assert!(line("read_set").contains("; 1 size without a figure)"), "{text}");
    let of_variants = text.split("Variants that reached the ceilings").nth(1).unwrap();
    let variant = of_variants.lines().find(|line| line.contains("arithmetic/f32")).unwrap();
    assert!(variant.contains("T=f32x4 CHAINS=8 (1 of 5 variants ran)"), "{variant}");
    assert!(line("bandwidth 1").contains("100 GB/s"), "{text}");
    assert!(line("bandwidth 2").contains("10.0 GB/s, found from 16"), "{text}");
    assert!(!text.contains("cache 1"), "nothing characterised it: {text}");
    let plots = format!("{section:?}");
    assert!(
        plots.contains("Bandwidth by working set") && !plots.contains("Latency by working set")
    );
}
