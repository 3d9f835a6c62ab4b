// The page of a sweep: scatter matrix, histograms, envelopes, the best runs, and each run by a click.
import { element, short } from "./dom";
import { card, commandOf, copyable, number, pageHeader, section, table } from "./ensemble_parts";
import { type Band, Envelope } from "./envelope";
import { ScatterMatrix, type Series } from "./scatter_matrix";

interface Measure {
  name: string;
  text: string;
  count: number;
  min: number | null;
  min_run: number;
  max: number | null;
  max_run: number;
  mean: number | null;
  deviation: number | null;
  quantiles: Record<string, number | null>;
}

export interface Sweep {
  kind: "sweep";
  model: string;
  runs: number;
  failed: number;
  sampling: string;
  samples: number;
  seed: number;
  parameters: { name: string; kind: string }[];
  measures: Measure[];
  constraint_error_max: number | null;
  energy_drift_max: number | null;
  failures: { run: number; status: string }[];
  command: string;
  folders: boolean;
  stride: number;
  run: number[];
  row_status: string[];
  columns: Record<string, (number | null)[]>;
  envelopes?: { t: number[]; columns: Band[]; curves: { run: number; values: (number | null)[][] }[] };
}

const MOST_SERIES = 7;
const BEST = 12;

/** An event may have ended it. */
const isDone = (status: string) => /^done(,|$)/.test(status);

/** From blue to red. */
const shade = (part: number) => `hsl(${Math.round(220 - 210 * part)} 70% 50%)`;

export class SweepPage {
  private readonly names: string[];
  private readonly shown = new Set<string>();
  private readonly envelopes: Envelope[] = [];
  private readonly matrixPlace = element("div");
  private readonly bestPlace = element("div");
  private readonly opened = element("aside", { class: "opened", hidden: true, "aria-live": "polite" });
  private matrix: ScatterMatrix | null = null;
  private colored: string;
  private best: string;
  private largest = false;
  private selected = -1;

  constructor(private readonly data: Sweep) {
    this.names = [...data.parameters.map((one) => one.name), ...data.measures.map((one) => one.name)];
    for (const name of [...data.parameters.slice(0, 4).map((one) => one.name), ...data.measures.map((one) => one.name)].slice(0, MOST_SERIES)) this.shown.add(name);
    this.colored = data.measures[0]?.name ?? "energy_drift";
    this.best = data.measures[0]?.name ?? "energy_drift";
    document.body.append(
      pageHeader(`${data.model}: ${data.runs} runs`, this.facts()),
      element("main", { class: "comparison" }, this.cards(), this.matrixSection(), this.envelopeSection(), this.bestSection(), this.failures()),
      this.opened,
    );
    this.showMatrix();
    this.showBest();
  }

  private facts(): string[] {
    const { parameters, sampling, samples, seed, stride } = this.data;
    const varied = parameters.map((one) => `${one.name} (${one.kind})`).join(", ");
    return [varied, samples > 0 ? `${samples} ${sampling} samples, seed ${seed}` : "", stride > 1 ? `every ${stride}th run is shown` : ""];
  }

  private cards(): HTMLElement {
    const { runs, failed, measures } = this.data;
    const made = [card("Runs", `${runs - failed} of ${runs}`, failed === 0 ? "all came to the end" : `${failed} failed: see below`, failed === 0 ? "good" : "fair")];
    for (const one of measures) made.push(card(one.name, `${number(one.min, 4)} … ${number(one.max, 4)}`, `median ${number(one.quantiles["0.5"], 4)}, mean ${number(one.mean, 4)} ± ${number(one.deviation, 3)}; ${one.text}`));
    made.push(card("Constraint error", number(this.data.constraint_error_max, 2), `the largest; energy drift ${number(this.data.energy_drift_max, 2)}`));
    return element("div", { class: "cards" }, ...made);
  }

  // Scatter matrix ----------------------------------------------------------------------------------------------------------

  private matrixSection(): HTMLElement {
    const buttons = this.names.map((name) => {
      const made = element("button", { "aria-pressed": String(this.shown.has(name)), title: "Show or hide", onclick: () => this.toggle(name, made) }, name);
      return made;
    });
    const chooser = this.chooser("Colour by", [...this.names, "energy_drift", "constraint_error"], this.colored, (name) => {
      this.colored = name;
      this.showMatrix();
    });
    const filters = element("div", { class: "filters" }, element("div", { class: "filter", role: "group", "aria-label": "Shown" }, element("span", {}, "Shown"), ...buttons), chooser);
    return section("Parameters and measures", "histograms on the diagonal, correlations above it", filters, this.matrixPlace);
  }

  private chooser(label: string, names: string[], chosen: string, choose: (name: string) => void): HTMLElement {
    const options = names.map((name) => element("option", { value: name, selected: name === chosen }, name));
    const select = element("select", { "aria-label": label, onchange: () => choose(select.value) }, ...options);
    return element("label", { class: "filter" }, element("span", {}, label), select);
  }

  private toggle(name: string, button: HTMLButtonElement): void {
    if (!this.shown.delete(name)) this.shown.add(name);
    button.setAttribute("aria-pressed", String(this.shown.has(name)));
    this.showMatrix();
  }

