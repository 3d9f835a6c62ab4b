// The page of a comparison: methods side by side on one model, their errors against what they cost.
import { Chart, type ChartSeries } from "./chart";
import { lineColors, toggleTheme } from "./colors";
import { download, element, fileName, short } from "./dom";

interface Reference {
  problem: string;
  method: string;
  check: string;
  estimated_error: number | null;
  evaluations: number;
  wall_seconds: number;
  trouble: string;
}

interface Row {
  problem: string;
  coordinates: string;
  formulation: string;
  stabilization: string;
  integrator: string;
  step: number | null;
  rtol: number | null;
  atol: number | null;
  status: string;
  reason: string;
  error: number | null;
  error_coordinate: string;
  error_time: number | null;
  position_error: number | null;
  velocity_error: number | null;
  energy_drift: number | null;
  steps: number;
  rejected_steps: number;
  evaluations: number;
  us_per_evaluation: number | null;
  wall_seconds: number | null;
  repeats: number;
  simulated_seconds: number;
}

interface Comparison {
  model: string;
  end: number;
  every: number;
  references: Reference[];
  rows: Row[];
}

// What runs can differ in ---------------------------------------------------------------------------------------------------

interface Axis {
  title: string;
  of: (row: Row) => string;
}

const axes: Axis[] = [
  { title: "Case", of: (row) => row.problem },
  { title: "Coordinates", of: (row) => row.coordinates },
  { title: "Formulation", of: (row) => row.formulation },
  { title: "Stabilization", of: (row) => row.stabilization },
  { title: "Integrator", of: (row) => row.integrator },
];

const isAdaptive = (row: Row) => row.rtol !== null;
const pace = (row: Row) => (isAdaptive(row) ? `rtol ${short(row.rtol!, 3)}` : `step ${short(row.step!)}`);
const distinct = (texts: string[]) => [...new Set(texts)];

// What is measured ----------------------------------------------------------------------------------------------------------

interface Measure {
  title: string;
  hint: string;
  of: (row: Row) => number | null;
  text: (value: number) => string;
  competes: boolean; // the smallest is the best
}

const exponential = (value: number) => (value === 0 ? "0" : value.toExponential(1).replace("e+", "e"));
const whole = (value: number) => value.toLocaleString("en");

const measures: Measure[] = [
  { title: "Error in q", hint: "largest difference of a joint coordinate from the reference, rad or m", of: (row) => row.error, text: (value) => value.toExponential(2).replace("e+", "e"), competes: true },
  { title: "Constraint", hint: "largest violation of a constraint, position level", of: (row) => row.position_error, text: exponential, competes: true },
  { title: "Energy", hint: "energy that the work of all forces does not account for, relative to the largest energy exchanged", of: (row) => row.energy_drift, text: exponential, competes: true },
  { title: "Steps", hint: "accepted", of: (row) => row.steps, text: whole, competes: false },
  { title: "Evaluations", hint: "of the equations of motion", of: (row) => row.evaluations, text: whole, competes: true },
  { title: "µs/eval", hint: "microseconds of wall time per evaluation", of: (row) => row.us_per_evaluation, text: (value) => short(value, 3), competes: true },
  { title: "Wall, s", hint: "wall time, the shortest of the repeats", of: (row) => row.wall_seconds, text: (value) => short(value, 3), competes: true },
];

/** A colour for every method, the same in all plots whatever is filtered. */
function methodColor(index: number): string {
  if (index < lineColors.length) return lineColors[index];
  return `hsl(${Math.round(index * 137.5) % 360} 55% 48%)`;
}

class Page {
  private readonly ran: Row[];
  private readonly failed: Row[];
  private readonly varying: Axis[]; // axes on which there is more than one choice among what ran
  private readonly planned: Axis[]; // among all
  private readonly methods: string[];
  private readonly left = new Map<Axis, Set<string>>(); // choices that are filtered out
  private readonly charts = element("div", { class: "figures" });
  private readonly body = element("tbody");
  private readonly heads: HTMLTableCellElement[] = [];
  private sorted: { column: number; down: boolean } | null = null;

  constructor(private readonly data: Comparison) {
    this.ran = data.rows.filter((row) => row.status === "ran");
    this.failed = data.rows.filter((row) => row.status !== "ran");
    const differing = (rows: Row[]) => axes.filter((axis) => distinct(rows.map(axis.of)).length > 1);
    this.varying = differing(this.ran);
    this.planned = differing(data.rows);
    this.methods = distinct(this.ran.map((row) => this.method(row)));
    document.title = `${data.model}: methods compared · Linkwork`;
    document.body.append(
      this.header(),
      element("main", { class: "comparison" }, this.cards(), this.filters(), this.charts, this.table(), this.failures()),
    );
    this.refresh();
  }

  // Names -------------------------------------------------------------------------------------------------------------------

