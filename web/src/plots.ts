// Plots of any columns, over time or against one another, in step with the animation.
import uPlot from "uplot";
import { lineColors, onThemeChange, runColors, theme } from "./colors";
import { ColumnSearch } from "./column_search";
import type { Column, Run } from "./data";
import { download, element, fileName, icon, icons, short } from "./dom";
import type { Player } from "./player";

/** One curve. */
interface Line {
  column: string;
  label: string;
  color: string;
  dash: number[];
  run: Run;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const NOT_UNIQUE = [3, 3];

/** A piece of a line as it is drawn, dashes and all. */
function dashedSwatch(color: string, dash: number[]): HTMLElement {
  const swatch = element("i", { class: "swatch stroke" });
  let end = 0;
  const parts = dash.map((length, k) => `${k % 2 === 0 ? color : "transparent"} ${end}px ${(end += length)}px`);
  swatch.style.background = dash.length === 0 ? color : `repeating-linear-gradient(90deg, ${parts.join(", ")})`;
  return swatch;
}

/** A column at any time of its run, between rows in a straight line. */
function valueAt(run: Run, column: Column, t: number): number {
  const { row, part } = run.locate(t);
  return part === 0 ? column[row] : column[row] + part * (column[row + 1] - column[row]);
}

class Pane {
  readonly root: HTMLElement;
  readonly columns: string[] = [];
  private x = "t";
  private log = false;
  private plot: uPlot | null = null;
  private lines: Line[] = [];
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
  private readonly xSelect: HTMLSelectElement;
  private readonly search: ColumnSearch;
  private values: HTMLElement[] = [];

