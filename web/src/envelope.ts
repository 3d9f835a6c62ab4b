// A column of all runs over time: the band between the least and the largest, the mean with its deviation, and single runs.
import { onThemeChange, theme } from "./colors";
import { element, short } from "./dom";

export interface Band {
  name: string;
  low: (number | null)[];
  high: (number | null)[];
  mean: (number | null)[];
  deviation: (number | null)[];
}

const [LEFT, BOTTOM, TOP, RIGHT] = [58, 22, 8, 10];
const HEIGHT = 260;

export class Envelope {
  readonly root: HTMLElement;
  private readonly canvas = element("canvas", { role: "img" });
  private selected = -1;

  constructor(
    private readonly t: number[],
    private readonly band: Band,
    private readonly curves: Map<number, (number | null)[]>,
  ) {
    this.canvas.setAttribute("aria-label", `${band.name} of all runs over time`);
    this.root = element("figure", { class: "chart envelope" }, element("div", { class: "chart-head" }, element("h4", {}, band.name)), this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.root);
    onThemeChange(() => this.draw());
  }

  select(run: number): void {
    this.selected = run;
    this.draw();
  }

  private draw(): void {
    const width = Math.max(this.root.clientWidth - 30, 160);
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = HEIGHT * devicePixelRatio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    const context = this.canvas.getContext("2d")!;
    context.scale(devicePixelRatio, devicePixelRatio);
    const known = (values: (number | null)[]) => values.filter((value): value is number => value !== null);
    const [low, high] = [Math.min(...known(this.band.low)), Math.max(...known(this.band.high))];
    if (!(low <= high)) return;
    const margin = 0.04 * (high - low || Math.abs(high) || 1);
    const end = this.t[this.t.length - 1] || 1;
    const x = (t: number) => LEFT + (t / end) * (width - LEFT - RIGHT);
    const y = (value: number) => HEIGHT - BOTTOM - ((value - low + margin) / (high - low + 2 * margin)) * (HEIGHT - BOTTOM - TOP);
    this.drawAxes(context, width, low, high, end, x, y);
    const line = (values: (number | null)[]) => {
      context.beginPath();
      let down = false;
      values.forEach((value, k) => {
        if (value === null) down = false;
        else {
          down ? context.lineTo(x(this.t[k]), y(value)) : context.moveTo(x(this.t[k]), y(value));
          down = true;
        }
      });
      context.stroke();
    };
    const area = (bottom: (number | null)[], top: (number | null)[], alpha: number) => {
      context.globalAlpha = alpha;
      context.fillStyle = theme().applied;
      context.beginPath();
      bottom.forEach((value, k) => value !== null && context.lineTo(x(this.t[k]), y(value)));
      for (let k = top.length - 1; k >= 0; --k) if (top[k] !== null) context.lineTo(x(this.t[k]), y(top[k]!));
      context.fill();
      context.globalAlpha = 1;
    };
    const { mean, deviation } = this.band;
    area(this.band.low, this.band.high, 0.13);
    context.strokeStyle = theme().muted;
    context.lineWidth = 0.6;
    context.globalAlpha = 0.35;
    for (const curve of this.curves.values()) line(curve);
    context.globalAlpha = 1;
    const shifted = (sign: number) => mean.map((value, k) => (value === null ? null : value + sign * (deviation[k] ?? 0)));
    area(shifted(-1), shifted(1), 0.2);
    context.strokeStyle = theme().applied;
    context.lineWidth = 2;
    line(mean);
    const chosen = this.curves.get(this.selected);
    if (!chosen) return;
    context.strokeStyle = theme().closure;
    line(chosen);
  }

  private drawAxes(context: CanvasRenderingContext2D, width: number, low: number, high: number, end: number, x: (t: number) => number, y: (value: number) => number): void {
    const steps = (from: number, to: number, count: number) => {
      const raw = (to - from || 1) / count;
      const power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw)!;
      return Array.from({ length: Math.floor((to - from) / step) + 2 }, (_, k) => (Math.ceil(from / step - 1e-9) + k) * step).filter((mark) => mark <= to + 1e-9 * step);
    };
    context.strokeStyle = theme().gridStrong;
    context.fillStyle = theme().muted;
    context.lineWidth = 0.6;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    for (const mark of steps(low, high, 5)) {
      context.beginPath();
      context.moveTo(LEFT, y(mark));
      context.lineTo(width - RIGHT, y(mark));
      context.stroke();
      context.fillText(short(mark, 4), LEFT - 6, y(mark) + 4);
    }
    context.textAlign = "center";
    for (const mark of steps(0, end, 6)) context.fillText(`${short(mark, 4)} s`, Math.min(x(mark), width - 16), HEIGHT - 5);
  }
}
