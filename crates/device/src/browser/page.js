// The page does what a worker asks, one request after the other, and answers. A message is a binary frame: the
// length of a header (four bytes, little-endian), the header in JSON, bytes behind it. Text frames are notes
// for the person who looks at the page.

let session = null;
// Why this browser cannot be the device.
let refusal = null;

async function open() {
  session?.device.destroy();
  session = null;
  if (!navigator.gpu) {
    const why = isSecureContext ? "this browser has no WebGPU" : "WebGPU wants http://localhost or https";
    throw new Refusal("unsupported", why);
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Refusal("unsupported", "this browser has WebGPU, but no adapter for it");
  const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
  const limits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: limits });
  session = new Session(device);
  refusal = null;
  const { vendor, architecture, device: model, description, isFallbackAdapter } = adapter.info;
  const { subgroupMinSize: min, subgroupMaxSize: max } = adapter.info;
  const report = {
    vendor, architecture, device: model, description, isFallbackAdapter: !!isFallbackAdapter,
    browser: await browser(),
    limits,
    features: requiredFeatures,
    subgroup: min && max ? [min, max] : null,
    timestampResolution: await session.timestampResolution(),
    clockResolution: clockResolution(),
  };
  show("device", `${description || model || `${vendor} ${architecture}`} · ${report.browser}`);
  return { ok: report };
}

const socket = new WebSocket(`${location.href.replace(/^http/, "ws").replace(/[#?].*$/, "")}page`);
socket.binaryType = "arraybuffer";

function answer(header, payload = new Uint8Array(0)) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const message = new Uint8Array(4 + text.length + payload.length);
  new DataView(message.buffer).setUint32(0, text.length, true);
  message.set(text, 4);
  message.set(payload, 4 + text.length);
  socket.send(message);
}

function parsed(message) {
  const length = new DataView(message).getUint32(0, true);
  const request = JSON.parse(new TextDecoder().decode(new Uint8Array(message, 4, length)));
  return { request, payload: new Uint8Array(message, 4 + length) };
}

async function serve({ request, payload }) {
  const { id } = request;
  try {
    const work = async () => {
      if (request.do === "open") return open();
      if (!session) throw new Refusal("lost", "no device is open");
      return session.guarded(() => session[request.do](request, payload));
    };
    const { ok = null, payload: bytes } = await work();
    answer({ id, ok }, bytes);
  } catch (error) {
    if (request.do === "open") show("state", (refusal = error?.message ?? String(error)));
    answer({ id, error: { kind: error?.kind ?? "device", text: error?.message ?? String(error) } });
  }
}

let last = Promise.resolve();
let ended = false;

function show(id, text) {
  document.getElementById(id).textContent = text;
}

function note({ show: what, text, document: results }) {
  if (what === "doing") show("state", `Measuring ${text}`);
  if (what === "done") {
    const item = document.createElement("li");
    item.textContent = text;
    document.getElementById("log").append(item);
  }
  if (what === "results") {
    ended = true;
    show("state", "Done. Reload the page to measure again.");
    const frame = document.createElement("iframe");
    frame.srcdoc = results;
    frame.title = "Results";
    document.getElementById("results").replaceChildren(frame);
  }
  if (what === "occupied") {
    ended = true;
    show("state", "Another tab is the device already. Close it, then reload this one.");
  }
}

socket.onopen = () => {
  show("state", "Connected.");
  navigator.wakeLock?.request("screen").catch(() => {});
};
socket.onmessage = ({ data }) => {
  if (typeof data === "string") return note(JSON.parse(data));
  const asked = parsed(data);
  // A new worker: what the one before it left running ends now, and is not waited for.
  if (asked.request.do === "open") session?.device.destroy();
  last = last.then(() => serve(asked)).catch(() => {});
};
socket.onclose = () => {
  session?.device.destroy();
  if (ended || refusal) return;
  const done = document.getElementById("log").childElementCount;
  const where = done ? " Its results are where it was started." : "";
  show("state", `The line to gpubench is gone: it has ended, or was stopped.${where}`);
};
