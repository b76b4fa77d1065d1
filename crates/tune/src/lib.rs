//! The search for a kernel's fastest variant, without a device: whoever measures asks a [`Strategy`] for a
//! variant and tells it the outcome. `docs/TUNING.md` says how the strategies work.

mod axes;
mod halving;
mod in_order;
pub mod model;
mod outcome;
mod race;
mod replay;
mod residual;
mod space;
mod strategy;
mod trees;
mod worth;

pub use axes::Axes;
pub use halving::halve;
pub use in_order::InOrder;
pub use model::Model;
pub use outcome::{Interval, Outcome};
pub use race::Race;
pub use replay::{Recorded, Replay, Summary, replay, summarise, summary};
pub use residual::residuals;
pub use space::{Space, SpaceError};
pub use strategy::{Kind, Strategy, strategy};
pub use trees::Trees;
pub use worth::{Worth, worths};
