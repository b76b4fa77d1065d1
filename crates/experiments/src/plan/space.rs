//! The variants of a kernel as a space that a strategy can search.

use gpubench_core::gpu::Constant;
use gpubench_tune::Space;

/// A variant's work-group and constants.
pub type Numbers<'a> = ([u32; 3], &'a [(String, Constant)]);

/// The variants as numbers: those sides of the group and those constants that differ between them. Types
/// count as their width, or, where two are as wide, as their place in the list.
///
/// # Errors
/// Why they are no space: there is none, or two are alike.
pub fn space(variants: &[Numbers]) -> Result<Space, String> {
    let mut columns: Vec<(String, Vec<f64>)> = vec![];
    for (axis, name) in ["GROUP_X", "GROUP_Y", "GROUP_Z"].into_iter().enumerate() {
        let sizes = variants.iter().map(|(group, _)| f64::from(group[axis]));
        columns.push((name.to_owned(), sizes.collect()));
    }
    for (name, _) in variants.first().map_or(&[][..], |(_, constants)| constants) {
        columns.push((name.clone(), numbers(name, variants)));
    }
    columns.retain(|(_, column)| column.iter().any(|value| *value != column[0]));
    if columns.is_empty() {
        // A search of one variant still is one.
        columns.push(("variant".to_owned(), vec![0.0; variants.len()]));
    }
    let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let rows = (0..variants.len()).map(|row| columns.iter().map(|column| column[row]).collect());
    Space::new(names, rows.collect())
        .map_err(|error| format!("its variants are no space: {error:?}"))
}

/// The values of a constant in all variants.
fn numbers(name: &str, variants: &[Numbers]) -> Vec<f64> {
    let value = |(_, constants): &Numbers| {
        let found = constants.iter().find(|(known, _)| known == name);
        found.map_or(Constant::Int(0), |(_, value)| value.clone())
    };
    let values: Vec<Constant> = variants.iter().map(value).collect();
    let mut known: Vec<&Constant> = vec![];
    for value in &values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    let clash = known
        .iter()
        .enumerate()
        .any(|(i, value)| known[..i].iter().any(|other| other.number() == value.number()));
    let place = |value: &Constant| known.iter().position(|other| *other == value).unwrap_or(0);
    let number = |value: &Constant| if clash { place(value) as f64 } else { value.number() };
    values.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Element;

    #[test]
    fn what_differs_between_variants_is_a_parameter() {
        let element = |name: &str| Constant::Type(Element::try_from(name.to_owned()).unwrap());
        let constants = |v: &str, items| {
            vec![
                ("SAME".to_owned(), Constant::Int(3)),
                ("V".to_owned(), element(v)),
                ("ITEMS".to_owned(), Constant::Int(items)),
            ]
        };
        let (a, b, c) = (constants("f32", 1), constants("u32", 2), constants("f32x4", 2));
        let variants = [([8, 4, 1], &a[..]), ([8, 8, 1], &b[..]), ([8, 8, 1], &c[..])];
        let space = space(&variants).unwrap();
        assert_eq!(space.names(), ["GROUP_Y", "V", "ITEMS"]);
        assert_eq!(space.variants(), [[4.0, 0.0, 1.0], [8.0, 1.0, 2.0], [8.0, 2.0, 2.0]]);
    }
}
