//! The small values of a suite's file that may be written in more than one way.

use super::Expr;
use super::decode::{At, Decode, Diagnostics, Entries};
use super::keywords::{PlainSplit, keyword};
use gpubench_core::gpu::{Element, MatrixProduct, Scalar, names_matrix_product};
use gpubench_core::units::Bytes;
use gpubench_core::workload::Split;
use gpubench_core::yaml::{Node, Value};
use std::ops::Range;

/// An expression and where its text begins in the file.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The expression.
    pub expr: Expr,
    at: Range<usize>,
    /// Whether the file holds the text letter for letter, so that a part of it has a place.
    verbatim: bool,
}

impl Expression {
    /// Where a part of the expression stands.
    pub fn part(&self, part: &Range<usize>) -> Range<usize> {
        part_of(&self.at, part, self.verbatim)
    }
}

fn part_of(at: &Range<usize>, part: &Range<usize>, verbatim: bool) -> Range<usize> {
    if verbatim { at.start + part.start..at.start + part.end } else { at.clone() }
}

impl Decode for Expression {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let written = diagnostics.source().text.get(node.at.clone()).unwrap_or_default().to_owned();
        let (text, start) = match &node.value {
            Value::Int(_) | Value::Float(_) => (written.clone(), Some(0)),
            Value::Text(text) => (text.clone(), written.find(text.as_str())),
            _ => return diagnostics.unexpected(node, "a number or an expression"),
        };
        let at = match start {
            Some(start) => node.at.start + start..node.at.start + start + text.len(),
            None => node.at.clone(),
        };
        let verbatim = start.is_some();
        match (Expr::parse(&text), &node.value) {
            (Ok(expr), _) => Some(Self { expr, at, verbatim }),
            // YAML's ways to write a number (0x10, 1_000) are more than an expression's.
            (Err(_), Value::Int(value)) => {
                Some(Self { expr: Expr::number(*value as f64), at, verbatim: false })
            }
            (Err(_), Value::Float(value)) if value.is_finite() => {
                Some(Self { expr: Expr::number(*value), at, verbatim: false })
            }
            (Err((part, message)), _) => {
                let cut = text.matches('(').count() != text.matches(')').count();
                let help = "between brackets or braces an expression with a comma needs quotes: \
                            \"ceil_div(n, 4)\"";
                diagnostics.reject(&part_of(&at, &part, verbatim), message, cut.then_some(help))
            }
        }
    }
}

/// A work-group's size along three dimensions.
pub type Group = [u32; 3];
/// The most work-items of one: WGSL's compiler takes no more, and no device is known that does.
const MAX_GROUP: u64 = 16_384;

/// One work-group size or several.
#[derive(Clone, Debug)]
pub enum Groups {
    One(Group),
    Several(Vec<Group>),
}

impl Groups {
    /// All of them.
    pub fn all(&self) -> Vec<Group> {
        match self {
            Self::One(group) => vec![*group],
            Self::Several(groups) => groups.clone(),
        }
    }
}

impl Decode for Groups {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::List(items) if items.iter().all(|i| matches!(i.value, Value::List(_))) => {
                if items.is_empty() {
                    return diagnostics.unexpected(node, "at least one number");
                }
                Vec::decode(node, diagnostics).map(Self::Several)
            }
            _ => Group::decode(node, diagnostics).map(Self::One),
        }
    }
}

impl Decode for Group {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let sizes: Vec<At<u32>> = Vec::decode(node, diagnostics)?;
        if !(1..=3).contains(&sizes.len()) {
            return diagnostics.reject(&node.at, "a work-group has one to three dimensions", None);
        }
        if let Some(zero) = sizes.iter().find(|size| size.value == 0) {
            return diagnostics.reject(&zero.at, "a work-group has at least one work-item", None);
        }
        let items = sizes.iter().fold(1u64, |all, size| all.saturating_mul(size.value.into()));
        if items > MAX_GROUP {
            let message = format!("a work-group of {items} work-items; at most {MAX_GROUP}");
            let help = "devices take 256 to 1024 as a rule, some on processors 8192";
            return diagnostics.reject(&node.at, message, Some(help));
        }
        let mut group = [1; 3];
        for (out, size) in group.iter_mut().zip(sizes) {
            *out = size.value;
        }
        Some(group)
    }
}

super::decode::spec! {
    /// A work-group and the constants that go with it.
    FallbackSpec {
        /// Work-items per work-group along one to three dimensions.
        group: Groups,
        /// Constants that differ from the kernel's.
        constants: Option<Entries<At<Constant>>>,
    }
}

/// A work-group that a kernel may have instead of its own, with constants that go with it.
#[derive(Clone, Debug)]
pub struct Fallback {
    pub group: Group,
    pub constants: Entries<At<Constant>>,
}

impl Decode for Fallback {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if !matches!(node.value, Value::Map(_)) {
            return Some(Self {
                group: Group::decode(node, diagnostics)?,
                constants: Entries(vec![]),
            });
        }
        let spec = FallbackSpec::decode(node, diagnostics)?;
        let Groups::One(group) = spec.group else {
            return diagnostics.reject(&node.at, "a fallback has one work-group", None);
        };
        Some(Self { group, constants: spec.constants.unwrap_or(Entries(vec![])) })
    }
}

/// Values by name, of which the product is meant, or a list of cases.
#[derive(Clone, Debug)]
pub enum Sizes {
    Product(Entries<Vec<At<Expression>>>),
    Cases(Vec<At<Entries<At<Expression>>>>),
}

