// The largest loads of a run: what a part has to bear, and when.
import type { Run } from "./data";
import { element, short } from "./dom";
import type { Player } from "./player";
import { unitSuffix } from "./units";

interface Peak {
  value: number;
  t: number;
  unit: string;
  doubt: string; // "not unique"
}

const NOISE = 1e-9; // of the largest of its unit

/** Of a column, or of the vector that some are the components of; null where they are not written. */
function peakOf(run: Run, names: string[]): Peak | null {
  const columns = names.map((name) => run.find(name)).filter((column) => column !== null);
  if (columns.length < names.length) return null;
  let [row, most] = [0, 0];
  for (let k = 0; k < run.rows; k++) {
    let square = 0;
    for (const column of columns) square += column[k] ** 2;
    if (square > most) [row, most] = [k, square];
  }
  return { value: Math.sqrt(most), t: run.time[row], unit: run.unit(names[0]), doubt: names.map((name) => run.doubt(name)).find(Boolean) ?? "" };
}

/** A row for each joint, closure and motor; null: there are none, or nothing acts. */
export function peaksTable(run: Run, player: Player): HTMLElement | null {
  const { joints, closures } = run.scene;
  const parts = (name: string) => ["x", "y", "z"].map((part) => `${name}.${part}`);
  const holding = [...joints, ...closures.filter(({ cut }) => !cut)].map(({ name }) => ({
    name,
    peaks: [peakOf(run, parts(`force.${name}`)), peakOf(run, parts(`torque.${name}`))],
  }));
  const acting = run.columns
    .filter((name) => name.startsWith("effort."))
    .map((name) => {
      const peak = peakOf(run, [name]);
      return { name: name.slice("effort.".length), peaks: peak?.unit === "N" ? [peak, null] : [null, peak] };
    });
  const all = [...acting, ...holding];
  const least = [0, 1].map((k) => NOISE * all.reduce((most, { peaks }) => Math.max(most, peaks[k]?.value ?? 0), 0));
  const matters = (peak: Peak | null, k: number) => peak !== null && peak.value > least[k];
  const rows = all.filter(({ peaks }) => peaks.some(matters));
  if (rows.length === 0) return null;
  const cell = (peak: Peak | null, k: number) => {
    if (!peak || !matters(peak, k)) return element("td", {}, "–");
    const go = element("button", { class: "link", title: "Show this moment", "aria-label": `Show ${short(peak.t, 6)} s`, onclick: () => player.seek(peak.t) }, `${short(peak.t, 4)} s`);
    return element("td", { class: peak.doubt ? "number open" : "number" }, `${short(peak.value, 4)}${unitSuffix(peak.unit)}${peak.doubt && ` (${peak.doubt})`} at `, go);
  };
  const body = rows.map(({ name, peaks }) => element("tr", {}, element("th", { scope: "row" }, name), ...peaks.map(cell)));
  const head = element("tr", {}, ...["", "Force", "Torque"].map((title) => element("th", { scope: "col" }, title)));
  const of = run.stride > 1 ? "Of the rows that this page has" : "Of all rows";
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Largest loads" },
    element("table", { class: "facts peaks" }, element("thead", {}, head), element("tbody", {}, ...body)),
    element("p", { class: "hint" }, `${of}; what is applied first, then what joints and closures hold.`),
  );
}
