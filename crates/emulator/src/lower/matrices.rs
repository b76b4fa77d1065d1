//! Matrices: column after column, each a vector.

use super::super::program::{Op, Row};
use super::Lowering;
use naga::{MathFunction, ScalarKind, TypeInner};

impl Lowering<'_> {
    /// A product in which a matrix meets a vector or another matrix; `None` for any other.
    pub(super) fn product(
        &mut self,
        left_type: &TypeInner,
        left: &[Row],
        right_type: &TypeInner,
        right: &[Row],
    ) -> Option<Vec<Row>> {
        match (left_type, right_type) {
            (TypeInner::Matrix { rows, .. }, TypeInner::Vector { .. }) => {
                Some(self.combined(left, *rows as usize, right))
            }
            (TypeInner::Vector { .. }, TypeInner::Matrix { rows, .. }) => {
                let columns = right.chunks(*rows as usize);
                Some(columns.map(|column| self.dot(ScalarKind::Float, left, column)).collect())
            }
            (TypeInner::Matrix { rows, .. }, TypeInner::Matrix { rows: inner, .. }) => {
                let columns = right.chunks(*inner as usize);
                Some(columns.flat_map(|c| self.combined(left, *rows as usize, c)).collect())
            }
            _ => None,
        }
    }

    /// The matrix's columns, of `height` numbers each, times the numbers of a vector, summed.
    fn combined(&mut self, matrix: &[Row], height: usize, vector: &[Row]) -> Vec<Row> {
        let line = |i: usize| matrix.iter().copied().skip(i).step_by(height).collect::<Vec<_>>();
        let lines: Vec<Vec<Row>> = (0..height).map(line).collect();
        lines.iter().map(|line| self.dot(ScalarKind::Float, line, vector)).collect()
    }

    /// A function of a matrix; `None` for any other.
    pub(super) fn matrix_function(
        &mut self,
        function: MathFunction,
        ty: &TypeInner,
        matrix: &[Row],
    ) -> Option<Vec<Row>> {
        let TypeInner::Matrix { rows, .. } = ty else { return None };
        let height = *rows as usize;
        match function {
            MathFunction::Transpose => {
                let line = |i: usize| matrix.iter().copied().skip(i).step_by(height);
                Some((0..height).flat_map(line).collect())
            }
            MathFunction::Determinant => {
                let columns: Vec<Vec<Row>> = matrix.chunks(height).map(<[Row]>::to_vec).collect();
                Some(vec![self.determinant(&columns)])
            }
            _ => None,
        }
    }

    /// By the first column, each of whose numbers is multiplied by what is left without its line.
    fn determinant(&mut self, columns: &[Vec<Row>]) -> Row {
        let [first, others @ ..] = columns else { return self.constant(1f32.to_bits()) };
        let mut sum = None;
        for (i, &factor) in first.iter().enumerate() {
            let without = |column: &Vec<Row>| {
                let mut column = column.clone();
                column.remove(i);
                column
            };
            let minor: Vec<Vec<Row>> = others.iter().map(without).collect();
            let rest = if minor.is_empty() { None } else { Some(self.determinant(&minor)) };
            let term = rest.map_or(factor, |rest| self.alu(Op::FMul, [factor, rest, rest]));
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let op = if i % 2 == 1 { Op::FSub } else { Op::FAdd };
                    self.alu(op, [sum, term, term])
                }
            });
        }
        sum.unwrap_or_default()
    }
}