  constructor(
    private readonly plots: Plots,
    columns: string[],
    log: boolean,
  ) {
    this.search = new ColumnSearch("Add a column", () => this.plots.columnNames.filter((name) => !this.columns.includes(name)), (name) => this.add(name));
    this.xSelect = element(
      "select",
      { "aria-label": "Horizontal axis", title: "Horizontal axis", onchange: () => this.setX(this.xSelect.value) },
      ...this.plots.columnNames.map((name) => element("option", { value: name }, name === "t" ? "over time" : `over ${name}`)),
    );
    this.logButton = this.button("log", "Logarithmic axis", () => this.setLog(!this.log));
    const remove = element("button", { class: "icon", title: "Remove this plot", "aria-label": "Remove this plot", onclick: () => this.plots.remove(this) }, icon(icons.close, false));
    const tools = element(
      "div",
      { class: "tools" },
      this.search.root,
      this.xSelect,
      this.logButton,
      this.button("fit", "Show the whole curves again", () => this.rebuild()),
      this.button("PNG", "Save as a picture", () => this.savePicture()),
      this.button("CSV", "Save the data shown", () => this.saveTable()),
      remove,
    );
    this.root = element("section", { class: "pane", "aria-label": "Plot" }, tools, this.chips, this.area);
    this.columns.push(...columns);
    this.log = log;
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  add(name: string): void {
    if (!this.columns.includes(name)) this.columns.push(name);
    this.rebuild();
  }

  setX(name: string): void {
    this.x = name;
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

  private button(text: string, title: string, action: () => void): HTMLButtonElement {
    return element("button", { class: "small", title, "aria-label": title, onclick: action }, text);
  }

  private get phase(): boolean {
    return this.x !== "t";
  }

  private makeLines(): Line[] {
    const runs = this.plots.runs.filter((run) => run.visible);
    const reference = this.plots.runs[0];
    const difference = this.plots.difference;
    const lines: Line[] = [];
    this.columns.forEach((name, index) => {
      for (const run of runs) {
        const place = this.plots.runs.indexOf(run);
        const y = run.find(name);
        const x = run.find(this.x);
        if (!x || !y || (difference && run === reference)) continue;
        const base = reference.find(name);
        if (difference && !base) continue;
        const many = this.plots.runs.length > 1;
        const open = run.summary?.not_unique?.includes(name) ?? false; // rigid bodies do not determine it
        lines.push({
          column: name,
          label: (many ? `${difference ? "Δ " : ""}${name} · ${run.label}` : name) + (open ? " (not unique)" : ""),
          color: many && this.columns.length === 1 ? runColors[place % runColors.length] : lineColors[index % lineColors.length],
          dash: open ? NOT_UNIQUE : DASHES[place % DASHES.length],
          run,
          x,
          y: difference ? Float64Array.from(y, (value, k) => (run.time[k] <= reference.end + 1e-9 ? value - valueAt(reference, base!, run.time[k]) : NaN)) : y,
        });
      }
    });
    return lines;
  }

  /** Numbers as uPlot wants them: gaps are null. */
  private shown(values: ArrayLike<number>): (number | null)[] {
    return Array.from(values, (value) => {
      if (!Number.isFinite(value)) return null;
      if (!this.log) return value;
      const size = this.plots.difference ? Math.abs(value) : value;
      return size > 0 ? size : null;
    });
  }

  private timeData(): uPlot.AlignedData {
    const tables = this.lines.map((line) => [Array.from(line.x), this.shown(line.y)] as uPlot.AlignedData);
    const [first] = tables;
    const same = tables.every((table) => table[0].length === first[0].length && table[0].every((t, k) => t === first[0][k]));
    return same ? ([first[0], ...tables.map((table) => table[1])] as uPlot.AlignedData) : uPlot.join(tables);
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    this.lines = this.makeLines();
    this.logButton.setAttribute("aria-pressed", String(this.log));
    this.drawChips();
    const points = this.lines.some((line) => line.x.length > 0);
    if (!points) {
      const reason = this.columns.length === 0 ? "Choose columns to plot." : this.plots.difference ? "Nothing to subtract." : "No rows yet.";
      this.area.replaceChildren(element("p", { class: "hint" }, reason));
      return;
    }
    this.area.replaceChildren();
    this.plot = this.phase ? this.phasePlot() : this.timePlot();
    this.plot.over.append(this.now);
    this.now.className = this.phase ? "now dot" : "now line";
    this.plot.ctx.canvas.setAttribute("role", "img");
    this.plot.ctx.canvas.setAttribute("aria-label", `${this.lines.map((line) => line.label).join(", ")} over ${this.x}`);
    this.listenForClicks(this.plot);
    this.mark();
  }

  /** New rows have come in. */
  refresh(): void {
    if (!this.plot || this.phase) return this.rebuild();
    this.lines = this.makeLines();
    this.plot.setData(this.timeData());
    this.mark();
  }

  private options(): uPlot.Options {
    const colors = theme();
    const axis: uPlot.Axis = {
      stroke: colors.muted,
      grid: { stroke: colors.gridStrong, width: 0.6 },
      ticks: { stroke: colors.gridStrong, width: 0.6, size: 4 },
      font: "11px system-ui, sans-serif",
    };
    return {
      width: Math.max(this.area.clientWidth, 120),
      height: this.height(),
      legend: { show: false },
      pxAlign: false,
      cursor: { drag: { x: true, y: true, uni: 24 }, sync: this.phase ? undefined : { key: "linkwork" }, focus: { prox: 24 } },
      scales: { x: { time: false }, y: { distr: this.log && this.hasPositive() ? 3 : 1 } },
      axes: [
        { ...axis, size: 28, label: this.phase ? this.x : "t (s)", labelSize: 15, labelGap: -2, labelFont: "11px system-ui, sans-serif" },
        { ...axis, size: 62, values: (_u, splits) => splits.map((value) => (value === null ? "" : short(value, 4))) },
      ],
      series: [{}],
      hooks: { setScale: [() => this.mark()], draw: [() => this.mark()] },
    };
  }

  private hasPositive(): boolean {
    return this.lines.some((line) => this.shown(line.y).some((value) => value !== null));
  }

  private timePlot(): uPlot {
    const options = this.options();
    for (const line of this.lines)
      options.series.push({ label: line.label, stroke: line.color, width: 1.6, dash: line.dash, spanGaps: true, points: { show: false } });
    options.hooks!.draw!.unshift((u) => this.drawEvents(u));
    return new uPlot(options, this.timeData(), this.area);
  }

  /** A thin line at every instant when something happened. */
  private drawEvents(u: uPlot): void {
    const kMost = 500;
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.strokeStyle = theme().muted;
    u.ctx.globalAlpha = 0.5;
    u.ctx.lineWidth = 1;
    u.ctx.setLineDash([3, 4]);
    u.ctx.beginPath();
    for (const run of this.plots.runs.filter((one) => one.visible))
      for (const event of (run.summary?.events ?? []).slice(0, kMost)) {
        const x = u.valToPos(event.t, "x", true);
        if (x < left || x > left + width) continue;
        u.ctx.moveTo(x, top);
        u.ctx.lineTo(x, top + height);
      }
    u.ctx.stroke();
    u.ctx.restore();
  }

  /** uPlot draws functions of x only: here it provides axes and zoom, and the curves are drawn by hand. */
  private phasePlot(): uPlot {
    const options = this.options();
    const extent = (pick: (line: Line) => (number | null)[]): [number, number] => {
      let [low, high] = [Infinity, -Infinity];
      for (const line of this.lines)
        for (const value of pick(line)) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
      if (low > high) return [0, 1];
      const margin = this.log ? 0 : 0.05 * (high - low || Math.abs(high) || 1);
      return [low - margin, high + margin];
    };
    const xs = extent((line) => Array.from(line.x, (value) => (Number.isFinite(value) ? value : null)));
    const ys = extent((line) => this.shown(line.y));
    options.series.push({ label: "range", paths: () => null, points: { show: false } });
    options.hooks!.draw!.unshift((u) => this.drawCurves(u));
    const plot = new uPlot(options, [xs, ys], this.area);
    return plot;
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
        const [px, py] = [u.valToPos(line.x[k], "x", true), u.valToPos(value, "y", true)];
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
      return element("span", { class: "chip" }, swatch, element("span", {}, line.label), value, remove);
    });
    this.chips.replaceChildren(...chips);
  }

