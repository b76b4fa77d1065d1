//! WGSL's functions of numbers and vectors become instructions.

use super::super::program::{Op, Row};
use super::Lowering;
use naga::{MathFunction, ScalarKind};

impl Lowering<'_> {
    /// What a function makes of its arguments; `None` where it is not known.
    pub(super) fn math(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        all: &[&[Row]],
    ) -> Option<Vec<Row>> {
        if let Some(op) = direct(function, kind) {
            return Some(self.each(op, all));
        }
        let numeric = self.numeric(function, kind, all);
        let geometric = numeric.or_else(|| self.geometric(function, kind, all));
        geometric.or_else(|| self.packing(function, kind, all))
    }

    fn float(&mut self, x: f32) -> [Row; 1] {
        [self.constant(x.to_bits())]
    }

    /// Functions of each number by itself.
    fn numeric(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        all: &[&[Row]],
    ) -> Option<Vec<Row>> {
        Some(match (function, all) {
            (MathFunction::Abs | MathFunction::Sign, [rows]) => rows.to_vec(),
            (MathFunction::Clamp, [rows, low, high]) => self.clamp(kind, rows, low, high),
            (MathFunction::Saturate, [rows]) => {
                let (low, high) = (self.float(0.0), self.float(1.0));
                self.clamp(kind, rows, &low, &high)
            }
            (MathFunction::Fract, [rows]) => {
                let floor = self.each(Op::FFloor, &[rows]);
                self.each(Op::FSub, &[rows, &floor])
            }
            (MathFunction::Modf, [rows]) => {
                let whole = self.each(Op::FTrunc, &[rows]);
                [self.each(Op::FSub, &[rows, &whole]), whole].concat()
            }
            (MathFunction::Frexp, [rows]) => {
                [self.each(Op::FFraction, &[rows]), self.each(Op::FExponent, &[rows])].concat()
            }
            (MathFunction::Mix, [from, to, share]) => {
                // from + share * (to - from)
                let span = self.each(Op::FSub, &[to, from]);
                self.each(Op::FFma, &[share, &span, from])
            }
            (MathFunction::Step, [edge, rows]) => {
                let reached = self.each(Op::FLessEqual, &[edge, rows]);
                self.each(Op::UToF, &[&reached])
            }
            (MathFunction::SmoothStep, [low, high, rows]) => self.smooth_step(low, high, rows),
            (MathFunction::Radians, [rows]) => {
                let factor = self.float(std::f32::consts::PI / 180.0);
                self.each(Op::FMul, &[rows, &factor])
            }
            (MathFunction::Degrees, [rows]) => {
                let factor = self.float(180.0 / std::f32::consts::PI);
                self.each(Op::FMul, &[rows, &factor])
            }
            (MathFunction::QuantizeToF16, [rows]) => {
                let bits = self.each(Op::ToHalf, &[rows]);
                self.each(Op::FromHalf, &[&bits])
            }
            _ => return None,
        })
    }

    /// t² · (3 - 2t), where t goes from 0 to 1 between the edges.
    fn smooth_step(&mut self, low: &[Row], high: &[Row], rows: &[Row]) -> Vec<Row> {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let (two, three) = (self.float(-2.0), self.float(3.0));
        let way = self.each(Op::FSub, &[rows, low]);
        let whole = self.each(Op::FSub, &[high, low]);
        let share = self.each(Op::FDiv, &[&way, &whole]);
        let t = self.clamp(ScalarKind::Float, &share, &zero, &one);
        let slope = self.each(Op::FFma, &[&two, &t, &three]);
        let square = self.each(Op::FMul, &[&t, &t]);
        self.each(Op::FMul, &[&square, &slope])
    }

    /// Functions of vectors as a whole.
    fn geometric(
        &mut self,
        function: MathFunction,
        kind: ScalarKind,
        all: &[&[Row]],
    ) -> Option<Vec<Row>> {
        Some(match (function, all) {
            (MathFunction::Dot, [left, right]) => vec![self.dot(kind, left, right)],
            (MathFunction::Length, [rows]) => vec![self.length_of(rows)],
            (MathFunction::Distance, [left, right]) => {
                let between = self.each(Op::FSub, &[left, right]);
                vec![self.length_of(&between)]
            }
            (MathFunction::Normalize, [rows]) => {
                let length = [self.length_of(rows)];
                self.each(Op::FDiv, &[rows, &length])
            }
            (MathFunction::Cross, [left, right]) => self.cross(left, right),
            (MathFunction::Reflect, [incident, normal]) => {
                // incident - 2 * dot(normal, incident) * normal
                let minus_two = self.float(-2.0);
                let dot = [self.dot(kind, normal, incident)];
                let twice = self.each(Op::FMul, &[&dot, &minus_two]);
                self.each(Op::FFma, &[&twice, normal, incident])
            }
            (MathFunction::FaceForward, [rows, incident, normal]) => {
                let zero = self.float(0.0);
                let dot = [self.dot(kind, incident, normal)];
                let faces = self.each(Op::FLess, &[&dot, &zero]);
                let turned = self.each(Op::FNeg, &[rows]);
                self.each(Op::Select, &[&turned, rows, &faces])
            }
            (MathFunction::Refract, [incident, normal, ratio]) => {
                self.refract(incident, normal, ratio)
            }
            _ => return None,
        })
    }

    /// `ratio * incident - (ratio * dot + √k) * normal`, or 0 where
    /// `k = 1 - ratio² * (1 - dot²)` is negative.
    fn refract(&mut self, incident: &[Row], normal: &[Row], ratio: &[Row]) -> Vec<Row> {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let dot = [self.dot(ScalarKind::Float, normal, incident)];
        let square = self.each(Op::FMul, &[&dot, &dot]);
        let rest = self.each(Op::FSub, &[&one, &square]);
        let ratios = self.each(Op::FMul, &[ratio, ratio]);
        let part = self.each(Op::FMul, &[&ratios, &rest]);
        let k = self.each(Op::FSub, &[&one, &part]);
        let root = self.each(Op::FSqrt, &[&k]);
        let along = self.each(Op::FFma, &[ratio, &dot, &root]);
        let scaled = self.each(Op::FMul, &[ratio, incident]);
        let across = self.each(Op::FMul, &[&along, normal]);
        let bent = self.each(Op::FSub, &[&scaled, &across]);
        let none = self.each(Op::FLess, &[&k, &zero]);
        self.each(Op::Select, &[&bent, &zero, &none])
    }

    fn cross(&mut self, left: &[Row], right: &[Row]) -> Vec<Row> {
        let turned = |rows: &[Row]| [rows[1], rows[2], rows[0]];
        let twice = |rows: &[Row]| [rows[2], rows[0], rows[1]];
        let first = self.each(Op::FMul, &[&turned(left), &twice(right)]);
        let second = self.each(Op::FMul, &[&twice(left), &turned(right)]);
        self.each(Op::FSub, &[&first, &second])
    }

    fn length_of(&mut self, rows: &[Row]) -> Row {
        if let [row] = *rows {
            return self.alu(Op::FAbs, [row; 3]);
        }
        let squares = self.dot(ScalarKind::Float, rows, rows);
        self.alu(Op::FSqrt, [squares; 3])
    }

    pub(super) fn clamp(
        &mut self,
        kind: ScalarKind,
        rows: &[Row],
        low: &[Row],
        high: &[Row],
    ) -> Vec<Row> {
        let (min, max) = match kind {
            ScalarKind::Float => (Op::FMin, Op::FMax),
            ScalarKind::Sint => (Op::SMin, Op::SMax),
            _ => (Op::UMin, Op::UMax),
        };
        let raised = self.each(max, &[rows, low]);
        self.each(min, &[&raised, high])
    }

    pub(super) fn dot(&mut self, kind: ScalarKind, left: &[Row], right: &[Row]) -> Row {
        let (multiply, add) = match kind {
            ScalarKind::Float => (Op::FMul, Op::FAdd),
            _ => (Op::IMul, Op::IAdd),
        };
        let products = self.each(multiply, &[left, right]);
        self.reduce(add, &products)
    }
}

