// MP4 files (ISO/IEC 14496-12) with one track of H.264 video, as browsers encode it: all pictures last equally long.
import type { Frame } from "./webm";

type Part = Uint8Array | string | number | Part[]; // numbers are 4 bytes, texts their letters

function bytes(part: Part): Uint8Array[] {
  if (part instanceof Uint8Array) return [part];
  if (typeof part === "string") return [Uint8Array.from(part, (letter) => letter.charCodeAt(0))];
  if (typeof part === "number") return [Uint8Array.of(part >>> 24, part >>> 16, part >>> 8, part)];
  return part.flatMap(bytes);
}

function box(type: string, ...parts: Part[]): Uint8Array {
  const content = bytes([type, ...parts]);
  const size = 4 + content.reduce((sum, piece) => sum + piece.length, 0);
  const made = new Uint8Array(size);
  let at = 0;
  for (const piece of [...bytes(size), ...content]) {
    made.set(piece, at);
    at += piece.length;
  }
  return made;
}

const zeros = (count: number) => new Uint8Array(count);
const short = (value: number) => Uint8Array.of(value >>> 8, value);
const UNIT = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]; // no rotation

/** `description` is what the encoder says of itself (avcC). */
export function mp4(width: number, height: number, rate: number, frames: Frame[], description: Uint8Array): Blob {
  const scale = 1000 * rate; // ticks per second: a frame lasts 1000
  const duration = 1000 * frames.length;
  const sample = box("avc1", zeros(6), short(1), zeros(16), short(width), short(height), 72 << 16, 72 << 16, 0, short(1), zeros(32), short(24), short(0xffff), box("avcC", description));
  const keys = frames.flatMap(({ key }, k) => (key ? [k + 1] : []));
  const table = (offset: number) =>
    box(
      "stbl",
      box("stsd", 0, 1, sample),
      box("stts", 0, 1, frames.length, 1000),
      box("stss", 0, keys.length, keys),
      box("stsc", 0, 1, 1, frames.length, 1), // all in one chunk
      box("stsz", 0, 0, frames.length, frames.map(({ data }) => data.length)),
      box("stco", 0, 1, offset),
    );
  const media = (offset: number) =>
    box(
      "mdia",
      box("mdhd", 0, 0, 0, scale, duration, 0x55c40000),
      box("hdlr", 0, 0, "vide", zeros(12), "Linkwork", zeros(1)),
      box("minf", box("vmhd", 1, zeros(8)), box("dinf", box("dref", 0, 1, box("url ", 1))), table(offset)),
    );
  const head = (offset: number) =>
    box(
      "moov",
      box("mvhd", 0, 0, 0, scale, duration, 0x10000, short(0x100), zeros(10), UNIT, zeros(24), 2),
      box("trak", box("tkhd", 3, 0, 0, 1, 0, duration, zeros(16), UNIT, width << 16, height << 16), media(offset)),
    );
  const type = box("ftyp", "isom", 0x200, "isomiso2avc1mp41");
  const offset = type.length + head(0).length + 8;
  const size = 8 + frames.reduce((sum, { data }) => sum + data.length, 0);
  const parts = [type, head(offset), ...bytes([size, "mdat"]), ...frames.map(({ data }) => data)];
  return new Blob(parts as Uint8Array<ArrayBuffer>[], { type: "video/mp4" });
}