  /** What tells a method from the others: only what differs. */
  private method(row: Row): string {
    const parts = this.varying.map((axis) => axis.of(row));
    return parts.length > 0 ? parts.join(" · ") : `${row.formulation} · ${row.integrator}`;
  }

  private label(row: Row): string {
    return `${this.method(row)}, ${pace(row)}`;
  }

  private reference(row: Row): Reference | undefined {
    return this.data.references.find((reference) => reference.problem === row.problem);
  }

  /** Errors below that of the reference mean nothing. */
  private floor(row: Row): number {
    return this.reference(row)?.estimated_error ?? 0;
  }

  private isShown(row: Row): boolean {
    return this.varying.every((axis) => !this.left.get(axis)?.has(axis.of(row)));
  }

  // Head --------------------------------------------------------------------------------------------------------------------

  private header(): HTMLElement {
    const { model, end, every, rows } = this.data;
    const shared = axes.filter((axis) => !this.planned.includes(axis) && rows.length > 0 && axis.of(rows[0]) !== "").map((axis) => axis.of(rows[0]));
    const facts = [`${rows.length} runs of ${short(end)} s, compared every ${short(every)} s`, shared.length > 0 ? `all with ${shared.join(", ")}` : ""];
    return element(
      "header",
      {},
      element("div", { class: "title" }, element("h1", {}, `${model}: methods compared`), element("p", {}, facts.filter(Boolean).join("  ·  "))),
      element("div", { class: "corner" }, element("button", { class: "icon", title: "Light or dark", "aria-label": "Light or dark", onclick: () => toggleTheme() }, "◐")),
    );
  }

  private card(title: string, value: string, detail: string, tone: string): HTMLElement {
    return element("div", { class: `card ${tone}` }, element("h4", {}, title), element("p", { class: "value" }, value), element("p", {}, detail));
  }

  private least(measure: Measure): Row | undefined {
    const known = this.ran.filter((row) => measure.of(row) !== null);
    return known.reduce<Row | undefined>((best, row) => (!best || measure.of(row)! < measure.of(best)! ? row : best), undefined);
  }

  /** The cheapest run that is accurate enough for most purposes. */
  private bargain(): Row | undefined {
    const errors = this.ran.map((row) => row.error).filter((error): error is number => error !== null);
    if (errors.length === 0) return undefined;
    const enough = Math.max(1e-6, 10 * Math.min(...errors));
    return this.ran.filter((row) => row.error !== null && row.error <= enough).reduce<Row | undefined>((best, row) => (!best || row.wall_seconds! < best.wall_seconds! ? row : best), undefined);
  }

  private cards(): HTMLElement {
    const made = this.data.references.map((reference) => {
      const title = reference.problem ? `Reference, ${reference.problem}` : "Reference";
      if (reference.trouble) return this.card(title, "none", reference.trouble, "bad");
      const error = reference.estimated_error ?? NaN;
      return this.card(title, `good to ${exponential(error)}`, `${reference.method}; a second solution, with ${reference.check}, differs by that`, error < 1e-6 ? "good" : "fair");
    });
    made.push(this.card("Runs", `${this.ran.length} of ${this.data.rows.length}`, this.failed.length === 0 ? "all came to the end" : `${this.failed.length} did not run: see below`, this.failed.length === 0 ? "good" : "fair"));
    const [error, , , , , , wall] = measures;
    const best = this.least(error);
    const fastest = this.least(wall);
    const bargain = this.bargain();
    if (best) made.push(this.card("Most accurate", best.error! < this.floor(best) ? "as the reference" : exponential(best.error!), this.label(best), "plain"));
    if (bargain) made.push(this.card(`Cheapest with error below ${exponential(Math.max(1e-6, 10 * best!.error!))}`, `${short(1e3 * bargain.wall_seconds!, 3)} ms`, this.label(bargain), "plain"));
    if (fastest) made.push(this.card("Fastest", `${short(1e3 * fastest.wall_seconds!, 3)} ms`, `${this.label(fastest)}, error ${fastest.error === null ? "not known" : exponential(fastest.error)}`, "plain"));
    return element("div", { class: "cards" }, ...made);
  }

  // Filters -----------------------------------------------------------------------------------------------------------------

  private filters(): HTMLElement {
    const groups = this.varying.map((axis) => {
      const buttons = distinct(this.ran.map(axis.of)).map((choice) => {
        const made = element("button", { "aria-pressed": "true", title: "Show or hide", onclick: () => this.toggle(axis, choice, made) }, choice);
        return made;
      });
      return element("div", { class: "filter", role: "group", "aria-label": axis.title }, element("span", {}, axis.title), ...buttons);
    });
    return element("div", { class: "filters", hidden: groups.length === 0 }, ...groups);
  }

