//! What `gpubench ring` and `gpubench halo` start over MPI. Every rank is one of these.

use gpubench::cmd::mpi::work;
use gpubench::measure::ranks::Neighbours;
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use std::process::ExitCode;

/// All ranks of the job.
struct World(SimpleCommunicator);

impl World {
    /// The rank a given number behind this one, round the ring.
    fn behind(&self, steps: usize) -> mpi::topology::Process<'_> {
        let rank = (self.rank() + steps) % self.size();
        self.0.process_at_rank(i32::try_from(rank).unwrap_or(0))
    }
}

impl Neighbours for World {
    fn rank(&self) -> usize {
        usize::try_from(self.0.rank()).unwrap_or(0)
    }

    fn size(&self) -> usize {
        usize::try_from(self.0.size()).unwrap_or(1)
    }

    fn exchange(&self, strip: &[u8], into: &mut [u8]) {
        let (before, behind) = (self.behind(self.size() - 1), self.behind(1));
        send_receive_into(strip, &before, into, &behind);
    }

    fn exchange_during(&self, strip: &[u8], into: &mut [u8], work: &mut dyn FnMut()) {
        let (before, behind) = (self.behind(self.size() - 1), self.behind(1));
        mpi::request::scope(|scope| {
            let arriving = behind.immediate_receive_into(scope, into);
            let leaving = before.immediate_send(scope, strip);
            work();
            leaving.wait();
            arriving.wait();
        });
    }

    fn swap(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        let with = self.0.process_at_rank(i32::try_from(with).unwrap_or(0));
        send_receive_into(mine, &with, theirs, &with);
    }

    fn barrier(&self) {
        self.0.barrier();
    }

    fn largest(&self, value: f64) -> f64 {
        let mut largest = value;
        self.0.all_reduce_into(&value, &mut largest, SystemOperation::max());
        largest
    }

    fn gather(&self, mine: &[u8]) -> Option<Vec<u8>> {
        let root = self.0.process_at_rank(0);
        if self.rank() > 0 {
            root.gather_into(mine);
            return None;
        }
        let mut all = vec![0; mine.len() * self.size()];
        root.gather_into_root(mine, &mut all[..]);
        Some(all)
    }

    fn first(&self, count: usize) -> Option<Box<dyn Neighbours + '_>> {
        let inside = self.rank() < count;
        let color = if inside { Color::with_value(0) } else { Color::undefined() };
        let group = self.0.split_by_color_with_key(color, self.0.rank());
        group.map(|group| Box::new(World(group)) as Box<dyn Neighbours>)
    }
}

fn main() -> ExitCode {
    let work = work();
    // MPI is called by this thread only; the device has another.
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        eprintln!("gpubench: MPI does not start");
        return ExitCode::from(4);
    };
    let world = World(universe.world());
    if let Err(error) = work.check(world.size()) {
        // Every rank says the same: once is enough.
        if world.rank() == 0 {
            eprintln!("gpubench: {error}");
        }
        return ExitCode::from(2);
    }
    let here = World(world.0.split_shared(world.0.rank()));
    match work.serve(&world, &here) {
        Ok(text) => {
            text.iter().for_each(|text| print!("{text}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gpubench: rank {}: {error}", world.rank());
            // The others would wait for this one for ever.
            world.0.abort(4)
        }
    }
}
