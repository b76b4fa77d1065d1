//! The protocol, spoken with a page that is a thread.

mod images;
mod untrusted;

use super::info::Report;
use super::link::config;
use super::message;
use super::{Browser, Hub};
use crate::{Backend, Device};
use gpubench_core::error::Error;
use gpubench_core::gpu::{
    Access, Binding, BoundsChecks, BufferId, Clock, Element, KernelId, KernelSource, Language,
    MemoryKind, Op, Origin, Queue, Recording, Scalar, Slice,
};
use gpubench_core::units::Bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

const SOON: Duration = Duration::from_secs(5);

/// What a page of a common browser reports.
pub(super) fn report() -> Report {
    serde_json::from_value(report_json()).unwrap()
}

fn report_json() -> Value {
    json!({
        "vendor": "nvidia", "architecture": "ada-lovelace", "browser": "Browser 1.2",
        "features": ["timestamp-query", "subgroups"], "subgroup": [32, 32],
        "timestampResolution": 1e-4, "clockResolution": 5e-6,
        "limits": {
            "maxBufferSize": 1 << 30, "maxStorageBufferBindingSize": 1 << 27,
            "maxStorageBuffersPerShaderStage": 8, "maxComputeInvocationsPerWorkgroup": 256,
            "maxComputeWorkgroupSizeX": 256, "maxComputeWorkgroupSizeY": 256,
            "maxComputeWorkgroupSizeZ": 64, "maxComputeWorkgroupsPerDimension": 65535,
            "maxComputeWorkgroupStorageSize": 16384, "minStorageBufferOffsetAlignment": 256,
            "maxUniformBufferBindingSize": 65536, "maxUniformBuffersPerShaderStage": 12, "minUniformBufferOffsetAlignment": 256,
            "maxTextureDimension2D": 8192, "maxSampledTexturesPerShaderStage": 16, "maxSamplersPerShaderStage": 16,
        },
    })
}

/// How a page answers a request and the bytes behind it; `None`: it closes the line instead.
type Behaviour = fn(&Value, &[u8], &mut HashMap<u64, Vec<u8>>) -> Option<(Value, Vec<u8>)>;

fn ok(value: Value) -> Option<(Value, Vec<u8>)> {
    Some((json!({ "ok": value }), vec![]))
}

/// A page with memory, on which every step takes 100 µs.
fn behaves(
    request: &Value,
    payload: &[u8],
    memory: &mut HashMap<u64, Vec<u8>>,
) -> Option<(Value, Vec<u8>)> {
    let buffer = request["buffer"].as_u64().unwrap_or(0);
    let number = |key: &str| request[key].as_u64().unwrap() as usize;
    match request["do"].as_str().unwrap() {
        "open" => ok(report_json()),
        "build" if request["code"].as_str().unwrap().contains("wrong") => {
            let error = json!({ "kind": "build", "text": "k.wgsl:1:1: error: as asked" });
            Some((json!({ "error": error }), vec![]))
        }
        "build" => ok(json!({ "seconds": 0.5, "log": "" })),
        "alloc" => {
            memory.insert(buffer, vec![0; number("bytes")]);
            ok(Value::Null)
        }
        "write" => {
            let at = number("offset");
            memory.get_mut(&buffer)?[at..at + payload.len()].copy_from_slice(payload);
            ok(Value::Null)
        }
        "read" => {
            let at = number("offset");
            Some((json!({ "ok": null }), memory[&buffer][at..at + number("len")].to_vec()))
        }
        "run" => {
            let steps = request["steps"].as_array()?;
            let timed = steps.iter().all(|step| step["op"]["Dispatch"].is_object());
            let ticks = (0..2 * steps.len() as u64).map(|i| (10 + i) * 100_000);
            let bytes = if timed { ticks.flat_map(u64::to_le_bytes).collect() } else { vec![] };
            Some((json!({ "ok": { "wall": 0.25, "timed": timed } }), bytes))
        }
        "reset" => ok(Value::Null),
        other => panic!("{other}"),
    }
}