  private toggle(axis: Axis, choice: string, button: HTMLButtonElement): void {
    const left = this.left.get(axis) ?? new Set();
    this.left.set(axis, left);
    if (!left.delete(choice)) left.add(choice);
    button.setAttribute("aria-pressed", String(!left.has(choice)));
    this.refresh();
  }

  private refresh(): void {
    this.showCharts();
    this.showRows();
  }

  // Plots -------------------------------------------------------------------------------------------------------------------

  /** One curve a method, across its steps or tolerances. */
  private curves(x: (row: Row) => number | null, y: (row: Row) => number | null): ChartSeries[] {
    return this.methods.flatMap((name, index) => {
      const own = this.ran.filter((row) => this.method(row) === name && this.isShown(row));
      if (own.length === 0) return [];
      own.sort((a, b) => (b.step ?? b.rtol ?? 0) - (a.step ?? a.rtol ?? 0));
      return [{ name, style: "line-points" as const, color: methodColor(index), x: own.map(x), y: own.map(y), notes: own.map(pace) }];
    });
  }

  /** The reference's own error: nothing below it can be told apart. */
  private floorLine(curves: ChartSeries[]): ChartSeries[] {
    const xs = curves.flatMap((curve) => curve.x).filter((x): x is number => x !== null && x > 0);
    const known = this.data.references.map((reference) => reference.estimated_error).filter((error): error is number => error !== null && error > 0);
    if (xs.length === 0 || known.length === 0) return [];
    const floor = Math.max(...known);
    return [{ name: "error of the reference", style: "dashed", color: "#8b97a8", x: [Math.min(...xs), Math.max(...xs)], y: [floor, floor] }];
  }

  private chart(title: string, xLabel: string, yLabel: string, series: ChartSeries[], caption = ""): HTMLElement {
    return new Chart({ title, x_label: xLabel, y_label: yLabel, x_log: true, y_log: true, series, caption }).root;
  }

  private showCharts(): void {
    const wall = (row: Row) => row.wall_seconds;
    const evaluations = (row: Row) => row.evaluations;
    const error = (row: Row) => row.error;
    const withFloor = (curves: ChartSeries[]) => [...curves, ...this.floorLine(curves)];
    const made = [
      this.chart("Error over wall time", "wall time, s", "error in q", withFloor(this.curves(wall, error)), "Down and to the left is better. Each curve is one method, with its steps or tolerances."),
      this.chart("Error over evaluations", "evaluations", "error in q", withFloor(this.curves(evaluations, error)), "The same over the number of evaluations, which does not depend on the computer."),
    ];
    if (this.ran.some((row) => (row.position_error ?? 0) > 0)) made.push(this.chart("Constraint error over wall time", "wall time, s", "constraint error", this.curves(wall, (row) => row.position_error)));
    if (this.ran.some((row) => (row.energy_drift ?? 0) > 0)) made.push(this.chart("Energy drift over wall time", "wall time, s", "energy drift", this.curves(wall, (row) => row.energy_drift)));
    const scaling = this.scaling();
    if (scaling) made.push(scaling);
    this.charts.replaceChildren(...made);
  }

  /** Cost over a parameter, if the cases are values of one. */
  private scaling(): HTMLElement | null {
    const cases = distinct(this.ran.map((row) => row.problem)).map((text) => /^(\w+)=([\d.eE+-]+)$/.exec(text));
    if (cases.length < 2 || !cases.every((found) => found && found[1] === cases[0]![1] && Number(found[2]) > 0)) return null;
    const name = cases[0]![1];
    const value = (row: Row) => Number(row.problem.slice(name.length + 1));
    const others = this.varying.filter((axis) => axis.title !== "Case");
    const key = (row: Row) => [...others.map((axis) => axis.of(row)), pace(row)].join(" · ");
    const series = distinct(this.ran.map(key)).flatMap((label, index) => {
      const own = this.ran.filter((row) => key(row) === label && this.isShown(row)).sort((a, b) => value(a) - value(b));
      return own.length > 0 ? [{ name: label, style: "line-points" as const, color: methodColor(index), x: own.map(value), y: own.map((row) => row.us_per_evaluation) }] : [];
    });
    return this.chart(`Cost over ${name}`, name, "µs per evaluation", series);
  }

  // Table -------------------------------------------------------------------------------------------------------------------

  private names(axes = this.varying): Axis[] {
    return [...axes, { title: "Step or tolerance", of: pace }];
  }

