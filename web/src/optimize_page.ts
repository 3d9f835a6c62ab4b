// The page of an optimization or a fit: its history, what it found, and how well that fits.
import { Chart } from "./chart";
import { element } from "./dom";
import { card, commandOf, copyable, number, pageHeader, section, table } from "./ensemble_parts";

interface Parameter {
  name: string;
  low: number;
  high: number;
  start: number;
  value: number;
  at_bound: boolean;
  standard_error?: number | null;
  confidence?: [number | null, number | null];
}

interface Column {
  name: string;
  column: string;
  scale: number;
  rms: number | null;
  data: number[];
  before: number[];
  after: number[];
}

export interface Optimum {
  kind: "optimize";
  model: string;
  goal: "minimize" | "maximize" | "fit";
  of: string;
  status: string;
  method: string;
  evaluations: number;
  failed: number;
  start_value: number | null;
  value: number | null;
  parameters: Parameter[];
  notes: string[];
  fit?: { rows: number; columns: Column[]; degrees_of_freedom: number; correlations: (number | null)[][]; t: number[] };
  history: { value: number | null; status: string; parameters: Record<string, number> }[];
  command: string;
}

export class OptimizePage {
  constructor(private readonly data: Optimum) {
    const title = { minimize: `least ${data.of}`, maximize: `largest ${data.of}`, fit: `fitted to ${data.of}` }[data.goal];
    document.body.append(
      pageHeader(`${data.model}: ${title}`, [data.method, `${data.evaluations} runs`, data.failed > 0 ? `${data.failed} of them failed` : ""]),
      element("main", { class: "comparison" }, this.cards(), this.found(), this.fit(), this.history()),
    );
  }

  private cards(): HTMLElement {
    const { data } = this;
    const done = data.status === "converged";
    const made = [
      card("Status", data.status, data.notes.join("; "), done ? "good" : "bad"),
      card(data.goal === "fit" ? "Residual, rms of the scaled columns" : data.of, number(data.value), `at the start ${number(data.start_value)}`),
    ];
    for (const one of data.fit?.columns ?? []) made.push(card(`Residual of ${one.column}`, number(one.rms, 4), `rms; its data vary by ${number(one.scale, 3)}`));
    return element("div", { class: "cards" }, ...made);
  }

  /** Where a parameter lies within its bounds, with its interval of confidence. */
  private bar(one: Parameter): HTMLElement {
    const place = (value: number) => `${Math.min(100, Math.max(0, (100 * (value - one.low)) / (one.high - one.low)))}%`;
    const bar = element("div", { class: "bounds", title: `${one.low} to ${one.high}` });
    const [low, high] = one.confidence ?? [null, null];
    if (low !== null && high !== null) {
      const range = element("i", { class: "range" });
      range.style.left = place(low);
      range.style.right = `calc(100% - ${place(high)})`;
      bar.append(range);
    }
    for (const [kind, value] of [["start", one.start], ["value", one.value]] as const) {
      const mark = element("i", { class: kind, title: `${kind}: ${value}` });
      mark.style.left = place(value);
      bar.append(mark);
    }
    return bar;
  }

  private found(): HTMLElement {
    const { data } = this;
    const isFit = data.goal === "fit";
    const rows = data.parameters.map((one) =>
      element(
        "tr",
        {},
        element("td", {}, one.name),
        element("td", { class: "number" }, number(one.start)),
        element("td", { class: "number best" }, number(one.value, 9) + (one.at_bound ? " (at its bound)" : "")),
        ...(isFit ? [element("td", { class: "number" }, number(one.standard_error, 3)), element("td", { class: "number" }, one.confidence ? `${number(one.confidence[0])} … ${number(one.confidence[1])}` : "–")] : []),
        element("td", { class: "bounds-cell" }, this.bar(one)),
      ),
    );
    const titles = ["Parameter", "Start", "Found", ...(isFit ? ["Standard error", "95 % confidence"] : []), "Within its bounds"];
    const command = commandOf(data.command, data.parameters.map((one): [string, number] => [one.name, one.value]));
    return section("What was found", isFit ? "errors as if residuals were independent of each other" : "", table("What was found", titles, rows), this.correlations(), element("p", { class: "hint" }, "To run it with these values:"), copyable(command));
  }

  private correlations(): HTMLElement | null {
    const known = this.data.fit?.correlations ?? [];
    if (known.length < 2) return null;
    const names = this.data.parameters.map((one) => one.name);
    const rows = known.map((row, i) => element("tr", {}, element("th", { scope: "row" }, names[i]), ...row.map((value) => element("td", { class: "number" }, value === null ? "–" : value.toFixed(3)))));
    return element("div", { class: "spaced" }, element("p", { class: "hint" }, "Correlations: near 1 or -1, the data hardly tell two parameters apart."), table("Correlations", ["", ...names], rows));
  }

  private fit(): HTMLElement | null {
    const fit = this.data.fit;
    if (!fit) return null;
    const figures = fit.columns.map(
      (one) =>
        new Chart({
          title: one.name === one.column ? one.column : `${one.name}: ${one.column}`,
          x_label: "t, s",
          y_label: one.column,
          x_log: false,
          y_log: false,
          series: [
            { name: "data", style: "points", color: 1, x: fit.t, y: one.data },
            { name: "at the start", style: "dashed", color: "#8b97a8", x: fit.t, y: one.before },
            { name: "fitted", style: "line", color: 0, x: fit.t, y: one.after },
          ],
        }).root,
    );
    return section("Data and model", "", element("div", { class: "figures" }, ...figures));
  }

  private history(): HTMLElement {
    const { history, parameters, goal } = this.data;
    const count = history.map((_, k) => k + 1);
    const better = (a: number, b: number) => (goal === "maximize" ? Math.max(a, b) : Math.min(a, b));
    let best: number | null = null;
    const line = history.map(({ value }) => (best = value === null ? best : best === null ? value : better(best, value)));
    const values = new Chart({
      title: goal === "fit" ? "Residual, rms" : this.data.of,
      x_label: "run",
      y_label: goal === "fit" ? "residual" : "value",
      x_log: false,
      y_log: goal === "fit",
      series: [
        { name: "runs", style: "points", color: "#8b97a8", x: count, y: history.map((one) => one.value), notes: history.map((_, k) => `run ${k + 1}`) },
        { name: "best so far", style: "line", color: 0, x: count, y: line },
      ],
    });
    const moves = new Chart({
      title: "Parameters",
      x_label: "run",
      y_label: "place within bounds",
      x_log: false,
      y_log: false,
      series: parameters.map((one, k) => ({ name: one.name, style: "line-points" as const, color: k, x: count, y: history.map((each) => (each.parameters[one.name] - one.low) / (one.high - one.low)) })),
    });
    return section("History", "", element("div", { class: "figures" }, values.root, moves.root));
  }
}
