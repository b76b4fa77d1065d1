"use strict";
// Textures with what parts of buffers hold, which kernels read as images, and samplers.

class Images {
  constructor(device) {
    this.device = device;
    this.textures = new Map();
    // Whether the device may still be filling one.
    this.filling = false;
  }

  // The texture of a part of a buffer; it holds what the buffer did when it was made. Its rows lie at multiples of 256
  // bytes on the way there.
  texture({ width, texel, format }, part, gpu) {
    const key = JSON.stringify([part, width, format]);
    if (!this.textures.has(key)) this.textures.set(key, this.make(width, texel, format, part, gpu));
    return this.textures.get(key).texture.createView();
  }

  make(width, texel, format, { buffer, offset, len }, gpu) {
    const { device } = this;
    const row = width * texel;
    const height = len / row;
    const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST;
    const texture = device.createTexture({ size: [width, height], format, usage });
    const bytesPerRow = padded(row, 256);
    const size = bytesPerRow * height;
    const rows = device.createBuffer({ size, usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    for (let i = 0; i < height; i++) {
      encoder.copyBufferToBuffer(gpu, offset + i * row, rows, i * bytesPerRow, row);
    }
    encoder.copyBufferToTexture({ buffer: rows, bytesPerRow }, { texture }, [width, height]);
    device.queue.submit([encoder.finish()]);
    this.filling = true;
    rows.destroy();
    return { buffer, texture };
  }

  // Until all are filled.
  async filled() {
    if (this.filling) await this.device.queue.onSubmittedWorkDone();
    this.filling = false;
  }

  sampler({ filter }) {
    return this.device.createSampler({ magFilter: filter, minFilter: filter });
  }

  // Whether there were any of the buffer, whose contents change.
  forget(buffer) {
    const stale = [...this.textures].filter(([, made]) => made.buffer === buffer);
    for (const [key, { texture }] of stale) {
      texture.destroy();
      this.textures.delete(key);
    }
    return stale.length > 0;
  }
}
