// GIF files (version 89a): frames of 256 colours, with the compression of Lempel, Ziv and Welch.

class Bytes {
  private data = new Uint8Array(1 << 16);
  length = 0;

  byte(value: number): void {
    if (this.length === this.data.length) {
      const larger = new Uint8Array(2 * this.data.length);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
  word(value: number): void {
    this.byte(value & 255);
    this.byte(value >> 8);
  }
  text(value: string): void {
    for (const letter of value) this.byte(letter.charCodeAt(0));
  }
  take(): Uint8Array<ArrayBuffer> {
    return this.data.slice(0, this.length);
  }
}

/** Pixels by 15 bits of their colour. */
const cell = (r: number, g: number, b: number) => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);

interface Box {
  cells: number[];
  count: number;
  axis: number;
  spread: number;
}

/** Up to 256 colours for pictures (RGBA), by cutting the box of largest spread at its median (Heckbert 1982). */
export function palette(pictures: Uint8ClampedArray[]): { colors: Uint8Array; index: Uint8Array } {
  const counts = new Uint32Array(1 << 15);
  for (const pixels of pictures) for (let i = 0; i < pixels.length; i += 4) counts[cell(pixels[i], pixels[i + 1], pixels[i + 2])]++;
  const part = (c: number, axis: number) => (c >> (10 - 5 * axis)) & 31;
  const box = (cells: number[]): Box => {
    let count = 0;
    const low = [31, 31, 31];
    const high = [0, 0, 0];
    for (const c of cells) {
      count += counts[c];
      for (let axis = 0; axis < 3; axis++) {
        low[axis] = Math.min(low[axis], part(c, axis));
        high[axis] = Math.max(high[axis], part(c, axis));
      }
    }
    const spans = low.map((value, axis) => high[axis] - value);
    const axis = spans.indexOf(Math.max(...spans));
    return { cells, count, axis, spread: spans[axis] * Math.sqrt(count) };
  };
  const used: number[] = [];
  counts.forEach((count, c) => count > 0 && used.push(c));
  const boxes = [box(used)];
  while (boxes.length < 255) {
    let widest = 0;
    boxes.forEach((one, k) => one.spread > boxes[widest].spread && (widest = k));
    const { cells, count, axis, spread } = boxes[widest];
    if (spread === 0) break;
    cells.sort((a, b) => part(a, axis) - part(b, axis));
    let seen = 0;
    let cut = 0;
    while (cut < cells.length - 1 && (seen += counts[cells[cut]]) < count / 2) cut++;
    cut = Math.min(Math.max(cut, 1), cells.length - 1);
    boxes.splice(widest, 1, box(cells.slice(0, cut)), box(cells.slice(cut)));
  }
  const colors = new Uint8Array(3 * 256);
  const index = new Uint8Array(1 << 15);
  boxes.forEach(({ cells, count }, k) => {
    const sum = [0, 0, 0];
    for (const c of cells) {
      index[c] = k;
      for (let axis = 0; axis < 3; axis++) sum[axis] += (part(c, axis) * 8 + 4) * counts[c];
    }
    for (let axis = 0; axis < 3; axis++) colors[3 * k + axis] = count > 0 ? Math.min(255, Math.round(sum[axis] / count)) : 0;
  });
  return { colors, index };
}

/** Codes of variable length for indices of 8 bits, in blocks of at most 255 bytes. */
function compress(indices: Uint8Array, out: Bytes): void {
  const clear = 256;
  const end = 257;
  let block: number[] = [];
  let bits = 0;
  let held = 0;
  let width = 9;
  let next = 258;
  let table = new Map<number, number>();
  const flush = () => {
    out.byte(block.length);
    for (const value of block) out.byte(value);
    block = [];
  };
  const put = (code: number) => {
    bits |= code << held;
    held += width;
    while (held >= 8) {
      block.push(bits & 255);
      if (block.length === 255) flush();
      bits >>>= 8;
      held -= 8;
    }
  };
  out.byte(8);
  put(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = (prefix << 8) | indices[i];
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    put(prefix);
    if (next === 4096) {
      put(clear);
      table = new Map();
      next = 258;
      width = 9;
    } else {
      if (next === 1 << width) width++;
      table.set(key, next++);
    }
    prefix = indices[i];
  }
  put(prefix);
  put(end);
  if (held > 0) {
    width = 8 - held;
    put(0);
  }
  if (block.length > 0) flush();
  out.byte(0);
}

/** A picture that moves: all frames share a palette made of some of them. */
export class Gif {
  private readonly out = new Bytes();
  private readonly index: Uint8Array;
  private last: Uint8Array | null = null;

