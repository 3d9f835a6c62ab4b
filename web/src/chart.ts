// A figure with its legend: curves and points of any x and y, on linear or logarithmic axes.
import uPlot from "uplot";
import { lineColors, onThemeChange, theme } from "./colors";
import { download, element, fileName, short } from "./dom";
import { decades } from "./ticks";

export type ChartStyle = "line" | "dashed" | "points" | "line-points";

export interface ChartSeries {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  style: ChartStyle;
  color?: string | number | null; // itself, or a place in the list of colours; that of the series if not given
  notes?: string[]; // what to say of each point
}

export interface ChartData {
  title: string;
  x_label: string;
  y_label: string;
  x_log: boolean;
  y_log: boolean;
  series: ChartSeries[];
  caption?: string;
}

interface Point {
  series: number;
  index: number;
  x: number;
  y: number;
}

const FONT = "12px system-ui, sans-serif";

/** uPlot provides axes and zoom; the curves need not be functions of x, and are drawn by hand. */
export class Chart {
  readonly root: HTMLElement;
  private plot: uPlot | null = null;
  private readonly hidden = new Set<number>();
  private readonly area = element("div", { class: "area" });
  private readonly reading = element("div", { class: "reading", hidden: true });
  private readonly legend: HTMLButtonElement[];

  constructor(private readonly data: ChartData) {
    this.legend = data.series.map((series, index) => this.entry(series, index));
    const save = element("button", { class: "small", title: "Save as a picture", onclick: () => this.savePicture() }, "PNG");
    const table = element("button", { class: "small", title: "Save the data", onclick: () => this.saveTable() }, "CSV");
    const head = element("div", { class: "chart-head" }, element("h4", {}, data.title), save, table);
    this.root = element(
      "figure",
      { class: "chart" },
      head,
      element("div", { class: "chips" }, ...this.legend),
      this.area,
      data.caption ? element("figcaption", {}, data.caption) : null,
    );
    new ResizeObserver(() => this.resize()).observe(this.area);
    onThemeChange(() => this.rebuild());
    queueMicrotask(() => this.rebuild());
  }

  private color(series: number): string {
    const color = this.data.series[series].color ?? series;
    return typeof color === "string" ? color : lineColors[color % lineColors.length];
  }

  /** A curve in the legend: pressing it hides the curve or shows it again. */
  private entry(series: ChartSeries, index: number): HTMLButtonElement {
    const swatch = element("i", { class: `swatch ${series.style}` });
    swatch.style.borderColor = swatch.style.color = this.color(index);
    const made = element("button", { class: "chip", "aria-pressed": "true", title: "Show or hide", onclick: () => this.toggle(index) }, swatch, series.name);
    return made;
  }

  private toggle(index: number): void {
    if (!this.hidden.delete(index)) this.hidden.add(index);
    this.legend[index].setAttribute("aria-pressed", String(!this.hidden.has(index)));
    this.rebuild();
  }

  private isShown(x: number | null, y: number | null): boolean {
    if (x === null || y === null || !Number.isFinite(x) || !Number.isFinite(y)) return false;
    return (!this.data.x_log || x > 0) && (!this.data.y_log || y > 0);
  }

  private points(): Point[] {
    return this.data.series.flatMap((series, index) =>
      this.hidden.has(index) ? [] : series.x.flatMap((x, k) => (this.isShown(x, series.y[k]) ? [{ series: index, index: k, x: x!, y: series.y[k]! }] : [])),
    );
  }

  private extent(values: number[], log: boolean): [number, number] {
    if (values.length === 0) return log ? [0.1, 1] : [0, 1];
    const low = values.reduce((a, b) => Math.min(a, b));
    const high = values.reduce((a, b) => Math.max(a, b));
    if (log) return low < high ? [low, high] : [low / 3, high * 3];
    const margin = 0.04 * (high - low || Math.abs(high) || 1);
    return [low - margin, high + margin];
  }

  private axis(label: string, log: boolean): uPlot.Axis {
    const colors = theme();
    const marks: uPlot.Axis = log ? { splits: (u, axis, min, max) => decades(min, max, axis === 0 ? u.width / 62 : u.height / 26), filter: (_u, splits) => splits } : {};
    return {
      ...marks,
      stroke: colors.muted,
      grid: { stroke: colors.gridStrong, width: 0.6 },
      ticks: { stroke: colors.gridStrong, width: 0.6, size: 4 },
      font: FONT,
      label,
      labelFont: FONT,
      labelSize: 18,
      labelGap: 0,
      values: (_u, splits) => splits.map((value) => (value === null ? "" : short(value, 4).replace(/\.0e/, "e"))),
    };
  }

