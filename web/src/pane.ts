// One plot: columns over time, over frequency or over one another, in step with the animation.
import uPlot from "uplot";
import { theme } from "./colors";
import { ColumnSearch } from "./column_search";
import { menu } from "./controls";
import { download, element, fileName, icon, icons, short } from "./dom";
import { eventsOf } from "./events";
import { type Line, makeLines, SPECTRUM } from "./lines";
import { plotSvg } from "./plot_svg";
import type { Plots } from "./plots";
import { decades } from "./ticks";
import { axisTitle, shortened, shownUnit, unitSuffix } from "./units";

const FONT = "11px system-ui, sans-serif";
const MOST_MARKS = 500;
const LEAST_LOGARITHM = 1e-30; // what is smaller would only push the rest together
export const DOUBTS: Record<string, string> = {
  "not unique": "Rigid bodies do not determine this reaction: it is one of many possible ones.",
  "perhaps not unique": "Whether rigid bodies determine this reaction is known when the run has ended.",
};

/** A piece of a line as it is drawn, dashes and all. */
function dashedSwatch(color: string, dash: number[]): HTMLElement {
  const swatch = element("i", { class: "swatch stroke" });
  let end = 0;
  const parts = dash.map((length, k) => `${k % 2 === 0 ? color : "transparent"} ${end}px ${(end += length)}px`);
  swatch.style.background = dash.length === 0 ? color : `repeating-linear-gradient(90deg, ${parts.join(", ")})`;
  return swatch;
}

function say(field: HTMLElement, text: string): void {
  if (field.textContent !== text) field.textContent = text;
}

/** What differs by rounding only is a straight line: ticks closer than numbers can be told apart would never end. */
function visibleRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const least = 1e-6 * Math.max(Math.abs(low), Math.abs(high), 1e-300);
  if (high - low >= least) return uPlot.rangeNum(low, high, 0.1, true) as [number, number];
  const middle = (low + high) / 2;
  const half = Math.abs(middle) > 1e-290 ? 0.05 * Math.abs(middle) : 1;
  return [middle - half, middle + half];
}

export class Pane {
  readonly root: HTMLElement;
  readonly columns: string[] = [];
  private x = "t";
  private log = false;
  private plot: uPlot | null = null;
  private lines: Line[] = [];
  private scales = new Map<string, string>(); // by unit: each has an axis of its own
  private readonly chips = element("div", { class: "chips" });
  private readonly area = element("div", {
    class: "area",
    tabindex: 0,
    role: "group",
    "aria-label": "Curves: plus and minus zoom around the moment shown, 0 shows all",
    onkeydown: (event: KeyboardEvent) => this.onKey(event),
  });
  private readonly now = element("div", { class: "now" });
  private readonly logButton: HTMLButtonElement;
  private readonly phaseButton: HTMLButtonElement;
  private readonly xSelect: HTMLSelectElement;
  private readonly search: ColumnSearch;
  private values: HTMLElement[] = [];

