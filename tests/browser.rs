//! The page in a real browser: Chromium without a window, on its own software adapter, driven by its DevTools
//! protocol. `./x test-browser` runs it.

mod common;

use common::{LONG, Place, until};
use gpubench::record::Outcome;
use gpubench::store::read;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// Those that are shipped.
const BASELINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baselines");

/// What `quick` may take in a browser.
const ASKED: Duration = Duration::from_secs(180);

/// The lines of a child's stderr, as they come.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

/// What stands behind `mark` in the first line that has it, within `limit`.
fn behind(lines: &Receiver<String>, mark: &str, limit: Duration) -> String {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        let Ok(line) = lines.recv_timeout(limit) else { break };
        if let Some((_, rest)) = line.split_once(mark) {
            return rest.trim().to_owned();
        }
    }
    panic!("no line with `{mark}`")
}

/// A running browser.
struct Chromium {
    child: Child,
    socket: WebSocket<TcpStream>,
    last: u64,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// With an adapter for WebGPU.
    fn start() -> Self {
        Self::with(&["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"])
    }

    fn with(options: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut child = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-dev-shm-usage"])
            .args(options)
            .args(["--remote-debugging-port=0", "--no-first-run", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chromium is installed");
        let address = behind(&lines(&mut child), "DevTools listening on ", LONG);
        let place = address.split('/').nth(2).expect("an address");
        let stream = TcpStream::connect(place).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        let socket = tungstenite::client(&address, stream).expect("DevTools").0;
        Self { child, socket, last: 0, _profile: profile }
    }

    /// Has the browser, or a tab of its, do something.
    fn call(&mut self, tab: Option<&str>, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": params });
        if let Some(tab) = tab {
            request["sessionId"] = tab.into();
        }
        self.socket.send(Message::text(request.to_string())).expect("the browser listens");
        loop {
            let Ok(Message::Text(text)) = self.socket.read() else { panic!("{method}: no answer") };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Opens a tab: what closes it, and what commands it.
    fn tab(&mut self, address: &str) -> (String, String) {
        let opened = self.call(None, "Target.createTarget", &json!({ "url": address }));
        let target = opened["targetId"].as_str().expect("a tab").to_owned();
        let params = json!({ "targetId": target, "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", &params);
        (target, attached["sessionId"].as_str().expect("a session").to_owned())
    }

    /// What a tab shows of an element.
    fn shown(&mut self, tab: &str, id: &str) -> String {
        let expression = format!("document.getElementById('{id}')?.textContent ?? ''");
        let found = self.call(Some(tab), "Runtime.evaluate", &json!({ "expression": expression }));
        found["result"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The text of the page that a tab shows in a frame.
    fn framed(&mut self, tab: &str) -> String {
        let expression =
            "document.querySelector('iframe')?.contentDocument?.body?.textContent ?? ''";
        let found = self.call(Some(tab), "Runtime.evaluate", &json!({ "expression": expression }));
        found["result"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a tab shows `text` in an element.
    fn awaits(&mut self, tab: &str, id: &str, text: &str) {
        until(text, || {
            std::thread::sleep(Duration::from_millis(100));
            self.shown(tab, id).contains(text)
        });
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `gpubench serve`, and the page's address.
fn serve(place: &Place, args: &[&str]) -> (Child, String, Receiver<String>) {
    let mut child = place.gpubench(&[&["serve"], args].concat()).spawn().expect("it starts");
    let lines = lines(&mut child);
    let address = behind(&lines, "WebGPU: ", LONG);
    (child, address, lines)
}

/// Waits for the end; the exit code.
fn code(mut child: Child, limit: Duration) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    None
}

#[test]
#[cfg_attr(not(feature = "require-browser"), ignore = "needs Chromium: ./x test-browser")]
fn quick_is_verified_from_end_to_end() {
    let (place, begun) = (Place::new(), Instant::now());
    let mut chromium = Chromium::start();
    let options = ["quick", "--baselines", BASELINES, "--", "--budget", "120"];
    let (child, address, lines) = serve(&place, &options);
    let (_, tab) = chromium.tab(&address);
    behind(&lines, "waiting for the next page", ASKED);
    let took = begun.elapsed();
    chromium.awaits(&tab, "state", "Done.");
    until("both devices in the report", || {
        let report = chromium.framed(&tab).to_lowercase();
        std::thread::sleep(Duration::from_millis(100));
        report.contains("swiftshader") && report.contains("llvmpipe")
    });
    common::kill(child.id(), "INT");
    assert_eq!(code(child, LONG), Some(130));
    let run = place.run();
    let device = &run.header.devices[0];
    println!("{} · {} · {}", device.name, device.driver, device.api);
    println!(
        "timestamps of {:?} s; {:.1} s in all",
        device.timestamp_resolution,
        took.as_secs_f64()
    );
    let mut ok = 0;
    for record in &run.records {
        let clock = record.measured.as_ref().map(|m| (m.clock, m.resolution, m.batch));
        println!("{}: {} {clock:?}", record.key, record.outcome.label());
        match &record.outcome {
            Outcome::Ok => ok += 1,
            Outcome::Skipped(why) | Outcome::Unsupported(why) => println!("  {why}"),
            other => panic!("{}: {other:?}", record.key),
        }
    }
    assert!(ok >= 15, "{ok} of {} were verified", run.records.len());
    assert!(took < ASKED, "{took:?}");
}

#[test]
#[cfg_attr(not(feature = "require-browser"), ignore = "needs Chromium: ./x test-browser")]
fn a_reload_and_a_lost_device_cost_a_case_each_and_a_closed_tab_ends_the_run() {
    let place = Place::new();
    let mut chromium = Chromium::start();
    let options = ["quick", "--once", "--", "--rounds", "2", "--budget", "90"];
    let (child, address, _lines) = serve(&place, &options);
    let (first, tab) = chromium.tab(&address);
    chromium.awaits(&tab, "log", "ok");

    let (second, other) = chromium.tab(&address);
    chromium.awaits(&other, "state", "Another tab is the device");
    chromium.call(None, "Target.closeTarget", &json!({ "targetId": second }));
    assert!(!chromium.shown(&tab, "state").contains("Another"));

    chromium.call(Some(&tab), "Page.reload", &json!({}));
    chromium.awaits(&tab, "log", "ok");

    chromium.call(None, "Browser.crashGpuProcess", &json!({}));
    chromium.awaits(&tab, "log", "device lost");
    std::thread::sleep(Duration::from_secs(3));
    chromium.call(None, "Target.closeTarget", &json!({ "targetId": first }));
    let begun = Instant::now();
    assert_eq!(code(child, LONG), Some(4));
    println!("{:.1} s from the closed tab to the end", begun.elapsed().as_secs_f64());

    let run = read(&place.result()).expect("a result");
    let of = |label: &str| run.records.iter().filter(|r| r.outcome.label() == label).count();
    let (lost, ok) = (of("device lost"), of("ok"));
    println!("{lost} lost, {ok} ok, {} skipped", of("skipped"));
    // One was waited for before the reload, and one behind it.
    assert!(ok >= 2 && (3..=8).contains(&lost), "{lost} lost, {ok} ok");
    let others =
        run.records.iter().find(|r| r.outcome.is_failure() && r.outcome.label() != "device lost");
    assert!(others.is_none(), "{others:?}");
}

#[test]
#[cfg_attr(not(feature = "require-browser"), ignore = "needs Chromium: ./x test-browser")]
fn a_run_waits_for_its_page_and_strangers_see_nothing() {
    let place = Place::new();
    let mut chromium = Chromium::start();
    let args = ["run", "quick", "--device", "browser", "--filter", "sepia", "--verify"];
    let mut child = place.gpubench(&args).spawn().expect("it starts");
    let lines = lines(&mut child);
    let address = behind(&lines, "WebGPU: ", LONG);
    let (server, _token) = address.trim_end_matches('/').rsplit_once('/').expect("a token");
    for stranger in [format!("{server}/"), format!("{server}/00000000/")] {
        let (target, tab) = chromium.tab(&stranger);
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(chromium.shown(&tab, "state"), "", "{stranger}");
        chromium.call(None, "Target.closeTarget", &json!({ "targetId": target }));
    }
    assert!(child.try_wait().expect("a child").is_none(), "it waits");
    chromium.tab(&address);
    assert_eq!(code(child, LONG), Some(0));
    let run = place.run();
    assert!(!run.records.is_empty());
    assert!(run.records.iter().all(|record| record.outcome.ran()), "{:?}", run.records);
}

#[test]
#[cfg_attr(not(feature = "require-browser"), ignore = "needs Chromium: ./x test-browser")]
fn a_report_stays_on_the_page_when_the_program_has_ended() {
    let place = Place::new();
    let mut chromium = Chromium::start();
    let options = ["quick", "--once", "--", "--filter", "sepia", "--verify"];
    let (child, address, _lines) = serve(&place, &options);
    let (_, tab) = chromium.tab(&address);
    assert_eq!(code(child, LONG), Some(0));
    chromium.awaits(&tab, "state", "Done.");
    until("the report", || {
        std::thread::sleep(Duration::from_millis(100));
        chromium.framed(&tab).contains("sepia")
    });
}

#[test]
#[cfg_attr(not(feature = "require-browser"), ignore = "needs Chromium: ./x test-browser")]
fn a_page_says_why_its_browser_is_no_device_and_serve_waits_for_the_next() {
    let place = Place::new();
    let mut without = Chromium::with(&["--disable-gpu"]);
    let (mut child, address, lines) = serve(&place, &["quick"]);
    let (_, tab) = without.tab(&address);
    behind(&lines, "skipped: this browser has ", LONG);
    without.awaits(&tab, "state", "this browser has ");
    std::thread::sleep(Duration::from_secs(1));
    assert!(without.shown(&tab, "state").contains("WebGPU"), "it stays");
    assert!(child.try_wait().expect("a child").is_none(), "it waits");
    common::kill(child.id(), "INT");
    assert_eq!(code(child, LONG), Some(130));
}
