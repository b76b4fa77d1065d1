//! The group's memory, and how the machine reaches it and the buffers.

use super::machine::Machine;
use super::mask::Mask;
use super::program::{Access, Atomic, Change, Kind, Program, Row, Space};
use super::shadow::{Rival, Shadow, Touch};
use super::{Buffer, FaultKind, Launch};

/// Local memory, and who touched which word.
pub(super) struct Memory {
    local: Vec<u32>,
    /// `None` where accesses are not watched for races.
    local_shadow: Option<Shadow>,
    /// One for each buffer; `None` where nothing can race.
    shadows: Vec<Option<Shadow>>,
    /// Entries of a shadow for each word: two where the kernel reaches halves of words.
    grain: usize,
    /// Where each lane goes, and which lanes may go there.
    pub(super) addresses: Vec<u32>,
}

impl Memory {
    pub(super) fn new(program: &Program, launch: &Launch, track_races: bool) -> Self {
        let local = vec![0; program.local_words as usize];
        let grain = if program.accesses.iter().any(|access| access.narrow) { 2 } else { 1 };
        let local_shadow = track_races.then(|| Shadow::new(grain * local.len()));
        let shadow = |(i, buffer): (usize, &Buffer)| {
            let writable = program.writable.get(i).copied().unwrap_or(false);
            (track_races && writable).then(|| Shadow::new(grain * buffer.len()))
        };
        let shadows = launch.buffers.iter().enumerate().map(shadow).collect();
        let lanes = program.group.iter().product::<u32>() as usize;
        Self { local, local_shadow, shadows, grain, addresses: vec![0; lanes] }
    }

    /// Local memory begins as zeros.
    pub(super) fn begin_group(&mut self) {
        self.local.fill(0);
        self.local_shadow.iter_mut().for_each(|shadow| shadow.next_group(false));
        self.shadows.iter_mut().flatten().for_each(|shadow| shadow.next_group(true));
    }

    pub(super) fn barrier(&mut self, local: bool, storage: bool) {
        if local {
            self.local_shadow.iter_mut().for_each(Shadow::barrier);
        }
        if storage {
            self.shadows.iter_mut().flatten().for_each(Shadow::barrier);
        }
    }

    fn shadow(&mut self, space: Space) -> Option<&mut Shadow> {
        match space {
            Space::Local => self.local_shadow.as_mut(),
            Space::Buffer(i) => self.shadows.get_mut(i as usize)?.as_mut(),
            Space::Private | Space::Params => None,
        }
    }
}

