// The runs as the program has put them into the page.

export type Triple = [number, number, number];
export type Quadruple = [number, number, number, number]; // w, x, y, z

/** A place on a body. */
export interface Frame {
  body: number;
  p: Triple;
  q: Quadruple;
}

export interface Solid {
  shape: "rod" | "cylinder" | "box" | "sphere" | "point";
  from: Triple;
  to: Triple;
  size: Triple;
  radius: number;
}

export interface Body {
  name: string;
  mass: number;
  com?: Triple;
  solid?: Solid;
}

export interface Joint {
  name: string;
  type: string;
  cut: boolean;
  pitch: number;
  parent: Frame;
  child: Frame;
  q: (number | null)[]; // columns; null: not written
}

export interface Closure {
  name: string;
  type: string;
  cut: boolean; // it stands for a cut joint
  a: Frame;
  b: Frame;
  force: number | null; // column of its x component; y and z follow
}

export interface Spring {
  name: string;
  type: "spring" | "damper" | "bushing";
  a: Frame;
  b: Frame;
}

export interface Sensor {
  name: string;
  type: "point" | "body";
  at: Frame;
}

/** A shape that is only drawn, its centre at the frame; cylinders and capsules lie along z. */
export interface Visual {
  at: Frame;
  shape: "box" | "cylinder" | "capsule" | "sphere" | "ellipsoid" | "mesh";
  size: Triple; // edges of the box, half axes of the ellipsoid, scale of the mesh
  radius: number;
  length: number;
  color: Quadruple; // r, g, b, a
  mesh?: number; // in Scene.meshes
}

/** Triangles of a file, with positions in whole steps. */
export interface EmbeddedMesh {
  file: string;
  triangles: number;
  all_triangles: number; // of the file: more than are here if it was thinned
  low: Triple;
  step: Triple;
  positions: string; // base64 of 16-bit numbers
  indices: string; // base64 of 16-bit numbers, or 32 if there are more than 65536 vertices
}

/** What acts on the mechanism from outside: along a coordinate of a joint, between two points, or at one. */
export interface AppliedForce {
  name: string;
  type: string;
  column: number | null; // its first
  joint?: number;
  component?: number;
  a?: Frame;
  b?: Frame;
  at?: Frame;
}

/** A way to vibrate: the change of each position, as a complex number where they are not in step. */
export interface Mode {
  frequency_hz: number;
  damping_ratio: number;
  shape: Record<string, number>;
  shape_imaginary?: Record<string, number>;
}

export interface Scene {
  name: string;
  source: string;
  settings: { gravity: Triple; end: number; step: number; output_every: number; constraint_tolerance: number; rtol: number; atol: number };
  columns: string[];
  bodies: Body[]; // the first is the ground
  joints: Joint[];
  closures: Closure[];
  springs: Spring[];
  sensors: Sensor[];
  visuals?: Visual[];
  meshes?: EmbeddedMesh[];
  forces?: AppliedForce[]; // none in older files
  drives?: string[]; // coordinates that move as they are told
  units?: [string, number][]; // of the columns: each with how many in a row have it
  modes?: Mode[];
}

/** Something that happened at an instant of a run. */
export interface EventRecord {
  t: number;
  name: string;
  what: string;
  velocity_jump: number;
  impulses: Record<string, number>;
  energy: number;
  dof: number;
}

export interface Summary {
  model: string;
  coordinates: string;
  formulation: string;
  stabilization: string;
  integrator: string;
  glue: string;
  ranks: number;
  threads: number;
  status: string;
  steps: number;
  rejected_steps: number;
  evaluations: number;
  wall_seconds: number;
  simulated_seconds: number;
  constraint_error: { position_max: number | null; velocity_max: number | null };
  energy_drift: number | null;
  dof: number;
  rank: number;
  redundant: string[];
  not_unique?: string[]; // columns; none in older files
  events?: EventRecord[]; // none in older files
  final: Record<string, number | null>;
  warnings: string[];
  notes: string[];
  modules?: Modules;
  realtime?: RealTime;
}

