//! Bodies that draw each other.

use super::{Data, Problem, map};
use gpubench_core::error::Result;

/// One step of `n` bodies (position and mass) under their mutual attraction, softened by
/// `softening` (S. Aarseth, *Dynamical evolution of clusters of galaxies*, 1963): after `dt`, the
/// position is `x + v·dt + a·dt²/2` and the velocity `v + a·dt`, with
/// `a_i = Σ m_j (x_j − x_i) / (|x_j − x_i|² + softening)^(3/2)`. Fourth components stay.
///
/// # Errors
/// As [`super::Reference`].
pub fn nbody(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let n = problem.size("n")?;
    // Rounded as the kernel sees them.
    let softening = f64::from(problem.number("softening")? as f32);
    let dt = f64::from(problem.number("dt")? as f32);
    let scalars = n.saturating_mul(4);
    let bodies: Vec<[f64; 4]> = quads(&problem.f32("body", scalars)?[..scalars]);
    let velocities: Vec<[f64; 4]> = quads(&problem.f32("velocity", scalars)?[..scalars]);
    let both = map(n, |i| {
        let pull = pull(&bodies, bodies[i], softening);
        let [mut moved, mut faster] = [bodies[i], velocities[i]];
        for axis in 0..3 {
            moved[axis] += faster[axis] * dt + pull[axis] * dt * dt / 2.0;
            faster[axis] += pull[axis] * dt;
        }
        [moved.map(|x| x as f32), faster.map(|x| x as f32)]
    });
    let flat = |which: usize| Data::F32(both.iter().flat_map(|each| each[which]).collect());
    Ok(vec![("moved", flat(0)), ("faster", flat(1))])
}

fn quads(flat: &[f32]) -> Vec<[f64; 4]> {
    flat.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]].map(f64::from)).collect()
}

/// The acceleration of the body `own`.
fn pull(bodies: &[[f64; 4]], own: [f64; 4], softening: f64) -> [f64; 3] {
    let mut pull = [0.0; 3];
    for body in bodies {
        let way = [body[0] - own[0], body[1] - own[1], body[2] - own[2]];
        let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] + softening;
        let strength = body[3] / (square * square.sqrt());
        pull.iter_mut().zip(way).for_each(|(pull, way)| *pull += strength * way);
    }
    pull
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(bodies: &[f32], softening: f64, dt: f64) -> [Vec<f32>; 2] {
        let numbers = [("n", bodies.len() as f64 / 4.0), ("softening", softening), ("dt", dt)];
        let rest = vec![0.0; bodies.len()];
        let problem = Problem::new(
            numbers.map(|(name, x)| (name.to_owned(), x)).into(),
            vec![
                ("body".to_owned(), Data::F32(bodies.to_vec())),
                ("velocity".to_owned(), Data::F32(rest)),
            ],
        );
        nbody(&problem)
            .unwrap()
            .into_iter()
            .map(|(_, data)| match data {
                Data::F32(v) => v,
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    }

    #[test]
    fn hand_computed_two_bodies() {
        let [moved, faster] = step(&[0., 0., 0., 3., 2., 0., 0., 1.], 1e-30, 0.5);
        // 1 / 2² and 3 / 2², half a second long.
        assert_eq!(faster, [0.125, 0., 0., 0., -0.375, 0., 0., 0.]);
        assert_eq!(moved, [0.03125, 0., 0., 3., 1.90625, 0., 0., 1.]);
    }

    #[test]
    fn momentum_is_kept() {
        let bodies: Vec<f32> = (0..40).map(|i| ((i * 29) % 37) as f32 / 37.0).collect();
        let [_, faster] = step(&bodies, 0.01, 0.125);
        for axis in 0..3 {
            let momentum = (0..10).map(|i| f64::from(bodies[4 * i + 3] * faster[4 * i + axis]));
            assert!(momentum.sum::<f64>().abs() < 1e-5);
        }
        assert!(faster.iter().any(|v| v.abs() > 0.1));
    }
}
