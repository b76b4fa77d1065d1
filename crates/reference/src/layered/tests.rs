use super::super::{fill, seismic};
use super::*;
use gpubench_core::gpu::Scalar;
use gpubench_core::workload::Fill;

/// A P wave of the first medium moves 0.4 cells a step.
const STEP: f64 = 0.4;

/// What ends waves at the faces.
#[derive(Clone, Copy)]
enum Faces {
    /// Nothing: they come back.
    Wall,
    Sponge(usize),
    Layer(usize),
}

/// A cube on its way.
struct Waves {
    n: usize,
    faces: Faces,
    /// dt/(ρh), λ·dt/h and μ·dt/h of each plane.
    layers: Vec<f32>,
    field: Vec<f32>,
    memory: Vec<f32>,
}

impl Waves {
    /// `medium` says density, λ and μ of each plane, with h = 1.
    fn new(n: usize, faces: Faces, medium: impl Fn(usize) -> [f64; 3], field: Vec<f32>) -> Self {
        let number = |i: usize| {
            let [density, lambda, mu] = medium(i % n);
            [STEP / density, STEP * lambda, STEP * mu][i / n] as f32
        };
        let cells = if let Faces::Layer(cells) = faces { cells } else { 0 };
        let (layers, memory) = ((0..3 * n).map(number).collect(), vec![0.0; 36 * cells * n * n]);
        Self { n, faces, layers, field, memory }
    }

    fn half_step(&mut self, phase: usize) {
        let (sponge, pml) = match self.faces {
            Faces::Wall => (0, 0),
            Faces::Sponge(cells) => (cells, 0),
            Faces::Layer(cells) => (0, cells),
        };
        let sizes = [("n", self.n), ("phase", phase), ("sponge", sponge), ("pml", pml)];
        let numbers = sizes.map(|(name, size)| (name, size as f64)).into_iter();
        // As the suite has them: 0.1 % of a P wave would return from ten cells.
        let more = [("loss", 0.02), ("damping", 0.42), ("shift", 0.1)];
        let numbers = numbers.chain(more).map(|(name, x)| (name.to_owned(), x)).collect();
        let buffers = [
            ("before", self.field.clone()),
            ("layers", self.layers.clone()),
            ("memory", std::mem::take(&mut self.memory)),
            ("field", std::mem::take(&mut self.field)),
        ];
        let buffers = buffers.map(|(name, values)| (name.to_owned(), Data::F32(values))).into();
        let problem = Problem::new(numbers, buffers);
        let reference = if pml > 0 { elastic_pml } else { elastic_layered };
        for (name, data) in reference(&problem).unwrap() {
            match (name, data) {
                ("field", Data::F32(values)) => self.field = values,
                ("memory", Data::F32(values)) => self.memory = values,
                other => panic!("{other:?}"),
            }
        }
    }

    fn steps(&mut self, count: usize) {
        for phase in (0..count).flat_map(|_| [0, 1]) {
            self.half_step(phase);
        }
    }

    fn at(&self, c: usize, [x, y, z]: [usize; 3]) -> f64 {
        f64::from(self.field[((c * self.n + z) * self.n + y) * self.n + x])
    }
}

/// Density 1 and a P wave of one cell per unit of time.
fn uniform(_: usize) -> [f64; 3] {
    [1.0, 1.0 / 3.0, 1.0 / 3.0]
}

fn noise(n: usize) -> Vec<f32> {
    match fill(&Fill::Uniform([-1.0, 1.0]), Scalar::F32, 9 * n * n * n, 3) {
        Data::F32(noise) => noise,
        other => panic!("{other:?}"),
    }
}

/// The reference for one medium is a computation of its own.
#[test]
fn equal_layers_are_one_medium() {
    let n = 9;
    let numbers = |phase: usize| {
        let sizes = [("n", n as f64), ("phase", phase as f64), ("sponge", 3.0), ("loss", 0.02)];
        let medium = [("density", STEP), ("lambda", STEP / 3.0), ("mu", STEP / 3.0)];
        sizes.into_iter().chain(medium).map(|(name, x)| (name.to_owned(), x)).collect()
    };
    let mut layered = Waves::new(n, Faces::Sponge(3), uniform, noise(n));
    let mut absorbed = Waves::new(n, Faces::Layer(3), uniform, noise(n));
    let mut field = noise(n);
    for phase in [0, 1] {
        let buffers = ["before", "field"].map(|name| (name.to_owned(), Data::F32(field.clone())));
        let problem = Problem::new(numbers(phase), buffers.into());
        let Data::F32(after) = seismic::elastic(&problem).unwrap().remove(0).1 else { panic!() };
        field = after;
        layered.half_step(phase);
        absorbed.half_step(phase);
        let far = |values: &[f32], i: usize| (values[i] - field[i]).abs() > 1e-6;
        assert!(!(0..field.len()).any(|i| far(&layered.field, i)), "phase {phase}");
        // The cells that have nothing of the layer around them.
        let inner = |i: &usize| {
            [i % n, i / n % n, i / n / n % n].iter().all(|place| (4..n - 4).contains(place))
        };
        assert!(!(0..field.len()).filter(inner).any(|i| far(&absorbed.field, i)), "phase {phase}");
    }
}