/** How a run kept pace with the clock. */
export interface RealTime {
  factor: number;
  steps: number;
  overruns: number;
  lateness_max: number;
  lateness_mean: number;
  busy: number;
  jitter: { below: number | null; steps: number }[]; // steps by lateness; the last bin has no bound
}

// Of a run whose modules were solved apart: traffic, and the four attributes of a good glue.
export interface Modules {
  count: number;
  of_rank: number[];
  messages_per_step: number;
  bytes_per_step: number;
  waiting_seconds_per_step: number;
  sticky: { position_max: number | null; velocity_max: number | null };
  green: { exposes: string; numbers: number };
  inexpensive: number;
  pretty: number | null;
  iterations?: { most: number; mean: number; by_step: number[] };
}

interface EncodedRun {
  label: string;
  scene: Scene;
  summary: Summary | null;
  rows: number;
  all_rows: number;
  stride: number;
  float64: boolean;
  constant: [number, number][]; // columns that never change, and their values: not in data
  data: string;
}

interface Encoded {
  format: number;
  following: boolean;
  runs: EncodedRun[];
  live?: LiveModel; // of 'linkwork view MODEL'
}

/** A model that the server runs anew, as its parameters and inputs are moved. */
export interface LiveModel {
  path: string; // where it is asked
  parameters: { name: string; value: number; start: number; whole: boolean }[];
  inputs: { name: string; value: number; recorded: boolean }[];
  paced: boolean; // it runs by the clock, and inputs act at once
  scene: number; // by which the server knows the scene that is here
}

export type Column = Float32Array | Float64Array;

/** A column that the page computes itself, such as the path of a point. */
export interface Derived {
  name: string;
  unit: string;
  compute(run: Run): Float64Array | null;
}

/** Of the largest error of all rows, some of which are lengths and some angles. */
const ERROR_UNITS: Record<string, string> = { "error.position": "m or rad", "error.velocity": "m/s or rad/s" };

/** A run: its scene and its rows, column by column. */
export class Run {
  label: string;
  readonly scene: Scene;
  rows: number;
  allRows: number;
  stride: number;
  visible = true;
  private told: Summary | null = null;
  private open: Set<string> | null = null; // reactions that are not unique; null: not known yet
  private buffers: Column[];
  private views: (Column | undefined)[] = [];
  private readonly indexOf = new Map<string, number>();
  private readonly units: string[] = [];
  private readonly derived = new Map<string, Derived>();
  private computed = new Map<string, Float64Array | null>();

  constructor(encoded: EncodedRun, buffers: Column[]) {
    this.label = encoded.label;
    this.scene = encoded.scene;
    this.summary = encoded.summary;
    this.rows = encoded.rows;
    this.allRows = encoded.all_rows;
    this.stride = encoded.stride;
    this.buffers = buffers;
    for (const [unit, count] of this.scene.units ?? []) for (let k = 0; k < count; k++) this.units.push(unit);
    this.scene.columns.forEach((name, index) => this.indexOf.set(name, index));
  }

  get summary(): Summary | null {
    return this.told;
  }

  set summary(summary: Summary | null) {
    this.told = summary;
    if (summary?.not_unique) this.notUnique = summary.not_unique;
  }

  set notUnique(columns: string[]) {
    this.open = new Set(columns);
  }

  /** Why a column must not be taken for the truth: "not unique", of a reaction that rigid bodies do not determine. Else empty. */
  doubt(name: string): string {
    if (this.open) return this.open.has(name) ? "not unique" : "";
    return this.scene.closures.length > 0 && /^(force|torque|lambda)\./.test(name) ? "perhaps not unique" : "";
  }

  /** Whether all positions are there, without which nothing can be drawn. */
  get isDrawable(): boolean {
    return this.scene.joints.every((joint) => joint.cut || joint.q.every((column) => column !== null));
  }

  get columns(): string[] {
    return this.scene.columns;
  }

  get end(): number {
    return this.rows > 0 ? this.time[this.rows - 1] : 0;
  }

  get start(): number {
    return this.rows > 0 ? this.time[0] : 0;
  }

  get time(): Column {
    return this.column(0);
  }

  column(index: number): Column {
    return (this.views[index] ??= this.buffers[index].subarray(0, this.rows));
  }

