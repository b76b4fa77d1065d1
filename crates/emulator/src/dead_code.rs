//! What a compiler would not keep is taken out of a program: copies of variables that nobody
//! changes before they are used, and initial values that nobody reads. Then what is left is
//! counted.

use super::Class;
use super::bundles::compiled;
use super::liveness::Liveness;
use super::program::{Given, Node, Op, Program, Row, Space, Step};
use super::unrolled::Unrolled;
use std::collections::BTreeMap;

pub(super) fn eliminate_dead_code(program: &mut Program) {
    let liveness = Liveness::of(program);
    let renamed = forwarded(program, &liveness);
    drop_initial(program, &liveness);
    rename(program, &renamed);
    for i in 0..program.pieces.len() {
        program.pieces[i].mix = mix(program, i);
    }
    program.live = live(program);
    let unrolled = Unrolled::of(program);
    for i in 0..program.pieces.len() {
        program.pieces[i].compiled = compiled(program, &unrolled, i);
    }
    program.decided = (0..program.branches.len()).map(|i| unrolled.is_decided(i)).collect();
}

/// Copies that may as well be read from where they were copied: the copy's row, the original.
fn forwarded(program: &Program, liveness: &Liveness) -> BTreeMap<Row, Row> {
    let mut renamed = BTreeMap::new();
    for step in program.pieces.iter().flat_map(|piece| &piece.steps) {
        let Step::Alu { op: Op::Copy, to, from: [from, ..] } = *step else { continue };
        let Some(made) = liveness.events[to as usize].iter().find(|e| e.sets).map(|e| e.at) else {
            continue;
        };
        let until = liveness.needed_until(to, made);
        // What stands side by side for a dynamic index must stay there.
        let indexed = liveness.events[to as usize].iter().filter(|e| e.sets).count() > 1;
        let changed = |e: &super::liveness::Event| e.sets && e.at > made && e.at <= until;
        if !indexed
            && !is_indexed(program, to)
            && !liveness.events[from as usize].iter().any(changed)
        {
            renamed.insert(to, from);
        }
    }
    renamed
}

/// Whether a row is an element of a private array that is reached by a dynamic index.
fn is_indexed(program: &Program, row: Row) -> bool {
    let mut private = program.accesses.iter().filter(|a| a.place.space == Space::Private);
    private.any(|access| access.rows().contains(&row))
}

/// Initial values of variables that are set in the same list before anything reads them.
fn drop_initial(program: &mut Program, liveness: &Liveness) {
    let mut unread: Vec<Row> = program
        .initial
        .iter()
        .copied()
        .filter(|&row| match liveness.events[row as usize][..] {
            [first, second, ..] => first.sets && second.sets && first.list == second.list,
            _ => true,
        })
        .collect();
    unread.sort_unstable();
    let mut done = vec![false; unread.len()];
    for piece in &mut program.pieces {
        piece.steps.retain(|step| match step {
            Step::Set { to, .. } => match unread.binary_search(to) {
                Ok(i) => std::mem::replace(&mut done[i], true),
                Err(_) => true,
            },
            _ => true,
        });
    }
}

/// Takes the copies out and reads from the originals.
fn rename(program: &mut Program, renamed: &BTreeMap<Row, Row>) {
    let of = |row: &mut Row| {
        while let Some(&original) = renamed.get(row) {
            *row = original;
        }
    };
    for piece in &mut program.pieces {
        piece.steps.retain(
            |step| !matches!(step, Step::Alu { op: Op::Copy, to, .. } if renamed.contains_key(to)),
        );
        for step in &mut piece.steps {
            match step {
                Step::Alu { from, .. } => from.iter_mut().for_each(of),
                Step::Set { from, .. } => of(from),
                Step::Store { from, .. } => from.iter_mut().for_each(of),
                Step::Atomic { change, .. } => {
                    of(&mut change.value);
                    of(&mut change.compare);
                }
                Step::Subgroup { from, .. } => from.iter_mut().for_each(of),
                Step::Load { .. } => {}
            }
        }
    }
    for access in &mut program.accesses {
        access.place.indices.iter_mut().for_each(|index| of(&mut index.row));
    }
    rename_nodes(&mut program.body, &of);
}

fn rename_nodes(nodes: &mut [Node], of: &impl Fn(&mut Row)) {
    for node in nodes {
        match node {
            Node::If { condition, accept, reject, .. } => {
                of(condition);
                rename_nodes(accept, of);
                rename_nodes(reject, of);
            }
            Node::Loop { body, continuing, break_if, .. } => {
                rename_nodes(body, of);
                rename_nodes(continuing, of);
                if let Some((row, _)) = break_if {
                    of(row);
                }
            }
            Node::Switch { selector, cases, .. } => {
                of(selector);
                cases.iter_mut().for_each(|(_, body)| rename_nodes(body, of));
            }
            Node::Call(body) => rename_nodes(body, of),
            Node::Run(_) | Node::Break | Node::Continue | Node::Return | Node::Barrier { .. } => {}
        }
    }
}

/// How many instructions of each class straight code has.
fn mix(program: &Program, piece: usize) -> Vec<(Class, u32)> {
    let mut mix: BTreeMap<Class, u32> = BTreeMap::new();
    for step in &program.pieces[piece].steps {
        match step {
            Step::Alu { op, .. } => {
                if let Some(class) = op.class() {
                    *mix.entry(class).or_default() += 1;
                }
            }
            Step::Set { .. } => {}
            // What crosses lanes goes through the same wires as a comparison's results.
            Step::Subgroup { .. } => *mix.entry(Class::Compare).or_default() += 1,
            Step::Load { access, .. }
            | Step::Store { access, .. }
            | Step::Atomic { access, .. } => {
                let access = &program.accesses[*access as usize];
                *mix.entry(access.class()).or_default() += 1;
                if !access.place.indices.is_empty() {
                    *mix.entry(Class::Address).or_default() += access.place.indices.len() as u32;
                }
            }
        }
    }
    mix.into_iter().collect()
}

/// The most rows whose values are needed at the same place of the text.
fn live(program: &Program) -> u32 {
    let liveness = Liveness::of(program);
    let mut changes: BTreeMap<u32, i64> = BTreeMap::new();
    for (row, events) in liveness.events.iter().enumerate() {
        let row = row as Row;
        let given = program.given.iter().find(|(_, r)| *r == row).map(|(given, _)| *given);
        let from = match given {
            // Constants and parameters need no register of a work-item.
            Some(Given::Constant(_) | Given::Param(_) | Given::Length { .. }) => continue,
            Some(Given::GroupId(_) | Given::Groups(_)) => continue,
            Some(Given::SubgroupSize | Given::SubgroupId | Given::Subgroups) => continue,
            Some(
                Given::GlobalId(_) | Given::LocalId(_) | Given::LocalIndex | Given::SubgroupLane,
            ) => 0,
            None => match events.iter().find(|event| event.sets) {
                Some(event) => event.at,
                None => continue,
            },
        };
        if events.iter().any(|event| !event.sets) {
            *changes.entry(from).or_default() += 1;
            *changes.entry(liveness.needed_until(row, from) + 1).or_default() -= 1;
        }
    }
    let (mut now, mut max_live) = (0, 0);
    for change in changes.values() {
        now += change;
        max_live = max_live.max(now);
    }
    max_live as u32
}
