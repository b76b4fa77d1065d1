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
            self.scope.extend(index.map(|index| (index.to_owned(), repetition as f64)));
            self.steps(steps)?;
            self.scope.truncate(self.scope.len() - usize::from(index.is_some()));
            if count > MAX_PASSES || self.done.max(self.launches.len() as u64) > MAX_PASSES {
                let kernels = self.program.kernels.len();
                let why = format!(
                    "{count} repetitions: a program of {kernels} kernels has at most {MAX_PASSES} \
                     launches and repetitions in all"
                );
                return Err((place.clone(), why));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{no_mistakes, workload_with};

    fn repeat(count: u64, index: Option<&str>, steps: Vec<Step>) -> Step {
        let (count, index) = (Expr::number(count as f64), index.map(str::to_owned));
        Step::Repeat { count, index, place: no_mistakes("").place(&(0..0)), steps }
    }

    /// The number of launches over two buffers.
    fn launches(steps: Vec<Step>) -> Result<usize, String> {
        let program = Program { kernels: vec![], steps };
        program.unrolled(&[], 2).map(|(launches, _)| launches.len()).map_err(|(_, why)| why)
    }

    #[test]
    fn a_program_has_65536_launches_and_repetitions_and_no_more() {
        let launch = || Step::Launch(0);
        let times = |count, steps| launches(vec![repeat(count, None, steps)]);
        assert_eq!(times(65_536, vec![launch()]), Ok(65_536));
        assert!(
            times(65_537, vec![launch()])
                .unwrap_err()
                .starts_with("65537 repetitions: a program of 0")
        );
        assert_eq!(times(32_768, vec![launch(), launch()]), Ok(65_536));
        assert!(times(32_769, vec![launch(), launch()]).is_err(), "the last repetition counts");
        assert_eq!(times(65_536, vec![]), Ok(0));
        assert!(times(65_537, vec![]).is_err());
        // 255 and 255*256 repetitions are 65535 in all; one more of the outer ones is too many.
        assert_eq!(times(255, vec![repeat(256, None, vec![launch()])]), Ok(65_280));
        assert!(times(256, vec![repeat(256, None, vec![launch()])]).is_err());
        let twice = |count| repeat(count, None, vec![launch()]);
        assert_eq!(launches(vec![twice(60_000), twice(5_536), twice(0)]), Ok(65_536));
        assert!(launches(vec![twice(60_000), twice(5_537)]).is_err());
    }

    #[test]
    fn launches_know_the_repetitions_around_them_and_the_order_of_buffers() {
        let inner = repeat(2, Some("j"), vec![Step::Launch(1), Step::Swap([0, 1])]);
        let steps = vec![
            Step::Launch(0),
            repeat(2, Some("i"), vec![repeat(1, None, vec![Step::Launch(2)]), inner]),
            Step::Swap([0, 2]),
            Step::Launch(3),
        ];
        let program = Program { kernels: vec![], steps };
        let (launches, order) = program.unrolled(&[("i".to_owned(), 9.0)], 3).unwrap();
        let seen: Vec<(usize, Vec<u32>, Vec<f64>)> = launches
            .into_iter()
            .map(|l| (l.kernel, l.order, l.indices.into_iter().map(|(_, value)| value).collect()))
            .collect();
        let launch =
            |kernel, order: [u32; 3], indices: &[f64]| (kernel, order.to_vec(), indices.to_vec());
        assert_eq!(
            seen,
            [
                launch(0, [0, 1, 2], &[]),
                launch(2, [0, 1, 2], &[0.0]),
                launch(1, [0, 1, 2], &[0.0, 0.0]),
                launch(1, [1, 0, 2], &[0.0, 1.0]),
                launch(2, [0, 1, 2], &[1.0]),
                launch(1, [0, 1, 2], &[1.0, 0.0]),
                launch(1, [1, 0, 2], &[1.0, 1.0]),
                launch(3, [2, 1, 0], &[]),
            ]
        );
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn repetitions_without_a_number_are_a_mistake_at_their_place() {
        let place = no_mistakes("repeat: n").place(&(8..9));
        let count = Expr::name("n");
        let steps = vec![Step::Repeat { count, index: None, place, steps: vec![] }];
        let (place, why) = Program { kernels: vec![], steps }.unrolled(&[], 0).unwrap_err();
        assert_eq!((place.offset, &why[..]), (8, "`n`: there is no size or parameter `n`"));
    }

    #[test]
    fn a_step_needs_a_grid_and_arguments_and_is_empty_without_work_items() {
        let steps = "steps: [{ kernel: { entry: copy, args: [a, out, { u32: n - 10 }] }, grid: [n, 1, n - 5] }]";
        let suite = crate::testing::SUITE.replace("wgsl: k.wgsl, ", "").replace("grid: [n]", steps);
        let suite = suite.replace("{ reference: copy }", "none");
        let program = workload_with(crate::testing::SUITE, &suite).program.unwrap();
        let at = |n: f64| [("n".to_owned(), n)];
        let step = &program.kernels[0];
        assert_eq!(step.check(&at(10.0)), Ok(()));
        assert!(step.check(&at(4.0)).unwrap_err().starts_with("grid: `n - 5` is -1"));
        assert!(step.check(&at(9.0)).unwrap_err().starts_with("argument: `n - 10` is -1"));
        assert!(step.is_empty(&at(5.0)) && !step.is_empty(&at(6.0)));
    }
}