/// A page in a thread, and the notes that it is shown.
struct FakePage {
    notes: Receiver<String>,
    ended: JoinHandle<()>,
}

fn connect(hub: &Hub) -> WebSocket<TcpStream> {
    let address = hub.page_address().replace("http", "ws") + "page";
    let place = address.split('/').nth(2).unwrap();
    let stream = TcpStream::connect(place).unwrap();
    tungstenite::client::client_with_config(address, stream, Some(config())).unwrap().0
}

impl FakePage {
    fn open(hub: &Hub, behave: Behaviour) -> Self {
        let mut socket = connect(hub);
        let (sender, notes) = channel();
        let ended = std::thread::spawn(move || {
            let mut memory = HashMap::new();
            while let Ok(message) = socket.read() {
                let bytes = match message {
                    Message::Binary(bytes) => bytes,
                    Message::Text(text) => {
                        let _ = sender.send(text.to_string());
                        continue;
                    }
                    _ => continue,
                };
                let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
                let request: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
                let Some((mut header, payload)) =
                    behave(&request, &bytes[4 + length..], &mut memory)
                else {
                    return;
                };
                header["id"] = request["id"].clone();
                let header = serde_json::to_vec(&header).unwrap();
                let length = (header.len() as u32).to_le_bytes();
                let answer = [&length, header.as_slice(), &payload].concat();
                if socket.send(Message::Binary(answer.into())).is_err() {
                    return;
                }
            }
        });
        Self { notes, ended }
    }
}

fn hub() -> Hub {
    Hub::start(0).unwrap()
}

fn browser(hub: &Hub) -> Browser {
    Browser::at(hub.worker_address())
}

fn opened(hub: &Hub) -> Box<dyn Device> {
    assert!(hub.wait(0, SOON).is_some());
    browser(hub).open(0).unwrap()
}

fn kernel(text: &str) -> KernelSource {
    KernelSource {
        origin: Origin::Shipped("k.wgsl".into()),
        ..KernelSource::new(
            Language::Wgsl,
            "k",
            format!("@compute @workgroup_size(GROUP_X) fn k() {{}} // {text}"),
        )
    }
}

/// It reads `vectors` vectors of its first buffer from constant memory.
fn constant_kernel(vectors: u32) -> KernelSource {
    let element = Element::scalar(Scalar::U32);
    let binding = |name: &str, access| Binding { name: name.into(), element, access, image: None };
    KernelSource {
        text: format!(
            "@group(0) @binding(0) var<uniform> table: array<vec4<u32>, {vectors}>;
             @group(0) @binding(1) var<storage, read> a: array<u32>;
             @group(0) @binding(2) var<storage, read_write> out: array<u32>;
             @compute @workgroup_size(GROUP_X) fn k() {{ out[0] = table[a[0]].x; }}"
        ),
        bindings: vec![
            binding("table", Access::Read),
            binding("a", Access::Read),
            binding("out", Access::Write),
        ],
        ..kernel("")
    }
}

fn launches(count: usize) -> Recording {
    let (kernel, groups) = (KernelId(0), [1; 3]);
    let launch = Op::Dispatch { kernel, groups, buffers: vec![], params: vec![] };
    Recording::one_queue(vec![launch; count])
}

