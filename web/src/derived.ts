// Columns that the page computes from the poses: where a point of a body is, how fast it moves, how far two points are apart.
import { Vector3 } from "three";
import type { Derived, Frame, Run, Triple } from "./data";
import { Kinematics } from "./kinematics";

/** A point of a body, by the body's name: runs that are compared need not have the same bodies. */
export interface BodyPoint {
  body: string;
  p: Triple;
}

export function frameOf(run: Run, point: BodyPoint): Frame | null {
  const body = run.scene.bodies.findIndex(({ name }) => name === point.body);
  return body < 0 ? null : { body, p: point.p, q: [1, 0, 0, 0] };
}

export function pointName({ body, p }: BodyPoint): string {
  return `${body} (${p.map((value) => Number(value.toPrecision(4))).join(", ")})`;
}

/** Calls `take` with the points' places at every row, or every few rows. Whether all points are there. */
export function alongPath(run: Run, points: BodyPoint[], take: (row: number, places: Vector3[]) => void, every = 1): boolean {
  const frames = points.map((point) => frameOf(run, point));
  if (frames.some((frame) => frame === null)) return false;
  const kinematics = new Kinematics(run);
  const places = points.map(() => new Vector3());
  for (let row = 0; row < run.rows; row += every) {
    kinematics.update(row);
    frames.forEach((frame, k) => places[k].set(...frame!.p).applyMatrix4(kinematics.poses[frame!.body]));
    take(row, places);
  }
  return true;
}

/** The place of a point in the world, and its speed from the places in the rows before and after. */
export function pathColumns(point: BodyPoint): Derived[] {
  const name = pointName(point);
  const computed = new WeakMap<Run, { rows: number; columns: Float64Array[] }>();
  const columns = (run: Run): Float64Array[] | null => {
    const kept = computed.get(run);
    if (kept && kept.rows === run.rows) return kept.columns;
    const [x, y, z, speed] = [0, 1, 2, 3].map(() => new Float64Array(run.rows));
    const there = alongPath(run, [point], (row, [place]) => ([x[row], y[row], z[row]] = place.toArray()));
    if (!there) return null;
    for (let row = 0; row < run.rows; row++) {
      const [a, b] = [Math.max(0, row - 1), Math.min(run.rows - 1, row + 1)];
      const time = run.time[b] - run.time[a];
      speed[row] = time > 0 ? Math.hypot(x[b] - x[a], y[b] - y[a], z[b] - z[a]) / time : NaN;
    }
    computed.set(run, { rows: run.rows, columns: [x, y, z, speed] });
    return [x, y, z, speed];
  };
  return ["x", "y", "z", "speed"].map((part, k) => ({
    name: `point ${name}.${part}`,
    unit: part === "speed" ? "m/s" : "m",
    compute: (run: Run) => columns(run)?.[k] ?? null,
  }));
}

export function distanceColumn(a: BodyPoint, b: BodyPoint): Derived {
  return {
    name: `distance ${pointName(a)} – ${pointName(b)}`,
    unit: "m",
    compute: (run: Run) => {
      const values = new Float64Array(run.rows);
      return alongPath(run, [a, b], (row, [p, q]) => (values[row] = p.distanceTo(q))) ? values : null;
    },
  };
}