  constructor(
    private readonly plots: Plots,
    title: string,
    columns: string[],
    log: boolean,
  ) {
    this.search = new ColumnSearch("Add a column", () => this.plots.columnNames.filter((name) => !this.columns.includes(name)), (name) => this.labelOf(name), (name) => this.add(name));
    this.xSelect = element("select", { "aria-label": "Horizontal axis", title: "Horizontal axis", onchange: () => this.setX(this.xSelect.value), onfocus: () => this.fillX(), onpointerdown: () => this.fillX() });
    this.logButton = this.button("log", "Logarithmic axis", () => this.setLog(!this.log));
    this.phaseButton = this.button("phase", "Phase plot: velocity over position", () => this.togglePhase());
    const remove = element("button", { class: "icon remove", title: "Remove this plot", "aria-label": "Remove this plot", onclick: () => this.plots.remove(this) }, icon(icons.close, false));
    const tools = element(
      "div",
      { class: "tools" },
      title ? element("h3", {}, title) : null,
      this.search.root,
      this.xSelect,
      this.phaseButton,
      this.logButton,
      this.button("fit", "Show the whole curves again", () => this.rebuild()),
      this.saveMenu(),
      remove,
    );
    this.root = element("section", { class: "pane", "aria-label": "Plot" }, tools, this.chips, this.area);
    this.columns.push(...columns);
    this.log = log;
    this.fillX(1500);
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  private doubt(name: string): string {
    return this.plots.runs.map((run) => run.doubt(name)).find(Boolean) ?? "";
  }

  private labelOf(name: string): string {
    const doubt = this.doubt(name);
    return doubt ? `${name} (${doubt})` : name;
  }

  /** Lists of many thousands of columns are made only when they are wanted. */
  private fillX(most = Infinity): void {
    const names = this.plots.columnNames.filter((name) => name !== "t");
    if (this.xSelect.options.length >= names.length + 2) return;
    this.xSelect.replaceChildren(
      element("option", { value: "t" }, "over time"),
      element("option", { value: SPECTRUM }, "over frequency"),
      ...(names.length <= most ? names : names.slice(0, 1)).map((name) => element("option", { value: name }, `over ${this.labelOf(name)}`)),
    );
    this.xSelect.value = this.x;
  }

  add(name: string): void {
    if (!this.columns.includes(name)) this.columns.push(name);
    this.rebuild();
  }

  setX(name: string): void {
    this.x = name;
    this.fillX();
    this.xSelect.value = name;
    this.rebuild();
  }

  setLog(log: boolean): void {
    this.log = log;
    this.rebuild();
  }

  focus(): void {
    this.search.input.focus();
  }

  /** The columns of a phase plot: of the first position or velocity that has its partner. */
  private phasePair(): [string, string] | null {
    for (const name of [...this.columns, this.x]) {
      const rest = /^[qv]\.(.*)$/s.exec(name)?.[1];
      if (rest !== undefined && this.plots.columnNames.includes(`q.${rest}`) && this.plots.columnNames.includes(`v.${rest}`)) return [`q.${rest}`, `v.${rest}`];
    }
    return null;
  }

  private togglePhase(): void {
    const pair = this.phasePair();
    if (!pair) return;
    const [q, v] = pair;
    const back = this.x === q;
    this.columns.splice(0, this.columns.length, back ? q : v);
    this.setX(back ? "t" : q);
  }

  private button(text: string, title: string, action: () => void): HTMLButtonElement {
    return element("button", { class: "small", title, "aria-label": title, onclick: action }, text);
  }

  private saveMenu(): HTMLElement {
    const panel = element(
      "div",
      { class: "choices", onclick: () => (made.open = false) },
      this.button("picture (PNG)", "Save as a picture", () => this.savePicture()),
      this.button("vector picture (SVG)", "Save as a vector picture", () => this.saveVectors()),
      this.button("table (CSV)", "Save the data shown", () => this.saveTable()),
    );
    const made = menu("save", "Save this plot", panel);
    return made;
  }

  private get overTime(): boolean {
    return this.x === "t";
  }

  private get overFrequency(): boolean {
    return this.x === SPECTRUM;
  }

  private get phase(): boolean {
    return !this.overTime && !this.overFrequency;
  }

  /** Numbers as uPlot wants them: gaps are null. */
  private readonly shown = (values: ArrayLike<number>): (number | null)[] => {
    const sizes = this.plots.difference || this.overFrequency;
    return Array.from(values, (value) => {
      if (!Number.isFinite(value)) return null;
      if (!this.log) return value;
      const size = sizes ? Math.abs(value) : value;
      return size > LEAST_LOGARITHM ? size : null;
    });
  };

  private alignedData(): uPlot.AlignedData {
    const tables = this.lines.map((line) => [Array.from(line.x), this.shown(line.y)] as uPlot.AlignedData);
    const [first] = tables;
    const same = tables.every((table) => table[0].length === first[0].length && table[0].every((t, k) => t === first[0][k]));
    return same ? ([first[0], ...tables.map((table) => table[1])] as uPlot.AlignedData) : uPlot.join(tables);
  }

  private readonly scaleOf = (line: Line): string => this.scales.get(line.unit)!;

  private remake(): void {
    this.lines = makeLines(this.plots.runs, this.columns, this.x, this.plots.difference);
    this.scales = new Map();
    for (const { unit } of this.lines) if (!this.scales.has(unit)) this.scales.set(unit, this.scales.size === 0 ? "y" : `y${this.scales.size + 1}`);
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    this.remake();
    this.logButton.setAttribute("aria-pressed", String(this.log));
    const pair = this.phasePair();
    this.phaseButton.disabled = pair === null;
    this.phaseButton.setAttribute("aria-pressed", String(pair !== null && this.x === pair[0]));
    this.drawChips();
    const points = this.lines.some((line) => line.x.length > 0);
    if (!points) {
      const reason = this.columns.length === 0 ? "Choose columns to plot." : this.plots.difference ? "Nothing to subtract." : this.overFrequency ? "Too few rows for a spectrum." : "No rows yet.";
      this.area.replaceChildren(element("p", { class: "hint" }, reason));
      return;
    }
    this.area.replaceChildren();
    this.plot = this.phase ? this.phasePlot() : this.linePlot();
    this.plot.over.append(this.now);
    this.now.className = this.phase ? "now dot" : "now line";
    this.plot.ctx.canvas.setAttribute("role", "img");
    this.plot.ctx.canvas.setAttribute("aria-label", `${this.lines.map((line) => line.label).join(", ")}; ${this.titles.join("; ")}`);
    this.listenForClicks(this.plot);
    this.mark();
  }

  /** New rows have come in. */
  refresh(): void {
    if (!this.plot || !this.overTime) return this.rebuild();
    const labels = () => this.lines.map(({ label }) => label).join();
    const before = labels();
    this.remake();
    if (labels() !== before) return this.rebuild();
    this.plot.setData(this.alignedData());
    this.mark();
  }

  /** Of the axes: horizontal first, then one for each unit. */
  private get titles(): string[] {
    const [{ run }] = this.lines;
    const doubted = (title: string, doubts: string[]) => (doubts.some(Boolean) ? `${title}, ${doubts.every(Boolean) ? "" : "some "}${doubts.find(Boolean)}` : title);
    const over = this.overTime ? "t (s)" : this.overFrequency ? "frequency (Hz)" : doubted(`${shortened(this.x, 40)} (${shownUnit(run.unit(this.x))})`, [this.doubt(this.x)]);
    const amplitude = this.overFrequency ? "amplitude of " : "";
    return [
      over,
      ...[...this.scales.keys()].map((unit) => {
        const own = this.lines.filter((line) => line.unit === unit);
        const columns = [...new Set(own.map((line) => line.column))];
        return (this.plots.difference ? "Δ " : "") + amplitude + doubted(axisTitle(unit, columns), own.map((line) => line.doubt));
      }),
    ];
  }

  private options(): uPlot.Options {
    const colors = theme();
    const axis: uPlot.Axis = {
      stroke: colors.muted,
      grid: { stroke: colors.gridStrong, width: 0.6 },
      ticks: { stroke: colors.gridStrong, width: 0.6, size: 4 },
      font: FONT,
      labelFont: FONT,
    };
    const titles = this.titles;
    const keys = [...this.scales.values()];
    const logarithmic = this.log && this.hasPositive();
    const scales: uPlot.Scales = { x: { time: false } };
    for (const key of keys) scales[key] = logarithmic ? { distr: 3 } : { range: (_u, low, high) => visibleRange(low, high) };
    return {
      width: Math.max(this.area.clientWidth, 120),
      height: this.height(),
      legend: { show: false },
      pxAlign: false,
      cursor: { drag: { x: true, y: true, uni: 24 }, sync: this.overTime ? { key: "linkwork" } : undefined, focus: { prox: 24 } },
      scales,
      axes: [
        { ...axis, size: 28, label: titles[0], labelSize: 15, labelGap: -2 },
        ...keys.map((key, k) => ({
          ...axis,
          scale: key,
          side: k === 0 ? 3 : 1,
          size: (_u: uPlot, numbers: string[] | null) => Math.max(52, 17 + 6.4 * Math.max(...(numbers ?? []).map((number) => number.length))),
          label: titles[k + 1],
          labelSize: 16,
          grid: { ...axis.grid, show: k === 0 },
          ...(logarithmic ? { splits: (u: uPlot, _axis: number, min: number, max: number) => decades(min, max, u.height / 26), filter: (_u: uPlot, splits: number[]) => splits } : {}),
          values: (_u: uPlot, splits: number[]) => splits.map((value) => (value === null ? "" : short(value, 4))),
        })),
      ],
      series: [{}],
      hooks: { setScale: [() => this.mark()], draw: [() => this.mark()] },
    };
  }

  private hasPositive(): boolean {
    return this.lines.some((line) => this.shown(line.y).some((value) => value !== null));
  }

  private linePlot(): uPlot {
    const options = this.options();
    for (const line of this.lines)
      options.series.push({ label: line.label, scale: this.scaleOf(line), stroke: line.color, width: line.doubt ? 1.1 : 1.6, dash: line.dash, spanGaps: true, points: { show: false } });
    if (this.overTime) options.hooks!.draw!.unshift((u) => this.drawEvents(u));
    return new uPlot(options, this.alignedData(), this.area);
  }

  /** A thin line at every instant when something happened, with a mark above that can be clicked. */
  private drawEvents(u: uPlot): void {
    const { left, top, width, height } = u.bbox;
    const { ctx } = u;
    const flag = 5 * devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = theme().muted;
    ctx.lineWidth = 1;
    ctx.setLineDash([3, 4]);
    for (const { t } of eventsOf(this.plots.runs).slice(0, MOST_MARKS)) {
      const x = u.valToPos(t, "x", true);
      if (x < left || x > left + width) continue;
      ctx.globalAlpha = 0.5;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
      ctx.globalAlpha = 0.9;
      ctx.beginPath();
      ctx.moveTo(x - flag, top);
      ctx.lineTo(x + flag, top);
      ctx.lineTo(x, top + 1.4 * flag);
      ctx.fill();
    }
    ctx.restore();
  }

  /** The event whose mark is at a place of the plot. */
  private eventAt(u: uPlot, x: number, y: number): { t: number; label: string } | null {
    if (!this.overTime || y > 14) return null;
    let best: { t: number; label: string } | null = null;
    let distance = 8;
    for (const event of eventsOf(this.plots.runs).slice(0, MOST_MARKS)) {
      const away = Math.abs(u.valToPos(event.t, "x") - x);
      if (away < distance) [distance, best] = [away, event];
    }
    return best;
  }

  /** uPlot draws functions of x only: here it provides axes and zoom, and the curves are drawn by hand. */
  private phasePlot(): uPlot {
    const options = this.options();
    const extent = (lines: Line[], pick: (line: Line) => (number | null)[]): [number, number] => {
      let [low, high] = [Infinity, -Infinity];
      for (const line of lines)
        for (const value of pick(line)) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
      if (low > high) return [0, 1];
      const margin = this.log ? 0 : 0.05 * (high - low || Math.abs(high) || 1);
      return [low - margin, high + margin];
    };
    const xs = extent(this.lines, (line) => Array.from(line.x, (value) => (Number.isFinite(value) ? value : null)));
    const ranges: [number, number][] = [];
    for (const [unit, scale] of this.scales) {
      ranges.push(extent(this.lines.filter((line) => line.unit === unit), (line) => this.shown(line.y)));
      options.series.push({ label: "range", scale, paths: () => null, points: { show: false } });
    }
    options.hooks!.draw!.unshift((u) => this.drawCurves(u));
    return new uPlot(options, [xs, ...ranges], this.area);
  }

  private drawCurves(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const line of this.lines) {
      const values = this.shown(line.y);
      ctx.beginPath();
      ctx.strokeStyle = line.color;
      ctx.lineWidth = 1.6 * devicePixelRatio;
      ctx.setLineDash(line.dash.map((length) => length * devicePixelRatio));
      let down = false;
      for (let k = 0; k < line.x.length; k++) {
        const value = values[k];
        if (value === null || !Number.isFinite(line.x[k])) {
          down = false;
          continue;
        }
        const [px, py] = [u.valToPos(line.x[k], "x", true), u.valToPos(value, this.scaleOf(line), true)];
        down ? ctx.lineTo(px, py) : ctx.moveTo(px, py);
        down = true;
      }
      ctx.stroke();
    }
    ctx.restore();
  }

