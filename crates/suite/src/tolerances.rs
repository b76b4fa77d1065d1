//! How far a result may differ from what is expected, on all devices and on those of a profile.

use super::decode::{At, Diagnostics, SpecReader};
use super::types::Buffer;
use gpubench_core::gpu::{EMBEDDED, FLUSH_TO_ZERO, ROUND_TO_ZERO, Scalar};
use gpubench_core::workload::Comparison;

/// Differences that pass where a suite names none: a few dozen roundings of the type that is written.
/// Integers must be equal in any case.
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
#[derive(Clone, Debug)]
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
