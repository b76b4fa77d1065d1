//! What an instruction computes, and the class it counts in.

use super::Class;

/// What one instruction computes on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FFma,
    FNeg,
    FAbs,
    FMin,
    FMax,
    FSign,
    FFloor,
    FCeil,
    FTrunc,
    FRound,
    FSqrt,
    FInverseSqrt,
    FExp,
    FExp2,
    FPow,
    FLog,
    FLog2,
    FSin,
    FCos,
    FTan,
    FAsin,
    FAcos,
    FAtan,
    FAtan2,
    FSinh,
    FCosh,
    FTanh,
    FAsinh,
    FAcosh,
    FAtanh,
    /// The fraction and the exponent of `frexp`, and `ldexp`.
    FFraction,
    FExponent,
    FScale,
    /// The nearest `f16`, as an `f32`; its bits, and the value of such bits.
    RoundHalf,
    ToHalf,
    FromHalf,
    /// A number from 0 or -1 to 1 in so many bits, and back.
    ToShare(u32),
    ToSignedShare(u32),
    FromShare(u32),
    FromSignedShare(u32),
    IAdd,
    ISub,
    IMul,
    INeg,
    SAbs,
    SSign,
    UDiv,
    URem,
    SDiv,
    SRem,
    ShiftLeft,
    ShiftRightU,
    ShiftRightS,
    And,
    Or,
    Xor,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    ReverseBits,
    FirstLeading,
    FirstLeadingSigned,
    FirstTrailing,
    /// Ones from a bit on, so many.
    BitMask,
    /// So many bits from a bit on.
    Extract,
    ExtractSigned,
    DotBytes,
    DotSignedBytes,
    FEqual,
    FNotEqual,
    FLess,
    FLessEqual,
    Equal,
    NotEqual,
    ULess,
    ULessEqual,
    SLess,
    SLessEqual,
    UMin,
    UMax,
    SMin,
    SMax,
    Select,
    FToU,
    FToS,
    UToF,
    SToF,
    Copy,
}

impl Op {
    /// The class it counts in; `None` for what costs nothing on a GPU.
    pub(super) fn class(self) -> Option<Class> {
        use Op::*;
        Some(match self {
            FAdd | FSub => Class::FloatAdd,
            FMul => Class::FloatMul,
            FFma => Class::FloatFma,
            FDiv | FRem => Class::FloatDiv,
            FSqrt | FInverseSqrt => Class::FloatSqrt,
            FExp | FExp2 | FPow | FSinh | FCosh | FTanh => Class::FloatExp,
            FLog | FLog2 | FAsinh | FAcosh | FAtanh => Class::FloatLog,
            FSin | FCos | FTan | FAsin | FAcos | FAtan | FAtan2 => Class::FloatTrigonometry,
            FNeg | FAbs | FMin | FMax | FSign | FFloor | FCeil | FTrunc | FRound => {
                Class::FloatMinMax
            }
            IAdd | ISub | INeg | SAbs | SSign => Class::IntAdd,
            IMul | DotBytes | DotSignedBytes => Class::IntMul,
            UDiv | URem | SDiv | SRem => Class::IntDiv,
            ShiftLeft | ShiftRightU | ShiftRightS => Class::Shift,
            And | Or | Xor | CountOnes | LeadingZeros | TrailingZeros | ReverseBits
            | FirstLeading | FirstLeadingSigned | FirstTrailing | BitMask | Extract
            | ExtractSigned => Class::Logic,
            FEqual | FNotEqual | FLess | FLessEqual | Equal | NotEqual | ULess | ULessEqual
            | SLess | SLessEqual | UMin | UMax | SMin | SMax | Select => Class::Compare,
            FToU | FToS | UToF | SToF | FFraction | FExponent | FScale | ToHalf | FromHalf
            | ToShare(_) | ToSignedShare(_) | FromShare(_) | FromSignedShare(_) => Class::Convert,
            // An instruction on `f16` rounds by itself.
            Copy | RoundHalf => return None,
        })
    }
}