#[test]
fn a_page_is_a_device() {
    let hub = hub();
    let _page = FakePage::open(&hub, behaves);
    let mut device = opened(&hub);
    let info = device.info().clone();
    assert_eq!((info.label().as_str(), info.api.as_str()), ("browser:0", "WebGPU"));
    assert_eq!((info.name.as_str(), info.driver.as_str()), ("NVIDIA ada-lovelace", "Browser 1.2"));
    assert_eq!((info.features, info.timestamp_resolution), (vec!["subgroups".into()], Some(1e-4)));

    let built = device.build(KernelId(0), &kernel("")).unwrap();
    assert_eq!((built.seconds, built.bounds_checks), (0.5, Some(BoundsChecks::On)));
    let times = device.run(&launches(3)).unwrap();
    assert_eq!((times.steps.len(), times.clock, times.resolution), (3, Clock::Device, 1e-4));
    assert!((times.steps[2].duration() - 1e-4).abs() < 1e-12 && times.wall == 0.25);

    // More than one message, and no whole number of words behind the last.
    let data: Vec<u8> = (0..(9 << 20) + 3).map(|i| (i % 251) as u8).collect();
    let bytes = Bytes(data.len() as u64);
    for (id, kind) in [(0, MemoryKind::Device), (1, MemoryKind::Pageable)] {
        device.alloc(BufferId(id), bytes, kind).unwrap();
        device.write(BufferId(id), &data).unwrap();
        assert!(device.read(BufferId(id)).unwrap() == data);
    }
    let part = |buffer, len| Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(len) };
    let upload = |from, to| Recording::one_queue([Op::Upload { from, to }]);
    let copied = device.run(&upload(part(1, 64), part(0, 64))).unwrap();
    assert_eq!((copied.steps.len(), copied.clock, copied.resolution), (0, Clock::Host, 5e-6));
    device.reset();
    assert!(device.read(BufferId(0)).is_err());
}

