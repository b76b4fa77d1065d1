//! Buffers that a page's kernels read as images.

use super::*;
use gpubench_core::gpu::{Filter, Image};

fn element(text: &str) -> Element {
    Element::try_from(text.to_owned()).unwrap()
}

/// It reads an image of such elements, `width` to a row.
fn image_kernel(text: &str, width: u32, filter: Filter) -> KernelSource {
    let binding =
        |name: &str, element, access, image| Binding { name: name.into(), element, access, image };
    let image = Some(Image { width, filter: Some(filter) });
    KernelSource {
        text: "@group(0) @binding(0) var a: texture_2d<f32>;
            @group(0) @binding(1) var s: sampler;
            @group(0) @binding(2) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(GROUP_X) fn k() {
                out[0] = textureSampleLevel(a, s, vec2f(0.5), 0.0).x;
            }"
        .into(),
        bindings: vec![
            binding("a", element(text), Access::Read, image),
            binding("out", element("f32"), Access::Write, None),
        ],
        ..kernel("")
    }
}

#[test]
fn an_image_is_one_of_whole_words_that_the_page_has_room_for() {
    let hub = hub();
    let _page = FakePage::open(&hub, behaves);
    let mut device = opened(&hub);
    let linear = device.build(KernelId(0), &image_kernel("f32", 8, Filter::Linear));
    let linear = linear.unwrap_err().to_string();
    assert!(linear.contains("the device filters none of `f32`"), "{linear}");
    for id in [0, 1] {
        device.alloc(BufferId(id), Bytes(4096), MemoryKind::Device).unwrap();
    }
    let mut launch = |text: &str, width, len| {
        device.build(KernelId(0), &image_kernel(text, width, Filter::Nearest)).unwrap();
        let part =
            |buffer, len| Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(len) };
        let mut recording = launches(1);
        let Op::Dispatch { buffers, .. } = &mut recording.steps[0].op else { unreachable!() };
        *buffers = vec![part(0, len), part(1, 4)];
        device.run(&recording).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(launch("f32", 8, 256), Ok(()));
    assert!(launch("f32", 8, 252).unwrap_err().contains("252 B are no rows of 8 elements"));
    assert!(launch("f16", 3, 12).unwrap_err().contains("rows of 6 bytes"));
}

#[test]
fn the_page_is_sent_an_image_s_format_and_its_sampler_s_filter() {
    let sent = |text, filter| {
        let source = image_kernel(text, 8, filter);
        let arguments = message::arguments(&source, &Default::default());
        serde_json::to_value(arguments).unwrap()
    };
    let image = |texel, format: &str, sampled: &str| {
        json!({ "image": {
            "position": 0, "width": 8, "texel": texel, "format": format, "sampled": sampled
        } })
    };
    let out = json!({ "buffer": { "position": 1, "read_only": false } });
    let nearest = json!({ "sampler": { "filter": "nearest" } });
    let first = image(16, "rgba32float", "unfilterable-float");
    assert_eq!(sent("f32x4", Filter::Nearest), json!([first, nearest, out]));
    let linear = json!({ "sampler": { "filter": "linear" } });
    let halves = image(4, "rg16float", "float");
    assert_eq!(sent("f16x2", Filter::Linear), json!([halves, linear, out]));
    let bytes = image(1, "r8unorm", "float");
    assert_eq!(sent("u8", Filter::Linear), json!([bytes, linear, out]));
}