  private rebuild(): void {
    this.plot?.destroy();
    const points = this.points();
    const xs = this.extent(points.map((point) => point.x), this.data.x_log);
    const ys = this.extent(points.map((point) => point.y), this.data.y_log);
    const scale = (log: boolean, [low, high]: [number, number]): uPlot.Scale => ({
      time: false,
      distr: log ? 3 : 1,
      // A logarithmic axis takes whole decades unless it spans less than one.
      range: (_u, min, max) => {
        if (!log) return min === null || max === null ? [low, high] : [min, max];
        const wide = max / min > 10;
        return [wide ? 10 ** Math.floor(Math.log10(min) + 1e-9) : min / 1.15, wide ? 10 ** Math.ceil(Math.log10(max) - 1e-9) : max * 1.15];
      },
    });
    const options: uPlot.Options = {
      width: Math.max(this.area.clientWidth, 120),
      height: this.height(),
      legend: { show: false },
      pxAlign: false,
      cursor: { drag: { x: true, y: true, uni: 24 }, points: { show: false } },
      scales: { x: scale(this.data.x_log, xs), y: scale(this.data.y_log, ys) },
      axes: [
        { ...this.axis(this.data.x_label, this.data.x_log), size: 30 },
        { ...this.axis(this.data.y_label, this.data.y_log), size: 58 },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(u) => this.draw(u)], setCursor: [(u) => this.read(u)] },
    };
    this.area.replaceChildren();
    this.plot = new uPlot(options, [xs, ys], this.area);
    this.plot.over.append(this.reading);
    const canvas = this.plot.ctx.canvas;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${this.data.title}: ${this.data.series.map((series) => series.name).join(", ")}`);
  }

  private draw(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.data.series.forEach((series, index) => {
      if (this.hidden.has(index)) return;
      ctx.strokeStyle = ctx.fillStyle = this.color(index);
      if (series.style !== "points") this.drawLine(u, series);
      if (series.style === "points" || series.style === "line-points") this.drawPoints(u, series);
    });
    ctx.restore();
  }

  private drawLine(u: uPlot, series: ChartSeries): void {
    const { ctx } = u;
    ctx.beginPath();
    ctx.lineWidth = 1.7 * devicePixelRatio;
    ctx.setLineDash(series.style === "dashed" ? [6 * devicePixelRatio, 4 * devicePixelRatio] : []);
    let down = false;
    series.x.forEach((x, k) => {
      const y = series.y[k];
      if (!this.isShown(x, y)) {
        down = false;
        return;
      }
      const [px, py] = [u.valToPos(x!, "x", true), u.valToPos(y!, "y", true)];
      down ? ctx.lineTo(px, py) : ctx.moveTo(px, py);
      down = true;
    });
    ctx.stroke();
  }

  private drawPoints(u: uPlot, series: ChartSeries): void {
    series.x.forEach((x, k) => {
      const y = series.y[k];
      if (!this.isShown(x, y)) return;
      u.ctx.beginPath();
      u.ctx.arc(u.valToPos(x!, "x", true), u.valToPos(y!, "y", true), 3 * devicePixelRatio, 0, 2 * Math.PI);
      u.ctx.fill();
    });
  }

  /** Says what the point nearest to the cursor is. */
  private read(u: uPlot): void {
    const { left = -1, top = -1 } = u.cursor;
    let best = 28;
    let nearest: Point | null = null;
    if (left >= 0 && top >= 0)
      for (const point of this.points()) {
        const distance = Math.hypot(u.valToPos(point.x, "x") - left, u.valToPos(point.y, "y") - top);
        if (distance < best) [best, nearest] = [distance, point];
      }
    this.reading.hidden = nearest === null;
    if (!nearest) return;
    const { name, notes } = this.data.series[nearest.series];
    const note = notes?.[nearest.index];
    this.reading.textContent = `${name}${note ? `, ${note}` : ""}: ${short(nearest.x)}, ${short(nearest.y)}`;
    const [x, y] = [u.valToPos(nearest.x, "x"), u.valToPos(nearest.y, "y")];
    const flip = x > u.over.clientWidth / 2;
    this.reading.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(${flip ? "calc(-100% - 8px)" : "8px"}, -130%)`;
  }

  private height(): number {
    return Math.round(Math.min(340, Math.max(220, this.area.clientWidth * 0.6)));
  }

  private resize(): void {
    if (this.plot && this.area.clientWidth > 0) this.plot.setSize({ width: this.area.clientWidth, height: this.height() });
  }

  private savePicture(): void {
    if (!this.plot) return;
    const source = this.plot.ctx.canvas;
    const scale = source.width / this.plot.width;
    const row = 18 * scale;
    const shown = this.data.series.map((_, index) => index).filter((index) => !this.hidden.has(index));
    const canvas = element("canvas", { width: source.width, height: source.height + row * (shown.length + 0.5) });
    const context = canvas.getContext("2d")!;
    context.fillStyle = theme().background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 0);
    context.font = `${12 * scale}px system-ui, sans-serif`;
    shown.forEach((index, k) => {
      const y = source.height + row * (k + 0.6);
      context.fillStyle = this.color(index);
      context.fillRect(12 * scale, y - 2 * scale, 24 * scale, 3 * scale);
      context.fillStyle = theme().text;
      context.fillText(this.data.series[index].name, 44 * scale, y + 4 * scale);
    });
    canvas.toBlob((blob) => blob && download(`${fileName(this.data.title)}.png`, blob));
  }

  private saveTable(): void {
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    const header = ["series", this.data.x_label, this.data.y_label].map(quoted).join(",");
    const rows = this.data.series.flatMap((series) => series.x.map((x, k) => `${quoted(series.name)},${x ?? ""},${series.y[k] ?? ""}`));
    download(`${fileName(this.data.title)}.csv`, new Blob([[header, ...rows, ""].join("\n")], { type: "text/csv" }));
  }
}
