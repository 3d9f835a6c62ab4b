// Every pair of parameters and measures as a cloud of points, with histograms on the diagonal.
import { onThemeChange, theme } from "./colors";
import { element, short } from "./dom";

export interface Series {
  name: string;
  values: (number | null)[];
  isParameter: boolean;
}

const CELL = 150;
const MARGIN = 8;
const BINS = 24;

interface Range {
  low: number;
  high: number;
}

function rangeOf(values: (number | null)[]): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (!(low <= high)) return { low: 0, high: 1 };
  return low < high ? { low, high } : { low: low - (Math.abs(low) || 1), high: high + (Math.abs(high) || 1) };
}

/** Pearson's correlation; null where one of the two does not vary. */
export function correlation(a: (number | null)[], b: (number | null)[]): number | null {
  let [n, ma, mb, aa, bb, ab] = [0, 0, 0, 0, 0, 0];
  a.forEach((x, i) => {
    const y = b[i];
    if (x === null || y === null) return;
    n += 1;
    const [dx, dy] = [x - ma, y - mb];
    ma += dx / n;
    mb += dy / n;
    aa += dx * (x - ma);
    bb += dy * (y - mb);
    ab += dx * (y - mb);
  });
  return n > 2 && aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : null;
}

export class ScatterMatrix {
  readonly root = element("div", { class: "matrix" });
  private readonly ranges: Range[];
  private readonly reading = element("p", { class: "hint", "aria-live": "polite" }, "Point at a dot to read it, click to open its run.");
  private selected = -1;
  private canvases: { canvas: HTMLCanvasElement; x: number; y: number }[] = [];

  constructor(
    private readonly series: Series[],
    private readonly runs: number[],
    private readonly color: (row: number) => string,
    private readonly choose: (row: number) => void,
  ) {
    this.ranges = series.map((one) => rangeOf(one.values));
    const rows = series.flatMap((_, y) => series.map((_, x) => this.cell(x, y)));
    const grid = element("div", { class: "matrix-grid" }, ...rows);
    grid.style.gridTemplateColumns = `repeat(${series.length}, ${CELL}px)`;
    this.root.append(element("div", { class: "wide matrix-frame", tabindex: 0, role: "region", "aria-label": "Scatter matrix" }, grid), this.reading);
    onThemeChange(() => this.draw());
    queueMicrotask(() => this.draw());
  }

  select(row: number): void {
    this.selected = row;
    this.draw();
  }

  private cell(x: number, y: number): HTMLElement {
    const [a, b] = [this.series[x], this.series[y]];
    if (x > y) {
      const found = correlation(a.values, b.values);
      const text = element("div", { class: "cell correlation", title: `correlation of ${a.name} and ${b.name}` }, found === null ? "–" : found.toFixed(2));
      if (found !== null) text.style.opacity = String(0.35 + 0.65 * Math.abs(found));
      return text;
    }
    const label = x === y ? `histogram of ${a.name}` : `${b.name} over ${a.name}`;
    const canvas = element("canvas", { width: CELL * devicePixelRatio, height: CELL * devicePixelRatio, role: "img", "aria-label": label });
    canvas.style.width = canvas.style.height = `${CELL}px`;
    this.canvases.push({ canvas, x, y });
    if (x !== y) {
      canvas.addEventListener("pointermove", (event) => this.read(event, x, y));
      canvas.addEventListener("click", (event) => {
        const row = this.nearest(event, x, y);
        if (row >= 0) this.choose(row);
      });
    }
    return element("div", { class: x === y ? "cell diagonal" : "cell" }, canvas, x === y ? element("span", { class: "name", title: a.name }, a.name) : null);
  }

  private place(k: number, value: number, size: number): number {
    const { low, high } = this.ranges[k];
    return MARGIN + ((value - low) / (high - low)) * (size - 2 * MARGIN);
  }

  private draw(): void {
    for (const { canvas, x, y } of this.canvases) {
      const context = canvas.getContext("2d")!;
      context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
      context.clearRect(0, 0, CELL, CELL);
      if (x === y) this.drawHistogram(context, x);
      else this.drawPoints(context, x, y);
    }
  }

  private drawHistogram(context: CanvasRenderingContext2D, k: number): void {
    const counts = new Array<number>(BINS).fill(0);
    const { low, high } = this.ranges[k];
    for (const value of this.series[k].values)
      if (value !== null) counts[Math.min(BINS - 1, Math.floor(((value - low) / (high - low)) * BINS))] += 1;
    const most = Math.max(...counts, 1);
    const width = (CELL - 2 * MARGIN) / BINS;
    context.fillStyle = this.series[k].isParameter ? theme().muted : theme().applied;
    counts.forEach((count, bin) => {
      const height = (count / most) * (CELL - 50);
      context.fillRect(MARGIN + bin * width, CELL - 20 - height, Math.max(width - 1, 1), height);
    });
    context.fillStyle = theme().muted;
    context.font = "10.5px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(short(low, 4), MARGIN, CELL - 6);
    context.textAlign = "right";
    context.fillText(short(high, 4), CELL - MARGIN, CELL - 6);
  }

  private drawPoints(context: CanvasRenderingContext2D, x: number, y: number): void {
    const size = this.runs.length > 3000 ? 1.2 : this.runs.length > 400 ? 1.7 : 2.4;
    const dot = (row: number, radius: number) => {
      const [a, b] = [this.series[x].values[row], this.series[y].values[row]];
      if (a === null || b === null) return;
      context.beginPath();
      context.arc(this.place(x, a, CELL), CELL - this.place(y, b, CELL), radius, 0, 2 * Math.PI);
      context.fill();
    };
    context.globalAlpha = this.runs.length > 1000 ? 0.55 : 0.8;
    this.runs.forEach((_, row) => {
      context.fillStyle = this.color(row);
      dot(row, size);
    });
    context.globalAlpha = 1;
    if (this.selected < 0) return;
    context.fillStyle = theme().closure;
    dot(this.selected, 4.5);
  }

  private nearest(event: MouseEvent, x: number, y: number): number {
    let [best, found] = [14, -1];
    const [a, b] = [this.series[x].values, this.series[y].values];
    for (let row = 0; row < this.runs.length; ++row) {
      const [u, v] = [a[row], b[row]];
      if (u === null || v === null) continue;
      const distance = Math.hypot(this.place(x, u, CELL) - event.offsetX, CELL - this.place(y, v, CELL) - event.offsetY);
      if (distance < best) [best, found] = [distance, row];
    }
    return found;
  }

  private read(event: MouseEvent, x: number, y: number): void {
    const row = this.nearest(event, x, y);
    if (row < 0) return;
    const [a, b] = [this.series[x], this.series[y]];
    this.reading.textContent = `Run ${this.runs[row]}: ${a.name} ${short(a.values[row]!)}, ${b.name} ${short(b.values[row]!)}`;
  }
}