  private removeColumn(name: string): void {
    this.columns.splice(this.columns.indexOf(name), 1);
    this.rebuild();
    (this.chips.querySelector("button") ?? this.logButton).focus();
  }

  /** Puts the cursor and the values where the animation is. */
  mark(): void {
    const t = this.plots.player.t;
    this.lines.forEach((line, k) => {
      const { row } = line.run.locate(t + 1e-12);
      if (this.values[k] && line.y.length > 0) this.values[k].textContent = short(line.y[Math.min(row, line.y.length - 1)]);
    });
    const u = this.plot;
    if (!u || this.lines.length === 0) return;
    let [left, top] = [u.valToPos(t, "x"), 0];
    if (this.phase) {
      const [line] = this.lines;
      const { row } = line.run.locate(t);
      left = u.valToPos(line.x[row], "x");
      top = u.valToPos(this.shown([line.y[row]])[0] ?? NaN, "y");
    }
    const inside = left >= 0 && left <= u.over.clientWidth && top >= 0 && top <= u.over.clientHeight;
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
    const center = this.phase ? line.x[line.run.locate(this.plots.player.t).row] : this.plots.player.t;
    const { min, max } = u.scales.x;
    u.setScale("x", { min: center - (center - min!) * factor, max: center + (max! - center) * factor });
  }

