//! Who is not the page that was meant, or does not behave as one.

use super::{FakePage, SOON, behaves, browser, connect, hub};
use crate::Backend;
use crate::browser::Hub;
use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::Message;

/// The response to a request for `path`.
fn get(hub: &Hub, path: &str, headers: &str) -> String {
    let address = hub.page_address();
    let place = address.split('/').nth(2).unwrap();
    let mut stream = TcpStream::connect(place).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {place}\r\n{headers}\r\n").unwrap();
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

#[test]
fn without_the_token_there_is_nothing() {
    let hub = hub();
    let address = hub.page_address();
    let path = &address[address.rfind(':').unwrap()..];
    let token = &path[path.find('/').unwrap()..];
    let page = get(&hub, token, "");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("page.js"), "{page}");
    assert!(get(&hub, &format!("{token}page.js"), "").contains("class Session"));
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let foreign = format!("{upgrade}Origin: http://elsewhere.example\r\n");
    let wrong = token.replace(|c: char| c.is_ascii_digit(), "0");
    for (path, headers) in [
        ("/", ""),
        ("/page.js", ""),
        (wrong.as_str(), ""),
        (&format!("{wrong}results"), ""),
        (&format!("{token}results"), ""),
        (&format!("{wrong}page"), upgrade),
        (&format!("{token}worker"), upgrade),
        (&format!("{token}page"), &foreign),
        (&format!("{token}../page.js"), ""),
    ] {
        let response = get(&hub, path, headers);
        assert!(response.starts_with("HTTP/1.1 403 Forbidden"), "{path}: {response}");
    }
    assert_eq!(hub.page(), 0);
}

#[test]
fn a_page_that_answers_unasked_is_a_lost_device_and_another_one_goes_on() {
    let hub = hub();
    let mut flood = connect(&hub);
    assert!(hub.wait(0, SOON).is_some());
    let worker = browser(&hub);
    let opening = std::thread::spawn(move || worker.open(0).map(|_| ()));
    // It answers nothing that it was asked, again and again.
    let header = br#"{"id":1,"ok":null}"#;
    let answer = [&(header.len() as u32).to_le_bytes()[..], header, &[0; 4096]].concat();
    let begun = Instant::now();
    while !opening.is_finished() && flood.send(Message::Binary(answer.clone().into())).is_ok() {}
    let opened = opening.join().unwrap();
    assert!(begun.elapsed() < SOON && opened.is_err(), "{opened:?}");
    drop(flood);
    let _page = FakePage::open(&hub, behaves);
    assert!(hub.wait(1, SOON).is_some());
    assert!(browser(&hub).open(0).is_ok());
}

#[test]
fn a_crowd_of_connections_is_not_let_in() {
    let hub = hub();
    let place = hub.worker_address().split('/').next().unwrap().to_owned();
    let crowd: Vec<_> = (0..200).map(|_| TcpStream::connect(&place).unwrap()).collect();
    let is_open = |stream: &TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        // The end of the stream, or an error that is not the time: it was closed.
        let mut stream = stream;
        matches!(stream.read(&mut [0]), Err(error) if matches!(error.kind(), WouldBlock | TimedOut))
    };
    std::thread::sleep(Duration::from_millis(300));
    let open = crowd.iter().filter(|stream| is_open(stream)).count();
    assert!((1..=64).contains(&open), "{open} are let in");
    drop(crowd);
}
