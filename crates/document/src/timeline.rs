//! What ran when: spans on tracks, against one clock.

use super::slug::slug;
use super::{Quantity, Sentence};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that began and ended; times are seconds since the timeline's first start.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Span {
    /// What ran.
    name: String,
    /// Seconds from the timeline's first start.
    start: Quantity,
    /// Seconds.
    duration: Quantity,
}

impl Span {
    /// What ran.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds from the timeline's first start to its own.
    pub fn start(&self) -> Quantity {
        self.start
    }

    /// How many seconds it took.
    pub fn duration(&self) -> Quantity {
        self.duration
    }
}

/// Spans of one queue or stage.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Track {
    /// What it is called.
    name: Sentence,
    /// Its spans.
    spans: Vec<Span>,
}

impl Track {
    /// What it is called.
    pub fn name(&self) -> &Sentence {
        &self.name
    }

    /// Its spans, as they were added.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}

/// A timeline. Built from clock readings, of which it keeps the differences.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Its name for programs.
    pub(super) key: String,
    /// What is seen.
    pub title: Sentence,
    /// What ran side by side.
    tracks: Vec<Track>,
    /// Seconds from the first start to the last end.
    length: Quantity,
}

/// A span as a clock saw it: name, start and end in seconds.
pub type Seen = (String, f64, f64);

impl Timeline {
    /// Of tracks with spans. Spans that are not finite or end before they start are left out;
    /// `None` where nothing is left that takes time.
    pub fn new(
        key: &str,
        title: impl Into<Sentence>,
        tracks: impl IntoIterator<Item = (Sentence, Vec<Seen>)>,
    ) -> Option<Self> {
        let is_valid =
            |(_, start, end): &Seen| start.is_finite() && (end - start).is_finite() && start <= end;
        let mut tracks: Vec<(Sentence, Vec<Seen>)> = tracks.into_iter().collect();
        tracks.iter_mut().for_each(|(_, spans)| spans.retain(is_valid));
        let all = || tracks.iter().flat_map(|(_, spans)| spans);
        let origin = all().map(|span| span.1).fold(f64::INFINITY, f64::min);
        let end = all().map(|span| span.2).fold(f64::NEG_INFINITY, f64::max);
        let length = Quantity::new(end - origin).filter(|length| length.value() > 0.0)?;
        let span = |(name, start, end): Seen| {
            let (start, duration) = (Quantity::new(start - origin)?, Quantity::new(end - start)?);
            Some(Span { name, start, duration })
        };
        let tracks = tracks.into_iter().map(|(name, spans)| Track {
            name,
            spans: spans.into_iter().filter_map(span).collect(),
        });
        Some(Self { key: slug(key), title: title.into(), tracks: tracks.collect(), length })
    }

    /// The name that programs read.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its tracks.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Seconds from the first start to the last end; above zero.
    pub fn length(&self) -> Quantity {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_first_start() {
        let seen = |name: &str, start, end| (name.to_owned(), start, end);
        let timeline = Timeline::new(
            "t",
            "t",
            [
                ("upload".into(), vec![seen("u0", 5.0, 6.0), seen("bad", f64::NAN, 9.0)]),
                ("kernel".into(), vec![seen("k0", 6.5, 8.0), seen("reversed", 9.0, 1.0)]),
            ],
        )
        .unwrap();
        assert_eq!(timeline.length().value(), 3.0);
        let kernel = &timeline.tracks()[1].spans();
        assert_eq!(
            (kernel.len(), kernel[0].start().value(), kernel[0].duration().value()),
            (1, 1.5, 1.5)
        );
        assert!(Timeline::new("t", "t", [("a".into(), vec![seen("x", 1.0, 1.0)])]).is_none());
        let huge = Timeline::new("t", "t", [("a".into(), vec![seen("x", -f64::MAX, f64::MAX)])]);
        assert!(huge.is_none());
    }
}