  private listenForClicks(u: uPlot): void {
    let from = [0, 0];
    u.over.addEventListener("pointerdown", (event) => (from = [event.clientX, event.clientY]));
    u.over.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) return;
      const bounds = u.over.getBoundingClientRect();
      const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
      this.plots.player.seek(this.phase ? this.nearestTime(u, x, y) : u.posToVal(x, "x"));
    });
  }

  private nearestTime(u: uPlot, x: number, y: number): number {
    const [line] = this.lines;
    let best = Infinity;
    let time = this.plots.player.t;
    for (let k = 0; k < line.x.length; k++) {
      const distance = Math.hypot(u.valToPos(line.x[k], "x") - x, u.valToPos(line.y[k], "y") - y);
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

  private saveTable(): void {
    if (this.lines.length === 0) return;
    const quoted = (name: string) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const pairs = this.phase
      ? this.lines.flatMap((line) => [{ name: `${this.x} · ${line.run.label}`, values: line.x }, { name: line.label, values: line.y }])
      : null;
    let names: string[];
    let columns: ArrayLike<number | null | undefined>[];
    if (pairs) {
      names = pairs.map((pair) => pair.name);
      columns = pairs.map((pair) => pair.values);
    } else {
      names = ["t", ...this.lines.map((line) => line.label)];
      columns = this.timeData() as unknown as ArrayLike<number | null>[];
    }
    const rows = Array.from({ length: Math.max(...columns.map((column) => column.length)) }, (_, k) =>
      columns.map((column) => column[k] ?? "").join(","),
    );
    download(`${this.name}.csv`, new Blob([[names.map(quoted).join(","), ...rows, ""].join("\n")], { type: "text/csv" }));
  }
}

export class Plots {
  readonly root: HTMLElement;
  readonly columnNames: string[];
  difference = false;
  private readonly list = element("div", { class: "panes" });
  private panes: Pane[] = [];

  constructor(
    readonly runs: Run[],
    readonly player: Player,
  ) {
    this.columnNames = [...new Set(runs.flatMap((run) => run.columns))];
    const add = element("button", { class: "add", onclick: () => this.add([], false).focus() }, icon(icons.plus, false), "Add a plot");
    const tools = element("div", { class: "plot-tools" }, add);
    if (runs.length > 1) {
      const toggle = element(
        "button",
        {
          "aria-pressed": "false",
          title: `Subtract ${runs[0].label} from the other runs`,
          onclick: () => {
            this.difference = !this.difference;
            toggle.setAttribute("aria-pressed", String(this.difference));
            this.rebuild();
          },
        },
        `Difference from ${runs[0].label}`,
      );
      tools.append(toggle);
    }
    tools.append(element("span", { class: "hint" }, "Drag to zoom, double-click to zoom out, click to go to a moment."));
    this.root = element("div", { class: "plots" }, tools, this.list);
    for (const [columns, log] of this.suggested()) this.add(columns, log);
    player.onTime(() => this.panes.forEach((pane) => pane.mark()));
    onThemeChange(() => this.rebuild());
  }

  add(columns: string[], log: boolean): Pane {
    const pane = new Pane(this, columns, log);
    this.panes.push(pane);
    this.list.append(pane.root);
    pane.rebuild();
    return pane;
  }

  remove(pane: Pane): void {
    this.panes = this.panes.filter((other) => other !== pane);
    pane.root.remove();
    this.root.querySelector<HTMLElement>(".add")?.focus();
  }

  rebuild(): void {
    for (const pane of this.panes) pane.rebuild();
  }

  refresh(): void {
    for (const pane of this.panes) pane.refresh();
  }

  /** What most people want to see first. */
  private suggested(): [string[], boolean][] {
    const names = this.runs[0].columns;
    const joints = this.runs[0].scene.joints.filter((joint) => !joint.cut && joint.q.length === 1 && joint.q[0] !== null);
    let first = joints.slice(0, 4).map((joint) => names[joint.q[0]!]);
    if (first.length === 0) first = names.filter((name) => /^[px]\..*\.[xyz]$/.test(name)).slice(0, 3);
    if (first.length === 0) first = names.filter((name) => name.startsWith("q.")).slice(0, 4);
    if (first.length === 0) first = names.slice(1, 5);
    const panes: [string[], boolean][] = [[first, false]];
    const energies = ["energy.kinetic", "energy.potential", "energy.total"].filter((name) => names.includes(name));
    if (energies.length > 0) panes.push([energies, false]);
    const errors = ["error.position", "error.velocity"].filter((name) => names.includes(name));
    if (errors.length > 0 && names.some((name) => name.startsWith("lambda."))) panes.push([errors, true]);
    return panes;
  }
}
