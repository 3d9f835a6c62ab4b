// WebM files (a part of Matroska) with one track of video, as browsers encode it.

type Part = Uint8Array | Part[];

function size(part: Part): number {
  return part instanceof Uint8Array ? part.length : part.reduce((sum, one) => sum + size(one), 0);
}

/** A number in as few bytes as it takes, at least `least`. */
function number(value: number, least = 1): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || bytes.length < least; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

/** A length, in 8 bytes. */
function length(value: number): Uint8Array {
  const bytes = number(value, 8);
  bytes[0] |= 1;
  return bytes;
}

function element(id: number, ...content: Part[]): Part {
  return [number(id), length(size(content)), content];
}

function float(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

const text = (value: string) => new TextEncoder().encode(value);

function flat(part: Part, into: BlobPart[] = []): BlobPart[] {
  if (part instanceof Uint8Array) into.push(part as Uint8Array<ArrayBuffer>);
  else for (const one of part) flat(one, into);
  return into;
}

export interface Frame {
  milliseconds: number;
  key: boolean;
  data: Uint8Array;
}

export function webm(codec: string, width: number, height: number, milliseconds: number, frames: Frame[]): Blob {
  const head = element(
    0x1a45dfa3,
    element(0x4286, number(1)),
    element(0x42f7, number(1)),
    element(0x42f2, number(4)),
    element(0x42f3, number(8)),
    element(0x4282, text("webm")),
    element(0x4287, number(4)),
    element(0x4285, number(2)),
  );
  const info = element(0x1549a966, element(0x2ad7b1, number(1_000_000)), element(0x4489, float(milliseconds)), element(0x4d80, text("Linkwork")), element(0x5741, text("Linkwork")));
  const video = element(0xe0, element(0xb0, number(width)), element(0xba, number(height)));
  const track = element(0xae, element(0xd7, number(1)), element(0x73c5, number(1)), element(0x9c, number(0)), element(0x86, text(codec)), element(0x83, number(1)), video);
  const clusters: Part[] = [];
  for (let i = 0; i < frames.length; ) {
    const start = frames[i].milliseconds;
    const blocks: Part[] = [];
    // Times in a cluster are relative, in 16 bits; it begins with a whole picture.
    for (; i < frames.length && (blocks.length === 0 || (frames[i].milliseconds - start < 30_000 && !frames[i].key)); i++) {
      const { milliseconds: at, key, data } = frames[i];
      const header = Uint8Array.from([0x81, (at - start) >> 8, (at - start) & 255, key ? 0x80 : 0]);
      blocks.push(element(0xa3, header, data));
    }
    clusters.push(element(0x1f43b675, element(0xe7, number(start)), ...blocks));
  }
  const segment = element(0x18538067, info, element(0x1654ae6b, track), ...clusters);
  return new Blob(flat([head, segment]), { type: "video/webm" });
}
