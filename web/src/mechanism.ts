// A run's mechanism as objects of the scene: bodies, joints, closures, springs, supports.
import {
  BufferGeometry,
  Color,
  CylinderGeometry,
  DoubleSide,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Object3D,
  PlaneGeometry,
  Quaternion,
  TorusGeometry,
  TubeGeometry,
  CatmullRomCurve3,
  Vector3,
} from "three";
import { Arrows } from "./arrows";
import { bodyColors, distinctColor, theme } from "./colors";
import type { Body, Closure, Frame, Joint, Run, Solid } from "./data";
import { frameMatrix, Kinematics } from "./kinematics";
import { bodyPoints, type Layout } from "./layout";
import { ball, box, coil, commonNormal, merge, plate, rod, tube } from "./shapes";
import { Shapes, type ShapesShown } from "./visuals";

const Z = new Vector3(0, 0, 1);
const ORIGIN = new Vector3();
const SLIDERS = ["prismatic", "cylindrical", "screw"];

/** Something that must be placed anew for every moment. */
interface Follower {
  place(): void;
}

type Role = "ground" | "joint" | "closure" | "spring";

/** How a body is drawn. */
export interface Look {
  color: string | null; // null: as it comes
  opacity: number;
  visible: boolean;
}

export class Mechanism {
  readonly root = new Group();
  readonly bodies: Group[];
  readonly kinematics: Kinematics;
  readonly looks: Look[];
  readonly arrows: Arrows;
  private readonly shapes: Shapes;
  private readonly supports = new Group(); // what the ground is drawn as
  private readonly skeleton: (Mesh | null)[] = []; // by body: what it is drawn as without visuals
  private readonly meshes: Mesh[] = [];
  private readonly followers: Follower[] = [];
  private readonly materials = new Map<string, MeshStandardMaterial>();
  private readonly points: Vector3[][];
  private readonly layers: number[];
  private readonly series: string[]; // colours of the bodies
  private solid: boolean;
  private selected = -1;
  private shownShapes: ShapesShown = "shown";
  row = 0;

  /** The first run is drawn solid, the others as ghosts. */
  constructor(
    readonly run: Run,
    private readonly layout: Layout,
    private readonly ghost: number,
  ) {
    this.kinematics = new Kinematics(run);
    this.points = bodyPoints(run);
    this.layers = this.findLayers();
    this.series = this.bodyColorsOf();
    this.solid = ghost === 0;
    this.looks = run.scene.bodies.map(() => ({ color: null, opacity: 1, visible: true }));
    this.bodies = run.scene.bodies.map((body) => {
      const group = new Group();
      group.name = body.name;
      group.matrixAutoUpdate = false;
      this.root.add(group);
      return group;
    });
    this.kinematics.update(0);
    this.shapes = new Shapes(this);
    this.drawBodies();
    for (const joint of run.scene.joints) if (!joint.cut) this.drawJoint(joint);
    for (const closure of run.scene.closures) this.drawClosure(closure);
    this.root.add(this.supports);
    this.drawSupports();
    for (const spring of run.scene.springs) this.drawSpring(spring.a, spring.b, spring.type, spring.name);
    this.arrows = new Arrows(this, layout);
    this.root.add(this.arrows.group);
    this.recolor();
  }

  /** Whether it is drawn solid, or lets the others through. */
  set isSolid(solid: boolean) {
    this.solid = solid;
    this.recolor();
  }

  get isSolid(): boolean {
    return this.solid;
  }

  get hasShapes(): boolean {
    return this.shapes.count > 0;
  }

  set shapesShown(how: ShapesShown) {
    this.shownShapes = how;
    this.recolor();
  }

  /** The body that is marked, -1: none. */
  select(body: number): void {
    this.selected = body;
    this.recolor();
  }