impl Decode for Sizes {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Map(_) => Entries::decode(node, diagnostics).map(Self::Product),
            Value::List(_) => Vec::decode(node, diagnostics).map(Self::Cases),
            _ => diagnostics.unexpected(node, "a map of lists or a list of maps"),
        }
    }
}

/// A field of the parameter block.
#[derive(Clone, Debug)]
pub struct Param {
    pub scalar: Scalar,
    pub value: Expression,
}

impl Decode for Param {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            let value = Expression::decode(node, diagnostics)?;
            return Some(Self { scalar: Scalar::U32, value });
        };
        let [(key, inner)] = entries.as_slice() else {
            return diagnostics
                .unexpected(node, "an expression, or a map with one type: `f32: 0.5`");
        };
        let scalar = match Element::try_from(key.name.clone()) {
            Ok(Element {
                scalar: scalar @ (Scalar::F32 | Scalar::U32 | Scalar::I32),
                width: 1,
            }) => scalar,
            _ => {
                let message = format!("`{}` is no type of a parameter", key.name);
                return diagnostics.reject(&key.at, message, Some("there are f32, u32 and i32"));
            }
        };
        Some(Self { scalar, value: Expression::decode(inner, diagnostics)? })
    }
}

/// A constant that the compiler knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant(pub gpubench_core::gpu::Constant);

impl Decode for Constant {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        use gpubench_core::gpu::Constant as Known;
        match &node.value {
            Value::Int(n) if (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(n) => {
                Some(Self(Known::Int(*n)))
            }
            Value::Float(x) if (*x as f32).is_finite() => Some(Self(Known::Float(*x))),
            Value::Text(text) => {
                let known = match names_matrix_product(text) {
                    true => MatrixProduct::try_from(text.clone()).map(Known::Matrix),
                    false => Element::try_from(text.clone()).map(Known::Type),
                };
                let help = "a constant is a number, a type, or a product of matrices";
                match known {
                    Ok(constant) => Some(Self(constant)),
                    Err(why) => diagnostics.reject(&node.at, why, Some(help)),
                }
            }
            _ => diagnostics.unexpected(node, "a number of 32 bits, a type or a product"),
        }
    }
}

/// What replaces a name in a kernel's text: a text, or a whole number without quotes.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition(pub String);

impl Decode for Definition {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Int(n) => Some(Self(n.to_string())),
            Value::Text(text) => Some(Self(text.clone())),
            _ => diagnostics.unexpected(node, "a text or a whole number"),
        }
    }
}

/// A number of bytes: `4096`, `64 MiB`, `2GB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByteSize(pub Bytes);

impl ByteSize {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().ok()?;
        let unit: u64 = match text[digits..].trim() {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "kB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            _ => return None,
        };
        number.checked_mul(unit).map(|bytes| Self(Bytes(bytes)))
    }
}

impl Decode for ByteSize {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let size = match &node.value {
            Value::Int(bytes) => u64::try_from(*bytes).ok().map(|bytes| Self(Bytes(bytes))),
            Value::Text(text) => Self::parse(text),
            _ => None,
        };
        size.or_else(|| diagnostics.unexpected(node, "a number of bytes such as 4096 or `64 MiB`"))
    }
}

super::decode::spec! {
    /// The chunk's rows.
    RowsSpec {
        /// Rows of its neighbours that a chunk also sees.
        rows: HaloSpec,
    }
}

super::decode::spec! {
    /// Rows of a chunk's neighbours.
    HaloSpec {
        /// How many on either side.
        halo: u32,
    }
}

/// Which part of a buffer a chunk sees.
#[derive(Clone, Debug)]
pub struct Splitting(pub Split);

impl Decode for Splitting {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Value::Map(_)) {
            let halo = RowsSpec::decode(node, diagnostics)?.rows.halo;
            return Some(Self(Split::Rows { halo }));
        }
        Some(Self(match keyword(node, diagnostics)? {
            PlainSplit::Broadcast => Split::Broadcast,
            PlainSplit::Rows => Split::Rows { halo: 0 },
        }))
    }
}

impl Decode for Element {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::decode(node, diagnostics)?;
        Self::try_from(text).map_err(|why| diagnostics.push(&node.at, why, None)).ok()
    }
}

/// The experiments that a workload asks for, each with its options where it has any: a list of
/// words and of maps from a word to options, or one such map.
#[derive(Clone, Debug)]
pub struct Experiments(pub Vec<(At<String>, Option<Node>)>);

impl Decode for Experiments {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let mut all = vec![];
        match &node.value {
            Value::List(items) => {
                for item in items {
                    experiment(item, diagnostics, &mut all)?;
                }
            }
            _ => experiment(node, diagnostics, &mut all)?,
        }
        Some(Self(all))
    }
}

fn experiment(
    node: &Node,
    diagnostics: &mut Diagnostics,
    all: &mut Vec<(At<String>, Option<Node>)>,
) -> Option<()> {
    match &node.value {
        Value::Text(word) => all.push((At { value: word.clone(), at: node.at.clone() }, None)),
        Value::Map(entries) => all.extend(entries.iter().map(|(key, options)| {
            (At { value: key.name.clone(), at: key.at.clone() }, Some(options.clone()))
        })),
        _ => {
            return diagnostics
                .unexpected(node, "a kind of experiment, or a map from it to its options");
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
