//! The little of HTTP that a page needs to be handed out.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::time::Instant;
use tungstenite::http::{Request, Uri};

/// The longest head of a request that is read.
const LONGEST_HEAD: usize = 16 << 10;

/// Reads the head of a request, byte by byte up to its end: what is behind it belongs to others. One that is not whole
/// by a moment never is.
pub(super) fn read_head(stream: &mut impl Read, until: Instant) -> Result<Request<()>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST_HEAD {
            return Err(invalid("a head without end"));
        }
        if Instant::now() > until {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    parse(&head).ok_or_else(|| invalid("not a request"))
}

fn parse(head: &[u8]) -> Option<Request<()>> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let uri: Uri = target.parse().ok()?;
    let mut request = Request::builder().method(method).uri(uri);
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    request.body(()).ok()
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

/// The value of a header, where there is one in plain text.
pub(super) fn header<'r>(request: &'r Request<()>, name: &str) -> Option<&'r str> {
    request.headers().get(name)?.to_str().ok()
}

/// Whether the request is addressed to this machine by a name of its own: another name that leads here is
/// somebody's who wants the page to speak for him. A page elsewhere may not open the WebSocket either.
pub(super) fn is_local(request: &Request<()>) -> bool {
    let Some(host) = header(request, "host") else { return false };
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let same_origin = |origin: &str| origin.split_once("://").is_some_and(|(_, of)| of == host);
    matches!(name, "localhost" | "127.0.0.1") && header(request, "origin").is_none_or(same_origin)
}

/// Writes a whole response. The page is isolated from others of the browser: its clock is finer then.
pub(super) fn respond(
    stream: &mut impl Write,
    status: &str,
    kind: &str,
    body: &[u8],
) -> Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn read(head: &str) -> Option<Request<()>> {
        read_head(&mut head.as_bytes(), Instant::now() + Duration::from_secs(60)).ok()
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_has_no_more_time_than_another() {
        struct Slow;
        impl Read for Slow {
            fn read(&mut self, into: &mut [u8]) -> Result<usize> {
                std::thread::sleep(Duration::from_millis(10));
                into[0] = b'x';
                Ok(1)
            }
        }
        let begun = Instant::now();
        let error = read_head(&mut Slow, begun + Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn heads_are_read_to_their_end() {
        let request =
            read("GET /a/b HTTP/1.1\r\nHost: localhost:80\r\nX:  y \r\n\r\nrest").unwrap();
        assert_eq!((request.uri().path(), header(&request, "x")), ("/a/b", Some("y")));
        let long = "x".repeat(LONGEST_HEAD);
        for broken in [
            "",
            "GET / HTTP/1.1\r\n",
            "GET\r\n\r\n",
            "\r\n\r\n",
            "GET / H\r\nno colon\r\n\r\n",
            &long,
        ] {
            assert!(read(broken).is_none(), "{broken:.20}");
        }
    }

    #[test]
    fn only_this_machines_own_names_are_answered() {
        let of = |headers: &str| read(&format!("GET / HTTP/1.1\r\n{headers}\r\n")).unwrap();
        for (headers, local) in [
            ("Host: localhost:8097\r\n", true),
            ("Host: 127.0.0.1:8097\r\nOrigin: http://127.0.0.1:8097\r\n", true),
            ("Host: 127.0.0.1:8097\r\nOrigin: http://elsewhere.example\r\n", false),
            ("Host: elsewhere.example:8097\r\n", false),
            ("", false),
        ] {
            assert_eq!(is_local(&of(headers)), local, "{headers}");
        }
    }
}