/// Kinetic energy and that of the strain of [`uniform`], within `cells` of each axis.
fn energy(at: impl Fn(usize, [usize; 3]) -> f64, cells: std::ops::Range<usize>) -> f64 {
    let (lambda, mu) = (1.0 / 3.0, 1.0 / 3.0);
    let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
    let poisson = lambda / (2.0 * (lambda + mu));
    let mut sum = 0.0;
    for (z, y) in cells.clone().flat_map(|z| cells.clone().map(move |y| (z, y))) {
        for x in cells.clone() {
            let of = |c| at(c, [x, y, z]);
            let square = |cs: [usize; 3]| cs.map(|c| of(c).powi(2)).iter().sum::<f64>();
            let mixed = of(3) * of(4) + of(4) * of(5) + of(3) * of(5);
            let normal = (square([3, 4, 5]) - 2.0 * poisson * mixed) / young;
            sum += (square([0, 1, 2]) + normal + square([6, 7, 8]) / mu) / 2.0;
        }
    }
    sum
}

/// A push along x of 2.5 cells' radius in the middle, which sends P and S waves everywhere.
fn push(n: usize) -> Vec<f32> {
    let square = |place: usize| (place as f64 - (n / 2) as f64).powi(2);
    let value = |i: usize| {
        let distance = square(i % n) + square(i / n % n) + square(i / n / n);
        if i < n.pow(3) { (-distance / 2.5f64.powi(2)).exp() as f32 } else { 0.0 }
    };
    (0..9 * n.pow(3)).map(value).collect()
}

/// What faces return into the inner 12 cells of a box of 32 is the difference to a box of 56, from whose
/// faces nothing is back within 100 steps: a P wave moves 40 cells, the way is 2·28 − 6 less the radius.
#[test]
fn an_absorbing_layer_returns_little_of_a_pulse() {
    let (n, far, inner) = (32, 56, 10..22);
    let start = |n: usize, faces| Waves::new(n, faces, uniform, push(n));
    let mut endless = start(far, Faces::Wall);
    let mut boxes = [Faces::Wall, Faces::Sponge(10), Faces::Layer(10)].map(|f| start(n, f));
    let begun = energy(|c, cell| boxes[0].at(c, cell), 0..n);
    let mut returned = [0.0f64; 3];
    for _ in 0..10 {
        endless.steps(10);
        for (waves, returned) in boxes.iter_mut().zip(&mut returned) {
            waves.steps(10);
            let apart = (far - n) / 2;
            let at = |c: usize, cell: [usize; 3]| {
                waves.at(c, cell) - endless.at(c, cell.map(|place| place + apart))
            };
            *returned = returned.max(energy(at, inner.clone()) / begun);
        }
    }
    let [wall, sponge, layer] = returned;
    println!("of its energy come back: wall {wall:.2e}, sponge {sponge:.2e}, layer {layer:.2e}");
    assert!(wall > 0.01 && layer < 1e-5 * wall && sponge > 100.0 * layer, "{returned:?}");
}

/// Long after a push has left, nothing grows, neither in the box nor in its layer.
#[test]
fn an_absorbing_layer_stays_stable() {
    let n = 16;
    let mut waves = Waves::new(n, Faces::Layer(5), uniform, push(n));
    let all = |waves: &Waves| energy(|c, cell| waves.at(c, cell), 0..n);
    let begun = all(&waves);
    let left = [400, 400, 400].map(|count| {
        waves.steps(count);
        all(&waves) / begun
    });
    println!("after 400, 800 and 1200 steps are left {left:?}");
    assert!(left[0] < 1e-5 && left[1] < left[0] && left[2] < left[1], "{left:?}");
}