  private drawChips(): void {
    this.values = [];
    const chips = this.lines.map((line) => {
      const value = element("span", { class: "value" });
      this.values.push(value);
      const swatch = dashedSwatch(line.color, line.dash);
      const title = `Remove ${line.column}`;
      const remove = element("button", { class: "icon", "aria-label": title, title, onclick: () => this.removeColumn(line.column) }, icon(icons.close, false));
      const name = element("span", line.doubt ? { title: DOUBTS[line.doubt] } : {}, line.label);
      return element("span", { class: line.doubt ? "chip open" : "chip" }, swatch, name, value, remove);
    });
    this.chips.replaceChildren(...chips);
  }

  private removeColumn(name: string): void {
    this.columns.splice(this.columns.indexOf(name), 1);
    this.rebuild();
    (this.chips.querySelector("button") ?? this.logButton).focus();
  }

  /** Puts the cursor and the values where the animation is. Asks the page for no sizes: it would lay out everything anew, for each plot. */
  mark(): void {
    if (this.plots.root.hidden) return; // on a tab that is not shown
    const t = this.plots.player.t;
    this.lines.forEach((line, k) => {
      const field = this.values[k];
      if (!field || line.y.length === 0) return;
      if (this.overFrequency) {
        let top = 0;
        for (let i = 1; i < line.y.length; i++) if (line.y[i] > line.y[top]) top = i;
        return say(field, `most at ${short(line.x[top], 4)}\u202fHz`);
      }
      const { row } = line.run.locate(t + 1e-12);
      say(field, short(line.y[Math.min(row, line.y.length - 1)]) + unitSuffix(line.unit));
    });
    const u = this.plot;
    if (!u || this.lines.length === 0) return;
    let [left, top] = [u.valToPos(t, "x"), 0];
    if (this.phase) {
      const [line] = this.lines;
      const { row } = line.run.locate(t);
      left = u.valToPos(line.x[row], "x");
      top = u.valToPos(this.shown([line.y[row]])[0] ?? NaN, this.scaleOf(line));
    }
    const { width, height } = u.bbox;
    const inside = !this.overFrequency && left >= 0 && left <= width / devicePixelRatio && top >= 0 && top <= height / devicePixelRatio;
    this.now.hidden = !inside;
    if (inside) this.now.style.transform = `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
  }

  private onKey(event: KeyboardEvent): void {
    const u = this.plot;
    const factor = { "+": 0.7, "=": 0.7, "-": 1 / 0.7, "0": Infinity }[event.key];
    if (!u || factor === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (factor === Infinity) return this.rebuild();
    const [line] = this.lines;
    const { min, max } = u.scales.x;
    const t = this.plots.player.t;
    const center = this.overTime ? t : this.overFrequency ? min! : line.x[line.run.locate(t).row];
    u.setScale("x", { min: center - (center - min!) * factor, max: center + (max! - center) * factor });
  }

  private listenForClicks(u: uPlot): void {
    if (this.overFrequency) return;
    let from = [0, 0];
    const place = (event: MouseEvent): [number, number] => {
      const bounds = u.over.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    u.over.addEventListener("pointerdown", (event) => (from = [event.clientX, event.clientY]));
    u.over.addEventListener("pointermove", (event) => {
      const found = this.eventAt(u, ...place(event));
      u.over.title = found ? found.label : "";
      u.over.classList.toggle("at-mark", found !== null);
    });
    u.over.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) return;
      const [x, y] = place(event);
      this.plots.player.seek(this.phase ? this.nearestTime(u, x, y) : (this.eventAt(u, x, y)?.t ?? u.posToVal(x, "x")));
    });
  }

  private nearestTime(u: uPlot, x: number, y: number): number {
    const [line] = this.lines;
    let best = Infinity;
    let time = this.plots.player.t;
    for (let k = 0; k < line.x.length; k++) {
      const distance = Math.hypot(u.valToPos(line.x[k], "x") - x, u.valToPos(line.y[k], this.scaleOf(line)) - y);
      if (distance < best) [best, time] = [distance, line.run.time[k]];
    }
    return time;
  }

  private height(): number {
    return this.phase ? 300 : 200;
  }

  private resize(): void {
    if (this.plot && this.area.clientWidth > 0) this.plot.setSize({ width: this.area.clientWidth, height: this.height() });
  }

  private get name(): string {
    return fileName([this.plots.runs[0].scene.name, ...this.columns.slice(0, 3)].join("-"));
  }

  private savePicture(): void {
    if (!this.plot) return;
    const source = this.plot.ctx.canvas;
    const scale = source.width / this.plot.width;
    const row = 18 * scale;
    const canvas = element("canvas", { width: source.width, height: source.height + row * (this.lines.length + 0.5) });
    const context = canvas.getContext("2d")!;
    context.fillStyle = theme().background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 0);
    context.font = `${12 * scale}px system-ui, sans-serif`;
    this.lines.forEach((line, k) => {
      const y = source.height + row * (k + 0.6);
      context.strokeStyle = line.color;
      context.lineWidth = 2 * scale;
      context.setLineDash(line.dash.map((length) => length * scale));
      context.beginPath();
      context.moveTo(12 * scale, y);
      context.lineTo(40 * scale, y);
      context.stroke();
      context.fillStyle = theme().text;
      context.fillText(line.label, 48 * scale, y + 4 * scale);
    });
    canvas.toBlob((blob) => blob && download(`${this.name}.png`, blob));
  }

  private saveVectors(): void {
    if (!this.plot) return;
    const title = this.lines.map((line) => line.label).join(", ");
    download(`${this.name}.svg`, new Blob([plotSvg(this.plot, this.lines, this.scaleOf, title, this.shown, this.titles)], { type: "image/svg+xml" }));
  }

  private saveTable(): void {
    if (this.lines.length === 0) return;
    const quoted = (name: string) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const [across] = this.titles;
    const named = (line: Line) => `${line.label} (${shownUnit(line.unit)})`;
    let names: string[];
    let columns: ArrayLike<number | null | undefined>[];
    if (this.phase) {
      names = this.lines.flatMap((line) => [this.plots.runs.length > 1 ? `${across} · ${line.run.label}` : across, named(line)]);
      columns = this.lines.flatMap((line) => [line.x, line.y]);
    } else {
      names = [across, ...this.lines.map(named)];
      columns = this.alignedData() as unknown as ArrayLike<number | null>[];
    }
    const rows = Array.from({ length: Math.max(...columns.map((column) => column.length)) }, (_, k) =>
      columns.map((column) => column[k] ?? "").join(","),
    );
    download(`${this.name}.csv`, new Blob([[names.map(quoted).join(","), ...rows, ""].join("\n")], { type: "text/csv" }));
  }
}