  show(t: number): void {
    const { row, part } = this.run.locate(t);
    this.row = part > 0.5 ? row + 1 : row;
    this.kinematics.update(row, part);
    this.bodies.forEach((group, index) => {
      group.matrix.copy(this.kinematics.poses[index]);
      group.matrixWorldNeedsUpdate = true;
    });
    this.follow();
  }

  /** A point of the world. */
  place(frame: Frame, result = new Vector3()): Vector3 {
    return result.set(...frame.p).applyMatrix4(this.kinematics.poses[frame.body]);
  }

  /** Colours, and what is seen: after a change of theme, looks, selection or ways to show it. */
  recolor(): void {
    const colors = theme();
    for (const [role, material] of this.materials) {
      const body = role.startsWith("body:") ? Number(role.slice(5)) : -1;
      const own = body >= 0 ? (this.looks[body].color ?? this.series[body]) : colors[role as Role];
      this.paint(material, own, body >= 0 ? this.looks[body].opacity : 1, body);
    }
    this.shapes.recolor(this.shownShapes);
    this.supports.visible = this.solid;
    for (const mesh of this.meshes) mesh.castShadow = this.solid;
    this.skeleton.forEach((mesh, body) => {
      if (mesh) mesh.visible = this.looks[body].visible && (this.shownShapes !== "shown" || !this.shapes.has(body));
    });
    this.arrows.recolor();
  }

  /** Gives a material of a body (-1: of none) its colour, by whether it is a ghost, see-through or marked. */
  paint(material: MeshStandardMaterial, color: string | Color, opacity: number, body: number): void {
    const own = new Color(color);
    material.color = this.solid ? own : own.lerp(new Color(distinctColor(this.ghost)), 0.75);
    const seen = opacity * (this.solid ? 1 : 0.32);
    if (material.transparent !== seen < 1) material.needsUpdate = true;
    Object.assign(material, { transparent: seen < 1, opacity: seen, depthWrite: seen > 0.6 });
    material.emissive = body >= 0 && body === this.selected ? new Color(theme().select).multiplyScalar(0.45) : new Color(0);
  }

  /** Of a flat mechanism: how far its drawing reaches towards the eye. */
  get height(): number {
    return this.layout.normal ? (this.layers.length + 1) * this.thickness : 0;
  }

  private follow(): void {
    for (const follower of this.followers) follower.place();
    this.arrows?.place();
  }

  private material(role: string): MeshStandardMaterial {
    let material = this.materials.get(role);
    if (!material) {
      material = new MeshStandardMaterial({ roughness: 0.55, metalness: 0.08 });
      this.materials.set(role, material);
    }
    return material;
  }

  private mesh(geometry: BufferGeometry, role: string, label: string): Mesh {
    const mesh = new Mesh(geometry, this.material(role));
    mesh.userData.label = label;
    this.meshes.push(mesh);
    return mesh;
  }

  // Bodies --------------------------------------------------------------------------------------------------------------------

  /** Bodies of one series (leg1, leg2, ...) share a colour. */
  private bodyColorsOf(): string[] {
    const names = this.run.scene.bodies.map((body) => body.name.replaceAll(/\d+/g, "#"));
    const stems = [...new Set(names.slice(1))];
    const series = stems.length > 1 && names.length > 5;
    return names.map((name, index) => (index === 0 ? theme().ground : bodyColors[(series ? stems.indexOf(name) : index - 1) % bodyColors.length]));
  }

  /** The colour that a body has by itself. */
  ownColor(body: number): string {
    return this.series[body];
  }

  /** Flat mechanisms are drawn in layers, so that links pass one another. The ground is the lowest. */
  private findLayers(): number[] {
    const { bodies, joints, closures } = this.run.scene;
    if (bodies.length <= 7) return bodies.map((_, index) => index);
    const near: Set<number>[] = bodies.map(() => new Set());
    for (const [a, b] of [...joints.map((j) => [j.parent, j.child]), ...closures.map((c) => [c.a, c.b])]) {
      near[a.body].add(b.body);
      near[b.body].add(a.body);
    }
    const layers: number[] = [0];
    for (let body = 1; body < bodies.length; body++) {
      let layer = 1;
      while ([...near[body]].some((other) => layers[other] === layer)) layer++;
      layers.push(layer);
    }
    return layers;
  }

