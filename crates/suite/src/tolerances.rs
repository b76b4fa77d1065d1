//! How far a result may differ from what is expected, on all devices and on those of a profile.

use super::decode::{At, Diagnostics, SpecReader};
use super::types::Buffer;
use gpubench_core::gpu::{EMBEDDED, FLUSH_TO_ZERO, ROUND_TO_ZERO, Scalar};
use gpubench_core::workload::Comparison;

/// Differences that pass where a suite names none: of `bf16` and `f16` a few dozen roundings of the type that is
/// written, of `f32` and `f64` some hundreds. Integers must be equal in any case.
const BF16: Comparison = Comparison { relative: 0.15, absolute: 1.5e-2 };
const HALF: Comparison = Comparison { relative: 2e-2, absolute: 2e-3 };
const SINGLE: Comparison = Comparison { relative: 1e-5, absolute: 1e-6 };
const DOUBLE: Comparison = Comparison { relative: 1e-13, absolute: 1e-14 };

/// Devices whose arithmetic may be coarser than the full profile's, by the feature that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile(&'static str);

impl Profile {
    /// The feature.
    pub fn feature(self) -> &'static str {
        self.0
    }

    /// In words.
    pub fn about(self) -> &'static str {
        match self.0 {
            FLUSH_TO_ZERO => "devices that take denormals for zero",
            ROUND_TO_ZERO => "devices that round towards zero",
            _ => "OpenCL's embedded profile",
        }
    }
}

super::decode::spec! {
    /// How far a result may differ on devices of a profile; what is not named is as on all devices, and nothing is
    /// narrower than there.
    ProfileTolerance {
        /// Difference of floats relative to the expected value.
        relative: Option<At<f64>>,
        /// Absolute difference of floats.
        absolute: Option<At<f64>>,
    }
}

super::decode::spec! {
    /// Wider tolerances of devices that say that they compute less exactly. Where one is used, the record says so.
    ProfileTolerances {
        /// On devices of OpenCL's embedded profile.
        embedded: Option<ProfileTolerance>,
        /// On OpenCL devices that take denormals for zero.
        flush_to_zero: Option<ProfileTolerance>,
        /// On OpenCL devices that round towards zero.
        round_to_zero: Option<ProfileTolerance>,
    }
}

/// What a file names of one tolerance.
#[derive(Clone, Copy, Debug, Default)]
struct Named {
    relative: Option<f64>,
    absolute: Option<f64>,
}

impl Named {
    fn read(
        [relative, absolute]: [Option<At<f64>>; 2],
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let relative = number(relative, diagnostics);
        let absolute = number(absolute, diagnostics);
        Some(Self { relative: relative?, absolute: absolute? })
    }

    fn or(self, default: Comparison) -> Comparison {
        Comparison {
            relative: self.relative.unwrap_or(default.relative),
            absolute: self.absolute.unwrap_or(default.absolute),
        }
    }
}

/// The tolerances that the file names.
#[derive(Clone, Debug, Default)]
pub struct Tolerances {
    all: Named,
    profiles: Vec<(Profile, Named)>,
}

impl Tolerances {
    /// Those among the keys of a `verify:`.
    pub fn read(spec: &mut SpecReader, diagnostics: &mut Diagnostics) -> Option<Self> {
        let relative: Option<Option<At<f64>>> = spec.field("relative", diagnostics);
        let absolute: Option<Option<At<f64>>> = spec.field("absolute", diagnostics);
        let profiles: Option<Option<ProfileTolerances>> = spec.field("profiles", diagnostics);
        let all = Named::read([relative?, absolute?], diagnostics)?;
        let Some(given) = profiles? else { return Some(Self { all, profiles: vec![] }) };
        let given = [
            (EMBEDDED, given.embedded),
            (FLUSH_TO_ZERO, given.flush_to_zero),
            (ROUND_TO_ZERO, given.round_to_zero),
        ];
        let mut profiles = vec![];
        for (feature, named) in given {
            if let Some(ProfileTolerance { relative, absolute }) = named {
                profiles.push((Profile(feature), Named::read([relative, absolute], diagnostics)?));
            }
        }
        Some(Self { all, profiles })
    }

