//! Several numbers in one word.

use super::super::program::{Op, Row};
use super::Lowering;
use naga::{MathFunction, ScalarKind};

impl Lowering<'_> {
    pub(super) fn packing(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        all: &[&[Row]],
    ) -> Option<Vec<Row>> {
        use MathFunction as M;
        match (function, all) {
            (M::InsertBits, [rows, new, offset, count]) => {
                return Some(self.insert(rows, new, offset, count));
            }
            (M::Pack4xI8Clamp | M::Pack4xU8Clamp, [rows]) => {
                let (low, high) = if kind == ScalarKind::Sint { (-128i32, 127) } else { (0, 255) };
                let low = [self.constant(low.cast_unsigned())];
                let high = [self.constant(high)];
                let clamped = self.clamp(kind, rows, &low, &high);
                return Some(vec![self.joined(&clamped, 8)]);
            }
            (M::Pack4xI8 | M::Pack4xU8, [rows]) => return Some(vec![self.joined(rows, 8)]),
            (M::Unpack4xI8, [rows]) => return Some(self.parted(Op::ExtractSigned, rows[0], 8)),
            (M::Unpack4xU8, [rows]) => return Some(self.parted(Op::Extract, rows[0], 8)),
            _ => {}
        }
        let (op, bits, packs) = match function {
            M::Pack4x8snorm => (Op::ToSignedShare(8), 8, true),
            M::Pack4x8unorm => (Op::ToShare(8), 8, true),
            M::Pack2x16snorm => (Op::ToSignedShare(16), 16, true),
            M::Pack2x16unorm => (Op::ToShare(16), 16, true),
            M::Pack2x16float => (Op::ToHalf, 16, true),
            M::Unpack4x8snorm => (Op::FromSignedShare(8), 8, false),
            M::Unpack4x8unorm => (Op::FromShare(8), 8, false),
            M::Unpack2x16snorm => (Op::FromSignedShare(16), 16, false),
            M::Unpack2x16unorm => (Op::FromShare(16), 16, false),
            M::Unpack2x16float => (Op::FromHalf, 16, false),
            _ => return None,
        };
        let [rows] = *all else { return None };
        if packs {
            let fields = self.each(op, &[rows]);
            return Some(vec![self.joined(&fields, bits)]);
        }
        let fields = self.parted(Op::Extract, rows[0], bits);
        Some(self.each(op, &[&fields]))
    }

    /// The low `bits` bits of each row, the first lowest, in one word.
    fn joined(&mut self, rows: &[Row], bits: u32) -> Row {
        let ones = self.constant(u32::MAX >> (32 - bits));
        let mut word = None;
        for (i, &row) in (0..).zip(rows) {
            let field = self.alu(Op::And, [row, ones, ones]);
            let shift = self.constant(i * bits);
            let placed = self.alu(Op::ShiftLeft, [field, shift, shift]);
            word = Some(match word {
                Some(word) => self.alu(Op::Or, [word, placed, placed]),
                None => placed,
            });
        }
        word.unwrap_or(ones)
    }

    /// A word's fields of `bits` bits each, the lowest first.
    fn parted(&mut self, op: Op, word: Row, bits: u32) -> Vec<Row> {
        let count = self.constant(bits);
        (0..32 / bits)
            .map(|i| {
                let offset = self.constant(i * bits);
                self.alu(op, [word, offset, count])
            })
            .collect()
    }

    /// `new` in a field of each row.
    fn insert(&mut self, rows: &[Row], new: &[Row], offset: &[Row], count: &[Row]) -> Vec<Row> {
        let mask = self.each(Op::BitMask, &[offset, count]);
        let all = [self.constant(u32::MAX)];
        let others = self.each(Op::Xor, &[&mask, &all]);
        let kept = self.each(Op::And, &[rows, &others]);
        let shifted = self.each(Op::ShiftLeft, &[new, offset]);
        let placed = self.each(Op::And, &[&shifted, &mask]);
        self.each(Op::Or, &[&kept, &placed])
    }
}
