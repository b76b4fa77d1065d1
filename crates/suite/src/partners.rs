//! What a workload is run with: kernels beside it, copies of it, what rearranges its buffers or
//! exchanges its halos.

use super::convert::Converter;
use super::decode::At;
use super::file;
use super::nearest::meant;
use super::types::{Halo, Place, Rearrange};
use gpubench_core::workload::{Faces, Measure};

impl Converter<'_> {
    /// What runs beside it; whether these workloads exist is known when all files are read.
    pub fn beside(&mut self, form: &file::Workload, measure: &[Measure]) -> Vec<(String, Place)> {
        let Some(At { value: names, at }) = &form.beside else { return vec![] };
        if !measure.contains(&Measure::Concurrency) {
            let message = "`beside` is for `measure: [concurrency]`, which this workload lacks";
            self.mistakes.tell(at, message, None);
        }
        let place = |name: &At<String>| self.mistakes.source().place(&name.at);
        names.iter().map(|name| (name.value.clone(), place(name))).collect()
    }

    /// How many copies of its kernel run at once.
    pub fn copies(&mut self, form: &file::Workload, measure: &[Measure]) -> Option<u32> {
        let Some(At { value: copies, at }) = &form.copies else { return Some(1) };
        let why = match *copies {
            0 | 1 => "copies at once are two or more",
            _ if !measure.contains(&Measure::Concurrency) => {
                "`copies` is for `measure: [concurrency]`, which this workload lacks"
            }
            copies => return Some(copies),
        };
        self.mistakes.tell(at, why, None);
        None
    }

    /// How a buffer is rearranged; whether the workloads exist is known when all files are read.
    pub fn rearrange(
        &mut self,
        form: &file::Workload,
        measure: &[Measure],
        known: &[String],
    ) -> Option<Option<Rearrange>> {
        let Some(At { value: given, at }) = &form.rearrange else { return Some(None) };
        if !measure.contains(&Measure::Rearrange) {
            let message = "`rearrange` is for `measure: [rearrange]`, which this workload lacks";
            self.mistakes.tell(at, message, None);
        }
        let At { value: buffer, at } = &given.buffer;
        let buffers = form.buffers.iter().flat_map(|all| &all.value.0);
        let names = buffers.map(|(name, _)| name.value.as_str());
        if !names.clone().any(|name| name == buffer) {
            let message = format!("there is no buffer `{buffer}` here");
            self.mistakes.tell(at, message, meant(buffer, names));
            return None;
        }
        let At { value: strides, at } = &given.strides;
        if !(1..=2).contains(&strides.len()) {
            let message =
                format!("a buffer is accessed in one stride or two, not {}", strides.len());
            self.mistakes.tell(at, message, None);
            return None;
        }
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let rule = "strides are made of sizes and parameters";
        for stride in strides {
            self.names(&stride.value, &known, rule)?;
        }
        let named =
            |name: &At<String>| (name.value.clone(), self.mistakes.source().place(&name.at));
        Some(Some(Rearrange {
            buffer: buffer.clone(),
            strides: strides.iter().map(|stride| stride.value.expr.clone()).collect(),
            place: self.mistakes.source().place(at),
            by: named(&given.by),
            then: named(&given.then),
        }))
    }
    /// How its domain is cut into parts; whether the workloads exist is known when all files are read.
    pub fn halo(
        &mut self,
        form: &file::Workload,
        measure: &[Measure],
        known: &[String],
    ) -> Option<Option<Halo>> {
        let Some(At { value: given, at }) = &form.halo else { return Some(None) };
        if !measure.contains(&Measure::Halo) {
            let message = "`halo` is for `measure: [halo]`, which this workload lacks";
            self.mistakes.tell(at, message, None);
        }
        let At { value: cuts, at } = &given.cuts;
        let [x, y, z] = cuts.as_slice() else {
            let message =
                format!("a domain is cut along x, y and z: three numbers, not {}", cuts.len());
            self.mistakes.tell(at, message, None);
            return None;
        };
        let names: Vec<_> = known.iter().map(String::as_str).collect();
        for name in ["nx", "ny", "nz", "x", "y", "z"] {
            if !names.contains(&name) {
                let help = "a part is told its cells by `nx`, `ny` and `nz`, and where it begins by `x`, \
                            `y` and `z`";
                let message = format!("this needs a parameter `{name}`");
                self.mistakes.tell(&at.clone(), message, Some(help.into()));
                return None;
            }
        }
        for cut in [x, y, z] {
            self.names(&cut.value, &names, "cuts are made of sizes and parameters")?;
        }
        let exchange =
            given.exchange.value.iter().map(|form| self.faces(form)).collect::<Option<_>>()?;
        let named =
            |name: &At<String>| (name.value.clone(), self.mistakes.source().place(&name.at));
        Some(Some(Halo {
            cuts: [x, y, z].map(|cut| cut.value.expr.clone()),
            exchange,
            pack: named(&given.pack),
            unpack: named(&given.unpack),
        }))
    }

    fn faces(&mut self, form: &At<file::Exchange>) -> Option<Faces> {
        let At { value: file::Exchange { behind, ahead }, at } = form;
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
        self.mistakes.tell(at, why, None);
        None
    }
}