impl Machine<'_> {
    /// The place becomes known for every lane; the lanes that may go there.
    fn reach(&mut self, launch: &Launch, access: &Access) -> Mask {
        let mut addresses = std::mem::take(&mut self.memory.addresses);
        addresses.fill(access.place.offset);
        let length = self.length(launch, access);
        let mut beyond = false;
        for index in &access.place.indices {
            let count = index.count.unwrap_or_else(|| elements(length, access, index.stride));
            let mut largest = 0;
            for (address, &i) in addresses.iter_mut().zip(self.row(index.row)) {
                *address = address.wrapping_add(i.wrapping_mul(index.stride));
                largest = largest.max(i);
            }
            beyond |= largest >= count;
        }
        let largest = addresses.iter().copied().max().unwrap_or(0);
        beyond |= u64::from(largest) + u64::from(access.width) > u64::from(length);
        self.memory.addresses = addresses;
        if beyond { self.within(access, length) } else { self.active }
    }

    /// Words of a memory, or halves of them where an access counts these; rows, where it is private.
    pub(super) fn length(&self, launch: &Launch, access: &Access) -> u32 {
        let words = match access.place.space {
            Space::Private => self.program.rows as usize,
            Space::Local => self.memory.local.len(),
            Space::Buffer(i) => launch.buffers.get(i as usize).map_or(0, Buffer::len),
            Space::Params => launch.params.len(),
        };
        u32::try_from(words * if access.narrow { 2 } else { 1 }).unwrap_or(u32::MAX)
    }

    /// The active lanes that stay within the array; the others are noted as faults.
    fn within(&mut self, access: &Access, length: u32) -> Mask {
        let mut outside = vec![0; self.lanes];
        let active = self.active;
        for lane in active.lanes() {
            let wrong = access.place.indices.iter().find_map(|index| {
                let i = self.row(index.row)[lane];
                let count = index.count.unwrap_or_else(|| elements(length, access, index.stride));
                (i >= count).then_some((i, count))
            });
            let end = u64::from(self.memory.addresses[lane]) + u64::from(access.width);
            if wrong.is_none() && end <= u64::from(length) {
                continue;
            }
            outside[lane] = 1;
            self.fault(FaultKind::OutOfBounds, access.line, |machine| {
                let (i, count) = wrong.unwrap_or((machine.memory.addresses[lane], length));
                let does = if access.kind == Kind::Read { "reads" } else { "writes" };
                let name = &access.place.name;
                format!("{} {does} element {i} of {count} in `{name}`", machine.item(lane))
            });
        }
        active.without(&Mask::of(&outside))
    }

    fn count(&mut self, site: u32, access: &Access, reach: &Mask) {
        if self.counters.is_empty() {
            return;
        }
        let addresses = std::mem::take(&mut self.memory.addresses);
        let words: Vec<u32> = match access.narrow {
            true => addresses.iter().map(|half| half / 2).collect(),
            false => vec![],
        };
        for counter in &mut self.counters {
            counter.access(site, access, if access.narrow { &words } else { &addresses }, reach);
        }
        self.memory.addresses = addresses;
    }

    /// Counts an access and looks for races.
    fn note(&mut self, launch: &Launch, site: u32, access: &Access, reach: &Mask) {
        self.count(site, access, reach);
        let addresses = std::mem::take(&mut self.memory.addresses);
        let mut races: Vec<(usize, Rival)> = vec![];
        let whole = self.full && *reach == self.active;
        let grain = if access.narrow { 1 } else { self.memory.grain };
        if let Some(shadow) = self.memory.shadow(access.place.space) {
            let mut visit = |lane: usize| {
                let touch = Touch { lane: lane as u32, site, atomic: access.atomic };
                let first = grain * addresses[lane] as usize;
                for entry in first..first + grain * access.width as usize {
                    let rival = match access.kind {
                        Kind::Read => shadow.read(entry, touch),
                        Kind::Write | Kind::Atomic => shadow.write(entry, touch),
                    };
                    if let Some(rival) = rival {
                        races.push((lane, rival));
                    }
                }
            };
            if whole {
                (0..addresses.len()).for_each(visit);
            } else {
                reach.lanes().for_each(&mut visit);
            }
        }
        self.memory.addresses = addresses;
        for (lane, rival) in races {
            self.race(launch, access, lane, rival);
        }
    }

    fn race(&mut self, launch: &Launch, access: &Access, lane: usize, rival: Rival) {
        self.fault(FaultKind::Race, access.line, |machine| {
            let does = if access.kind == Kind::Read { "reads" } else { "writes" };
            let did = if rival.wrote { "wrote" } else { "read" };
            let group = rival.group.map_or(machine.group, |number| coordinates(launch, number));
            let order = match rival.group {
                Some(_) => "nothing orders groups",
                None => "no barrier lies between",
            };
            let line = machine.program.accesses.get(rival.site as usize).map_or(0, |a| a.line);
            let (element, count) = machine.element(launch, access, lane);
            format!(
                "{} {does} element {element} of {count} in `{}`, which {} {did} at {}:{line}; {order}",
                machine.item(lane),
                access.place.name,
                machine.item_of(rival.lane as usize, group),
                machine.program.file,
            )
        });
    }

    pub(super) fn load(&mut self, launch: &mut Launch, to: Row, site: u32) {
        let program = self.program;
        let access = &program.accesses[site as usize];
        let reach = self.reach(launch, access);
        self.note(launch, site, access, &reach);
        self.note_read(launch, access, &reach);
        if access.narrow {
            self.load_halves(launch, to, access, &reach);
            return;
        }
        let whole = self.full && reach == self.active;
        for word in 0..access.width {
            let start = (to + word) as usize * self.lanes;
            if access.place.space == Space::Private {
                for lane in reach.lanes() {
                    let row = (self.memory.addresses[lane] + word) as usize;
                    self.rows[start + lane] = self.rows[row * self.lanes + lane];
                }
                continue;
            }
            let rows = &mut self.rows[start..start + self.lanes];
            let (memory, reach) = (&self.memory, (!whole).then_some(&reach));
            let addresses = memory.addresses.iter().map(|address| (address + word) as usize);
            match access.place.space {
                Space::Local => gather(rows, reach, addresses, |at| memory.local[at]),
                Space::Buffer(i) => {
                    let buffer = &mut launch.buffers[i as usize];
                    gather(rows, reach, addresses, |at| *buffer.word(at));
                }
                Space::Params | Space::Private => {
                    gather(rows, reach, addresses, |at| launch.params[at]);
                }
            }
        }
    }

    pub(super) fn store(&mut self, launch: &mut Launch, from: [Row; 4], site: u32) {
        let program = self.program;
        let access = &program.accesses[site as usize];
        let reach = self.reach(launch, access);
        self.note(launch, site, access, &reach);
        if access.narrow {
            self.store_halves(launch, from, access, &reach);
            return;
        }
        for (word, from) in (0..access.width).zip(from) {
            let start = from as usize * self.lanes;
            for lane in reach.lanes() {
                let value = self.rows[start + lane];
                let address = (self.memory.addresses[lane] + word) as usize;
                match access.place.space {
                    Space::Local => self.memory.local[address] = value,
                    Space::Buffer(i) => *launch.buffers[i as usize].word(address) = value,
                    Space::Private => self.rows[address * self.lanes + lane] = value,
                    Space::Params => {}
                }
            }
        }
        self.note_write(launch, access, &reach);
    }

    pub(super) fn atomic(&mut self, launch: &mut Launch, change: &Change, site: u32) {
        let program = self.program;
        let access = &program.accesses[site as usize];
        let reach = self.reach(launch, access);
        self.note(launch, site, access, &reach);
        self.note_read(launch, access, &reach);
        for lane in reach.lanes() {
            let [value, compare] = [change.value, change.compare].map(|row| self.row(row)[lane]);
            let address = self.memory.addresses[lane] as usize;
            let word = self.word(launch, access.place.space, address);
            let old = std::mem::replace(word, changed(change.function, *word, value, compare));
            self.rows[change.to as usize * self.lanes + lane] = old;
        }
        self.note_write(launch, access, &reach);
    }

    /// A word that may be written: of local memory, or of a buffer.
    pub(super) fn word<'m>(
        &'m mut self,
        launch: &'m mut Launch,
        space: Space,
        address: usize,
    ) -> &'m mut u32 {
        match space {
            Space::Buffer(i) => launch.buffers[i as usize].word(address),
            _ => &mut self.memory.local[address],
        }
    }
}

