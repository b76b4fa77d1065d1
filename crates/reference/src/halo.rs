//! Boxes of arrays in contiguous buffers, as halos travel.

use super::{Data, Problem};
use gpubench_core::error::{Error, Result};

/// `face`: `nx`·`ny`·`nz` elements of each of `nc` fields of `field`, x fastest and fields slowest,
/// the first of which is element `first`. From one element to the next it is 1 along x, `sy` along
/// y, `sz` along z and `sc` between fields.
///
/// # Errors
/// As [`super::Reference`]; `Usage` for a box outside the array.
pub fn pack_box(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let places = places(problem)?;
    problem.room("face", places.len())?;
    let field = problem.f32("field", reach(&places))?;
    Ok(vec![("face", Data::F32(places.iter().map(|&place| field[place]).collect()))])
}

/// `field` with the elements of such a box taken from `face`.
///
/// # Errors
/// As [`pack_box`].
pub fn unpack_box(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let places = places(problem)?;
    let face = problem.f32("face", places.len())?;
    let mut field = problem.f32("field", reach(&places))?.to_vec();
    for (place, value) in places.into_iter().zip(face) {
        field[place] = *value;
    }
    Ok(vec![("field", Data::F32(field))])
}

/// Elements that an array must have to hold all of these.
fn reach(places: &[usize]) -> usize {
    places.iter().max().map_or(0, |last| last.saturating_add(1))
}

fn places(problem: &Problem) -> Result<Vec<usize>> {
    let size = |name| problem.size(name);
    let [nx, ny, nz, nc] = [size("nx")?, size("ny")?, size("nz")?, size("nc")?];
    let [first, sy, sz, sc] = [size("first")?, size("sy")?, size("sz")?, size("sc")?];
    let count = [nx, ny, nz, nc].into_iter().try_fold(1usize, usize::checked_mul);
    if count.is_none_or(|count| count > u32::MAX as usize) {
        return Err(Error::Usage("the box has more elements than 32 bits count".into()));
    }
    let mut places = vec![];
    for field in (0..nc).map(|c| c.saturating_mul(sc)) {
        for plane in (0..nz).map(|z| z.saturating_mul(sz).saturating_add(field)) {
            for row in (0..ny).map(|y| y.saturating_mul(sy).saturating_add(plane)) {
                places.extend((0..nx).map(|x| first.saturating_add(row).saturating_add(x)));
            }
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::super::Reference;
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_at_its_place() {
        // Two fields of 3 x 4 x 5 cells: the second plane along y of both.
        let field: Vec<f32> = (0..120u8).map(f32::from).collect();
        let numbers = [
            ("nx", 3),
            ("ny", 1),
            ("nz", 5),
            ("nc", 2),
            ("first", 3),
            ("sy", 3),
            ("sz", 12),
            ("sc", 60),
        ];
        let numbers = numbers.map(|(name, n)| (name.to_owned(), f64::from(n)));
        let run = |of: Reference, field: &[f32], face: Vec<f32>| {
            let buffers = [("field", field.to_vec()), ("face", face)];
            let buffers = buffers.map(|(name, data)| (name.to_owned(), Data::F32(data)));
            match of(&Problem::new(numbers.to_vec(), buffers.to_vec())).unwrap().remove(0).1 {
                Data::F32(v) => v,
                other => panic!("{other:?}"),
            }
        };
        let face = run(pack_box, &field, vec![0.0; 30]);
        assert_eq!(face[..6], [3.0, 4.0, 5.0, 15.0, 16.0, 17.0]);
        assert_eq!(face[15], 63.0);
        let back = run(unpack_box, &vec![-1.0; 120], face);
        for (i, value) in back.into_iter().enumerate() {
            assert_eq!(value, if i / 3 % 4 == 1 { field[i] } else { -1.0 }, "{i}");
        }
    }
}
