// Arrows for what acts: applied forces and torques, and what joints and closures transmit. Lengths, and radii of the arcs of torques,
// are in proportion; the view has the scale. Reactions that rigid bodies do not determine are drawn hollow.
import { BufferGeometry, Color, ConeGeometry, CylinderGeometry, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshStandardMaterial, TorusGeometry, Vector3 } from "three";
import { theme } from "./colors";
import type { AppliedForce, Frame, Run } from "./data";
import { frameMatrix } from "./kinematics";
import type { Layout } from "./layout";
import type { Mechanism } from "./mechanism";

const Z = new Vector3(0, 0, 1);

export type ArrowSort = "applied" | "reaction";
export type ArrowUnit = "N" | "N m";

/** What is drawn: which sorts, and how large. */
export interface ArrowChoice {
  applied: boolean;
  reaction: boolean;
  torques: boolean;
  size: number; // factor
}

interface Arrow {
  sort: ArrowSort;
  unit: ArrowUnit;
  label: string;
  doubt: string; // "not unique": drawn hollow
  /** Where it is and what acts there at a row; false: nothing. */
  find(row: number, at: Vector3, vector: Vector3): boolean;
  parts: { group: Group; shaft: Group; head: Group } | null; // of a torque, shaft is the arc
}

const shaftShape = (sides: number, open: boolean) => new CylinderGeometry(1, 1, 1, sides, 1, open).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const headShape = (sides: number, open: boolean) => new ConeGeometry(1, 1, sides, 1, open).rotateX(Math.PI / 2).translate(0, 0, 0.5);

// Three quarters of a circle around z, with the head at its end.
const ARC = 1.5 * Math.PI;
const arcShape = (across: number, along: number) => new TorusGeometry(1, 0.055, across, along, ARC);
const arcHead = (sides: number) => new ConeGeometry(0.17, 0.42, sides).translate(0, 0.16, 0).translate(1, 0, 0).rotateZ(ARC);

/** The axes along which components of a joint's coordinates act: on the parent (false) or on the child. */
const AXES: Record<string, [number, boolean][]> = {
  revolute: [[2, false]],
  prismatic: [[2, false]],
  screw: [[2, false]],
  cylindrical: [[2, false], [2, false]],
  universal: [[0, false], [1, true]],
  planar: [[0, false], [1, false], [2, false]],
  translational: [[0, false], [1, false], [2, false]],
};

export class Arrows {
  readonly group = new Group();
  choice: ArrowChoice = { applied: false, reaction: false, torques: true, size: 1 };
  private arrows: Arrow[] | null = null;
  private strongest = new Map<ArrowUnit, number>();
  private readonly fills = new Map<string, MeshStandardMaterial>();
  private readonly edges = new Map<string, LineBasicMaterial>();
  private readonly shapes = { shaft: shaftShape(16, false), head: headShape(24, false), openShaft: new EdgesGeometry(shaftShape(6, true), 1), openHead: new EdgesGeometry(headShape(6, false), 1), arc: arcShape(10, 48), arcHead: arcHead(20), openArc: new EdgesGeometry(arcShape(4, 24), 1), openArcHead: new EdgesGeometry(arcHead(6), 1) };
  cut = false; // an arrow was too long, and is drawn shorter

  constructor(
    private readonly mechanism: Mechanism,
    private readonly layout: Layout,
  ) {
    this.group.visible = false;
  }

  /** The sorts of which there is something to draw. */
  get sorts(): Set<ArrowSort> {
    return new Set(this.all.map(({ sort }) => sort));
  }

  get hasTorques(): boolean {
    return this.all.some(({ unit }) => unit === "N m");
  }

  /** What hollow arrows are; empty: there are none. */
  get doubt(): string {
    return this.all.find(({ doubt }) => doubt)?.doubt ?? "";
  }

  /** Length of an arrow or radius of an arc for one unit, m per N or per N m. */
  scale(unit: ArrowUnit): number {
    return ((unit === "N" ? 0.25 : 0.09) * this.layout.size * this.choice.size) / (this.strongest.get(unit) ?? 1);
  }

  isShown(unit: ArrowUnit): boolean {
    return this.group.visible && this.all.some((arrow) => arrow.unit === unit && this.wants(arrow));
  }

