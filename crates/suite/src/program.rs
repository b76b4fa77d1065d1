//! A checked program, and the launches that it is at a size.

use super::types::{Kernel, MAX_PASSES, Place};
use super::{Expr, Scope};

/// Several kernels that make one result.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The kernels, each with its grid, in the order of the file.
    pub kernels: Vec<ProgramKernel>,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct ProgramKernel {
    /// The kernel.
    pub kernel: Kernel,
    /// Work-items along each dimension; where there are none, a step is left out.
    pub grid: [Expr; 3],
    /// Where it stands.
    pub place: Place,
}

impl ProgramKernel {
    /// Whether grid and arguments have sensible values with those of `scope`.
    ///
    /// # Errors
    /// What has none.
    pub fn check(&self, scope: &Scope) -> Result<(), String> {
        for expr in &self.grid {
            expr.count(scope).map_err(|why| format!("grid: {why}"))?;
        }
        for arg in self.kernel.args.iter().flatten() {
            arg.values(scope).map_err(|why| format!("argument: {why}"))?;
        }
        Ok(())
    }

    /// Whether it has no work-items with the values of `scope`: then its launch is left out.
    pub fn is_empty(&self, scope: &Scope) -> bool {
        self.grid.iter().any(|expr| expr.count(scope) == Ok(0))
    }
}

/// Positions of two buffers.
pub type Swap = [usize; 2];

/// A step of a program.
#[derive(Clone, Debug)]
pub enum Step {
    /// The kernel at this position is launched.
    Launch(usize),
    /// Steps one after the other, over and over.
    Repeat {
        /// How often.
        count: Expr,
        /// What counts the repetitions from 0.
        index: Option<String>,
        /// Where the number stands.
        place: Place,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// Two names change the buffers that they stand for.
    Swap(Swap),
}

/// A launch of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramLaunch {
    /// Which of its kernels.
    pub kernel: usize,
    /// The buffer that each name stands for, by position.
    pub order: Vec<u32>,
    /// What the indices of the repetitions around it are.
    pub indices: Vec<(String, f64)>,
}

/// All launches of a program, and the buffer that each name stands for at the end.
pub type Unrolled = (Vec<ProgramLaunch>, Vec<u32>);

impl Program {
    /// The launches with the values of `scope`, over so many buffers.
    ///
    /// # Errors
    /// A repetition without a sensible number, with its place, or too many of them.
    pub fn unrolled(&self, scope: &Scope, buffers: usize) -> Result<Unrolled, (Place, String)> {
        let mut unrolling = Unrolling {
            program: self,
            scope: scope.to_vec(),
            fixed: scope.len(),
            order: (0..buffers as u32).collect(),
            launches: vec![],
            done: 0,
        };
        unrolling.steps(&self.steps)?;
        Ok((unrolling.launches, unrolling.order))
    }
}

struct Unrolling<'a> {
    program: &'a Program,
    /// Values of names, those of indices behind the first `fixed`.
    scope: Vec<(String, f64)>,
    fixed: usize,
    order: Vec<u32>,
    launches: Vec<ProgramLaunch>,
    /// Steps and repetitions so far.
    done: u64,
}

impl Unrolling<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), (Place, String)> {
        for step in steps {
            match step {
                Step::Launch(kernel) => self.launches.push(ProgramLaunch {
                    kernel: *kernel,
                    order: self.order.clone(),
                    indices: self.scope[self.fixed..].to_vec(),
                }),
                Step::Swap([a, b]) => self.order.swap(*a, *b),
                Step::Repeat { count, index, place, steps } => {
                    let count = count.count(&self.scope).map_err(|why| (place.clone(), why))?;
                    self.repeat(count, index.as_deref(), place, steps)?;
                }
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        count: u64,
        index: Option<&str>,
        place: &Place,
        steps: &[Step],
    ) -> Result<(), (Place, String)> {
        for repetition in 0..count {
            self.done += 1;
            if count > MAX_PASSES || self.done.max(self.launches.len() as u64) > MAX_PASSES {
                let kernels = self.program.kernels.len();
                let why = format!(
                    "{count} repetitions: a program of {kernels} kernels has at most {MAX_PASSES} \
                     launches and repetitions in all"
                );
                return Err((place.clone(), why));
            }
            self.scope.extend(index.map(|index| (index.to_owned(), repetition as f64)));
            self.steps(steps)?;
            self.scope.truncate(self.scope.len() - usize::from(index.is_some()));
        }
        Ok(())
    }
}
