// Natural vibrations: each mode is moved around the place it was found at, one period over and over.
import type { Column, Mode, Run } from "./data";
import { element, short } from "./dom";
import type { Player } from "./player";

const ROWS = 121;
const LEAST_HZ = 1e-6; // below, it moves away and does not come back
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
    private readonly changed: (moved: string[]) => void, // with the columns that move most
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
    const vibrating = this.modes.findIndex((mode) => mode.frequency_hz > LEAST_HZ);
    select.value = String(Math.max(0, vibrating));
    this.choose(Number(select.value));
  }

  private get modes(): Mode[] {
    return this.run.scene.modes!;
  }

  choose(index: number): void {
    this.chosen = index;
    const mode = this.modes[index];
    const period = mode.frequency_hz > LEAST_HZ ? 1 / mode.frequency_hz : 1;
    const imaginary = mode.shape_imaginary ?? {};
    const sizeOf = (name: string) => Math.hypot(mode.shape[name] ?? 0, imaginary[name] ?? 0);
    const largest = Math.max(1e-300, ...Object.keys(mode.shape).map(sizeOf));
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
    const names = Object.keys(mode.shape);
    const moved = names.filter((name) => sizeOf(name) > 1e-6 * largest).sort((a, b) => sizeOf(b) - sizeOf(a));
    this.about.textContent = `most in ${moved.slice(0, 3).join(", ")}`;
    this.player.setSpeed(period / SECONDS);
    this.changed(moved.slice(0, 4));
  }
}

function describe({ frequency_hz: frequency, damping_ratio: damping }: Mode): string {
  return `${frequency > LEAST_HZ ? `${short(frequency, 4)} Hz` : "no vibration"}${damping ? `, damping ratio ${short(damping, 3)}` : ""}`;
}