  private showMatrix(): void {
    const parameters = new Set(this.data.parameters.map((one) => one.name));
    const series: Series[] = this.names.filter((name) => this.shown.has(name)).map((name) => ({ name, values: this.data.columns[name], isParameter: parameters.has(name) }));
    const tones = this.tones(this.data.columns[this.colored]);
    this.matrix = new ScatterMatrix(series, this.data.run, (row) => tones[row], (row) => this.open(this.data.run[row]));
    this.matrix.select(this.data.run.indexOf(this.selected));
    this.matrixPlace.replaceChildren(this.matrix.root);
  }

  /** By rank, so that a few far away do not hide the differences of the others. */
  private tones(values: (number | null)[]): string[] {
    const order = values.map((_, row) => row).filter((row) => values[row] !== null);
    order.sort((a, b) => values[a]! - values[b]!);
    const made = new Array<string>(values.length).fill("#8b97a8");
    order.forEach((row, k) => (made[row] = shade(k / Math.max(order.length - 1, 1))));
    return made;
  }

  // Envelopes ---------------------------------------------------------------------------------------------------------------

  private envelopeSection(): HTMLElement | null {
    const kept = this.data.envelopes;
    if (!kept) return null;
    kept.columns.forEach((band, c) => this.envelopes.push(new Envelope(kept.t, band, new Map(kept.curves.map(({ run, values }) => [run, values[c]])))));
    const figures = element("div", { class: "figures" }, ...this.envelopes.map((one) => one.root));
    return section("Over time", "all runs lie in the band; the line is their mean, with one deviation to both sides; thin lines are single runs", figures);
  }

  // Best runs ---------------------------------------------------------------------------------------------------------------

  private bestSection(): HTMLElement {
    const chooser = this.chooser("Sorted by", [...this.data.measures.map((one) => one.name), "energy_drift", "constraint_error"], this.best, (name) => {
      this.best = name;
      this.showBest();
    });
    const turn = element("button", { onclick: () => this.turn(turn), "aria-pressed": "false" }, "Largest first");
    return section("Best runs", "click one to open it", element("div", { class: "filters" }, chooser, turn), this.bestPlace);
  }

  private turn(button: HTMLButtonElement): void {
    this.largest = !this.largest;
    button.setAttribute("aria-pressed", String(this.largest));
    this.showBest();
  }

  private showBest(): void {
    const { columns, run } = this.data;
    const values = columns[this.best];
    const order = values.map((_, row) => row).filter((row) => values[row] !== null);
    order.sort((a, b) => (this.largest ? -1 : 1) * (values[a]! - values[b]!));
    const rows = order.slice(0, BEST).map((row) =>
      element(
        "tr",
        { class: "run-row", tabindex: 0, onclick: () => this.open(run[row]), onkeydown: (event: KeyboardEvent) => event.key === "Enter" && this.open(run[row]) },
        element("td", {}, String(run[row])),
        ...this.names.map((name) => element("td", { class: name === this.best ? "number best" : "number" }, number(columns[name][row]))),
      ),
    );
    this.bestPlace.replaceChildren(table("Best runs", ["Run", ...this.names], rows));
  }

  // One run -----------------------------------------------------------------------------------------------------------------

  private open(run: number): void {
    const row = this.data.run.indexOf(run);
    this.selected = run;
    this.matrix?.select(row);
    for (const envelope of this.envelopes) envelope.select(run);
    if (row < 0) return;
    const value = (name: string) => this.data.columns[name][row];
    const line = (name: string) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, number(value(name), 9)));
    const parameters = this.data.parameters.map((one): [string, number] => [one.name, value(one.name)!]);
    const folder = `runs/${String(run).padStart(6, "0")}`;
    const links = this.data.folders && isDone(this.data.row_status[row]) ? element("p", {}, element("a", { href: `${folder}/trajectory.csv` }, "its trajectory"), `; 'linkwork report ${folder}' draws it`) : null;
    this.opened.hidden = false;
    this.opened.replaceChildren(
      element("div", { class: "section-head" }, element("h2", {}, `Run ${run}`), element("button", { class: "small", "aria-label": "Close", onclick: () => (this.opened.hidden = true) }, "✕")),
      element("p", { class: isDone(this.data.row_status[row]) ? "hint" : "outcome" }, this.data.row_status[row]),
      element("table", {}, element("tbody", {}, ...[...this.names, "constraint_error", "energy_drift"].map(line))),
      links ?? "",
      element("p", { class: "hint" }, "To run it alone, with all its results:"),
      copyable(commandOf(this.data.command, parameters)),
    );
  }

  // What failed -------------------------------------------------------------------------------------------------------------

  private failures(): HTMLElement | null {
    const { failures, failed } = this.data;
    if (failed === 0) return null;
    const reasons = new Map<string, number[]>();
    for (const { run, status } of failures) reasons.set(status, [...(reasons.get(status) ?? []), run]);
    const listed = (runs: number[]) => runs.slice(0, 8).join(", ") + (runs.length > 8 ? ` and ${runs.length - 8} more` : "");
    const rows = [...reasons].map(([status, runs]) => element("tr", {}, element("td", {}, listed(runs)), element("td", { class: "reason" }, status)));
    const hint = failures.length < failed ? `the first ${failures.length} of ${short(failed)}` : "";
    return section("What failed", hint, table("What failed", ["Runs", "Reason"], rows));
  }
}