  private get thickness(): number {
    return 0.8 * this.layout.unit;
  }

  private lift(body: number): number {
    const middle = Math.max(...this.layers) / 2;
    return (this.layers[body] - middle) * 1.1 * this.thickness;
  }

  /** The plane's normal as the body sees it. */
  private normalOn(body: number): Vector3 {
    const inverse = this.kinematics.poses[body].clone().invert();
    return this.layout.normal!.clone().transformDirection(inverse);
  }

  private drawBodies(): void {
    this.run.scene.bodies.forEach((body, index) => {
      if (index === 0) return void this.skeleton.push(null);
      const mesh = this.mesh(this.bodyGeometry(body, index), `body:${index}`, body.name);
      this.skeleton.push(mesh);
      this.bodies[index].add(mesh);
    });
  }

  private bodyGeometry(body: Body, index: number): BufferGeometry {
    const { unit, normal } = this.layout;
    const solid = body.solid;
    const points = [...this.points[index]];
    if (!solid || solid.shape === "rod") {
      if (solid) points.push(new Vector3(...solid.from), new Vector3(...solid.to));
      else if (points.length < 2 && body.com) points.push(new Vector3(...body.com));
      const distinct = points.filter((point, k) => points.findIndex((other) => other.distanceTo(point) < 1e-9) === k);
      if (distinct.length === 0) distinct.push(new Vector3());
      return this.spanned(distinct, normal ? this.normalOn(index) : null, this.lift(index));
    }
    const shape = this.solidGeometry(solid);
    const arms = points.map((point) => [point, nearest(solid, point)]).filter(([a, b]) => a.distanceTo(b) > 0.5 * unit);
    return merge([shape, ...arms.map(([a, b]) => rod(a, b, 0.5 * unit))]);
  }

  private spanned(points: Vector3[], normal: Vector3 | null, lift: number): BufferGeometry {
    const { unit } = this.layout;
    if (normal) return plate(points, normal, points.length > 1 ? unit : 1.6 * unit, this.thickness, lift);
    if (points.length === 1) return ball(points[0], 1.5 * unit);
    if (points.length === 2) return rod(points[0], points[1], unit);
    const common = commonNormal(points);
    if (common) return plate(points, common, unit, this.thickness);
    const [a, b] = ends(points);
    if (points.every((point) => distanceToSegment(point, a, b) < 1e-6 * this.layout.size)) return rod(a, b, unit);
    const middle = points.reduce((sum, point) => sum.add(point), new Vector3()).divideScalar(points.length);
    return merge(points.map((point) => rod(middle, point, 0.8 * unit)));
  }

  private solidGeometry(solid: Solid): BufferGeometry {
    const from = new Vector3(...solid.from);
    switch (solid.shape) {
      case "cylinder":
        return tube(from, new Vector3(...solid.to), solid.radius, 48);
      case "box":
        return box(from, new Vector3(...solid.size));
      case "sphere":
        return ball(from, solid.radius);
      default:
        return ball(from, 1.8 * this.layout.unit);
    }
  }

  // Joints and closures -------------------------------------------------------------------------------------------------------

  at(frame: Frame, ...parts: Object3D[]): Group {
    const group = new Group();
    group.matrixAutoUpdate = false;
    group.matrix.copy(frameMatrix(frame));
    group.add(...parts);
    this.bodies[frame.body].add(group);
    return group;
  }

  private drawJoint(joint: Joint): void {
    const label = `${joint.name} (${joint.type} joint)`;
    if (this.hidesSlider(joint.type, joint.parent, joint.child)) return;
    const slides = SLIDERS.includes(joint.type);
    this.drawGlyph(joint.type, slides ? joint.child : joint.parent, joint.parent.body, joint.child.body, "joint", label);
  }