  private table(): HTMLElement {
    const titles: { title: string; hint: string; number: boolean }[] = [
      ...this.names().map(({ title }) => ({ title, hint: "", number: false })),
      ...measures.map(({ title, hint }) => ({ title, hint, number: true })),
    ];
    titles.forEach(({ title, hint, number }, column) => {
      const sort = element("button", { class: "sort", title: hint ? `${hint}; click to sort` : "click to sort", onclick: () => this.sortBy(column) }, title);
      this.heads.push(element("th", { scope: "col", class: number ? "number" : undefined }, sort));
    });
    const save = element("button", { class: "small", title: "Save the table", onclick: () => this.saveTable() }, "CSV");
    return element(
      "section",
      {},
      element("div", { class: "section-head" }, element("h2", {}, "What ran"), element("p", { class: "hint" }, "★ marks the best of a column; an error marked < is below what the reference can tell."), save),
      element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "What ran" }, element("table", { class: "runs-table" }, element("thead", {}, element("tr", {}, ...this.heads)), this.body)),
    );
  }

  private sortBy(column: number): void {
    const same = this.sorted?.column === column;
    this.sorted = same && this.sorted!.down ? null : { column, down: same };
    this.showRows();
  }

  private sortedRows(): Row[] {
    const rows = this.ran.filter((row) => this.isShown(row));
    if (!this.sorted) return rows;
    const { column, down } = this.sorted;
    const names = this.names();
    const sign = down ? -1 : 1;
    if (column === names.length - 1) return rows.sort((a, b) => sign * ((a.step ?? a.rtol ?? 0) - (b.step ?? b.rtol ?? 0)));
    if (column < names.length) return rows.sort((a, b) => sign * names[column].of(a).localeCompare(names[column].of(b), "en", { numeric: true }));
    const { of } = measures[column - names.length];
    const known = (row: Row) => of(row) ?? Infinity;
    return rows.sort((a, b) => (known(a) === known(b) ? 0 : sign * (known(a) < known(b) ? -1 : 1)));
  }

  private isBest(row: Row, measure: Measure, shown: Row[]): boolean {
    const floor = measure === measures[0] ? this.floor(row) : 0;
    const value = (of: Row) => Math.max(measure.of(of) ?? Infinity, floor);
    const rivals = shown.filter((other) => other.problem === row.problem && measure.of(other) !== null).map(value);
    const least = Math.min(...rivals);
    const alike = 1.01; // within a hundredth; where all are alike there is no best
    return measure.competes && Math.max(...rivals) > alike * least && value(row) <= alike * least;
  }

  private showRows(): void {
    const rows = this.sortedRows();
    this.heads.forEach((head, column) => {
      const sorted = this.sorted?.column === column;
      if (sorted) head.setAttribute("aria-sort", this.sorted!.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...rows.map((row) => this.line(row, rows)));
  }

  private line(row: Row, shown: Row[]): HTMLElement {
    const names = this.names().map((axis) => element("td", {}, axis.of(row)));
    const swatch = element("i", { class: "swatch" });
    swatch.style.borderColor = methodColor(this.methods.indexOf(this.method(row)));
    names[0].prepend(swatch);
    const numbers = measures.map((measure, index) => {
      const value = measure.of(row);
      const best = this.isBest(row, measure, shown);
      const hidden = index === 0 && value !== null && value < this.floor(row);
      const text = value === null ? "–" : hidden ? `< ${measure.text(this.floor(row))}` : measure.text(value);
      const where = index === 0 && row.error_coordinate ? `${row.error_coordinate} at t = ${short(row.error_time ?? 0)} s` : undefined;
      return element("td", { class: best ? "number best" : "number", title: where }, best ? `★ ${text}` : text);
    });
    return element("tr", {}, ...names, ...numbers);
  }

  private saveTable(): void {
    const quoted = (value: unknown) => (typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : String(value ?? ""));
    const columns = Object.keys(this.data.rows[0] ?? {}) as (keyof Row)[];
    const rows = this.data.rows.map((row) => columns.map((column) => quoted(row[column])).join(","));
    download(`${fileName(this.data.model)}-compare.csv`, new Blob([[columns.join(","), ...rows, ""].join("\n")], { type: "text/csv" }));
  }

  // What did not run --------------------------------------------------------------------------------------------------------

  private failures(): HTMLElement | null {
    if (this.failed.length === 0) return null;
    const groups = new Map<string, Row[]>();
    for (const row of this.failed) {
      const key = JSON.stringify([row.problem, row.formulation, row.reason]);
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    const names = this.names(this.planned);
    const rows = [...groups.values()].map((group) =>
      element("tr", {}, ...names.map((axis) => element("td", {}, distinct(group.map(axis.of)).join(", "))), element("td", {}, element("span", { class: "outcome" }, group[0].status)), element("td", { class: "reason" }, group[0].reason)),
    );
    const head = [...names.map((axis) => axis.title), "Outcome", "Reason"].map((title) => element("th", { scope: "col" }, title));
    return element(
      "section",
      {},
      element("div", { class: "section-head" }, element("h2", {}, "What did not run")),
      element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "What did not run" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))),
    );
  }
}

new Page(JSON.parse(document.getElementById("data")!.textContent!) as Comparison);
