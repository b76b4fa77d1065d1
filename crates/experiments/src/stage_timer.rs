//! Where a case's wall time goes, by stage.

use super::Stage;
use gpubench_core::record::Wall;
use std::time::Instant;

/// A stopwatch that is notified of every stage.
#[derive(Debug, Default)]
pub struct StageTimer {
    since: Option<(Stage, Instant)>,
    wall: Wall,
}

impl StageTimer {
    /// The stage before ends, and `next` begins.
    pub fn enter(&mut self, next: Option<Stage>) {
        if let Some((stage, since)) = self.since.take() {
            let part = match stage {
                Stage::CoolDown => &mut self.wall.cool_down,
                Stage::Prepare => &mut self.wall.prepare,
                Stage::Build | Stage::BuildVariant(_) => &mut self.wall.build,
                Stage::Launch | Stage::LaunchVariant(_) => &mut self.wall.launch,
                Stage::Verify => &mut self.wall.verify,
                Stage::Measure => &mut self.wall.measure,
            };
            *part += since.elapsed().as_secs_f64();
        }
        self.since = next.map(|stage| (stage, Instant::now()));
    }

    /// Ends the last stage; seconds by stage.
    pub fn end(mut self) -> Wall {
        self.enter(None);
        self.wall
    }
}
