// The curves of a plot: columns of runs in the units and colours they are shown in.
import { distinctColor } from "./colors";
import type { Column, Run } from "./data";
import { type Spectrum, spectrum } from "./spectrum";
import { shownFactor } from "./units";

/** One curve. */
export interface Line {
  column: string;
  label: string;
  unit: string;
  color: string;
  dash: number[];
  doubt: string; // "not unique": rigid bodies do not determine it
  run: Run;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

/** What curves are drawn over: "t", SPECTRUM, or a column. */
export const SPECTRUM = "\u0000spectrum";

const DASHES = [[], [9, 4], [14, 3, 3, 3], [5, 3], [14, 3, 3, 3, 3, 3], [20, 5]];
export const NOT_UNIQUE = [2, 3];

/** A column at any time of its run, between rows in a straight line. */
function valueAt(run: Run, column: Column, t: number): number {
  const { row, part } = run.locate(t);
  return part === 0 ? column[row] : column[row] + part * (column[row + 1] - column[row]);
}

function scaled(values: ArrayLike<number>, factor: number): ArrayLike<number> {
  return factor === 1 ? values : Float64Array.from(values, (value) => factor * value);
}

/** How many frequencies are worth showing: all that matter, and as many again. */
function relevant({ amplitude }: Spectrum): number {
  const most = amplitude.reduce((a, b) => Math.max(a, b), 0);
  let last = amplitude.length - 1;
  while (last > 0 && amplitude[last] < 0.005 * most) last--;
  return Math.min(amplitude.length, Math.max(2 * last, 32));
}

export function makeLines(runs: Run[], columns: string[], over: string, difference: boolean): Line[] {
  const [reference] = runs;
  const many = runs.length > 1;
  const lines: Line[] = [];
  columns.forEach((name, index) => {
    for (const run of runs) {
      if (!run.visible || (difference && run === reference)) continue;
      const place = runs.indexOf(run);
      const plain = run.find(name);
      const base = difference ? reference.find(name) : null;
      const x = over === SPECTRUM ? run.time : run.find(over);
      if (!x || !plain || (difference && !base)) continue;
      const values = base ? Float64Array.from(plain, (value, k) => (run.time[k] <= reference.end + 1e-9 ? value - valueAt(reference, base, run.time[k]) : NaN)) : plain;
      const unit = run.unit(name);
      const doubt = run.doubt(name) || (difference ? reference.doubt(name) : "");
      const certain = !doubt && !run.doubt(over);
      const line: Line = {
        column: name,
        label: (many ? `${difference ? "Δ " : ""}${name} · ${run.label}` : name) + (doubt && ` (${doubt})`),
        unit,
        color: distinctColor(many ? place : index),
        dash: certain ? (many ? DASHES[index % DASHES.length] : []) : NOT_UNIQUE,
        doubt,
        run,
        x: over === SPECTRUM ? x : scaled(x, shownFactor(run.unit(over))),
        y: scaled(values, shownFactor(unit)),
      };
      if (over === SPECTRUM) {
        const found = spectrum(run.time, line.y);
        if (!found) continue;
        const shown = relevant(found);
        [line.x, line.y] = [found.frequency.subarray(0, shown), found.amplitude.subarray(0, shown)];
      }
      lines.push(line);
    }
  });
  return lines;
}