/// The instruction that a function is, where it is one.
fn direct(function: MathFunction, kind: ScalarKind) -> Option<Op> {
    match kind {
        ScalarKind::Float => of_floats(function),
        ScalarKind::Sint | ScalarKind::Uint => of_integers(function, kind == ScalarKind::Sint),
        _ => None,
    }
}

fn of_floats(function: MathFunction) -> Option<Op> {
    use MathFunction as M;
    Some(match function {
        M::Abs => Op::FAbs,
        M::Sign => Op::FSign,
        M::Min => Op::FMin,
        M::Max => Op::FMax,
        M::Sin => Op::FSin,
        M::Cos => Op::FCos,
        M::Tan => Op::FTan,
        M::Asin => Op::FAsin,
        M::Acos => Op::FAcos,
        M::Atan => Op::FAtan,
        M::Atan2 => Op::FAtan2,
        M::Sinh => Op::FSinh,
        M::Cosh => Op::FCosh,
        M::Tanh => Op::FTanh,
        M::Asinh => Op::FAsinh,
        M::Acosh => Op::FAcosh,
        M::Atanh => Op::FAtanh,
        M::Ceil => Op::FCeil,
        M::Floor => Op::FFloor,
        M::Round => Op::FRound,
        M::Trunc => Op::FTrunc,
        M::Exp => Op::FExp,
        M::Exp2 => Op::FExp2,
        M::Log => Op::FLog,
        M::Log2 => Op::FLog2,
        M::Pow => Op::FPow,
        M::Fma => Op::FFma,
        M::Sqrt => Op::FSqrt,
        M::InverseSqrt => Op::FInverseSqrt,
        M::Ldexp => Op::FScale,
        _ => return None,
    })
}

fn of_integers(function: MathFunction, signed: bool) -> Option<Op> {
    use MathFunction as M;
    Some(match (function, signed) {
        (M::Abs, true) => Op::SAbs,
        (M::Sign, true) => Op::SSign,
        (M::Min, true) => Op::SMin,
        (M::Min, false) => Op::UMin,
        (M::Max, true) => Op::SMax,
        (M::Max, false) => Op::UMax,
        (M::CountOneBits, _) => Op::CountOnes,
        (M::CountLeadingZeros, _) => Op::LeadingZeros,
        (M::CountTrailingZeros, _) => Op::TrailingZeros,
        (M::ReverseBits, _) => Op::ReverseBits,
        (M::FirstLeadingBit, true) => Op::FirstLeadingSigned,
        (M::FirstLeadingBit, false) => Op::FirstLeading,
        (M::FirstTrailingBit, _) => Op::FirstTrailing,
        (M::ExtractBits, true) => Op::ExtractSigned,
        (M::ExtractBits, false) => Op::Extract,
        (M::Dot4I8Packed, _) => Op::DotSignedBytes,
        (M::Dot4U8Packed, _) => Op::DotBytes,
        _ => return None,
    })
}
