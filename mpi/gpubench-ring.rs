//! The ring matrix product over MPI: what `gpubench ring` starts. Every rank is one of these.

use gpubench::cmd::ring::{arguments, serve};
use gpubench::measure::ring::Neighbours;
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::process::ExitCode;

/// All ranks of the job.
struct World(SimpleCommunicator);

impl World {
    /// The rank so many behind this one, round the ring.
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

    fn exchange(&self, strip: &[f32], into: &mut [f32]) {
        let (before, behind) = (self.behind(self.size() - 1), self.behind(1));
        send_receive_into(strip, &before, into, &behind);
    }

    fn barrier(&self) {
        self.0.barrier();
    }

    fn largest(&self, value: f64) -> f64 {
        let mut largest = value;
        self.0.all_reduce_into(&value, &mut largest, SystemOperation::max());
        largest
    }

    fn gather(&self, mine: &[f32]) -> Option<Vec<f32>> {
        let root = self.0.process_at_rank(0);
        if self.rank() > 0 {
            root.gather_into(mine);
            return None;
        }
        let mut all = vec![0.0; mine.len() * self.size()];
        root.gather_into_root(mine, &mut all[..]);
        Some(all)
    }
}

fn main() -> ExitCode {
    let args = arguments();
    // MPI is called by this thread only; the device has another.
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        eprintln!("gpubench: MPI does not start");
        return ExitCode::from(4);
    };
    let world = World(universe.world());
    if let Err(error) = args.check(world.size()) {
        // Every rank says the same: once is enough.
        if world.rank() == 0 {
            eprintln!("gpubench: {error}");
        }
        return ExitCode::from(2);
    }
    let local = world.0.split_shared(world.0.rank()).rank();
    match serve(&args, &world, usize::try_from(local).unwrap_or(0)) {
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
