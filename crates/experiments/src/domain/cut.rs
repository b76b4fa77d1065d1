//! Cuts a domain into parts and plans what they exchange.

use super::{Array, Decomposition, Exchange, Face, Message, Spec};
use crate::experiment::Planning;
use crate::plan::{
    Candidate, Case, Limits, Pass, Resolution, available, device_bytes, place, resolve, scope_of,
};
use gpubench_core::gpu::{Access, DeviceInfo, Element, KernelSource, Scalar};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::workload::{CaseKey, Faces, Kind, Verify, share};
use gpubench_suite::{Expr, Suite, Workload};

/// The case's domain in parts.
///
/// # Errors
/// A domain that cannot be cut as asked; kernels that do not fit the case or the device.
pub fn decompose(how: &Spec, case: &Case, planning: &Planning) -> Result<Decomposition, Reason> {
    let Planning { workload, device, limits, .. } = planning;
    let here = place(workload);
    let scope = scope_of(workload, &case.size)?;
    let [x, y, z] = how.cuts.each_ref().map(|cut| cut.count(&scope));
    let cuts = [x?, y?, z?];
    let wanted = Wanted { spec: how, suite: planning.suite, workload, device, limits };
    let cells = cells(case).map_err(|why| format!("{here}: {why}"))?;
    let halo = divided(&wanted, &case.key, cells, cuts).map_err(|why| why.at(&here))?;
    let parts = halo.parts.iter().map(device_bytes).sum::<u64>();
    let bytes = device_bytes(case) + parts + 2 * halo.face_bytes().0;
    let what = format!("{here}: it, whole and in parts,");
    Room::Device.check(&what, bytes, available(device, limits))?;
    // Whole fields lie in the copies' buffer, in the program's, and in what is read of the first; the
    // domain as it was, carved, undivided, found and wanted.
    let bulk = 4 * halo.parts.len() as u64 * halo.bulk_elements();
    let on_host = 3 * bulk + 5 * device_bytes(case);
    let what = format!("{here}: exchanging and checking it");
    Room::Host.check(&what, on_host, limits.host_memory)?;
    Ok(halo)
}

/// What a domain is cut for.
pub struct Wanted<'a> {
    /// How it is cut, and what is exchanged.
    pub spec: &'a Spec,
    /// Where the kernels are.
    pub suite: &'a Suite,
    /// Whose domain it is.
    pub workload: &'a Workload,
    /// Where it is computed.
    pub device: &'a DeviceInfo,
    /// What bounds it.
    pub limits: &'a Limits,
}

/// A domain of so many cells in parts, as `key` asks for it.
///
/// # Errors
/// As where a case is given its halo, without the place in the suite.
pub fn divided(
    wanted: &Wanted,
    key: &CaseKey,
    cells: [u64; 3],
    cuts: [u64; 3],
) -> Result<Decomposition, Reason> {
    let how = wanted.spec;
    let (domain, part) = (Array { cells }, Array { cells: share(cells, cuts)? });
    let [px, py, pz] = cuts;
    let mut parts = vec![];
    for place in 0..px * py * pz {
        let at = [place % px, place / px % py, place / px / py];
        let begin: [u64; 3] = std::array::from_fn(|axis| at[axis] * part.cells[axis]);
        let names = ["nx", "ny", "nz", "x", "y", "z"].into_iter();
        let numbers: Vec<_> = names.zip(part.cells.into_iter().chain(begin)).collect();
        let resolved = wanted.resolve(wanted.workload, key.clone(), &numbers)?;
        parts.push(resolved.at_place(1 + place as u32));
    }
    let fields = fields(&parts[0], part)?;
    let passes = parts[0].candidates.first().map_or(0, |variant| variant.passes().len());
    if passes != how.exchange.len() {
        return Err(format!("{} exchanges for {passes} passes", how.exchange.len()).into());
    }
    let mut planner = Planner { wanted, part, cuts, kernels: [None, None] };
    let exchanges = how.exchange.iter().map(|faces| planner.exchange(faces, fields));
    let exchanges = exchanges.collect::<Result<Vec<_>, _>>()?;
    // A single part has no faces, and packs nothing.
    let whole = part.layer(0, 1, &[0]);
    planner.pass(0, &whole)?;
    planner.pass(1, &whole)?;
    let [Some(pack), Some(unpack)] = planner.kernels else { return Err("nothing packs".into()) };
    Ok(Decomposition { domain, part, cuts, fields, parts, pack, unpack, exchanges })
}

/// Cells of a case's domain.
fn cells(case: &Case) -> Result<[u64; 3], String> {
    let params = case.candidates.first().map_or(&[][..], |variant| &variant.params);
    let number = |wanted: &str| {
        let found = params.iter().find(|(name, ..)| name == wanted);
        found.map(|(_, value, _)| *value as u64).ok_or(format!("it needs a parameter `{wanted}`"))
    };
    Ok([number("nx")?, number("ny")?, number("nz")?])
}

