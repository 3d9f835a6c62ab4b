// The 3-D view: camera, lights, what is pointed at. It draws only when something has changed.
import {
  Box3,
  Color,
  DirectionalLight,
  HemisphereLight,
  type LineSegments,
  Matrix4,
  type Mesh,
  type Object3D,
  PerspectiveCamera,
  PCFSoftShadowMap,
  Quaternion,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { ArrowChoice, ArrowUnit } from "./arrows";
import { onThemeChange, theme } from "./colors";
import type { Run } from "./data";
import { element, roundDown, short } from "./dom";
import type { Layout } from "./layout";
import { Measures } from "./measures";
import { Mechanism } from "./mechanism";
import { type Pick, Pointing } from "./pointing";
import { addSunAndFloor, corners, gridStep, makeGrid, makeTriad, turnTriad } from "./surroundings";
import { type TracePoint, Traces } from "./traces";
import { shownUnit } from "./units";
import type { ShapesShown } from "./visuals";

export type Side = "home" | "front" | "top" | "side";

/** A part of the picture in which some runs are drawn: in pixels from the upper left corner. */
export interface Tile {
  left: number;
  top: number;
  width: number;
  height: number;
  mechanisms: Mechanism[];
}

/** A length of the picture and the force it stands for. */
export interface ScaleBar {
  text: string;
  pixels: number;
}

export class View {
  readonly canvas: HTMLCanvasElement;
  readonly mechanisms: Mechanism[];
  readonly traces: Traces;
  readonly measures: Measures;
  onPick: (pick: Pick | null) => void = () => {};
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(26, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly headlight = new DirectionalLight(0xffffff, 1.1);
  private readonly sun = new DirectionalLight(0xffffff, 1.5);
  private readonly names = element("div", { class: "names", "aria-hidden": "true" });
  private readonly tileNames = element("div", { class: "tile-names" });
  private readonly scaleBox = element("div", { class: "scales", "aria-label": "Scales" });
  private readonly triad: SVGSVGElement;
  private readonly discarded: Object3D[] = [];
  private readonly sparing: boolean;
  private still = 0; // the timer of the picture with shadows
  private grid: LineSegments | null = null;
  private floor: Mesh;
  private pending = false;
  private touched = false; // the user has chosen a view: it is kept
  private followed = -1; // a body of the first run
  private readonly followedAt = new Vector3();
  private apart = false; // runs side by side
  private measuring = false;
  private frame: { width: number; height: number } | null = null; // of a film that is being made
  private room = { width: 0, height: 0 }; // of the page, as last seen: to ask would lay it out anew
  private t = 0;

  constructor(
    private readonly host: HTMLElement,
    readonly runs: Run[],
    readonly layout: Layout,
  ) {
    this.canvas = element("canvas", { tabindex: 0, role: "img", "aria-describedby": "view-help" });
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.sparing = isSoftware(this.renderer.getContext());
    this.triad = makeTriad();

    this.scene.add(new HemisphereLight(0xffffff, 0x9aa7b8, 1.7), this.headlight, this.headlight.target);
    this.floor = addSunAndFloor(this.scene, this.sun, layout);
    this.mechanisms = runs.map((run, index) => new Mechanism(run, layout, index));
    for (const mechanism of this.mechanisms) this.scene.add(mechanism.root);
    this.traces = new Traces(this.scene, runs, layout);
    this.measures = new Measures(this.scene, this.mechanisms[0], layout);
    this.measures.onChange = () => this.invalidate();
    host.append(this.canvas, this.names, this.tileNames, this.measures.labels, this.triad, this.scaleBox);

    this.camera.up.copy(layout.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.invalidate());
    this.controls.addEventListener("start", () => (this.touched = true));
    this.controls.zoomToCursor = true;

    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    new Pointing(this, host, (pick) => {
      if (!this.measuring) return this.onPick(pick);
      if (pick) this.measures.take(pick.point);
      this.invalidate();
    });
    new ResizeObserver(() => this.resize()).observe(host);
    onThemeChange(() => this.recolor());
    this.recolor();
    this.resize();
    this.look("home");
  }

  show(t: number): void {
    this.t = t;
    for (const mechanism of this.mechanisms) mechanism.show(t);
    this.traces.advance(t);
    this.measures.place();
    this.keepFollowing();
    this.invalidate();
  }

  setVisible(): void {
    this.resize();
    this.invalidate();
  }

  set arrows(choice: ArrowChoice) {
    for (const mechanism of this.mechanisms) mechanism.arrows.choose(choice);
    this.invalidate();
  }

  set labels(visible: boolean) {
    this.names.replaceChildren();
    if (visible)
      for (const body of this.runs[0].scene.bodies.slice(1, 81)) this.names.append(element("span", {}, body.name));
    this.invalidate();
  }

  set shapes(how: ShapesShown) {
    for (const mechanism of this.mechanisms) mechanism.shapesShown = how;
    this.invalidate();
  }

  get hasShapes(): boolean {
    return this.mechanisms.some((mechanism) => mechanism.hasShapes);
  }

  /** Runs beside one another, all seen from the same place; else laid over one another. */
  set sideBySide(apart: boolean) {
    this.apart = apart;
    this.mechanisms.forEach((mechanism, index) => (mechanism.isSolid = apart || index === 0));
    this.resize();
    this.refit();
    this.invalidate();
  }

  setTrace(point: TracePoint, wanted: boolean): void {
    this.traces.set(point, wanted);
    this.traces.advance(this.t);
    this.invalidate();
  }

  refreshTraces(): void {
    this.traces.refresh();
    this.traces.advance(this.t);
    this.invalidate();
  }

  /** The next two clicks make a distance. */
  set measure(wanted: boolean) {
    this.measuring = wanted;
    if (!wanted) this.measures.cancel();
    this.canvas.classList.toggle("measuring", wanted);
    this.invalidate();
  }

  /** Marks a body in all runs that have it. */
  select(name: string | null): void {
    for (const mechanism of this.mechanisms) mechanism.select(mechanism.run.scene.bodies.findIndex((body) => body.name === name));
    this.invalidate();
  }

  /** What moved farther than was seen is seen too. */
  extend(bounds: Box3): void {
    if (this.layout.bounds.containsBox(bounds)) return;
    this.layout.bounds.union(bounds);
    this.refit();
  }

  /** The mechanisms have other bodies, or other motions: they are drawn anew, seen from where one is. What is up stays so. */
  renew(layout: Layout): void {
    Object.assign(this.layout, layout, { up: this.layout.up });
    this.mechanisms.forEach((old, index) => {
      const made = new Mechanism(old.run, this.layout, index);
      made.looks.forEach((look, body) => Object.assign(look, old.looks[body]));
      made.isSolid = old.isSolid;
      made.arrows.choose(old.arrows.choice);
      this.scene.remove(old.root);
      this.discarded.push(old.root);
      this.scene.add(made.root);
      this.mechanisms[index] = made;
    });
    this.measures.mechanism = this.mechanisms[0];
    this.scene.remove(this.floor);
    this.discarded.push(this.floor);
    this.floor = addSunAndFloor(this.scene, this.sun, this.layout);
    this.recolor();
    this.refit();
    this.show(this.t);
  }

  // Films ---------------------------------------------------------------------------------------------------------------------

  /** Pictures of a size of their own, until `stopFilming`. */
  startFilming(width: number, height: number): void {
    this.frame = { width, height };
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(width, height, false);
    this.useAspect();
  }

  stopFilming(): void {
    this.frame = null;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.resize();
  }

  picture(t: number): HTMLCanvasElement {
    this.show(t);
    this.render();
    return this.canvas;
  }

  // Camera --------------------------------------------------------------------------------------------------------------------

  /** Fits the view to what has grown, unless the user has chosen it. */
  refit(): void {
    if (!this.touched) this.fit();
  }

  /** The camera goes where a body goes, and keeps its direction. */
  follow(body: number): void {
    this.followed = body;
    if (body >= 0) this.followedAt.copy(this.middle(body));
  }

  get following(): number {
    return this.followed;
  }

  private middle(body: number): Vector3 {
    return this.mechanisms[0].place({ body, p: this.runs[0].scene.bodies[body].com ?? [0, 0, 0], q: [1, 0, 0, 0] });
  }

  private keepFollowing(): void {
    if (this.followed < 0) return;
    const now = this.middle(this.followed);
    const moved = now.clone().sub(this.followedAt);
    if (!Number.isFinite(moved.lengthSq())) return;
    this.followedAt.copy(now);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    this.controls.update();
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
    const clear = Math.max(0.7, 1 - 110 / this.tiles()[0].height); // of buttons above and axes below
    let distance = 0;
    for (const corner of corners(box)) {
      corner.sub(target);
      const across = Math.max(Math.abs(corner.dot(right)) / (tangent * this.camera.aspect), Math.abs(corner.dot(above)) / (clear * tangent));
      distance = Math.max(distance, corner.dot(back) + across);
    }
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, 1.08 * distance);
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
    this.moveCamera(offset);
  }

  private pan(across: number, along: number): void {
    const distance = this.camera.position.distanceTo(this.controls.target) * 0.4;
    const shift = new Vector3()
      .setFromMatrixColumn(this.camera.matrix, 0)
      .multiplyScalar(across * distance)
      .addScaledVector(new Vector3().setFromMatrixColumn(this.camera.matrix, 1), along * distance);
    const offset = this.camera.position.clone().sub(this.controls.target);
    this.controls.target.add(shift);
    this.moveCamera(offset);
  }

  zoom(factor: number): void {
    this.moveCamera(this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor));
  }

  private moveCamera(fromTarget: Vector3): void {
    this.camera.position.copy(this.controls.target).add(fromTarget);
    this.controls.update();
    this.invalidate();
  }

  // Drawing -------------------------------------------------------------------------------------------------------------------

  private placeNames({ left, top, width, height }: Tile): void {
    const bodies = this.runs[0].scene.bodies;
    [...this.names.children].forEach((child, k) => {
      const { solid, com } = bodies[k + 1];
      const middle = com ?? solid?.from ?? [0, 0, 0];
      const point = new Vector3(...middle).applyMatrix4(this.mechanisms[0].kinematics.poses[k + 1]).project(this.camera);
      const x = left + ((point.x + 1) / 2) * width;
      const y = top + ((1 - point.y) / 2) * height;
      (child as HTMLElement).style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
      (child as HTMLElement).hidden = point.z > 1 || !this.mechanisms[0].looks[k + 1].visible;
    });
  }

  invalidate(): void {
    if (this.pending || this.frame) return;
    this.pending = true;
    requestAnimationFrame(() => (this.sparing ? this.renderSparingly() : this.render()));
  }

  /** Without shadows as long as things move, where no graphics card helps: they take most of the time there. */
  private renderSparingly(): void {
    const { shadowMap } = this.renderer;
    this.floor.visible = shadowMap.autoUpdate = false;
    this.render();
    this.floor.visible = shadowMap.autoUpdate = true;
    clearTimeout(this.still);
    this.still = window.setTimeout(() => !this.frame && this.render(), 250);
  }

  get size(): { width: number; height: number } {
    return this.frame ?? this.room;
  }

  /** One for all runs, or one for each. */
  tiles(): Tile[] {
    const { width, height } = this.size;
    const shown = this.mechanisms.filter(({ run }) => run.visible);
    if (!this.apart || shown.length < 2) return [{ left: 0, top: 0, width, height, mechanisms: shown }];
    const columns = width > height ? (shown.length <= 4 ? 2 : 3) : shown.length <= 3 ? 1 : 2;
    const rows = Math.ceil(shown.length / columns);
    return shown.map((mechanism, k) => ({
      left: ((k % columns) * width) / columns,
      top: (Math.floor(k / columns) * height) / rows,
      width: width / columns,
      height: height / rows,
      mechanisms: [mechanism],
    }));
  }

  private useAspect(): void {
    const [{ width, height }] = this.tiles();
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
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
    const tiles = this.tiles();
    const { height: whole } = this.size;
    this.renderer.setScissorTest(tiles.length > 1);
    for (const { left, top, width, height, mechanisms } of tiles) {
      for (const mechanism of this.mechanisms) mechanism.root.visible = mechanisms.includes(mechanism);
      this.traces.show(mechanisms.map(({ run }) => run));
      this.renderer.setViewport(left, whole - top - height, width, height);
      this.renderer.setScissor(left, whole - top - height, width, height);
      this.renderer.render(this.scene, this.camera);
    }
    for (const mechanism of this.mechanisms) mechanism.root.visible = mechanism.run.visible;
    this.discarded.splice(0).forEach(discard); // not before the new ones are drawn: they share programs of the graphics card
    if (this.frame) return;
    this.placeNames(tiles[0]);
    this.measures.project(this.camera, tiles[0].width, tiles[0].height);
    this.showScales();
    turnTriad(this.triad, this.camera);
  }

  /** What lengths of arrows mean, where the camera looks at. */
  scaleBars(): ScaleBar[] {
    const { arrows } = this.mechanisms[0];
    const [{ height }] = this.tiles();
    const distance = this.camera.position.distanceTo(this.controls.target);
    const pixels = height / (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360)); // per metre
    return (["N", "N m"] as ArrowUnit[])
      .filter((unit) => arrows.isShown(unit))
      .map((unit) => {
        const value = roundDown(90 / (arrows.scale(unit) * pixels));
        return { text: `${short(value, 3)}\u202f${shownUnit(unit)}`, pixels: value * arrows.scale(unit) * pixels };
      });
  }

  /** What else one must know to read the picture. */
  remarks(): string[] {
    const { cut, doubt, choice, group } = this.mechanisms[0].arrows;
    return [
      `grid ${short(gridStep(this.layout), 3)}\u202fm`,
      ...(group.visible && cut ? ["the longest are cut"] : []),
      ...(group.visible && doubt && choice.reaction ? [`hollow arrows: ${doubt}`] : []),
    ];
  }

  private showScales(): void {
    this.scaleBox.replaceChildren(
      ...this.scaleBars().map(({ text, pixels }) => {
        const bar = element("i");
        bar.style.width = `${pixels.toFixed(1)}px`;
        return element("span", {}, bar, text);
      }),
      ...this.remarks().map((text) => element("span", { class: text.startsWith("hollow") ? "doubt" : "hint" }, text)),
    );
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    this.room = { width, height };
    if (width === 0 || height === 0 || this.frame) return;
    const before = this.camera.aspect;
    this.renderer.setSize(width, height, false);
    this.useAspect();
    if (Math.abs(before - this.camera.aspect) > 1e-3 && this.camera.position.lengthSq() > 0) this.refit();
    const tiles = this.tiles();
    this.tileNames.replaceChildren(
      ...(tiles.length < 2 ? [] : tiles).map(({ left, top, width: across, height: along, mechanisms }) => {
        const name = element("span", {}, mechanisms[0].run.label);
        Object.assign(name.style, { left: `${left}px`, top: `${top}px`, width: `${across}px`, height: `${along}px` });
        return name;
      }),
    );
    this.invalidate();
  }

  /** Colours of the surroundings and of everything in them. */
  recolor(): void {
    this.scene.background = new Color(theme().background);
    if (this.grid) {
      this.scene.remove(this.grid);
      this.discarded.push(this.grid);
    }
    this.grid = makeGrid(this.layout);
    this.scene.add(this.grid);
    for (const mechanism of this.mechanisms) mechanism.recolor();
    this.invalidate();
  }

  /** After bodies got other looks. */
  repaint(): void {
    for (const mechanism of this.mechanisms) mechanism.recolor();
    this.invalidate();
  }
}

/** Whether the processor draws, not a graphics card. */
function isSoftware(context: WebGLRenderingContext | WebGL2RenderingContext): boolean {
  const names = context.getExtension("WEBGL_debug_renderer_info");
  return names !== null && /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)));
}

/** Gives back what the graphics card keeps for it. */
function discard(root: Object3D): void {
  root.traverse((object) => {
    const { geometry, material } = object as Mesh;
    geometry?.dispose();
    for (const one of material ? [material].flat() : []) one.dispose();
  });
}