  constructor(
    private readonly width: number,
    private readonly height: number,
    samples: Uint8ClampedArray[],
    private readonly hundredths: number, // of a second that each frame is shown
  ) {
    const { colors, index } = palette(samples);
    this.index = index;
    fillGaps(colors, index);
    this.out.text("GIF89a");
    this.out.word(width);
    this.out.word(height);
    this.out.byte(0xf7); // a palette of 256 colours
    this.out.byte(0);
    this.out.byte(0);
    for (const value of colors) this.out.byte(value);
    for (const value of [0x21, 0xff, 11]) this.out.byte(value);
    this.out.text("NETSCAPE2.0");
    for (const value of [3, 1, 0, 0, 0]) this.out.byte(value); // again and again
  }

  /** Only the rectangle that has changed is stored. */
  add(pixels: Uint8ClampedArray): void {
    const now = new Uint8Array(this.width * this.height);
    for (let i = 0; i < now.length; i++) now[i] = this.index[cell(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2])];
    const [left, top, right, bottom] = this.changed(now);
    const [width, height] = [right - left + 1, bottom - top + 1];
    const part = new Uint8Array(width * height);
    for (let y = 0; y < height; y++) part.set(now.subarray((top + y) * this.width + left, (top + y) * this.width + right + 1), y * width);
    for (const value of [0x21, 0xf9, 4, 4]) this.out.byte(value);
    this.out.word(this.hundredths);
    for (const value of [0, 0, 0x2c]) this.out.byte(value);
    for (const value of [left, top, width, height]) this.out.word(value);
    this.out.byte(0);
    compress(part, this.out);
    this.last = now;
  }

  private changed(now: Uint8Array): [number, number, number, number] {
    if (!this.last) return [0, 0, this.width - 1, this.height - 1];
    let [left, top, right, bottom] = [this.width, this.height, -1, -1];
    for (let y = 0, i = 0; y < this.height; y++)
      for (let x = 0; x < this.width; x++, i++)
        if (now[i] !== this.last[i]) {
          left = Math.min(left, x);
          right = Math.max(right, x);
          top = Math.min(top, y);
          bottom = y;
        }
    return right < 0 ? [0, 0, 0, 0] : [left, top, right, bottom];
  }

  finish(): Blob {
    this.out.byte(0x3b);
    return new Blob([this.out.take()], { type: "image/gif" });
  }
}

/** Colours that the samples did not have get the nearest that they have. */
function fillGaps(colors: Uint8Array, index: Uint8Array): void {
  const known = new Uint8Array(index.length);
  index.forEach((k, c) => {
    if (k > 0) known[c] = 1;
  });
  for (let c = 0; c < index.length; c++) {
    if (known[c]) continue;
    const [r, g, b] = [(c >> 10) * 8 + 4, ((c >> 5) & 31) * 8 + 4, (c & 31) * 8 + 4];
    let best = Infinity;
    for (let k = 0; k < 255; k++) {
      const distance = (colors[3 * k] - r) ** 2 + (colors[3 * k + 1] - g) ** 2 + (colors[3 * k + 2] - b) ** 2;
      if (distance < best) [best, index[c]] = [distance, k];
    }
  }
}
