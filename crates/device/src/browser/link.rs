//! A worker's line to the page.

use super::message::{self, Asked, LONGEST, Request};
use gpubench_core::error::{Error, Result};
use serde::de::DeserializeOwned;
use std::net::TcpStream;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Message, WebSocket};

/// The line, and the number of the last request.
pub(super) struct Link {
    socket: WebSocket<TcpStream>,
    last: u64,
}

/// What all WebSockets here take.
pub(super) fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST))
}

impl Link {
    /// To the hub at `address`.
    ///
    /// # Errors
    /// `DeviceLost` where nobody answers there.
    pub fn connect(address: &str) -> Result<Self> {
        let lost =
            |e: &dyn std::fmt::Display| Error::DeviceLost(format!("no line to the page: {e}"));
        let place = address.split('/').next().unwrap_or_default();
        let stream = TcpStream::connect(place).map_err(|e| lost(&e))?;
        stream.set_nodelay(true).map_err(|e| lost(&e))?;
        let url = format!("ws://{address}");
        let opened = tungstenite::client::client_with_config(url, stream, Some(config()));
        let (socket, _) = opened.map_err(|e| lost(&e))?;
        // Numbers of two workers differ, so that an answer to one is none to the other.
        Ok(Self { socket, last: u64::from(std::process::id()) << 24 })
    }

    /// Asks the page and waits for its answer and the bytes behind it.
    ///
    /// # Errors
    /// The page's; `DeviceLost` where it is gone.
    pub fn ask<T: DeserializeOwned>(
        &mut self,
        request: &Request<'_>,
        payload: &[u8],
    ) -> Result<(T, Bytes)> {
        self.last += 1;
        let asked = message::encode(&Asked { id: self.last, request }, payload)?;
        self.socket.send(Message::Binary(asked.into())).map_err(|e| gone(&e))?;
        loop {
            let Message::Binary(answer) = self.socket.read().map_err(|e| gone(&e))? else {
                continue;
            };
            let Some((header, payload)) = message::decode(&answer) else {
                return Err(Error::Device("the page sent what is no answer".into()));
            };
            if let Some(refusal) = header.error {
                return Err(refusal.into_error());
            }
            let ok = serde_json::from_value(header.ok)
                .map_err(|e| Error::Device(format!("an answer of the page: {e}")))?;
            let begin = answer.len() - payload.len();
            return Ok((ok, answer.slice(begin..)));
        }
    }
}

fn gone(error: &tungstenite::Error) -> Error {
    Error::DeviceLost(format!("the line to the page broke: {error}"))
}