/// The group that runs as the one after `number` others.
fn coordinates(launch: &Launch, number: u64) -> [u32; 3] {
    let [x, y, _] = launch.groups.map(|n| u64::from(n.max(1)));
    [number % x, number / x % y, number / (x * y)].map(|n| n as u32)
}

/// What each lane finds at its address; 0 for lanes that do not reach.
fn gather(
    rows: &mut [u32],
    reach: Option<&Mask>,
    addresses: impl Iterator<Item = usize>,
    mut found: impl FnMut(usize) -> u32,
) {
    for (lane, (to, at)) in rows.iter_mut().zip(addresses).enumerate() {
        *to = if reach.is_none_or(|reach| reach.has(lane)) { found(at) } else { 0 };
    }
}

fn changed(function: Atomic, old: u32, value: u32, compare: u32) -> u32 {
    let (old_signed, signed) = (old as i32, value as i32);
    match function {
        Atomic::Add => old.wrapping_add(value),
        Atomic::Subtract => old.wrapping_sub(value),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::UMin => old.min(value),
        Atomic::UMax => old.max(value),
        Atomic::SMin => old_signed.min(signed) as u32,
        Atomic::SMax => old_signed.max(signed) as u32,
        Atomic::Exchange => value,
        Atomic::CompareExchange => {
            if old == compare {
                value
            } else {
                old
            }
        }
    }
}

/// Elements of an array that ends with its memory of so many words. The access may be to a part of an
/// element: what lies before the part in the first one is no element less.
pub(super) fn elements(words: u32, access: &Access, stride: u32) -> u32 {
    words.saturating_sub(access.place.offset).div_ceil(stride)
}
