//! SHOC's table of results: a row a device, a column a benchmark, most of them rates.

use super::results::{Case, Results, Source, device};
use crate::store::read_csv::{Row, Table};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;

/// What a column's numbers are.
#[derive(Clone, Copy)]
enum Unit {
    /// 10^9 operations a second.
    Gflops,
    /// 10^9 bytes a second.
    Gbytes,
    /// Milliseconds of one launch.
    Milliseconds,
}

use Unit::{Gbytes, Gflops, Milliseconds};

/// The columns, the unit of their numbers, and the family they are ranked in.
const COLUMNS: [(&str, Unit, &str); 23] = [
    ("maxspflops", Gflops, "compute"),
    ("maxdpflops", Gflops, "compute"),
    ("gmem_readbw", Gbytes, "memory"),
    ("gmem_writebw", Gbytes, "memory"),
    ("gmem_readbw_strided", Gbytes, "memory"),
    ("gmem_writebw_strided", Gbytes, "memory"),
    ("lmem_readbw", Gbytes, "memory"),
    ("lmem_writebw", Gbytes, "memory"),
    ("bspeed_download", Gbytes, "transfer"),
    ("bspeed_readback", Gbytes, "transfer"),
    ("fft_sp", Gflops, "compute"),
    ("sgemm_n", Gflops, "compute"),
    ("dgemm_n", Gflops, "compute"),
    ("md_sp_flops", Gflops, "compute"),
    ("reduction", Gbytes, "memory"),
    ("scan", Gbytes, "memory"),
    ("sort", Gbytes, "memory"),
    ("stencil", Gflops, "compute"),
    ("spmv_csr_scalar_sp", Gflops, "memory"),
    ("spmv_csr_vector_sp", Gflops, "memory"),
    ("spmv_ellpackr_sp", Gflops, "memory"),
    ("triad_bw", Gbytes, "transfer"),
    ("ocl_queue", Milliseconds, "latency"),
];

/// Adds what `source` holds; empty cells and zeros are benchmarks without a result.
///
/// # Errors
/// Where the file is no such table, with its line.
pub fn read(source: &Source, all: &mut Results) -> Result<()> {
    let table = Table::parse(&source.file, &source.text, &["device", "platform"])?;
    let known: Vec<_> =
        COLUMNS.iter().filter(|(name, ..)| table.columns().any(|column| column == *name)).collect();
    for row in table.rows() {
        let driver = row.optional("platform").to_owned();
        let device = DeviceInfo { driver, ..device(row.text("device")?.to_owned(), "opencl") };
        for (name, unit, family) in &known {
            if let Some(case) = case(row, name, *unit, family)? {
                all.push(source, &device, case)?;
            }
        }
    }
    Ok(())
}

/// A rate as the time of 10^9 operations or bytes, which is what its size says.
fn case(row: Row, name: &str, unit: Unit, family: &str) -> Result<Option<Case>> {
    const GIGA: f64 = 1e9;
    if row.optional(name).is_empty() || row.number(name)? == 0.0 {
        return Ok(None);
    }
    let value = row.positive(name)?;
    let (seconds, work, flops, bytes) = match unit {
        Gflops => (1.0 / value, Some("operations"), GIGA, 0.0),
        Gbytes => (1.0 / value, Some("bytes"), 0.0, GIGA),
        Milliseconds => (value * 1e-3, None, 0.0, 0.0),
    };
    Ok(Some(Case {
        workload: name.to_owned(),
        size: work.map(|work| (work.to_owned(), GIGA as i64)).into_iter().collect(),
        family: family.to_owned(),
        samples: Ok(vec![seconds]),
        flops,
        bytes,
        against: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::import::results::sample::{read_back, source};

    #[test]
    fn rates_become_times_and_gaps_stay_gaps() {
        let text = "device,platform,maxspflops,bspeed_download,stencil,ocl_queue\nk40,cuda6,4000,10,0,0.01\n";
        let mut all = Results::default();
        read(&source("shoc.csv", text), &mut all).unwrap();
        let (header, records) = read_back(all);
        assert_eq!((&*header.devices[0].name, &*header.devices[0].driver), ("k40", "cuda6"));
        let cases: Vec<(String, f64)> = records
            .iter()
            .map(|record| (record.key.to_string(), record.measured.as_ref().unwrap().samples[0]))
            .collect();
        let expected = [
            ("maxspflops operations=1000000000".to_owned(), 2.5e-4),
            ("bspeed_download bytes=1000000000".to_owned(), 0.1),
            ("ocl_queue".to_owned(), 1e-5),
        ];
        assert_eq!(cases, expected);
    }
}
