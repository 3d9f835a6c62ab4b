// What ran, how, and how far it can be trusted.
import type { Modules, RealTime, Run, Summary } from "./data";
import { element, short } from "./dom";
import { eventsTable } from "./events";
import { peaksTable } from "./peaks";
import type { Player } from "./player";
import { unitSuffix } from "./units";

type Verdict = "good" | "fair" | "bad" | "plain";

function card(title: string, value: string, detail: string, verdict: Verdict): HTMLElement {
  return element("div", { class: `card ${verdict}` }, element("h4", {}, title), element("p", { class: "value" }, value), element("p", {}, detail));
}

function number(value: number | null): string {
  return value === null ? "not finite" : short(value, 3);
}

function certificate(run: Run, summary: Summary): HTMLElement {
  const tolerance = run.scene.settings.constraint_tolerance;
  const { position_max: position, velocity_max: velocity } = summary.constraint_error;
  const drift = summary.energy_drift;
  // Kinematics knows no multipliers: its rows are at least as many as their rank.
  const kinematic = summary.formulation === "kinematics";
  const multipliers = kinematic ? 0 : run.columns.filter((name) => name.startsWith("lambda.")).length;
  const rows = multipliers || summary.rank + summary.redundant.length; // they need not be written
  const closed = position !== null && position <= 10 * tolerance;
  const cards = [
    summary.status.startsWith("ended")
      ? card("Status", "done", summary.status, "good")
      : card("Status", summary.status === "done" ? "done" : "stopped", summary.status === "done" ? `${short(summary.simulated_seconds)} s simulated` : summary.status, summary.status === "done" ? "good" : "bad"),
    rows > 0
      ? card("Constraint error", number(position), `largest, position, m or rad; velocity ${number(velocity)} m/s or rad/s`, closed ? "good" : position !== null && position < 1e-4 ? "fair" : "bad")
      : card("Constraint error", "none", "no closed loops: nothing to violate", "good"),
    kinematic ? card("Energy drift", "none", "no forces were computed", "plain") : card("Energy drift", number(drift), "of the largest energy exchanged is not accounted for", drift === null || drift > 1e-2 ? "bad" : drift > 1e-4 ? "fair" : "good"),
    card("Freedom", `${summary.dof} ${summary.dof === 1 ? "degree" : "degrees"}`, `${rows} constraint ${rows === 1 ? "row" : "rows"}, rank ${summary.rank}`, "plain"),
    card("Redundant rows", String(summary.redundant.length), summary.redundant.length === 0 ? "every constraint counts" : summary.redundant.join(", "), summary.redundant.length === 0 ? "good" : "plain"),
    card("Warnings", String(summary.warnings.length), summary.warnings.length === 0 ? "nothing to complain about" : "see below", summary.warnings.length === 0 ? "good" : "fair"),
  ];
  return element("div", { class: "cards" }, ...cards);
}

function facts(entries: [string, string][]): HTMLElement {
  const rows = entries.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("table", { class: "facts" }, element("tbody", {}, ...rows));
}

function howItRan(run: Run, summary: Summary): HTMLElement {
  const { settings } = run.scene;
  const rejected = summary.rejected_steps > 0 ? ` (${summary.rejected_steps} more rejected)` : "";
  return facts([
    ["Model", summary.model],
    ["Coordinates", summary.coordinates],
    ["Formulation", summary.formulation],
    ["Stabilization", summary.stabilization],
    ["Integrator", summary.integrator],
    ["Step", `${short(settings.step)} s; adaptive methods: rtol ${short(settings.rtol)}, atol ${short(settings.atol)}`],
    ["Gravity", `${settings.gravity.map((value) => short(value)).join(", ")} m/s²`],
    ["Glue, ranks, threads", `${summary.glue}, ${summary.ranks}, ${summary.threads}`],
    ["Steps", `${summary.steps}${rejected}`],
    ["Evaluations", String(summary.evaluations)],
    ["Wall time", `${short(summary.wall_seconds, 3)} s`],
    ["Rows", `${run.allRows} of ${run.columns.length} columns`],
  ]);
}