    /// With the defaults of the coarsest type among the buffers that are written.
    pub fn or_defaults<'b>(&self, written: impl Iterator<Item = &'b Buffer>) -> Comparison {
        let written: Vec<_> = written.map(|buffer| buffer.element.scalar).collect();
        self.all.or(match (written.contains(&Scalar::F16), written.contains(&Scalar::F32)) {
            _ if written.contains(&Scalar::Bf16) => BF16,
            (true, _) => HALF,
            (false, false) if written.contains(&Scalar::F64) => DOUBLE,
            _ => SINGLE,
        })
    }

    /// Those of profiles, none of them narrower.
    pub fn profiles<'b>(
        &self,
        written: impl Iterator<Item = &'b Buffer>,
    ) -> Vec<(Profile, Comparison)> {
        let all = self.or_defaults(written);
        self.profiles.iter().map(|(profile, named)| (*profile, named.or(all).or(all))).collect()
    }
}

/// A tolerance, if one is given; the outer `None`: a wrong one.
fn number(given: Option<At<f64>>, diagnostics: &mut Diagnostics) -> Option<Option<f64>> {
    match given {
        None => Some(None),
        Some(At { value, .. }) if value >= 0.0 && value.is_finite() => Some(Some(value)),
        Some(At { at, .. }) => {
            diagnostics.reject(&at, "a tolerance is a number that is not negative", None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{decoded, no_mistakes, workload_with};
    use gpubench_core::gpu::Element;
    use gpubench_core::yaml::Node;

    /// The keys of a `verify:` without those that say how.
    fn read(text: &str) -> Result<Tolerances, String> {
        let node = Node::parse("", text).unwrap();
        let mut diagnostics = no_mistakes(text);
        let mut spec = SpecReader::of(&node, &mut diagnostics).unwrap();
        let found = Tolerances::read(&mut spec, &mut diagnostics);
        found.ok_or_else(|| diagnostics.into_found()[0].message.clone())
    }

    fn written(scalars: &[Scalar]) -> Vec<Buffer> {
        let buffer = workload_with("one", "other").buffers.remove(0);
        scalars
            .iter()
            .map(|scalar| Buffer { element: Element::scalar(*scalar), ..buffer.clone() })
            .collect()
    }

    #[test]
    fn the_coarsest_type_that_is_written_sets_what_is_not_named() {
        let given = |text: &str, scalars: &[Scalar]| {
            let how = read(text).unwrap().or_defaults(written(scalars).iter());
            (how.relative, how.absolute)
        };
        let (half, single, double) = ((2e-2, 2e-3), (1e-5, 1e-6), (1e-13, 1e-14));
        for (scalars, wanted) in [
            (&[Scalar::F16][..], half),
            (&[Scalar::F64, Scalar::F32, Scalar::F16], half),
            (&[Scalar::F64, Scalar::F32], single),
            (&[Scalar::F64], double),
            (&[Scalar::F64, Scalar::U32], double),
            (&[Scalar::U32], single),
            (&[], single),
        ] {
            assert_eq!(given("{}", scalars), wanted, "{scalars:?}");
        }
        assert_eq!(given("{ relative: 0.5 }", &[Scalar::F64]), (0.5, 1e-14));
        assert_eq!(given("{ absolute: 0 }", &[Scalar::F16]), (2e-2, 0.0));
    }

    #[test]
    fn a_profile_is_never_narrower_than_all_devices() {
        let text = "{ relative: 0.1, profiles: { round_to_zero: { absolute: 3 }, embedded: { relative: 0.2 }, flush_to_zero: { relative: 0.05 } } }";
        let found = read(text).unwrap().profiles(written(&[Scalar::F32]).iter());
        let found: Vec<_> = found
            .iter()
            .map(|(profile, how)| (profile.feature(), how.relative, how.absolute))
            .collect();
        assert_eq!(
            found,
            [("embedded", 0.2, 1e-6), ("flush_to_zero", 0.1, 1e-6), ("round_to_zero", 0.1, 3.0)]
        );
        assert!(read("{}").unwrap().profiles(written(&[]).iter()).is_empty());
    }

    #[test]
    fn a_tolerance_is_a_number_that_is_not_negative() {
        for text in [
            "{ relative: -1 }",
            "{ absolute: -0.5 }",
            "{ profiles: { embedded: { relative: -1 } } }",
        ] {
            assert_eq!(
                read(text).unwrap_err(),
                "a tolerance is a number that is not negative",
                "{text}"
            );
        }
        assert!(read("{ relative: 0 }").is_ok());
        assert!(decoded::<ProfileTolerances>("{ embedded: {} }").unwrap().round_to_zero.is_none());
    }

    #[test]
    fn each_profile_is_said_in_words() {
        let about =
            [EMBEDDED, FLUSH_TO_ZERO, ROUND_TO_ZERO].map(|feature| Profile(feature).about());
        let wanted = [
            "OpenCL's embedded profile",
            "devices that take denormals for zero",
            "devices that round towards zero",
        ];
        assert_eq!(about, wanted);
    }
}