#[test]
fn mistakes_are_found_before_they_travel() {
    let hub = hub();
    let _page = FakePage::open(&hub, behaves);
    let mut device = opened(&hub);
    device.alloc(BufferId(0), Bytes(64), MemoryKind::Device).unwrap();
    let fails = |found: gpubench_core::error::Result<()>, text: &str| {
        let error = found.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    fails(device.alloc(BufferId(1), Bytes(2 << 30), MemoryKind::Device), "largest is 1.00 GiB");
    fails(device.alloc(BufferId(1), Bytes(4), MemoryKind::Pinned), "no Pinned host memory");
    fails(device.write(BufferId(0), &[0; 65]), "65 B written to buffer 0");
    fails(device.write(BufferId(0), &[0; 3]), "multiples of 4");
    fails(device.run(&launches(1)).map(|_| ()), "there is no kernel 0");
    let mut two_queues = launches(1);
    two_queues.steps[0].queue = Queue(1);
    fails(device.run(&two_queues).map(|_| ()), "WebGPU has one queue");
    let built = device.build(KernelId(0), &kernel("wrong"));
    assert!(
        matches!(&built, Err(Error::Build { kernel, log }) if kernel == "k (k.wgsl)" && log.contains("as asked")),
        "{built:?}"
    );
}

#[test]
fn constant_memory_is_bound_as_far_as_it_is_read() {
    let hub = hub();
    let _page = FakePage::open(&hub, behaves);
    let mut device = opened(&hub);
    let large = device.build(KernelId(0), &constant_kernel(4097)).unwrap_err().to_string();
    assert!(large.contains("64.0 KiB of one buffer"), "{large}");
    device.build(KernelId(0), &constant_kernel(32)).unwrap();
    for id in [0, 1, 2] {
        device.alloc(BufferId(id), Bytes(4096), MemoryKind::Device).unwrap();
    }
    let mut launch = |offset, len| {
        let part = |buffer, offset, len| Slice {
            buffer: BufferId(buffer),
            offset: Bytes(offset),
            len: Bytes(len),
        };
        let mut recording = launches(1);
        let Op::Dispatch { buffers, .. } = &mut recording.steps[0].op else { unreachable!() };
        *buffers = vec![part(0, offset, len), part(1, 0, 4), part(2, 0, 4)];
        device.run(&recording).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(launch(0, 508).unwrap_err().contains("512 B of constant memory at binding 0"));
    assert_eq!(launch(256, 2048), Ok(()), "a longer buffer is bound in part");

    let source = constant_kernel(32);
    let capabilities = naga::valid::Capabilities::all();
    let validator = crate::vulkan::validator(capabilities);
    let examined = crate::wgpu::examine(&source, device.info(), validator).unwrap();
    let arguments = message::arguments(&source, &examined.constant_memory);
    assert_eq!(
        serde_json::to_value(arguments).unwrap(),
        json!([
            { "uniform": { "position": 0, "bytes": 512 } },
            { "buffer": { "position": 1, "read_only": true } },
            { "buffer": { "position": 2, "read_only": false } },
        ])
    );
}

#[test]
fn a_page_that_goes_is_a_lost_device_and_another_one_goes_on() {
    let hub = hub();
    let page = FakePage::open(&hub, |request, payload, memory| match request["do"].as_str() {
        Some("run") => None,
        _ => behaves(request, payload, memory),
    });
    let mut device = opened(&hub);
    device.build(KernelId(0), &kernel("")).unwrap();
    let begun = Instant::now();
    let lost = device.run(&launches(1));
    assert!(
        matches!(&lost, Err(Error::DeviceLost(text)) if text.contains("closed or reloaded")),
        "{lost:?}"
    );
    assert!(matches!(device.read(BufferId(0)), Err(Error::Usage(_))));
    assert!(matches!(device.build(KernelId(0), &kernel("")), Err(Error::DeviceLost(_))));
    assert!(begun.elapsed() < SOON);
    page.ended.join().unwrap();

    let _page = FakePage::open(&hub, behaves);
    assert_eq!(hub.wait(1, SOON), Some(2));
    let mut device = browser(&hub).open(0).unwrap();
    device.build(KernelId(0), &kernel("")).unwrap();
    assert_eq!(device.run(&launches(1)).unwrap().steps.len(), 1);
}

#[test]
fn a_worker_that_was_killed_leaves_the_page_to_the_next() {
    let hub = hub();
    // The first run takes until its worker is gone.
    let _page = FakePage::open(&hub, |request, payload, memory| {
        if request["do"] == "run" && memory.insert(u64::MAX, vec![]).is_none() {
            std::thread::sleep(Duration::from_millis(300));
        }
        behaves(request, payload, memory)
    });
    assert!(hub.wait(0, SOON).is_some());
    let (about_to_run, begins) = channel();
    let first = browser(&hub);
    let killed = std::thread::spawn(move || {
        let mut device = first.open(0).unwrap();
        device.build(KernelId(0), &kernel("")).unwrap();
        about_to_run.send(()).unwrap();
        device.run(&launches(1)).is_err()
    });
    begins.recv().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let mut second = browser(&hub).open(0).unwrap();
    second.build(KernelId(0), &kernel("")).unwrap();
    assert_eq!(second.run(&launches(2)).unwrap().steps.len(), 2);
    let hangs = killed.join().unwrap();
    assert!(hangs, "the page is no longer the first worker's");
}

#[test]
fn a_second_page_is_turned_away_and_the_first_stays() {
    let hub = hub();
    let page = FakePage::open(&hub, behaves);
    let mut device = opened(&hub);
    let mut second = connect(&hub);
    let Ok(Message::Text(note)) = second.read() else { panic!("it is told why") };
    assert!(note.contains("occupied"), "{note}");
    assert!(matches!(second.read(), Ok(Message::Close(_)) | Err(_)));
    device.build(KernelId(0), &kernel("")).unwrap();
    hub.doing("fma");
    hub.done("fma: ok");
    hub.results("<p>fast");
    let notes: Vec<String> = (0..3).map(|_| page.notes.recv_timeout(SOON).unwrap()).collect();
    assert_eq!(
        notes,
        [
            r#"{"show":"doing","text":"fma"}"#,
            r#"{"show":"done","text":"fma: ok"}"#,
            r#"{"show":"results","document":"<p>fast"}"#
        ]
    );
}

#[test]
fn without_a_hub_there_is_no_browser() {
    assert!(Browser::default().devices().unwrap().is_empty());
    assert!(Browser::default().open(0).is_err());
}