  private drawGlyph(type: string, frame: Frame, a: number, b: number, role: Role, label: string): void {
    const { unit, normal } = this.layout;
    const add = (geometry: BufferGeometry) => this.at(frame, this.mesh(geometry, role, label));
    switch (type) {
      case "revolute":
      case "pin": {
        const [low, high] = normal ? this.span(a, b, frame) : [-1.5 * unit, 1.5 * unit];
        const radius = normal ? 0.48 * unit : 1.12 * unit;
        add(merge([tube(new Vector3(0, 0, low), new Vector3(0, 0, high), radius)]));
        break;
      }
      case "spherical":
      case "point":
        add(ball(ORIGIN, 1.4 * unit));
        break;
      case "universal":
        add(
          merge([
            tube(new Vector3(-1.9 * unit, 0, 0), new Vector3(1.9 * unit, 0, 0), 0.55 * unit),
            tube(new Vector3(0, -1.9 * unit, 0), new Vector3(0, 1.9 * unit, 0), 0.55 * unit),
            ball(ORIGIN, 0.95 * unit),
          ]),
        );
        break;
      case "prismatic":
        add(box(ORIGIN, new Vector3(3, 3, 4.6).multiplyScalar(unit)));
        break;
      case "cylindrical":
      case "screw":
        add(tube(new Vector3(0, 0, -2.4 * unit), new Vector3(0, 0, 2.4 * unit), 1.6 * unit));
        break;
      case "weld":
        add(box(ORIGIN, new Vector3(1.8, 1.8, 1.8).multiplyScalar(unit)));
        break;
    }
  }

  /** From where to where a pin reaches through the layers, along the frame's z. */
  private span(a: number, b: number, frame: Frame): [number, number] {
    const along = Z.clone().applyMatrix4(frameMatrix(frame)).sub(new Vector3(...frame.p));
    const sign = Math.sign(along.dot(this.normalOn(frame.body))) || 1;
    const lifts = [this.lift(a), this.lift(b)];
    const [low, high] = [Math.min(...lifts) - 0.7 * this.thickness, Math.max(...lifts) + 0.75 * this.thickness];
    return sign > 0 ? [low, high] : [-high, -low];
  }

  /** Whether a body's own solid is around the place, so that a sleeve would only hide it. */
  private hidesSlider(type: string, a: Frame, b: Frame): boolean {
    return SLIDERS.includes(type) && (this.hides(a) || this.hides(b));
  }

  private hides(frame: Frame): boolean {
    const solid = this.run.scene.bodies[frame.body].solid;
    if (!solid || solid.shape === "rod" || solid.shape === "point") return false;
    const point = new Vector3(...frame.p);
    return nearest(solid, point).distanceTo(point) < this.layout.unit;
  }

  private drawClosure(closure: Closure): void {
    const { unit, size, normal } = this.layout;
    const label = `${closure.name} (${closure.cut ? `${closure.type} joint, cut` : closure.type})`;
    const ring = () => {
      const torus = new TorusGeometry((normal ? 0.78 : 1.55) * unit, 0.22 * unit, 12, 32);
      if (normal) torus.translate(0, 0, this.span(closure.a.body, closure.b.body, closure.a)[1] - 0.1 * unit);
      this.at(closure.a, this.mesh(torus, "closure", label));
    };
    switch (closure.type) {
      case "distance":
        this.drawLink(closure.a, closure.b, label);
        break;
      case "point-on-line":
        this.at(closure.a, this.mesh(tube(new Vector3(0, 0, -size / 3), new Vector3(0, 0, size / 3), 0.3 * unit), "closure", label));
        this.at(closure.b, this.mesh(ball(ORIGIN, 1.2 * unit), "closure", label));
        break;
      case "point-on-plane": {
        const plane = this.mesh(new PlaneGeometry(size / 2.5, size / 2.5), "closure", label);
        plane.material = new MeshStandardMaterial({ color: theme().closure, transparent: true, opacity: 0.18, side: DoubleSide, depthWrite: false });
        this.at(closure.a, plane);
        this.at(closure.b, this.mesh(ball(ORIGIN, 1.2 * unit), "closure", label));
        break;
      }
      case "spherical":
      case "point":
        this.at(closure.a, this.mesh(ball(ORIGIN, 1.4 * unit), "joint", label));
        ring();
        break;
      default:
        if (this.hidesSlider(closure.type, closure.a, closure.b)) break;
        this.drawGlyph(closure.type, closure.b, closure.a.body, closure.b.body, "joint", label);
        ring();
    }
  }

