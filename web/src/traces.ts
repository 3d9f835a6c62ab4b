// Paths of points in space: of sensors, joints, centres of mass, and of any point that was clicked.
import { Color, type Scene, type Vector3 } from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { distinctColor, theme } from "./colors";
import type { Frame, Run } from "./data";
import { alongPath, type BodyPoint, frameOf, pointName } from "./derived";
import type { Layout } from "./layout";

/** A point whose path can be drawn. */
export interface TracePoint {
  key: string;
  label: string;
  find(run: Run): Frame | null;
}

interface Trace {
  run: Run;
  full: Line2;
  past: Line2;
  rows: number;
  every: number;
}

export function pointOfBody(point: BodyPoint): TracePoint {
  const name = pointName(point);
  return { key: `point:${name}`, label: `${name} (point)`, find: (run) => frameOf(run, point) };
}

export class Traces {
  private readonly traces = new Map<string, Trace[]>();
  readonly points: TracePoint[] = [];

  constructor(
    private readonly scene: Scene,
    private readonly runs: Run[],
    private readonly layout: Layout,
  ) {
    const { sensors, joints, closures, bodies } = runs[0].scene;
    const add = (kind: string, name: string, find: TracePoint["find"]) => this.points.push({ key: `${kind}:${name}`, label: `${name} (${kind})`, find });
    for (const { name } of sensors) add("sensor", name, (run) => run.scene.sensors.find((sensor) => sensor.name === name)?.at ?? null);
    for (const { name } of joints) add("joint", name, (run) => run.scene.joints.find((joint) => joint.name === name)?.child ?? null);
    for (const { name, cut } of closures)
      if (!cut) add("closure", name, (run) => run.scene.closures.find((closure) => closure.name === name)?.b ?? null);
    for (const { name } of bodies.slice(1))
      add("center of mass", name, (run) => {
        const body = run.scene.bodies.findIndex((candidate) => candidate.name === name);
        return body < 0 ? null : { body, p: run.scene.bodies[body].com ?? [0, 0, 0], q: [1, 0, 0, 0] };
      });
  }

  get drawn(): string[] {
    return [...this.traces.keys()];
  }

  get count(): number {
    return this.traces.size;
  }

  set(point: TracePoint, wanted: boolean): void {
    for (const trace of this.traces.get(point.key) ?? []) {
      this.scene.remove(trace.full, trace.past);
      trace.full.geometry.dispose();
      trace.past.geometry.dispose();
    }
    const place = [...this.traces.keys()].indexOf(point.key);
    this.traces.delete(point.key);
    if (!wanted) return;
    if (!this.points.some(({ key }) => key === point.key)) this.points.unshift(point);
    const index = place >= 0 ? place : this.traces.size;
    const color = index === 0 ? theme().trace : distinctColor(index - 1);
    const made = this.runs.map((run, k) => this.make(run, point.find(run), k === 0 ? color : distinctColor(k)));
    this.traces.set(point.key, made.filter((trace): trace is Trace => trace !== null));
  }

  /** Draws them anew, after rows have come in. */
  refresh(): void {
    const keys = this.drawn;
    for (const key of keys) this.set(this.points.find((point) => point.key === key)!, true);
  }

  /** Shows those of some runs only. */
  show(runs: Run[]): void {
    for (const trace of [...this.traces.values()].flat()) trace.full.visible = trace.past.visible = runs.includes(trace.run);
  }

  advance(t: number): void {
    for (const traces of this.traces.values())
      for (const trace of traces) trace.past.geometry.instanceCount = Math.min(trace.rows - 1, Math.floor(trace.run.locate(t).row / trace.every));
  }

  private make(run: Run, frame: Frame | null, color: string): Trace | null {
    if (!frame || run.rows < 2) return null;
    const every = Math.max(1, Math.ceil(run.rows / 6000));
    const positions: number[] = [];
    const { normal, unit } = this.layout;
    const bodies = this.runs[0].scene.bodies.length;
    const behind = -0.55 * (bodies <= 7 ? bodies : 3) * unit;
    const take = (_row: number, [place]: Vector3[]) => {
      if (normal) place.addScaledVector(normal, behind);
      positions.push(place.x, place.y, place.z);
    };
    alongPath(run, [{ body: run.scene.bodies[frame.body].name, p: frame.p }], take, every);
    if (positions.length < 6 || !positions.every(Number.isFinite)) return null;
    const line = (width: number, opacity: number) => {
      const made = new Line2(new LineGeometry(), new LineMaterial({ color: new Color(color).getHex(), linewidth: width, transparent: true, opacity }));
      made.geometry.setPositions(positions);
      made.visible = run.visible;
      this.scene.add(made);
      return made;
    };
    return { run, full: line(1.5, 0.35), past: line(2.6, 0.95), rows: positions.length / 3, every };
  }
}