  choose(choice: ArrowChoice): void {
    this.choice = { ...choice };
    this.group.visible = choice.applied || choice.reaction;
    this.place();
  }

  /** Rows or what is known of them have changed: everything is looked up anew. */
  renew(): void {
    this.arrows = null;
    this.group.clear();
    this.place();
  }

  recolor(): void {
    for (const [sort, material] of this.fills) {
      material.color = new Color(this.color(sort as ArrowSort));
      material.emissive = material.color.clone().multiplyScalar(0.35);
    }
    for (const [sort, material] of this.edges) material.color = new Color(this.color(sort as ArrowSort));
  }

  place(): void {
    if (!this.group.visible || this.mechanism.run.rows === 0) return;
    const { size, unit, normal } = this.layout;
    const row = Math.min(this.mechanism.row, this.mechanism.run.rows - 1);
    const [at, vector] = [new Vector3(), new Vector3()];
    this.cut = false;
    for (const arrow of this.all) {
      const wanted = this.wants(arrow) && arrow.find(row, at, vector);
      const strength = wanted ? vector.length() : 0;
      let length = strength * this.scale(arrow.unit);
      const drawn = Number.isFinite(length) && length > 0.15 * unit;
      if (arrow.parts) arrow.parts.group.visible = drawn;
      if (!drawn) continue;
      const most = (arrow.unit === "N" ? 1.2 : 0.5) * size;
      if (length > most) [length, this.cut] = [most, true];
      const { group, shaft, head } = (arrow.parts ??= this.make(arrow));
      group.visible = true;
      group.position.copy(at);
      if (normal) group.position.addScaledVector(normal, this.mechanism.height);
      group.quaternion.setFromUnitVectors(Z, vector.divideScalar(strength));
      if (arrow.unit === "N m") {
        group.scale.setScalar(length);
        continue;
      }
      const tip = Math.min(3.2 * unit, 0.5 * length);
      shaft.scale.set(0.32 * unit, 0.32 * unit, length - tip);
      head.scale.set(0.34 * tip, 0.34 * tip, tip);
      head.position.z = length - tip;
    }
  }

  private wants({ sort, unit }: Arrow): boolean {
    return this.choice[sort] && (unit === "N" || this.choice.torques);
  }

  private color(sort: ArrowSort): string {
    return sort === "applied" ? theme().applied : theme().force;
  }

  private make(arrow: Arrow): NonNullable<Arrow["parts"]> {
    const group = new Group();
    const part = (solid: BufferGeometry, open: BufferGeometry) => {
      const holder = new Group();
      const made = arrow.doubt ? new LineSegments(open, this.edgeMaterial(arrow.sort)) : new Mesh(solid, this.fillMaterial(arrow.sort));
      made.userData.label = arrow.label;
      holder.add(made);
      group.add(holder);
      return holder;
    };
    const { shapes } = this;
    const turns = arrow.unit === "N m"; // by the rule of the right hand
    const shaft = turns ? part(shapes.arc, shapes.openArc) : part(shapes.shaft, shapes.openShaft);
    const head = turns ? part(shapes.arcHead, shapes.openArcHead) : part(shapes.head, shapes.openHead);
    this.group.add(group);
    return { group, shaft, head };
  }

  private fillMaterial(sort: ArrowSort): MeshStandardMaterial {
    if (!this.fills.has(sort)) {
      this.fills.set(sort, new MeshStandardMaterial({ roughness: 0.5 }));
      this.recolor();
    }
    return this.fills.get(sort)!;
  }

  private edgeMaterial(sort: ArrowSort): LineBasicMaterial {
    if (!this.edges.has(sort)) {
      this.edges.set(sort, new LineBasicMaterial());
      this.recolor();
    }
    return this.edges.get(sort)!;
  }

  // What there is to draw -----------------------------------------------------------------------------------------------------