  /** A thin rod between two moving points. */
  private drawLink(a: Frame, b: Frame, label: string): void {
    const mesh = this.mesh(new CylinderGeometry(1, 1, 1, 16).rotateX(Math.PI / 2).translate(0, 0, 0.5), "closure", label);
    this.stretch(mesh, a, b, 0.4 * this.layout.unit);
  }

  private drawSpring(a: Frame, b: Frame, type: string, name: string): void {
    const radius = 1.5 * this.layout.unit;
    // Drawn at its first length, so that the wire is round then.
    const slenderness = Math.max(this.place(a).distanceTo(this.place(b)) / radius, 0.5);
    const path = coil(1, 8).map((point) => point.setZ(point.z * slenderness));
    const geometry =
      type === "bushing"
        ? new CylinderGeometry(1, 1, 1, 24).rotateX(Math.PI / 2).translate(0, 0, 0.5)
        : type === "spring"
        ? new TubeGeometry(new CatmullRomCurve3(path), 300, 0.13, 6).scale(1, 1, 1 / slenderness)
        : merge([
            new CylinderGeometry(0.25, 0.25, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5),
            new CylinderGeometry(0.8, 0.8, 0.4, 20).rotateX(Math.PI / 2).translate(0, 0, 0.4),
          ]);
    const mesh = this.mesh(geometry, "spring", name ? `${name} (${type})` : type);
    if (type === "bushing") {
      this.at(a, this.mesh(geometry.clone().translate(0, 0, -0.5).scale(radius, radius, 1.2 * radius), "spring", mesh.userData.label as string));
      return;
    }
    this.stretch(mesh, a, b, radius);
  }

  /** Keeps an object of unit length along z between two points. */
  private stretch(mesh: Mesh, a: Frame, b: Frame, width: number): void {
    const from = new Vector3();
    const along = new Vector3();
    const turn = new Quaternion();
    mesh.matrixAutoUpdate = false;
    this.root.add(mesh);
    this.followers.push({
      place: () => {
        this.place(a, from);
        this.place(b, along).sub(from);
        const length = Math.max(along.length(), 1e-12);
        turn.setFromUnitVectors(Z, along.divideScalar(length));
        mesh.matrix.compose(from, turn, new Vector3(width, width, length));
        mesh.matrixWorldNeedsUpdate = true;
      },
    });
  }

  // What stands on the ground -------------------------------------------------------------------------------------------------

  private drawSupports(): void {
    const { joints, closures } = this.run.scene;
    const pairs = [
      ...joints.filter((joint) => !joint.cut).map((joint) => ({ type: joint.type, a: joint.parent, b: joint.child, q: joint.q })),
      ...closures.map((closure) => ({ type: closure.type, a: closure.a, b: closure.b, q: [] as number[] })),
    ];
    for (const { type, a, b, q } of pairs) {
      if (["prismatic", "cylindrical"].includes(type)) {
        this.drawRail(a, b, q[type === "prismatic" ? 0 : 1] ?? undefined);
        continue;
      }
      const fixed = a.body === 0 ? a : b.body === 0 ? b : null;
      if (!fixed || ["free", "planar", "translational", "distance", "point-on-line", "point-on-plane"].includes(type)) continue;
      this.layout.normal ? this.drawFlatSupport(fixed) : this.drawPedestal(fixed);
    }
  }

