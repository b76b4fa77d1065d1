//! What a workload is run with: co-running kernels, copies of it, what transforms its buffers' layout or
//! exchanges its halos.

use super::convert::Converter;
use super::decode::At;
use super::file;
use super::suggest::suggest;
use super::types::{Halo, LayoutTransform, Place};
use gpubench_core::workload::{Faces, Measure};

impl Converter<'_> {
    /// What runs concurrently with it; whether these workloads exist is known when all files are read.
    pub fn co_running(
        &mut self,
        spec: &file::Workload,
        measure: &[Measure],
    ) -> Vec<(String, Place)> {
        let Some(At { value: names, at }) = &spec.with else { return vec![] };
        if !measure.contains(&Measure::Concurrency) {
            let message = "`with` is for `measure: [concurrency]`, which this workload lacks";
            self.diagnostics.push(at, message, None);
        }
        let place = |name: &At<String>| self.diagnostics.source().place(&name.at);
        names.iter().map(|name| (name.value.clone(), place(name))).collect()
    }

    /// How many copies of its kernel run at once.
    pub fn copies(&mut self, spec: &file::Workload, measure: &[Measure]) -> Option<u32> {
        let Some(At { value: copies, at }) = &spec.copies else { return Some(1) };
        let why = match *copies {
            0 | 1 => "copies at once are two or more",
            _ if !measure.contains(&Measure::Concurrency) => {
                "`copies` is for `measure: [concurrency]`, which this workload lacks"
            }
            copies => return Some(copies),
        };
        self.diagnostics.push(at, why, None);
        None
    }

    /// How a buffer's layout is transformed; whether the workloads exist is known when all files are read.
    pub fn layout(
        &mut self,
        spec: &file::Workload,
        measure: &[Measure],
        known: &[String],
    ) -> Option<Option<LayoutTransform>> {
        let Some(At { value: given, at }) = &spec.layout else { return Some(None) };
        if !measure.contains(&Measure::Layout) {
            let message = "`layout` is for `measure: [layout]`, which this workload lacks";
            self.diagnostics.push(at, message, None);
        }
        let At { value: buffer, at } = &given.buffer;
        let buffers = spec.buffers.iter().flat_map(|all| &all.value.0);
        let names = buffers.map(|(name, _)| name.value.as_str());
        if !names.clone().any(|name| name == buffer) {
            let message = format!("there is no buffer `{buffer}` here");
            self.diagnostics.push(at, message, suggest(buffer, names));
            return None;
        }
        let At { value: strides, at } = &given.strides;
        if !(1..=2).contains(&strides.len()) {
            let message =
                format!("a buffer is accessed in one stride or two, not {}", strides.len());
            self.diagnostics.push(at, message, None);
            return None;
        }
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let rule = "strides are made of sizes and parameters";
        for stride in strides {
            self.names(&stride.value, &known, rule)?;
        }
        let named =
            |name: &At<String>| (name.value.clone(), self.diagnostics.source().place(&name.at));
        Some(Some(LayoutTransform {
            buffer: buffer.clone(),
            strides: strides.iter().map(|stride| stride.value.expr.clone()).collect(),
            place: self.diagnostics.source().place(at),
            by: named(&given.by),
            then: named(&given.then),
        }))
    }
    /// How its domain is cut into parts; whether the workloads exist is known when all files are read.
    pub fn halo(
        &mut self,
        spec: &file::Workload,
        measure: &[Measure],
        known: &[String],
    ) -> Option<Option<Halo>> {
        let Some(At { value: given, at }) = &spec.halo else { return Some(None) };
        if !measure.contains(&Measure::Halo) {
            let message = "`halo` is for `measure: [halo]`, which this workload lacks";
            self.diagnostics.push(at, message, None);
        }
        let At { value: cuts, at } = &given.cuts;
        let [x, y, z] = cuts.as_slice() else {
            let message =
                format!("a domain is cut along x, y and z: three numbers, not {}", cuts.len());
            self.diagnostics.push(at, message, None);
            return None;
        };
        let names: Vec<_> = known.iter().map(String::as_str).collect();
        for name in ["nx", "ny", "nz", "x", "y", "z"] {
            if !names.contains(&name) {
                let help = "a part is given its cells by `nx`, `ny` and `nz`, and where it begins by `x`, \
                            `y` and `z`";
                let message = format!("this needs a parameter `{name}`");
                self.diagnostics.push(&at.clone(), message, Some(help.into()));
                return None;
            }
        }
        for cut in [x, y, z] {
            self.names(&cut.value, &names, "cuts are made of sizes and parameters")?;
        }
        let exchange =
            given.exchange.value.iter().map(|spec| self.faces(spec)).collect::<Option<_>>()?;
        let named =
            |name: &At<String>| (name.value.clone(), self.diagnostics.source().place(&name.at));
        Some(Some(Halo {
            cuts: [x, y, z].map(|cut| cut.value.expr.clone()),
            exchange,
            pack: named(&given.pack),
            unpack: named(&given.unpack),
        }))
    }

    fn faces(&mut self, spec: &At<file::Exchange>) -> Option<Faces> {
        let At { value: file::Exchange { behind, ahead }, at } = spec;
        let equal = |fields: &Vec<u32>| {
            let mut steps = fields.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
            let first = steps.next();
            first.is_none_or(|first| first > Some(0) && steps.all(|step| step == first))
        };
        let why = if behind.len() != 3 || ahead.len() != 3 {
            "there is one list of fields along each of x, y and z"
        } else if !behind.iter().chain(ahead).all(equal) {
            "fields that travel together are in ascending order, at equal distances"
        } else if behind.iter().chain(ahead).all(Vec::is_empty) {
            "nothing is exchanged after this pass"
        } else {
            let three = |all: &[Vec<u32>]| std::array::from_fn(|axis| all[axis].clone());
            return Some(Faces { behind: three(behind), ahead: three(ahead) });
        };
        self.diagnostics.push(at, why, None);
        None
    }
}
