"use strict";
// A device with its kernels and buffers, and what a worker may ask of it.

const FEATURES = ["timestamp-query", "shader-f16", "subgroups", "float32-filterable"];
const LIMITS = [
  "maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage",
  "maxUniformBuffersPerShaderStage", "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ", "maxComputeWorkgroupsPerDimension",
  "maxComputeWorkgroupStorageSize", "minStorageBufferOffsetAlignment",
  "maxUniformBufferBindingSize", "minUniformBufferOffsetAlignment",
  "maxTextureDimension2D", "maxSampledTexturesPerShaderStage", "maxSamplersPerShaderStage",
];
// Steps whose two timestamps fit one query set.
const STEPS_PER_SET = 2048;
// Blocks of parameters that are kept for the next run.
const KEPT_BLOCKS = 1024;

class Refusal extends Error {
  constructor(kind, text) {
    super(text);
    this.kind = kind;
  }
}

const padded = (bytes, to) => Math.max(to, Math.ceil(bytes / to) * to);

// A device with its kernels and buffers.
class Session {
  constructor(device) {
    this.device = device;
    this.kernels = new Map();
    this.buffers = new Map();
    this.blocks = new Map();
    this.images = new Images(device);
    this.timestamps = device.features.has("timestamp-query");
    this.lost = device.lost.then((info) => {
      throw new Refusal("lost", `${info.reason}: ${info.message}`);
    });
    this.lost.catch(() => {});
  }

  // What `work` results in; what the API complains of instead, or the device's loss.
  async guarded(work) {
    const { device } = this;
    for (const filter of ["out-of-memory", "internal", "validation"]) device.pushErrorScope(filter);
    let result, failed;
    try {
      result = await Promise.race([work(), this.lost]);
    } catch (error) {
      failed = error;
    }
    const scopes = [1, 2, 3].map(() => device.popErrorScope().catch(() => null));
    const complaint = (await Promise.race([Promise.all(scopes), this.lost])).find((error) => error);
    if (failed instanceof Refusal) throw failed;
    if (complaint instanceof GPUOutOfMemoryError) throw new Refusal("memory", complaint.message);
    if (complaint) throw new Refusal("device", complaint.message);
    if (failed instanceof RangeError) throw new Refusal("memory", failed.message);
    if (failed) throw failed;
    return result;
  }

  create(bytes, usage) {
    return this.device.createBuffer({ size: padded(bytes, 4), usage });
  }

  // ---- Kernels

