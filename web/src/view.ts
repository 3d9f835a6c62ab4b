// The 3-D view: camera, lights, grid, traces, names. It draws only when something has changed.
import {
  Box3,
  BufferGeometry,
  Color,
  DirectionalLight,
  Float32BufferAttribute,
  HemisphereLight,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  PerspectiveCamera,
  PCFSoftShadowMap,
  PlaneGeometry,
  Quaternion,
  Raycaster,
  Scene,
  ShadowMaterial,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { lineColors, onThemeChange, runColors, theme } from "./colors";
import type { Frame, Run } from "./data";
import { element } from "./dom";
import { Kinematics } from "./kinematics";
import type { Layout } from "./layout";
import { Mechanism } from "./mechanism";
import { planeFrame } from "./shapes";

export type Side = "home" | "front" | "top" | "side";

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

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly mechanisms: Mechanism[];
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(26, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly headlight = new DirectionalLight(0xffffff, 1.1);
  private readonly sun = new DirectionalLight(0xffffff, 1.5);
  private readonly tooltip = element("div", { class: "tooltip", role: "status", hidden: true });
  private readonly names = element("div", { class: "names", "aria-hidden": "true" });
  private readonly triad: SVGSVGElement;
  private readonly traces = new Map<string, Trace[]>();
  private readonly raycaster = new Raycaster();
  private grid: LineSegments | null = null;
  private pending = false;
  private touched = false; // the user has chosen a view: it is kept
  private pointer: Vector2 | null = null;
  private t = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly runs: Run[],
    readonly layout: Layout,
  ) {
    this.canvas = element("canvas", { tabindex: 0, role: "img", "aria-describedby": "view-help" });
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.triad = makeTriad();
    host.append(this.canvas, this.names, this.triad, this.tooltip);

    this.scene.add(new HemisphereLight(0xffffff, 0x9aa7b8, 1.7), this.headlight, this.headlight.target);
    this.addSunAndFloor();
    this.mechanisms = runs.map((run, index) => new Mechanism(run, layout, index));
    for (const mechanism of this.mechanisms) this.scene.add(mechanism.root);

    this.camera.up.copy(layout.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.invalidate());
    this.controls.addEventListener("start", () => (this.touched = true));
    this.controls.zoomToCursor = true;

    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    this.canvas.addEventListener("pointerleave", () => this.hideTooltip());
    new ResizeObserver(() => this.resize()).observe(host);
    onThemeChange(() => this.recolor());
    this.recolor();
    this.resize();
    this.look("home");
  }

  show(t: number): void {
    this.t = t;
    for (const mechanism of this.mechanisms) mechanism.show(t);
    for (const traces of this.traces.values()) for (const trace of traces) this.advance(trace);
    this.invalidate();
  }

  setVisible(run: Run): void {
    for (const mechanism of this.mechanisms) if (mechanism.run === run) mechanism.root.visible = run.visible;
    for (const trace of [...this.traces.values()].flat()) if (trace.run === run) trace.full.visible = trace.past.visible = run.visible;
    this.invalidate();
  }

  set forces(visible: boolean) {
    for (const mechanism of this.mechanisms) mechanism.forces = visible;
    this.invalidate();
  }

  get hasForces(): boolean {
    return this.mechanisms.some((mechanism) => mechanism.hasForces);
  }

  set labels(visible: boolean) {
    this.names.replaceChildren();
    if (visible)
      for (const body of this.runs[0].scene.bodies.slice(1, 81)) this.names.append(element("span", {}, body.name));
    this.invalidate();
  }

  image(): Promise<Blob | null> {
    this.render();
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }

  // Camera --------------------------------------------------------------------------------------------------------------------

  /** Fits the view to what has grown, unless the user has chosen it. */
  refit(): void {
    if (!this.touched) this.fit();
  }

  /** Looks from a side, at everything. */
  look(side: Side): void {
    this.touched = false;
    const { normal, up } = this.layout;
    const front = this.front();
    const right = up.clone().cross(front).normalize();
    const from = {
      home: normal ? front : front.clone().multiplyScalar(0.75).addScaledVector(right, 0.55).addScaledVector(up, 0.42),
      front,
      top: up.clone().addScaledVector(front, 1e-4),
      side: right,
    }[side].normalize();
    this.fit(from);
  }

  /** Where one stands when looking at the front. */
  private front(): Vector3 {
    const { normal, up } = this.layout;
    if (normal && Math.abs(normal.dot(up)) < 0.5) return normal.clone();
    const candidate = Math.abs(up.z) > 0.7 ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
    return candidate.addScaledVector(up, -candidate.dot(up)).normalize();
  }

  /** Moves back or forth until everything is seen, in the present direction unless another is given. */
  fit(direction = this.camera.position.clone().sub(this.controls.target).normalize()): void {
    const { bounds, unit } = this.layout;
    const box = new Box3().copy(bounds).expandByScalar(3 * unit);
    const target = box.getCenter(new Vector3());
    const turn = new Matrix4().lookAt(direction, new Vector3(), this.layout.up);
    const [right, above, back] = [0, 1, 2].map((k) => new Vector3().setFromMatrixColumn(turn, k));
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    let distance = 0;
    for (const corner of corners(box)) {
      corner.sub(target);
      const across = Math.max(Math.abs(corner.dot(right)) / (tangent * this.camera.aspect), Math.abs(corner.dot(above)) / tangent);
      distance = Math.max(distance, corner.dot(back) + across);
    }
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, 1.12 * distance);
    this.controls.update();
    this.invalidate();
  }

  private onKey(event: KeyboardEvent): void {
    const step = 0.1;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => (event.shiftKey ? this.pan(-step, 0) : this.orbit(-step, 0)),
      ArrowRight: () => (event.shiftKey ? this.pan(step, 0) : this.orbit(step, 0)),
      ArrowUp: () => (event.shiftKey ? this.pan(0, step) : this.orbit(0, -step)),
      ArrowDown: () => (event.shiftKey ? this.pan(0, -step) : this.orbit(0, step)),
      "+": () => this.zoom(1 / 1.15),
      "=": () => this.zoom(1 / 1.15),
      "-": () => this.zoom(1.15),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    move();
    this.touched = true;
    event.preventDefault();
    event.stopPropagation();
  }

  private orbit(around: number, over: number): void {
    const { up } = this.layout;
    const offset = this.camera.position.clone().sub(this.controls.target);
    const polar = offset.angleTo(up);
    const allowed = Math.min(Math.max(polar + over, 0.01), Math.PI - 0.01) - polar;
    const right = up.clone().cross(offset).normalize();
    offset.applyQuaternion(new Quaternion().setFromAxisAngle(right, allowed));
    offset.applyQuaternion(new Quaternion().setFromAxisAngle(up, around));
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.invalidate();
  }

  private pan(across: number, along: number): void {
    const distance = this.camera.position.distanceTo(this.controls.target) * 0.4;
    const shift = new Vector3()
      .setFromMatrixColumn(this.camera.matrix, 0)
      .multiplyScalar(across * distance)
      .addScaledVector(new Vector3().setFromMatrixColumn(this.camera.matrix, 1), along * distance);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
    this.invalidate();
  }

  zoom(factor: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.invalidate();
  }

  // Traces --------------------------------------------------------------------------------------------------------------------

  tracePoints(): TracePoint[] {
    const points: TracePoint[] = [];
    const { scene } = this.runs[0];
    const add = (kind: string, name: string, find: TracePoint["find"]) =>
      points.push({ key: `${kind}:${name}`, label: `${name} (${kind})`, find });
    for (const { name } of scene.sensors)
      add("sensor", name, (run) => run.scene.sensors.find((sensor) => sensor.name === name)?.at ?? null);
    for (const { name } of scene.joints)
      add("joint", name, (run) => run.scene.joints.find((joint) => joint.name === name)?.child ?? null);
    for (const { name, cut } of scene.closures)
      if (!cut) add("closure", name, (run) => run.scene.closures.find((closure) => closure.name === name)?.b ?? null);
    for (const { name } of scene.bodies.slice(1))
      add("center of mass", name, (run) => {
        const body = run.scene.bodies.findIndex((candidate) => candidate.name === name);
        return body < 0 ? null : { body, p: run.scene.bodies[body].com ?? [0, 0, 0], q: [1, 0, 0, 0] };
      });
    return points;
  }

  get traced(): string[] {
    return [...this.traces.keys()];
  }

  setTrace(point: TracePoint, wanted: boolean): void {
    for (const trace of this.traces.get(point.key) ?? []) {
      this.scene.remove(trace.full, trace.past);
      trace.full.geometry.dispose();
      trace.past.geometry.dispose();
    }
    this.traces.delete(point.key);
    if (wanted) {
      const color = [theme().trace, ...lineColors][this.traces.size % (lineColors.length + 1)];
      const made = this.runs.map((run, index) => this.makeTrace(run, point.find(run), index === 0 ? color : runColors[index % runColors.length]));
      this.traces.set(point.key, made.filter((trace): trace is Trace => trace !== null));
      this.show(this.t);
    }
    this.invalidate();
  }

  /** Draws the traces anew, after rows have come in. */
  refreshTraces(): void {
    const points = this.tracePoints().filter((point) => this.traces.has(point.key));
    for (const point of points) this.setTrace(point, true);
  }

  private makeTrace(run: Run, frame: Frame | null, color: string): Trace | null {
    if (!frame || run.rows < 2) return null;
    const kinematics = new Kinematics(run);
    const every = Math.max(1, Math.ceil(run.rows / 6000));
    const positions: number[] = [];
    const point = new Vector3();
    const { normal, unit } = this.layout;
    for (let row = 0; row < run.rows; row += every) {
      kinematics.update(row);
      point.set(...frame.p).applyMatrix4(kinematics.poses[frame.body]);
      if (normal) point.addScaledVector(normal, -0.55 * (this.runs[0].scene.bodies.length <= 7 ? this.runs[0].scene.bodies.length : 3) * unit);
      positions.push(point.x, point.y, point.z);
    }
    if (positions.length < 6) return null;
    const line = (width: number, opacity: number) => {
      const made = new Line2(new LineGeometry(), new LineMaterial({ color: new Color(color).getHex(), linewidth: width, transparent: true, opacity }));
      made.geometry.setPositions(positions);
      made.visible = run.visible;
      this.scene.add(made);
      return made;
    };
    return { run, full: line(1.5, 0.35), past: line(2.6, 0.95), rows: positions.length / 3, every };
  }

  private advance(trace: Trace): void {
    trace.past.geometry.instanceCount = Math.min(trace.rows - 1, Math.floor(trace.run.locate(this.t).row / trace.every));
  }

  // Names ---------------------------------------------------------------------------------------------------------------------

  private onPointer(event: PointerEvent): void {
    if (event.buttons !== 0) return this.hideTooltip();
    const bounds = this.canvas.getBoundingClientRect();
    const first = this.pointer === null;
    this.pointer = new Vector2(event.clientX - bounds.left, event.clientY - bounds.top);
    if (first) requestAnimationFrame(() => this.hover());
  }

  private hover(): void {
    if (!this.pointer) return;
    const { x, y } = this.pointer;
    this.pointer = null;
    const place = new Vector2((x / this.host.clientWidth) * 2 - 1, 1 - (y / this.host.clientHeight) * 2);
    this.raycaster.setFromCamera(place, this.camera);
    const shown = this.mechanisms.filter((mechanism) => mechanism.root.visible);
    const hit = this.raycaster.intersectObjects(shown.map((mechanism) => mechanism.root)).find(({ object }) => isShown(object as Mesh));
    if (!hit) return this.hideTooltip();
    const owner = shown.find((mechanism) => isInside(hit.object as Mesh, mechanism))!;
    const label = hit.object.userData.label as string;
    this.tooltip.textContent = this.runs.length > 1 ? `${label} · ${owner.run.label}` : label;
    this.tooltip.style.transform = `translate(${Math.round(x + 14)}px, ${Math.round(y + 14)}px)`;
    this.tooltip.hidden = false;
  }

  private hideTooltip(): void {
    this.pointer = null;
    this.tooltip.hidden = true;
  }

  private placeNames(): void {
    const bodies = this.runs[0].scene.bodies;
    [...this.names.children].forEach((child, k) => {
      const { solid, com } = bodies[k + 1];
      const middle = com ?? solid?.from ?? [0, 0, 0];
      const point = new Vector3(...middle).applyMatrix4(this.mechanisms[0].kinematics.poses[k + 1]).project(this.camera);
      const x = ((point.x + 1) / 2) * this.host.clientWidth;
      const y = ((1 - point.y) / 2) * this.host.clientHeight;
      (child as HTMLElement).style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
      (child as HTMLElement).hidden = point.z > 1;
    });
  }

  // Drawing -------------------------------------------------------------------------------------------------------------------

  invalidate(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.render());
  }

  render(): void {
    this.pending = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = distance / 200;
    this.camera.far = distance * 20 + this.layout.size * 10;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const [right, above] = [0, 1].map((k) => new Vector3().setFromMatrixColumn(this.camera.matrixWorld, k));
    this.headlight.position.copy(this.camera.position).addScaledVector(right, -0.5 * distance).addScaledVector(above, 0.8 * distance);
    this.headlight.target.position.copy(this.controls.target);
    this.renderer.render(this.scene, this.camera);
    this.placeNames();
    turnTriad(this.triad, this.camera);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    const before = this.camera.aspect;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    if (Math.abs(before - this.camera.aspect) > 1e-3 && this.camera.position.lengthSq() > 0) this.refit();
    this.invalidate();
  }

  private recolor(): void {
    this.scene.background = new Color(theme().background);
    if (this.grid) this.scene.remove(this.grid);
    this.grid = this.makeGrid();
    this.scene.add(this.grid);
    for (const mechanism of this.mechanisms) mechanism.recolor();
    this.invalidate();
  }

  /** How far along the normal (flat mechanisms) or upwards the grid lies. */
  private get floorLevel(): number {
    const { bounds, unit, normal, up } = this.layout;
    const axis = normal ?? up;
    const lowest = Math.min(...corners(bounds).map((corner) => corner.dot(axis)));
    return lowest - (normal ? 4.5 : 3.7) * unit;
  }

  /** Light that throws shadows, and what they fall on. */
  private addSunAndFloor(): void {
    const { bounds, size, normal, up } = this.layout;
    const axis = normal ?? up;
    const center = bounds.getCenter(new Vector3());
    const aside = axis.clone().cross(Math.abs(axis.x) < 0.8 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0)).normalize();
    const across = axis.clone().cross(aside);
    const direction = axis.clone().multiplyScalar(1.6).addScaledVector(normal ? up : aside, 0.6).addScaledVector(normal ? up.clone().cross(axis) : across, 0.5);
    this.sun.position.copy(center).addScaledVector(direction, size);
    this.sun.target.position.copy(center);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0005;
    Object.assign(this.sun.shadow.camera, { left: -size, right: size, top: size, bottom: -size, near: 0.01 * size, far: 6 * size });
    const floor = new Mesh(new PlaneGeometry(8 * size, 8 * size), new ShadowMaterial({ opacity: 0.16 }));
    floor.receiveShadow = true;
    planeFrame(axis, center.addScaledVector(axis, this.floorLevel - center.dot(axis))).decompose(floor.position, floor.quaternion, floor.scale);
    this.scene.add(this.sun, this.sun.target, floor);
  }

  /** Behind a flat mechanism, under any other. */
  private makeGrid(): LineSegments {
    const { bounds, size, normal, up } = this.layout;
    const axis = normal ?? up;
    const raw = size / 8;
    const decade = 10 ** Math.floor(Math.log10(raw));
    const step = decade * (raw / decade >= 5 ? 5 : raw / decade >= 2 ? 2 : 1);
    const center = bounds.getCenter(new Vector3());
    const frame = planeFrame(axis, axis.clone().multiplyScalar(this.floorLevel));
    const middle = center.applyMatrix4(frame.clone().invert());
    const count = normal ? 16 : 8;
    const [cx, cy] = [Math.round(middle.x / step), Math.round(middle.y / step)];
    const positions: number[] = [];
    const colors: number[] = [];
    const add = (a: number, b: number, c: number, d: number, strong: boolean) => {
      const color = new Color(strong ? theme().gridStrong : theme().grid);
      for (const [x, y] of [[a, b], [c, d]]) {
        positions.push(...new Vector3(x * step, y * step, 0).applyMatrix4(frame).toArray());
        colors.push(color.r, color.g, color.b);
      }
    };
    for (let k = -count; k <= count; k++) {
      add(cx + k, cy - count, cx + k, cy + count, (cx + k) % 5 === 0);
      add(cx - count, cy + k, cx + count, cy + k, (cy + k) % 5 === 0);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
    geometry.setAttribute("color", new Float32BufferAttribute(colors, 3));
    return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
  }
}