/// Fields of a part's one buffer.
fn fields(case: &Case, part: Array) -> Result<u32, String> {
    let [buffer] = case.buffers.as_slice() else {
        return Err("a domain in parts is one buffer".into());
    };
    let Verify::Reference(..) = case.verify else {
        return Err("a domain in parts is verified against a `reference`, step after step".into());
    };
    if buffer.access != Access::ReadWrite || buffer.element != Element::scalar(Scalar::F32) {
        return Err(format!("`{}` must be `f32`, changed in place (`read_write`)", buffer.name));
    }
    let fields = buffer.count / part.field();
    if fields == 0 || !buffer.count.is_multiple_of(part.field()) {
        let [x, y, z] = part.cells;
        return Err(format!(
            "`{}` has {} elements, and {x}·{y}·{z} cells in a shell of one are {}",
            buffer.name,
            buffer.count,
            part.field()
        ));
    }
    u32::try_from(fields).map_err(|_| "too many fields".into())
}

/// `workload` with these parameters for its own.
///
/// # Errors
/// In words, where it has none of such a name.
pub fn given(workload: &Workload, numbers: &[(&str, u64)]) -> Result<Workload, String> {
    let mut workload = workload.clone();
    for (name, value) in numbers {
        let param = workload.params.iter_mut().find(|(known, ..)| known == name);
        let (_, expr, _) =
            param.ok_or_else(|| format!("`{}` needs a parameter `{name}`", workload.name))?;
        *expr = Expr::number(*value as f64);
    }
    Ok(workload)
}

impl Wanted<'_> {
    /// `workload` with these parameters for its own, on this device.
    fn resolve(
        &self,
        workload: &Workload,
        key: CaseKey,
        numbers: &[(&str, u64)],
    ) -> Result<Case, Reason> {
        resolve(&given(workload, numbers)?, &key, Resolution::default(), self.device, self.limits)
    }
}

struct Planner<'a> {
    wanted: &'a Wanted<'a>,
    part: Array,
    cuts: [u64; 3],
    /// What packs and what unpacks, once it is known.
    kernels: [Option<KernelSource>; 2],
}

impl Planner<'_> {
    fn exchange(&mut self, faces: &Faces, fields: u32) -> Result<Exchange, Reason> {
        let (first, last) = faces.reach().ok_or("nothing is exchanged")?;
        if last >= fields {
            return Err(format!("field {last} is exchanged, and there are {fields}").into());
        }
        let mut messages = vec![];
        for axis in 0..3 {
            let cells = self.part.cells[axis];
            // The last layer of the one behind, and the first of the one ahead.
            self.face(&mut messages, axis, true, (cells, 0), &faces.behind[axis])?;
            self.face(&mut messages, axis, false, (1, cells + 1), &faces.ahead[axis])?;
        }
        Ok(Exchange { bulk: [first.into(), u64::from(last - first) + 1], messages })
    }

    /// What every part that has a neighbour on this side gets of it.
    fn face(
        &mut self,
        messages: &mut Vec<Message>,
        axis: usize,
        behind: bool,
        (from, to): (u64, u64),
        fields: &[u32],
    ) -> Result<(), Reason> {
        if fields.is_empty() || self.cuts[axis] < 2 {
            return Ok(());
        }
        let [px, py, pz] = self.cuts;
        let step = [1, px, px * py][axis];
        let (source, target) =
            (self.part.layer(axis, from, fields), self.part.layer(axis, to, fields));
        let (pack, unpack) = (self.pass(0, &source)?, self.pass(1, &target)?);
        for to in 0..px * py * pz {
            let at = to / step % self.cuts[axis];
            let has_neighbour = if behind { at > 0 } else { at + 1 < self.cuts[axis] };
            if !has_neighbour {
                continue;
            }
            let from = if behind { to - step } else { to + step };
            let (from, to) = (from as usize, to as usize);
            let (pack, unpack) = (pack.clone(), unpack.clone());
            messages.push(Message { from, to, source, target, pack, unpack });
        }
        Ok(())
    }

    /// The launch that packs (0) or unpacks (1) a face.
    fn pass(&mut self, which: usize, face: &Face) -> Result<Pass, Reason> {
        let Wanted { spec: how, suite, .. } = self.wanted;
        let name = if which == 0 { &how.pack.0 } else { &how.unpack.0 };
        let other = suite.workloads.iter().find(|other| other.name == *name);
        let other = other.ok_or_else(|| format!("there is no workload `{name}`"))?;
        let Face { first, counts: [nx, ny, nz, nc], strides: [_, sy, sz, sc] } = *face;
        let counts = [("nx", nx), ("ny", ny), ("nz", nz), ("nc", nc)];
        let steps = [("first", first), ("sy", sy), ("sz", sz), ("sc", sc)];
        let numbers = [counts, steps].concat();
        let size = other.sizes.first().cloned().unwrap_or_default();
        let key =
            CaseKey { workload: name.clone(), size, measure: Kind::KERNEL, host_memory: None };
        let case =
            self.wanted.resolve(other, key, &numbers).map_err(|why| format!("`{name}`: {why}"))?;
        let bound: Vec<&str> = case.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
        let wanted = [["field", "face"], ["face", "field"]][which];
        if bound != wanted {
            return Err(format!(
                "`{name}` binds {}, and {} are asked of it",
                bound.join(" and "),
                wanted.join(" and ")
            )
            .into());
        }
        let variant: Candidate = case.candidates.into_iter().next().ok_or("nothing packs")?;
        let pass = variant.passes().swap_remove(0);
        self.kernels[which].get_or_insert(variant.kernel);
        Ok(pass)
    }
}