  private drawFlatSupport(frame: Frame): void {
    const { unit, normal, up } = this.layout;
    const apex = new Vector3(...frame.p);
    const side = up.clone().cross(normal!).normalize();
    const down = (depth: number, aside: number) => apex.clone().addScaledVector(up, -depth * unit).addScaledVector(side, aside * unit);
    const lift = this.lift(0);
    const parts = [
      plate([apex, down(3.4, -1.7), down(3.4, 1.7)], normal!, 0.75 * unit, this.thickness, lift),
      plate([down(4.5, -3.6), down(4.5, 3.6)], normal!, 0.38 * unit, this.thickness, lift),
    ];
    for (let k = -3; k <= 3; k++) parts.push(plate([down(4.7, k), down(5.8, k - 0.8)], normal!, 0.13 * unit, this.thickness, lift));
    this.supports.add(this.mesh(merge(parts), "ground", "ground"));
  }

  private drawPedestal(frame: Frame): void {
    const { unit, up } = this.layout;
    const top = new Vector3(...frame.p);
    const foot = top.clone().addScaledVector(up, -3.2 * unit);
    const cone = new CylinderGeometry(0.9 * unit, 1.9 * unit, 3.2 * unit, 24);
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), up);
    cone.applyMatrix4(new Matrix4().compose(top.clone().add(foot).multiplyScalar(0.5), turn, new Vector3(1, 1, 1)));
    const disc = tube(foot, foot.clone().addScaledVector(up, -0.5 * unit), 2.6 * unit);
    this.supports.add(this.mesh(merge([cone, disc]), "ground", "ground"));
  }

  /** What a slider moves on: as long as its motion. */
  private drawRail(on: Frame, slider: Frame, column: number | undefined): void {
    const { unit, normal } = this.layout;
    if (on.body !== 0 && slider.body !== 0) return; // links carry their sliders themselves
    const fixed = on.body === 0 ? on : slider;
    let [low, high] = [0, 0];
    if (column !== undefined && this.run.rows > 0)
      for (const value of this.run.column(column)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    if (fixed === slider) [low, high] = [-high, -low];
    const margin = 5 * unit;
    const rail = tube(new Vector3(0, 0, low - margin), new Vector3(0, 0, high + margin), 0.6 * unit);
    const group = this.at(fixed, this.mesh(rail, "ground", "ground"));
    this.supports.add(group);
    if (normal) group.matrix.premultiply(new Matrix4().makeTranslation(normal.clone().multiplyScalar(this.lift(0))));
  }
}

function ends(points: Vector3[]): [Vector3, Vector3] {
  let best: [Vector3, Vector3] = [points[0], points[0]];
  for (const a of points) for (const b of points) if (a.distanceTo(b) > best[0].distanceTo(best[1])) best = [a, b];
  return best;
}

function distanceToSegment(point: Vector3, a: Vector3, b: Vector3): number {
  return point.distanceTo(onSegment(point, a, b));
}

function onSegment(point: Vector3, a: Vector3, b: Vector3): Vector3 {
  const along = b.clone().sub(a);
  const part = Math.min(1, Math.max(0, point.clone().sub(a).dot(along) / Math.max(along.lengthSq(), 1e-30)));
  return a.clone().addScaledVector(along, part);
}

/** The point of a solid next to a given one. */
function nearest(solid: Solid, point: Vector3): Vector3 {
  const from = new Vector3(...solid.from);
  switch (solid.shape) {
    case "box": {
      const half = new Vector3(...solid.size).multiplyScalar(0.5);
      return point.clone().clamp(from.clone().sub(half), from.clone().add(half));
    }
    case "sphere": {
      const out = point.clone().sub(from);
      return from.clone().add(out.clampLength(0, solid.radius));
    }
    case "cylinder": {
      const axis = onSegment(point, from, new Vector3(...solid.to));
      return axis.clone().add(point.clone().sub(axis).clampLength(0, solid.radius));
    }
    default:
      return from;
  }
}