  private get all(): Arrow[] {
    if (this.arrows) return this.arrows;
    const { run } = this.mechanism;
    this.arrows = [...reactions(run, this.mechanism), ...(run.scene.forces ?? []).flatMap((force) => applied(run, this.mechanism, force))];
    // As long as wanted is what acts most at the usual moment; what 95 of 100 moments do not exceed is at most four times as long.
    const stride = Math.max(1, Math.floor(run.rows / 300));
    const [at, vector] = [new Vector3(), new Vector3()];
    for (const unit of ["N", "N m"] as const) {
      const own = this.arrows.filter((one) => one.unit === unit);
      const most: number[] = [];
      for (let row = 0; row < run.rows; row += stride) {
        const strongest = own.reduce((most, arrow) => (arrow.find(row, at, vector) ? Math.max(most, vector.length()) : most), 0);
        if (strongest > 0) most.push(strongest);
      }
      most.sort((a, b) => a - b);
      const share = (part: number) => most[Math.floor(part * (most.length - 1))] ?? 0;
      this.strongest.set(unit, Math.max(share(0.5), share(0.95) / 4) || 1);
    }
    return this.arrows;
  }
}

/** Three columns as a vector. */
function vectorOf(run: Run, columns: number[], row: number, vector: Vector3): boolean {
  vector.set(run.column(columns[0])[row], run.column(columns[1])[row], run.column(columns[2])[row]);
  return Number.isFinite(vector.lengthSq());
}

function threeColumns(run: Run, name: string, parts = ["x", "y", "z"]): number[] | null {
  const found = parts.map((part) => run.indexOfColumn(`${name}.${part}`));
  return found.every((index): index is number => index !== null) ? found : null;
}

function reactions(run: Run, mechanism: Mechanism): Arrow[] {
  const { joints, closures } = run.scene;
  const places: { name: string; at: Frame }[] = [
    ...joints.map((joint) => ({ name: joint.name, at: joint.child })),
    ...closures.filter((closure) => !closure.cut).map((closure) => ({ name: closure.name, at: closure.b })),
  ];
  return places.flatMap(({ name, at }) =>
    ([["force", "N"], ["torque", "N m"]] as const).flatMap(([prefix, unit]): Arrow[] => {
      const columns = threeColumns(run, `${prefix}.${name}`);
      if (!columns) return [];
      const doubt = columns.map((index) => run.doubt(run.columns[index])).find(Boolean) ?? "";
      return [
        {
          sort: "reaction",
          unit,
          doubt,
          label: `${prefix} in ${name}${doubt && ` (${doubt})`}`,
          find: (row, place, vector) => {
            mechanism.place(at, place);
            return vectorOf(run, columns, row, vector);
          },
          parts: null,
        },
      ];
    }),
  );
}

function applied(run: Run, mechanism: Mechanism, force: AppliedForce): Arrow[] {
  if (force.column === null) return [];
  const common = { sort: "applied" as const, doubt: "", parts: null };
  const first = force.column;
  if (force.at) {
    const at = force.at;
    return ([["f", "N"], ["t", "N m"]] as const).map(([letter, unit], k): Arrow => ({
      ...common,
      unit,
      label: `${force.name} (applied ${letter === "f" ? "force" : "torque"})`,
      find: (row, place, vector) => {
        mechanism.place(at, place);
        return vectorOf(run, [0, 1, 2].map((c) => first + 3 * k + c), row, vector);
      },
    }));
  }
  const { a, b } = force;
  if (a && b)
    return [[a, b], [b, a]].map(([here, there]): Arrow => ({
      ...common,
      unit: "N",
      label: `${force.name} (${force.type})`,
      find: (row, place, vector) => {
        mechanism.place(here, place);
        mechanism.place(there, vector).sub(place);
        const length = vector.length();
        if (!(length > 0)) return false;
        vector.multiplyScalar(run.column(first)[row] / length);
        return Number.isFinite(vector.lengthSq());
      },
    }));
  const joint = run.scene.joints[force.joint ?? -1];
  const axis = joint && AXES[joint.type]?.[force.component ?? 0];
  if (!axis) return [];
  const [direction, onChild] = axis;
  const frame = onChild ? joint.child : joint.parent;
  const local = frameMatrix(frame);
  const world = new Matrix4();
  return [
    {
      ...common,
      unit: run.unit(run.columns[first]) === "N" ? "N" : "N m",
      label: `${force.name} (applied to ${joint.name})`,
      find: (row, place, vector) => {
        mechanism.place(joint.child, place);
        vector.setFromMatrixColumn(world.multiplyMatrices(mechanism.kinematics.poses[frame.body], local), direction).multiplyScalar(run.column(first)[row]);
        return Number.isFinite(vector.lengthSq());
      },
    },
  ];
}
