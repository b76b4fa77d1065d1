//! Carries a worker's requests to the page and the page's answers back.

use super::hub::{ANSWERS, Shared, Turn};
use super::message::{self, Answer, Refusal, RefusalKind};
use std::net::TcpStream;
use std::sync::PoisonError;
use tungstenite::{Bytes, Message, WebSocket};

/// Until the worker is gone. A page that goes does not come back for this worker: another one has none of its
/// buffers.
pub(super) fn relay(mut worker: WebSocket<TcpStream>, shared: &Shared) {
    let mut turn = shared.turn();
    let why =
        if turn.is_some() { "the page was closed or reloaded" } else { "no page is connected" };
    while let Ok(message) = worker.read() {
        let request = match message {
            Message::Binary(request) => request,
            Message::Close(_) => return,
            _ => continue,
        };
        let answer = turn.take().and_then(|now| {
            let answer = asked(&now, request)?;
            turn = Some(now);
            Some(answer)
        });
        let Some(answer) = answer.or_else(|| refusal(why)) else { return };
        if worker.send(Message::Binary(answer)).is_err() {
            return;
        }
    }
}

/// The page's answer, unless it goes before. What it still answers to workers that were killed is passed over; more than
/// that is no page of ours.
fn asked(turn: &Turn, request: Bytes) -> Option<Bytes> {
    let id = |message: &Bytes| message::decode(message).map(|(header, _)| header.id);
    let asked = id(&request);
    // The lock is free again before the answer is waited for.
    let sent = {
        let mut out = turn.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.send(Message::Binary(request))
    };
    sent.ok()?;
    turn.answers.iter().take(ANSWERS).find(|answer| id(answer) == asked)
}

/// What a worker is answered where the page cannot.
fn refusal(why: &str) -> Option<Bytes> {
    let error = Some(Refusal { kind: RefusalKind::Lost, text: why.into() });
    let answer = Answer { id: 0, error, ok: serde_json::Value::Null };
    message::encode(&answer, &[]).ok().map(Bytes::from)
}
