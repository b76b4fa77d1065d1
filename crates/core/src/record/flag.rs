//! What to know before believing a figure, and how much it matters.

use serde::{Deserialize, Serialize};

/// How much a flag takes from its figure; the worst of a case's flags is the case's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Worth knowing; the figure and its interval say what was measured.
    Note,
    /// Who reads the figure without it is misled: marked `!` wherever the figure stands.
    Warning,
    /// The figure is wrong or impossible: it is not shown, compared or ranked.
    Hidden,
}

impl Grade {
    /// One word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Hidden => "hidden",
        }
    }
}

/// What a reader should know before believing a figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Warm-up ended at its limit before two blocks of samples agreed.
    WarmUpNotSteady,
    /// Sampling ended before it reached its target.
    NotConverged,
    /// The working set is below twice the device's cache: the figure may be the cache's.
    Cache,
    /// A figure above what the device can do; the text says which.
    Implausible(String),
    /// A variant of the kernel was passed over since its result was wrong; the text says which.
    WrongVariant(String),
    /// A variant of the kernel was passed over since building or launching it ended the worker; the text says
    /// which, and how.
    FatalVariant(String),
    /// Device timestamps were unusable; the text says how.
    Timestamps(String),
    /// Fewer samples than requested.
    FewSamples,
    /// The first try failed, the second did not; the text says how it failed.
    Flake(String),
    /// The device held its clock back during the measurement; the text says why.
    Throttled(String),
    /// The reference kernel around the case took another time than it usually did in the run; the
    /// text says by how much.
    Drift(String),
    /// The device had not cooled down as far as was asked for; the text says how far.
    StillWarm(String),
    /// The result was compared by the tolerance that the suite declares for the device's profile; the text says which.
    ProfileTolerance(String),
    /// The device does not take the work-group that the suite prefers; the text says which one ran.
    OtherGroup(String),
    /// The launches ran behind a blocking kernel, since the device would have waited for its host between
    /// them; the text says behind how much of it, or that none was long enough.
    BlockingKernel(String),
}

impl Flag {
    /// How much it takes from the figure.
    ///
    /// Only what the interval cannot show is a warning: the device itself was not as it usually is.
    /// Too few samples and a warm-up that was cut short widen the interval; a stray timestamp costs a
    /// sample, and samples are long enough for the host's clock; a second try and another variant
    /// are verified like any other.
    pub fn grade(&self) -> Grade {
        match self {
            Self::Implausible(_) => Grade::Hidden,
            Self::Throttled(_) | Self::Drift(_) => Grade::Warning,
            Self::WarmUpNotSteady
            | Self::NotConverged
            | Self::Cache
            | Self::WrongVariant(_)
            | Self::FatalVariant(_)
            | Self::Timestamps(_)
            | Self::FewSamples
            | Self::Flake(_)
            | Self::StillWarm(_)
            | Self::ProfileTolerance(_)
            | Self::OtherGroup(_)
            | Self::BlockingKernel(_) => Grade::Note,
        }
    }
}

#[test]
fn only_what_misleads_is_more_than_a_note() {
    use Flag::*;
    let text = String::new;
    let notes = [
        WarmUpNotSteady,
        NotConverged,
        Cache,
        FewSamples,
        WrongVariant(text()),
        FatalVariant(text()),
        Timestamps(text()),
        Flake(text()),
        StillWarm(text()),
        ProfileTolerance(text()),
        OtherGroup(text()),
        BlockingKernel(text()),
    ];
    assert!(notes.iter().all(|flag| flag.grade() == Grade::Note));
    let worse = [Throttled(text()), Drift(text()), Implausible(text())].map(|flag| flag.grade());
    assert_eq!(worse, [Grade::Warning, Grade::Warning, Grade::Hidden]);
    assert_eq!(
        [Grade::Note, Grade::Warning, Grade::Hidden].map(Grade::label),
        ["note", "warning", "hidden"]
    );
}