  async build({ kernel, file, code, entry, arguments: list }) {
    this.kernels.delete(kernel);
    const { device } = this;
    const began = performance.now();
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code });
    const { messages } = await module.getCompilationInfo();
    const failed = await device.popErrorScope();
    const line = (m) => `${file}:${m.lineNum}:${m.linePos}: ${m.type}: ${m.message}`;
    const log = messages.map(line).join("\n");
    if (failed) throw new Refusal("build", log || failed.message);
    const type = ({ buffer, image, sampler }) => {
      if (image) return { texture: { sampleType: image.sampled } };
      if (sampler) return { sampler: { type: sampler.filter === "linear" ? "filtering" : "non-filtering" } };
      if (!buffer) return { buffer: { type: "uniform" } };
      return { buffer: { type: buffer.read_only ? "read-only-storage" : "storage" } };
    };
    const entries = list.map((argument, binding) => {
      return { binding, visibility: GPUShaderStage.COMPUTE, ...type(argument) };
    });
    const layout = device.createBindGroupLayout({ entries });
    const compute = { module, entryPoint: entry };
    let pipeline;
    try {
      const whole = device.createPipelineLayout({ bindGroupLayouts: [layout] });
      pipeline = await device.createComputePipelineAsync({ layout: whole, compute });
    } catch (error) {
      throw new Refusal("build", error.message);
    }
    this.kernels.set(kernel, { pipeline, layout, list, groups: new Map() });
    return { ok: { seconds: (performance.now() - began) / 1000, log } };
  }

  // The bind group of a launch; parameters are uniform buffers, one for each distinct block.
  group(kernel, { buffers, params }) {
    const key = JSON.stringify([buffers, params]);
    const known = kernel.groups.get(key);
    if (known) return known;
    const entries = kernel.list.map(({ buffer, uniform, block, image, sampler }, binding) => {
      if (block) return { binding, resource: { buffer: this.block(params, block) } };
      if (image) return { binding, resource: this.image(image, buffers[image.position]) };
      if (sampler) return { binding, resource: this.images.sampler(sampler) };
      const { position, bytes } = buffer ?? uniform;
      const { buffer: id, offset, len } = buffers[position];
      const resource = { buffer: this.buffers.get(id).gpu, offset, size: bytes ?? len };
      return { binding, resource };
    });
    const group = this.device.createBindGroup({ layout: kernel.layout, entries });
    kernel.groups.set(key, group);
    return group;
  }

  image(image, part) {
    return this.images.texture(image, part, this.buffers.get(part.buffer).gpu);
  }

  block(params, { first, len }) {
    const bytes = params.slice(first, first + len);
    const key = bytes.join();
    if (!this.blocks.has(key)) {
      const size = padded(len, 16);
      const buffer = this.device.createBuffer({ size, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true });
      new Uint8Array(buffer.getMappedRange()).set(bytes);
      buffer.unmap();
      this.blocks.set(key, buffer);
    }
    return this.blocks.get(key);
  }

  forgetGroups() {
    for (const kernel of this.kernels.values()) kernel.groups.clear();
  }

  forgetBlocks() {
    this.forgetGroups();
    for (const block of this.blocks.values()) block.destroy();
    this.blocks.clear();
  }

  // ---- Buffers

  async alloc({ buffer, bytes, kind }) {
    this.free(buffer);
    if (kind !== "device") {
      this.buffers.set(buffer, { bytes, host: new Uint8Array(bytes), staging: null });
      return {};
    }
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const gpu = this.create(bytes, usage);
    this.buffers.set(buffer, { bytes, gpu });
    // Browsers zero a buffer when it is first used; done here, that time falls on no launch.
    const encoder = this.device.createCommandEncoder();
    encoder.clearBuffer(gpu);
    this.device.queue.submit([encoder.finish()]);
    await this.device.queue.onSubmittedWorkDone();
    return {};
  }

  free(id) {
    const old = this.buffers.get(id);
    if (!old) return;
    this.forgetGroups();
    this.images.forget(id);
    old.gpu?.destroy();
    old.staging?.destroy();
    this.buffers.delete(id);
  }

  async write({ buffer, offset }, payload) {
    const { gpu, host } = this.buffers.get(buffer);
    if (host) {
      host.set(payload, offset);
      return {};
    }
    if (this.images.forget(buffer)) this.forgetGroups();
    const whole = new Uint8Array(padded(payload.length, 4));
    whole.set(payload);
    this.device.queue.writeBuffer(gpu, offset, whole);
    await this.device.queue.onSubmittedWorkDone();
    return {};
  }

  async read({ buffer, offset, len }) {
    const { gpu, host } = this.buffers.get(buffer);
    if (host) return { payload: host.subarray(offset, offset + len) };
    const size = padded(len, 4);
    const staging = this.create(size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(gpu, offset, staging, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const payload = new Uint8Array(staging.getMappedRange().slice(0, len));
    staging.destroy();
    return { payload };
  }

  reset({ lasting }) {
    for (const id of [...this.buffers.keys()]) this.free(id);
    for (const id of [...this.kernels.keys()]) if (id < lasting) this.kernels.delete(id);
    this.forgetBlocks();
    return {};
  }

  // ---- Recordings

  // Commands that the device does without the page stand in one stage; where the page has to copy, they are
  // closed and a stage of the page's follows. Only stages are timed: encoding is over before.
  async run({ steps }) {
    if (this.blocks.size > KEPT_BLOCKS) this.forgetBlocks();
    const timed = this.timestamps && steps.length > 0 && steps.every((step) => step.op.Dispatch);
    const queries = timed ? this.queries(steps.length) : null;
    const stages = this.encode(steps, queries);
    const { queue } = this.device;
    await this.images.filled();
    const began = performance.now();
    for (const stage of stages) await stage();
    await queue.onSubmittedWorkDone();
    const wall = (performance.now() - began) / 1000;
    const payload = timed ? await this.ticks(queries, steps.length) : undefined;
    return { ok: { wall, timed }, payload };
  }

  encode(steps, queries) {
    const stages = [];
    let encoder = null;
    let pass = null;
    let pending = [];
    const commands = () => (encoder ??= this.device.createCommandEncoder());
    const endPass = () => {
      pass?.end();
      pass = null;
    };
    const close = () => {
      endPass();
      if (!encoder) return;
      const done = encoder.finish();
      encoder = null;
      stages.push(() => this.device.queue.submit([done]));
    };
    const collect = (of) => {
      const due = pending.filter((to) => of === null || to.buffer === of);
      pending = pending.filter((to) => !due.includes(to));
      if (due.length > 0) close();
      for (const to of due) stages.push(() => this.collect(to));
    };
    const copy = (from, gpu, offset) => {
      endPass();
      commands().copyBufferToBuffer(this.buffers.get(from.buffer).gpu, from.offset, gpu, offset, from.len);
    };
    const ops = {
      Dispatch: (op, number) => {
        const kernel = this.kernels.get(op.kernel);
        const timestampWrites = queries && this.writes(queries, number);
        if (timestampWrites) endPass();
        pass ??= commands().beginComputePass(timestampWrites ? { timestampWrites } : {});
        pass.setPipeline(kernel.pipeline);
        pass.setBindGroup(0, this.group(kernel, op));
        pass.dispatchWorkgroups(...op.groups);
      },
      Copy: ({ from, to }) => copy(from, this.buffers.get(to.buffer).gpu, to.offset),
      Upload: ({ from, to }) => {
        collect(from.buffer);
        close();
        const { host } = this.buffers.get(from.buffer);
        const { gpu } = this.buffers.get(to.buffer);
        stages.push(() => this.device.queue.writeBuffer(gpu, to.offset, host, from.offset, from.len));
      },
      Download: ({ from, to }) => {
        copy(from, this.staging(to.buffer), to.offset);
        pending.push(to);
      },
    };
    steps.forEach((step, number) => {
      const [[name, op]] = Object.entries(step.op);
      ops[name](op, number);
    });
    close();
    collect(null);
    return stages;
  }

  // Where the device puts what goes to a buffer of the page's.
  staging(id) {
    const buffer = this.buffers.get(id);
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return (buffer.staging ??= this.create(buffer.bytes, usage));
  }

  async collect(to) {
    const { host, staging } = this.buffers.get(to.buffer);
    // Maps begin at multiples of eight.
    const start = to.offset - (to.offset % 8);
    const size = to.offset + to.len - start;
    await staging.mapAsync(GPUMapMode.READ, start, size);
    host.set(new Uint8Array(staging.getMappedRange(start, size), to.offset - start, to.len), to.offset);
    staging.unmap();
  }

  // ---- Timestamps

  queries(steps) {
    const sets = Math.ceil(steps / STEPS_PER_SET);
    if (!this.asked || this.asked.sets.length < sets) {
      this.asked?.sets.forEach((set) => set.destroy());
      this.asked?.resolved.destroy();
      this.asked?.staging.destroy();
      const count = 2 * STEPS_PER_SET;
      const bytes = sets * count * 8;
      const set = () => this.device.createQuerySet({ type: "timestamp", count });
      this.asked = {
        sets: Array.from({ length: sets }, set),
        resolved: this.create(bytes, GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC),
        staging: this.create(bytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST),
      };
    }
    return this.asked;
  }

  writes({ sets }, number) {
    const first = (number % STEPS_PER_SET) * 2;
    return {
      querySet: sets[Math.floor(number / STEPS_PER_SET)],
      beginningOfPassWriteIndex: first,
      endOfPassWriteIndex: first + 1,
    };
  }

  // Two timestamps a step, in nanoseconds.
  async ticks({ sets, resolved, staging }, steps) {
    const encoder = this.device.createCommandEncoder();
    for (let i = 0, left = steps; left > 0; i++, left -= STEPS_PER_SET) {
      const here = Math.min(left, STEPS_PER_SET);
      encoder.resolveQuerySet(sets[i], 0, here * 2, resolved, i * STEPS_PER_SET * 16);
    }
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, steps * 16);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ, 0, steps * 16);
    const ticks = new Uint8Array(staging.getMappedRange(0, steps * 16).slice(0));
    staging.unmap();
    return ticks;
  }

  // The step of the timestamps in seconds: what all of some hundred are multiples of.
  async timestampResolution() {
    if (!this.timestamps) return null;
    let step = 0n;
    const seen = new Set();
    const until = performance.now() + 100;
    while (performance.now() < until) {
      const queries = this.queries(1);
      const encoder = this.device.createCommandEncoder();
      encoder.beginComputePass({ timestampWrites: this.writes(queries, 0) }).end();
      this.device.queue.submit([encoder.finish()]);
      const ticks = new BigUint64Array((await this.ticks(queries, 1)).buffer);
      for (let tick of ticks) {
        seen.add(tick);
        while (tick) [step, tick] = [tick, step % tick];
      }
    }
    return seen.size > 2 ? Number(step) * 1e-9 : null;
  }
}

// The browser and its version, as exactly as it says.
async function browser() {
  try {
    const { fullVersionList } = await navigator.userAgentData.getHighEntropyValues(["fullVersionList"]);
    const own = fullVersionList.filter(({ brand }) => !/not.?a.?brand/i.test(brand));
    const best = own.find(({ brand }) => brand !== "Chromium") ?? own[0];
    return `${best.brand} ${best.version}`;
  } catch {
    const agent = navigator.userAgent;
    const found = /(Firefox|Edg|OPR|HeadlessChrome|Chrome)\/([\d.]+)/.exec(agent);
    const safari = /Version\/([\d.]+).*Safari/.exec(agent);
    if (found) return `${found[1]} ${found[2]}`;
    return safari ? `Safari ${safari[1]}` : agent.slice(0, 60);
  }
}

// The smallest step of the page's clock in seconds.
function clockResolution() {
  let smallest = Infinity;
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    let now = began;
    while (now === began) now = performance.now();
    smallest = Math.min(smallest, now - began);
  }
  return smallest / 1000;
}
