//! Copies to and from several devices: what of their recordings moved while all were at it.

use super::data::Moved;
use gpubench_core::gpu::{Op, Recording};
use gpubench_device::Part;

/// Bytes and when they moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub bytes: f64,
    pub begun: f64,
    pub ended: f64,
}

/// What was uploaded to a device and what was downloaded from it; in one piece each where no clock distinguishes steps.
pub(super) fn pieces(recording: &Recording, part: &Part) -> [Vec<Piece>; 2] {
    let mut ways = [vec![], vec![]];
    for (i, step) in recording.steps.iter().enumerate() {
        let (way, bytes) = match &step.op {
            Op::Upload { from, .. } => (0, from.len.0 as f64),
            Op::Download { from, .. } => (1, from.len.0 as f64),
            _ => continue,
        };
        let (begun, ended) = match part.steps.get(i) {
            Some(step) => (step.started, step.ended),
            None => (part.begun, part.ended),
        };
        ways[way].push(Piece { bytes, begun, ended });
    }
    ways
}

/// From when until when all of these were at it.
pub(super) fn window<'a>(all: impl IntoIterator<Item = &'a [Piece]>) -> Option<[f64; 2]> {
    let mut window: Option<[f64; 2]> = None;
    for pieces in all.into_iter().filter(|pieces| !pieces.is_empty()) {
        let begun = pieces.iter().map(|p| p.begun).fold(f64::INFINITY, f64::min);
        let ended = pieces.iter().map(|p| p.ended).fold(f64::NEG_INFINITY, f64::max);
        let [first, last] = window.unwrap_or([begun, ended]);
        window = Some([first.max(begun), last.min(ended)]);
    }
    window
}

/// What was moved while all were at it; all of it over `wall` where some made no whole copy then,
/// since they took turns.
pub(super) fn moved(devices: &[[Vec<Piece>; 2]], wall: f64) -> Moved {
    let window = window(devices.iter().flatten().map(Vec::as_slice)).unwrap_or([0.0, wall]);
    let all = || devices.iter().flatten().filter(|pieces| !pieces.is_empty());
    let turns = all().any(|pieces| within(pieces, window).is_none());
    let of = |pieces: &Vec<Piece>| match within(pieces, window) {
        _ if pieces.is_empty() => (0.0, 0.0),
        Some(whole) if !turns => whole,
        _ => (pieces.iter().map(|piece| piece.bytes).sum(), wall),
    };
    let flows: Vec<[(f64, f64); 2]> = devices.iter().map(|[s, r]| [of(s), of(r)]).collect();
    Moved {
        bytes: flows.iter().map(|ways| ways.map(|(bytes, _)| bytes)).collect(),
        seconds: flows.iter().map(|ways| ways.map(|(_, seconds)| seconds)).collect(),
    }
}

/// Bytes of the copies that lie within the window, but for a trifle, and the seconds from the first
/// one's start to the last one's end.
fn within(pieces: &[Piece], [first, last]: [f64; 2]) -> Option<(f64, f64)> {
    const WHOLLY: f64 = 0.98;
    let shared = |piece: &Piece| piece.ended.min(last) - piece.begun.max(first);
    let inside = |piece: &&Piece| shared(piece) >= WHOLLY * (piece.ended - piece.begun);
    let whole: Vec<&Piece> = pieces.iter().filter(inside).collect();
    let (begun, ended) = (whole.first()?.begun, whole.last()?.ended);
    (ended > begun).then(|| (whole.iter().map(|piece| piece.bytes).sum(), ended - begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(count: usize, begun: f64, ended: f64) -> Vec<Piece> {
        let each = (ended - begun) / count as f64;
        let piece = |i: usize| Piece {
            bytes: 10.0,
            begun: begun + i as f64 * each,
            ended: begun + (i + 1) as f64 * each,
        };
        (0..count).map(piece).collect()
    }

    #[test]
    fn only_whole_copies_made_while_all_are_at_it_count() {
        let first = [even(10, 0.0, 10.0), vec![]];
        let second = [vec![], even(4, 1.5, 9.5)];
        let Moved { seconds, bytes } = moved(&[first, second], 10.0);
        assert_eq!((bytes[0][0], bytes[1][1]), (70.0, 40.0));
        assert!((seconds[0][0] - 7.0).abs() < 1e-9 && (seconds[1][1] - 8.0).abs() < 1e-9);
        assert_eq!((bytes[0][1], bytes[1][0], seconds[0][1]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn devices_that_take_turns_share_the_time() {
        let Moved { seconds, bytes } =
            moved(&[[even(4, 0.0, 4.0), vec![]], [even(6, 4.0, 10.0), vec![]]], 10.0);
        assert_eq!((bytes[0][0], bytes[1][0]), (40.0, 60.0));
        assert_eq!((seconds[0][0], seconds[1][0]), (10.0, 10.0));
    }
}
