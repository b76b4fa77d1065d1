//! What is not known, in WGSL's own spelling.

use naga::{Expression, Statement};

/// What a statement that is not known is called.
pub(super) fn statement(statement: &Statement) -> &'static str {
    match statement {
        Statement::ImageStore { .. } => "`textureStore`",
        Statement::ImageAtomic { .. } => "`textureAtomic…`",
        Statement::RayQuery { .. } => "`rayQuery…`",
        Statement::RayPipelineFunction(_) => "`traceRay`",
        Statement::CooperativeStore { .. } => "`coopStore`",
        _ => "this statement",
    }
}

/// What an expression that is not known is called.
pub(super) fn expression(expression: &Expression) -> &'static str {
    match expression {
        Expression::ImageSample { .. } => "`textureSample…`",
        Expression::ImageLoad { .. } => "`textureLoad`",
        Expression::ImageQuery { .. } => "`textureDimensions` and its like",
        Expression::Derivative { .. } => "derivatives (`dpdx…`)",
        Expression::CooperativeLoad { .. } => "`coopLoad`",
        Expression::CooperativeMultiplyAdd { .. } => "`coopMultiplyAdd`",
        Expression::RayQueryGetIntersection { .. } => "`rayQueryGet…`",
        _ => "this expression",
    }
}