function corners(box: Box3): Vector3[] {
  return Array.from({ length: 8 }, (_, k) => new Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z));
}

function isShown(mesh: Mesh): boolean {
  for (let at: Mesh | null = mesh; at; at = at.parent as Mesh | null) if (!at.visible) return false;
  return true;
}

function isInside(mesh: Mesh, mechanism: Mechanism): boolean {
  for (let at: Mesh | null = mesh; at; at = at.parent as Mesh | null) if ((at as unknown) === mechanism.root) return true;
  return false;
}

// The directions of the axes, in a corner --------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";

function makeTriad(): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "triad");
  svg.setAttribute("viewBox", "-30 -30 60 60");
  svg.setAttribute("aria-hidden", "true");
  for (const name of ["x", "y", "z"]) {
    const line = document.createElementNS(SVG, "line");
    const text = document.createElementNS(SVG, "text");
    text.textContent = name;
    line.setAttribute("class", name);
    text.setAttribute("class", name);
    svg.append(line, text);
  }
  return svg;
}

function turnTriad(svg: SVGSVGElement, camera: PerspectiveCamera): void {
  const inverse = camera.quaternion.clone().invert();
  [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].forEach((axis, k) => {
    axis.applyQuaternion(inverse);
    const line = svg.children[2 * k];
    const text = svg.children[2 * k + 1];
    line.setAttribute("x2", (axis.x * 19).toFixed(1));
    line.setAttribute("y2", (-axis.y * 19).toFixed(1));
    text.setAttribute("x", (axis.x * 26).toFixed(1));
    text.setAttribute("y", (-axis.y * 26).toFixed(1));
  });
}