function modulesTable(modules: Modules): HTMLElement {
  const entries: [string, string][] = [
    ["Modules", `${modules.count}; by rank ${modules.of_rank.join(", ")}`],
    ["Per step", `${short(modules.messages_per_step, 3)} exchanges, ${short(modules.bytes_per_step, 3)} bytes, ${short(1e6 * modules.waiting_seconds_per_step, 3)} µs of waiting`],
    ["Joint error", `joints between modules are off by at most ${number(modules.sticky.position_max)}, velocities by ${number(modules.sticky.velocity_max)}`],
    ["A module shows", `${modules.green.exposes}: ${modules.green.numbers} numbers per evaluation, of all modules`],
    ["Time of the glue", `${short(modules.inexpensive, 3)} times that of the modules`],
    ["Against one piece", `accelerations differ by ${number(modules.pretty)} of the largest`],
  ];
  if (modules.iterations) entries.push(["Iterations", `at most ${modules.iterations.most}, ${short(modules.iterations.mean, 3)} per step on average`]);
  return facts(entries);
}

function milliseconds(seconds: number): string {
  return `${short(1e3 * seconds, 3)} ms`;
}

/** Facts, and how many steps were how late, as bars. */
function realTimeTable(pace: RealTime): HTMLElement {
  const table = facts([
    ["Factor", `${short(pace.factor)} simulated seconds per second; ${short(100 * pace.busy, 3)} % of the time was spent computing`],
    ["Overruns", `${pace.overruns} of ${pace.steps} steps were not computed by their time`],
    ["Lateness", `at most ${milliseconds(pace.lateness_max)}, ${milliseconds(pace.lateness_mean)} on average`],
  ]);
  const taken = pace.jitter.flatMap((bin, k) => (bin.steps > 0 ? [k] : []));
  const [first, last] = [taken[0] ?? 0, taken[taken.length - 1] ?? -1];
  const most = Math.max(1, ...pace.jitter.map((bin) => bin.steps));
  const bars = pace.jitter.slice(first, last + 1).map((bin, k) => {
    const previous = pace.jitter[first + k - 1]?.below ?? 0;
    const label = bin.below === null ? `${milliseconds(previous)} or more` : `below ${milliseconds(bin.below)}`;
    const bar = element("progress", { max: most, value: bin.steps, "aria-label": `steps ${label} late` });
    return element("tr", {}, element("th", { scope: "row" }, label), element("td", { class: "number" }, String(bin.steps)), element("td", {}, bar));
  });
  const histogram = element("table", { class: "facts jitter" }, element("caption", {}, "Steps by lateness"), element("tbody", {}, ...bars));
  return element("div", {}, table, histogram);
}

function finalState(run: Run, summary: Summary): HTMLElement {
  const rows = Object.entries(summary.final).map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, value === null ? "not finite" : `${value}${unitSuffix(run.unit(name))}`)),
  );
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Final state" }, element("table", { class: "facts" }, element("tbody", {}, ...rows)));
}

function list(texts: string[], name: string): HTMLElement {
  return element("ul", { class: name }, ...texts.map((text) => element("li", {}, text)));
}

export function summaryPanel(runs: Run[], player: Player): HTMLElement {
  const sections = runs.map((run) => {
    const title = runs.length > 1 ? element("h2", {}, run.label) : null;
    const { summary } = run;
    if (!summary) return element("section", {}, title, element("p", { class: "hint" }, run.scene.modes ? "These are natural vibrations about a state, not a run." : "The run is still going; its summary comes at the end."));
    const peaks = peaksTable(run, player);
    return element(
      "section",
      {},
      title,
      certificate(run, summary),
      ...(summary.warnings.length > 0 ? [element("h3", {}, "Warnings"), list(summary.warnings, "warnings")] : []),
      ...(summary.notes.length > 0 ? [element("h3", {}, "Notes"), list(summary.notes, "notes")] : []),
      ...((summary.events ?? []).length > 0 ? [element("h3", {}, "Events"), eventsTable(summary.events!, player)] : []),
      ...(peaks ? [element("h3", {}, "Largest loads"), peaks] : []),
      element("h3", {}, "How it ran"),
      howItRan(run, summary),
      ...(summary.modules ? [element("h3", {}, "Modules and glue"), modulesTable(summary.modules)] : []),
      ...(summary.realtime ? [element("h3", {}, "Real time"), realTimeTable(summary.realtime)] : []),
      element("h3", {}, "Final state"),
      finalState(run, summary),
    );
  });
  return element("div", { class: "summary" }, ...sections);
}

export function modelPanel(runs: Run[]): HTMLElement {
  const sections = runs
    .filter((run, index) => runs.findIndex((other) => other.scene.source === run.scene.source) === index)
    .map((run) =>
      element("section", {}, element("h3", {}, run.scene.name), element("pre", { tabindex: 0, "aria-label": `Model file of ${run.scene.name}` }, run.scene.source)),
    );
  return element("div", { class: "model" }, ...sections);
}