/// A wave in the middle column, in which nothing from the faces across has arrived: its velocity, its
/// stress, and whether the stress lies half a cell before the velocity (P) or behind it (S).
struct Plane {
    velocity: usize,
    stress: usize,
    apart: f64,
    /// λ over μ. For S a medium whose P wave is hardly faster: one from the faces across arrives first.
    lambda: f64,
}

const PLANES: [Plane; 2] = [
    Plane { velocity: 2, stress: 5, apart: 0.5, lambda: 1.0 },
    Plane { velocity: 0, stress: 7, apart: -0.5, lambda: -0.6 },
];

impl Plane {
    /// λ and μ where the wave has this modulus.
    fn constants(&self, modulus: f64) -> [f64; 2] {
        let mu = if self.velocity == 2 { modulus / (self.lambda + 2.0) } else { modulus };
        [self.lambda * mu, mu]
    }

    /// A wave of [`self`] that goes up from plane `from`, in a medium of density 1 and this speed.
    fn going_up(&self, n: usize, from: f64, speed: f64) -> Vec<f32> {
        let pulse = |z: f64| (-((z - from) / 3.0).powi(2)).exp();
        let [lambda, mu] = self.constants(speed.powi(2));
        let across = if self.velocity == 2 { lambda / (lambda + 2.0 * mu) } else { 0.0 };
        let value = |i: usize| {
            let (c, z) = (i / n.pow(3), (i / n / n % n) as f64);
            let stress = -speed * pulse(z - self.apart - speed * STEP / 2.0);
            match c {
                _ if c == self.velocity => pulse(z) as f32,
                _ if c == self.stress => stress as f32,
                3 | 4 => (across * stress) as f32,
                _ => 0.0,
            }
        };
        (0..9 * n.pow(3)).map(value).collect()
    }
}

/// Of a wave that meets another medium head-on, (Z2 − Z1)/(Z2 + Z1) of the stress returns and
/// 2·Z2/(Z2 + Z1) goes on, Z being density times speed, each with its medium's speed.
#[test]
fn a_boundary_of_two_layers_reflects_what_it_must() {
    let (n, edge, count) = (64, 31.5, 70);
    for plane in &PLANES {
        let speed = if plane.velocity == 2 { 1.0 } else { 0.845 };
        let from = if plane.velocity == 2 { 14.0 } else { 17.0 };
        // Density and speed of the upper medium. The third has the same Z: all of it goes on.
        for (density, over) in [(2.0, 0.75), (0.5, 0.9), (2.0, speed / 2.0)] {
            let medium = |z: usize| {
                let (density, speed) = if z < 32 { (1.0, speed) } else { (density, over) };
                let [lambda, mu] = plane.constants(density * speed * speed);
                [density, lambda, mu]
            };
            let field = plane.going_up(n, from, speed);
            let mut waves = Waves::new(n, Faces::Wall, medium, field);
            // Sum of the stress over some planes, and its middle, from the bottom in cells.
            let sum = |waves: &Waves, planes: std::ops::Range<usize>| {
                let at = |z: usize| waves.at(plane.stress, [n / 2, n / 2, z]);
                let all: f64 = planes.clone().map(at).sum();
                let offset = 0.25 - plane.apart / 2.0;
                (all, planes.map(|z| (z as f64 + offset) * at(z)).sum::<f64>() / all)
            };
            let (sent, started) = sum(&waves, 0..n);
            waves.steps(count);
            let ((back, below), (on, above)) = (sum(&waves, 0..32), sum(&waves, 32..n));
            let (z1, z2) = (speed, density * over);
            let (reflected, passed) = ((z2 - z1) / (z2 + z1), 2.0 * z2 / (z2 + z1));
            let case = format!("velocity {}, density {density}, speed {over}", plane.velocity);
            // A wave that goes on is as much longer as it is faster.
            let found = [back / sent, on / sent * speed / over];
            println!("{case}: {found:.4?}, must be {:.4?}", [reflected, passed]);
            assert!((found[0] - reflected).abs() < 0.01, "{case}: {found:?}");
            assert!((found[1] - passed).abs() < 0.01, "{case}: {found:?}");
            let beyond = started + speed * STEP * count as f64 - edge;
            let places = [edge - beyond, edge + beyond * over / speed];
            if reflected.abs() > 0.1 {
                assert!((below - places[0]).abs() < 0.5, "{case}: {below}, not {}", places[0]);
            }
            assert!((above - places[1]).abs() < 0.5, "{case}: {above}, not {}", places[1]);
        }
    }
}
