// Natural vibrations: each mode is moved around the place it was found at, one period over and over.
import type { Column, Mode, Run } from "./data";
import { element, short } from "./dom";
import type { Player } from "./player";

const ROWS = 121;
const SECONDS = 2; // of the clock, for a period

/** How far the largest coordinate goes at first: rad or m, by the size of the mechanism. */
const START = 0.15;

export class Modes {
  readonly root: HTMLElement;
  private readonly at: Float64Array[]; // the columns where the modes were found
  private amplitude = START;
  private chosen = 0;
  private readonly about = element("span", { class: "hint" });

  constructor(
    private readonly run: Run,
    private readonly player: Player,
    private readonly changed: () => void,
  ) {
    this.at = run.columns.map((_, index) => Float64Array.from([run.column(index)[0]]));
    const select = element(
      "select",
      { "aria-label": "Mode", onchange: () => this.choose(Number(select.value)) },
      ...this.modes.map((mode, index) => element("option", { value: index }, `mode ${index + 1}: ${describe(mode)}`)),
    );
    const slider = element("input", {
      type: "range",
      min: -2.5,
      max: 0.5,
      step: 0.05,
      value: Math.log10(START),
      "aria-label": "Amplitude",
      oninput: () => {
        this.amplitude = 10 ** Number(slider.value);
        this.choose(this.chosen);
      },
    });
    this.root = element("div", { class: "live modes", role: "group", "aria-label": "Modes" }, select, element("label", {}, "amplitude", slider), this.about);
    this.choose(0);
  }

  private get modes(): Mode[] {
    return this.run.scene.modes!;
  }

  choose(index: number): void {
    this.chosen = index;
    const mode = this.modes[index];
    const period = mode.frequency_hz > 0 ? 1 / mode.frequency_hz : 1;
    const imaginary = mode.shape_imaginary ?? {};
    const largest = Math.max(1e-300, ...Object.entries(mode.shape).map(([name, value]) => Math.hypot(value, imaginary[name] ?? 0)));
    const columns: Column[] = this.run.columns.map((name, c) => {
      const column = new Float64Array(ROWS).fill(this.at[c][0]);
      const [re, im] = [mode.shape[name] ?? 0, imaginary[name] ?? 0].map((value) => (value / largest) * this.amplitude);
      for (let row = 0; row < ROWS; row++) {
        const turn = (2 * Math.PI * row) / (ROWS - 1);
        if (c === 0) column[row] = (period * row) / (ROWS - 1);
        else column[row] += re * Math.cos(turn) - im * Math.sin(turn);
      }
      return column;
    });
    this.run.replace(ROWS, columns);
    const size = Object.entries(mode.shape).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
    this.about.textContent = `most in ${size.slice(0, 3).map(([name]) => name).join(", ")}`;
    this.player.setSpeed(period / SECONDS);
    this.changed();
  }
}

function describe({ frequency_hz: frequency, damping_ratio: damping }: Mode): string {
  return `${short(frequency, 4)} Hz${damping ? `, damping ratio ${short(damping, 3)}` : ""}`;
}