  find(name: string): Column | null {
    const index = this.indexOf.get(name);
    if (index !== undefined) return this.column(index);
    const derived = this.derived.get(name);
    if (!derived || this.rows === 0) return null;
    if (!this.computed.has(name)) this.computed.set(name, derived.compute(this));
    return this.computed.get(name)!;
  }

  has(name: string): boolean {
    return this.indexOf.has(name) || this.derived.has(name);
  }

  indexOfColumn(name: string): number | null {
    return this.indexOf.get(name) ?? null;
  }

  /** "rad/s"; "1": none; empty: not known. */
  unit(name: string): string {
    if (name === "t") return "s";
    const index = this.indexOf.get(name);
    if (index === undefined) return this.derived.get(name)?.unit ?? "";
    return this.units[index] || (ERROR_UNITS[name] ?? "");
  }

  derive(column: Derived): void {
    this.derived.set(column.name, column);
    this.computed.delete(column.name);
  }

  /** Other rows in place of these. */
  replace(rows: number, columns: Column[]): void {
    this.rows = this.allRows = rows;
    this.stride = 1;
    this.buffers = columns;
    this.views = [];
    this.computed = new Map();
  }

  /** The last row not after t, and how far t is towards the next. */
  locate(t: number): { row: number; part: number } {
    const time = this.time;
    if (this.rows === 0) return { row: 0, part: 0 };
    let low = 0;
    let high = this.rows - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (time[middle] <= t) low = middle;
      else high = middle - 1;
    }
    if (low + 1 >= this.rows || t <= time[low]) return { row: low, part: 0 };
    return { row: low, part: (t - time[low]) / (time[low + 1] - time[low]) };
  }

  /** Rows that have come in while the run goes on. Every second one is dropped when they become too many. */
  append(rows: number[][]): void {
    for (const row of rows) {
      if (this.allRows++ % this.stride !== 0) continue;
      if (this.rows === this.buffers[0].length) this.grow();
      row.forEach((value, index) => (this.buffers[index][this.rows] = value));
      this.rows++;
      if (this.rows > 20_000) this.dropEverySecond();
    }
    this.views = [];
    this.computed = new Map();
  }

  /** The same for rows one after the other in one array. */
  appendFlat(values: Float64Array): void {
    const count = this.columns.length;
    for (let at = 0; at + count <= values.length; at += count) {
      if (this.allRows++ % this.stride !== 0) continue;
      if (this.rows === this.buffers[0].length) this.grow();
      for (let c = 0; c < count; c++) this.buffers[c][this.rows] = values[at + c];
      this.rows++;
      if (this.rows > 20_000) this.dropEverySecond();
    }
    this.views = [];
    this.computed = new Map();
  }

  private grow(): void {
    const capacity = Math.max(1024, this.buffers[0].length * 2);
    this.buffers = this.buffers.map((old) => {
      const larger = new Float64Array(capacity);
      larger.set(old);
      return larger;
    });
  }

  private dropEverySecond(): void {
    const kept = Math.ceil(this.rows / 2);
    for (const buffer of this.buffers) for (let i = 1; i < kept; i++) buffer[i] = buffer[2 * i];
    this.rows = kept;
    this.stride *= 2;
  }
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function decode(run: EncodedRun): Column[] {
  const bytes = bytesOf(run.data);
  const constants = new Map(run.constant);
  let at = 0;
  return run.scene.columns.map((_, index) => {
    const wide = index === 0 || run.float64;
    const constant = constants.get(index);
    if (constant !== undefined) return (wide ? new Float64Array(run.rows) : new Float32Array(run.rows)).fill(constant);
    const length = run.rows * (wide ? 8 : 4);
    const part = bytes.buffer.slice(at, at + length);
    at += length;
    return wide ? new Float64Array(part) : new Float32Array(part);
  });
}

export function readData(): { runs: Run[]; following: boolean; live: LiveModel | null } {
  const encoded = JSON.parse(document.getElementById("data")!.textContent!) as Encoded;
  return { runs: encoded.runs.map((run) => new Run(run, decode(run))), following: encoded.following, live: encoded.live ?? null };
}
