// Films of the view: frames drawn one by one, at exact times, into a GIF or a video.
import { theme } from "./colors";
import { element, short } from "./dom";
import { Gif } from "./gif";
import { mp4 } from "./mp4";
import type { View } from "./view";
import { type Frame, webm } from "./webm";

export interface FilmChoice {
  format: "gif" | "webm" | "mp4";
  width: number;
  height: number;
  rate: number; // frames per second
  speed: number; // simulated seconds per second of the film
  from: number;
  to: number;
}

/** Called after every frame; false: stop. */
type Progress = (part: number) => boolean;

/** Writes into a picture what its numbers mean: the time, the scale of arrows, the size of the grid. */
function annotate(context: CanvasRenderingContext2D, view: View, t: number, width: number, height: number): void {
  const size = Math.max(11, Math.round(height / 32));
  const margin = 0.8 * size;
  context.font = `${size}px system-ui, sans-serif`;
  context.fillStyle = context.strokeStyle = theme().text;
  context.textBaseline = "bottom";
  context.textAlign = "right";
  [`${t.toFixed(2)} s`, ...view.remarks()].forEach((text, k) => context.fillText(text, width - margin, height - margin - 1.5 * size * k));
  context.textAlign = "left";
  view.scaleBars().forEach(({ text, pixels }, k) => {
    const y = height - margin - 1.5 * size * k;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(margin, y - size / 2);
    context.lineTo(margin + pixels, y - size / 2);
    context.stroke();
    context.fillText(text, 1.6 * margin + pixels, y);
  });
}

/** The view as it is, at a moment. */
export function stillPicture(view: View, t: number): Promise<Blob | null> {
  const { canvas } = view;
  const copy = element("canvas", { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d")!;
  context.drawImage(view.picture(t), 0, 0);
  const { width, height } = view.size;
  context.scale(canvas.width / width, canvas.height / height);
  annotate(context, view, t, width, height);
  return new Promise((done) => copy.toBlob(done, "image/png"));
}

/** Draws the frames into a canvas of its own, with the time and the scale of arrows. */
class Frames {
  readonly canvas: HTMLCanvasElement;
  readonly count: number;
  private readonly context: CanvasRenderingContext2D;

  constructor(
    private readonly view: View,
    private readonly choice: FilmChoice,
  ) {
    this.canvas = element("canvas", { width: choice.width, height: choice.height });
    this.context = this.canvas.getContext("2d", { willReadFrequently: true })!;
    this.count = Math.max(1, Math.round(((choice.to - choice.from) / choice.speed) * choice.rate));
  }

  draw(index: number): CanvasRenderingContext2D {
    const { choice, context } = this;
    const t = Math.min(choice.to, choice.from + (index * choice.speed) / choice.rate);
    context.drawImage(this.view.picture(t), 0, 0, choice.width, choice.height);
    annotate(context, this.view, t, choice.width, choice.height);
    return context;
  }

  pixels(index: number): Uint8ClampedArray {
    return this.draw(index).getImageData(0, 0, this.choice.width, this.choice.height).data;
  }
}

/** Lets the page breathe. */
const breathe = () => new Promise((done) => setTimeout(done));

async function gifFilm(frames: Frames, choice: FilmChoice, go: Progress): Promise<Blob | null> {
  const samples = [0, 0.33, 0.66, 1].map((part) => new Uint8ClampedArray(frames.pixels(Math.round(part * (frames.count - 1)))));
  const gif = new Gif(choice.width, choice.height, samples, Math.round(100 / choice.rate));
  for (let k = 0; k < frames.count; k++) {
    gif.add(frames.pixels(k));
    if (!go((k + 1) / frames.count)) return null;
    await breathe();
  }
  return gif.finish();
}

interface Codec {
  name: string; // as browsers call it
  track: string; // as Matroska does
}

/** What may be in a file; H.264 has a level that says how much a reader must be able to do. */
function codecsOf({ format, width, height, rate }: FilmChoice): Codec[] {
  if (format === "webm")
    return [
      { name: "vp09.00.31.08", track: "V_VP9" },
      { name: "vp8", track: "V_VP8" },
    ];
  const pixels = width * height;
  const level = pixels > 1280 * 720 ? (rate > 30 ? "2a" : "28") : rate > 30 ? "20" : "1f";
  return format === "mp4" ? [{ name: `avc1.4200${level}`, track: "" }] : [];
}

async function codecFor(choice: FilmChoice): Promise<Codec | null> {
  if (!("VideoEncoder" in window)) return null;
  for (const codec of codecsOf(choice)) {
    const { supported } = await VideoEncoder.isConfigSupported(config(codec, choice)).catch(() => ({ supported: false }));
    if (supported) return codec;
  }
  return null;
}

function config({ name }: Codec, { format, width, height, rate }: FilmChoice): VideoEncoderConfig {
  const bits = Math.round(width * height * rate * 0.12);
  return { codec: name, width, height, framerate: rate, bitrate: bits, ...(format === "mp4" ? { avc: { format: "avc" } } : {}) };
}

async function encodedFilm(frames: Frames, choice: FilmChoice, codec: Codec, go: Progress): Promise<Blob | null> {
  const encoded: Frame[] = [];
  let description = new Uint8Array();
  let failure: DOMException | null = null;
  const encoder = new VideoEncoder({
    output: (chunk, about) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      encoded.push({ milliseconds: Math.round(chunk.timestamp / 1000), key: chunk.type === "key", data });
      const told = about?.decoderConfig?.description;
      if (told) description = new Uint8Array(ArrayBuffer.isView(told) ? told.buffer.slice(told.byteOffset, told.byteOffset + told.byteLength) : told.slice(0)) as typeof description;
    },
    error: (error) => (failure = error),
  });
  encoder.configure(config(codec, choice));
  for (let k = 0; k < frames.count && !failure; k++) {
    frames.draw(k);
    const frame = new VideoFrame(frames.canvas, { timestamp: Math.round((1e6 * k) / choice.rate), duration: Math.round(1e6 / choice.rate) });
    encoder.encode(frame, { keyFrame: k % (4 * choice.rate) === 0 });
    frame.close();
    while (encoder.encodeQueueSize > 4 && !failure) await breathe();
    if (!go((k + 1) / frames.count)) {
      encoder.close();
      return null;
    }
    await breathe();
  }
  await encoder.flush();
  encoder.close();
  if (failure) throw failure;
  if (choice.format === "mp4") return mp4(choice.width, choice.height, choice.rate, encoded, description);
  return webm(codec.track, choice.width, choice.height, (1000 * frames.count) / choice.rate, encoded);
}

/** The formats of MediaRecorder that this browser has, for those without encoders. */
function recorderType(format: "webm" | "mp4"): string | null {
  if (!("MediaRecorder" in window)) return null;
  const types = format === "mp4" ? ["video/mp4;codecs=avc1.42E01E", "video/mp4"] : ["video/webm;codecs=vp9", "video/webm"];
  return types.find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

/** Recorded as it plays: it takes as long as the film is. */
async function recordedFilm(frames: Frames, choice: FilmChoice, type: string, go: Progress): Promise<Blob | null> {
  frames.draw(0);
  const stream = frames.canvas.captureStream(choice.rate);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: choice.width * choice.height * choice.rate * 0.12 });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const stopped = new Promise((done) => (recorder.onstop = done));
  recorder.start();
  const begun = performance.now();
  for (let k = 0; k < frames.count; k++) {
    frames.draw(k);
    if (!go((k + 1) / frames.count)) {
      recorder.stop();
      return null;
    }
    await new Promise((done) => setTimeout(done, Math.max(0, begun + (1000 * (k + 1)) / choice.rate - performance.now())));
  }
  recorder.stop();
  await stopped;
  return new Blob(parts, { type: type.split(";")[0] });
}

/** What this browser can make. */
export async function filmFormats(): Promise<FilmChoice["format"][]> {
  const formats: FilmChoice["format"][] = ["gif"];
  for (const format of ["webm", "mp4"] as const)
    if ((await codecFor({ format, width: 640, height: 480, rate: 25, speed: 1, from: 0, to: 1 })) || recorderType(format)) formats.push(format);
  return formats;
}

/** Null: it was stopped. Throws if the browser cannot encode it. */
export async function makeFilm(view: View, choice: FilmChoice, go: Progress): Promise<Blob | null> {
  // Encoders want even sizes.
  const even: FilmChoice = { ...choice, width: 2 * Math.round(choice.width / 2), height: 2 * Math.round(choice.height / 2) };
  view.startFilming(even.width, even.height);
  try {
    const frames = new Frames(view, even);
    if (even.format === "gif") return await gifFilm(frames, even, go);
    const codec = await codecFor(even);
    if (codec) return await encodedFilm(frames, even, codec, go);
    const type = recorderType(even.format);
    if (!type) throw new Error(`this browser makes no ${even.format} films`);
    return await recordedFilm(frames, even, type, go);
  } finally {
    view.stopFilming();
  }
}

/** How many frames, and how long: "75 frames, 3 s". */
export function describeFilm(choice: FilmChoice): string {
  const seconds = (choice.to - choice.from) / choice.speed;
  return `${Math.max(1, Math.round(seconds * choice.rate))} frames, ${short(seconds, 3)} s`;
}
