// How large the mechanism is, whether it moves in a plane, and what is up: decided once, from the first run.
import { Box3, Matrix3, Matrix4, Vector3 } from "three";
import type { Frame, Joint, Run, Visual } from "./data";
import { frameMatrix, Kinematics } from "./kinematics";

export interface Layout {
  bounds: Box3; // of everything, over the whole motion
  size: number; // its diagonal
  unit: number; // half the width of a link as drawn
  normal: Vector3 | null; // of the plane, if all motion is in one
  up: Vector3;
}

/** The points of each body that matter for drawing: joints, closures, sensors, ends of solids. */
export function bodyPoints(run: Run): Vector3[][] {
  const { scene } = run;
  const points: Vector3[][] = scene.bodies.map(() => []);
  const add = (frame: Frame) => {
    const point = new Vector3(...frame.p);
    if (!points[frame.body].some((known) => known.distanceTo(point) < 1e-9)) points[frame.body].push(point);
  };
  // Where coordinates are counted from need not be on the body: such frames count only for bodies that have no shape.
  const slides = (type: string) => ["prismatic", "cylindrical", "screw", "planar", "translational"].includes(type);
  for (const joint of scene.joints) {
    for (const frame of [joint.parent, joint.child]) {
      if (joint.type === "free" && frame === joint.parent) continue;
      if (slides(joint.type) && scene.bodies[frame.body].solid) continue;
      add(frame);
    }
  }
  for (const closure of scene.closures) {
    add(closure.a);
    add(closure.b);
  }
  for (const spring of scene.springs) {
    add(spring.a);
    add(spring.b);
  }
  for (const sensor of scene.sensors) add(sensor.at);
  return points;
}

/** Points whose motion spans the picture. */
function outline(run: Run): Vector3[][] {
  const points = bodyPoints(run).map((own) => own.map((point) => point.clone()));
  run.scene.bodies.forEach((body, index) => {
    const solid = body.solid;
    if (body.com) points[index].push(new Vector3(...body.com));
    if (!solid) return;
    const from = new Vector3(...solid.from);
    if (solid.shape === "rod") points[index].push(from, new Vector3(...solid.to));
    if (solid.shape === "point") points[index].push(from);
    const reach = solid.shape === "box" ? new Vector3(...solid.size).multiplyScalar(0.5) : new Vector3().setScalar(solid.radius);
    if (solid.shape === "box" || solid.shape === "sphere") points[index].push(from.clone().sub(reach), from.clone().add(reach));
    if (solid.shape === "cylinder") points[index].push(...cylinderCorners(from, new Vector3(...solid.to), solid.radius));
  });
  for (const visual of run.scene.visuals ?? [])
    for (const corner of visualCorners(run, visual)) points[visual.at.body].push(corner.applyMatrix4(frameMatrix(visual.at)));
  return points;
}

function cylinderCorners(from: Vector3, to: Vector3, radius: number): Vector3[] {
  const axis = to.clone().sub(from).normalize();
  const side = new Vector3(Math.abs(axis.x) < 0.7 ? 1 : 0, Math.abs(axis.x) < 0.7 ? 0 : 1, 0).cross(axis).normalize();
  const other = axis.clone().cross(side);
  return [from, to].flatMap((end) =>
    [side, other].flatMap((way) => [-radius, radius].map((reach) => end.clone().addScaledVector(way, reach))),
  );
}

/** Two corners of a box around a shape of a robot file, in its frame. */
function visualCorners(run: Run, { shape, size, radius, length, mesh }: Visual): Vector3[] {
  if (shape === "mesh") {
    const { low, step } = run.scene.meshes![mesh!];
    const scale = new Vector3(...size);
    return [0, 65535].map((steps) => new Vector3(...step).multiplyScalar(steps).add(new Vector3(...low)).multiply(scale));
  }
  const half = Math.max(radius, length / 2, Math.max(...size) / (shape === "box" ? 2 : 1));
  return [-half, half].map((side) => new Vector3().setScalar(side));
}

function sampleRows(run: Run, most: number): number[] {
  const count = Math.min(run.rows, most);
  return Array.from({ length: count }, (_, i) => (count < 2 ? 0 : Math.round((i * (run.rows - 1)) / (count - 1))));
}

/** Whether a joint by its kind moves in a plane only: all that one row alone can tell. */
function staysInPlane(joint: Joint, poses: Matrix4[], normal: Vector3): boolean {
  const world = poses[joint.parent.body].clone().multiply(frameMatrix(joint.parent));
  const along = Math.abs(new Vector3().setFromMatrixColumn(world, 2).normalize().dot(normal));
  if (joint.type === "revolute" || joint.type === "planar") return along > 1 - 1e-6;
  return joint.type === "weld" || (joint.type === "prismatic" && along < 1e-3);
}

/** The unit vector that all bodies turn about and none moves along, if there is one. */
function planeNormal(run: Run, poses: Matrix4[][], size: number): Vector3 | null {
  const candidates: Vector3[] = [];
  for (const joint of run.scene.joints)
    if (["revolute", "planar"].includes(joint.type)) {
      const world = poses[0][joint.parent.body].clone().multiply(frameMatrix(joint.parent));
      candidates.push(new Vector3().setFromMatrixColumn(world, 2).normalize());
      break;
    }
  if (candidates.length === 0) return null;
  const rotation = new Matrix3();
  const keeps = (normal: Vector3) =>
    (poses.length > 1 || run.scene.joints.every((joint) => joint.cut || staysInPlane(joint, poses[0], normal))) &&
    run.scene.bodies.every((_, body) => {
      const first = poses[0][body];
      const own = normal.clone().applyMatrix3(rotation.setFromMatrix4(first).transpose());
      const place = new Vector3().setFromMatrixPosition(first).dot(normal);
      return poses.every((moment) => {
        const now = own.clone().applyMatrix3(rotation.setFromMatrix4(moment[body]));
        const moved = new Vector3().setFromMatrixPosition(moment[body]).dot(normal) - place;
        return now.distanceTo(normal) < 1e-3 && Math.abs(moved) < 1e-4 * size;
      });
    });
  const found = candidates.find(keeps);
  if (!found) return null;
  // Seen from the front: the side on which the larger component is positive; y is looked at from below.
  const largest = [found.x, -found.y, found.z].reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
  return largest < 0 ? found.negate() : found;
}

/** Is the mechanism itself flat, with all its joints in one plane? Otherwise it is better seen in space. */
function isFlat(points: Vector3[][], poses: Matrix4[], normal: Vector3, size: number): boolean {
  const heights = points.flatMap((own, body) => own.map((point) => point.clone().applyMatrix4(poses[body]).dot(normal)));
  return Math.max(...heights) - Math.min(...heights) < 0.25 * size;
}

export function findLayout(run: Run): Layout {
  const kinematics = new Kinematics(run);
  const points = outline(run);
  const bounds = new Box3();
  const poses: Matrix4[][] = [];
  for (const row of sampleRows(run, 80)) {
    kinematics.update(row);
    poses.push(kinematics.poses.map((pose) => pose.clone()));
    points.forEach((own, body) => {
      for (const point of own) {
        const world = point.clone().applyMatrix4(kinematics.poses[body]);
        if (Number.isFinite(world.lengthSq())) bounds.expandByPoint(world);
      }
    });
  }
  if (poses.length === 0) poses.push(kinematics.poses);
  if (bounds.isEmpty()) bounds.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  const size = Math.max(bounds.getSize(new Vector3()).length(), 1e-9);

  const spans = points
    .slice(1)
    .map((own) => new Box3().setFromPoints(own).getSize(new Vector3()).length())
    .filter((span) => span > 1e-9)
    .sort((a, b) => a - b);
  const typical = spans.length > 0 ? spans[spans.length >> 1] : size;
  const unit = Math.min(0.0135 * size, 0.1 * typical);

  let normal = planeNormal(run, poses, size);
  if (normal && !isFlat(bodyPoints(run), poses[0], normal, size)) normal = null;
  const gravity = new Vector3(...run.scene.settings.gravity);
  const against = gravity.clone().negate().normalize();
  const fallback = normal ? new Vector3(0, Math.abs(normal.y) < 0.9 ? 1 : 0, Math.abs(normal.y) < 0.9 ? 0 : 1) : new Vector3(0, 0, 1);
  const inPlane = !normal || Math.abs(against.dot(normal)) < 0.5;
  const up = gravity.length() > 0 && inPlane ? against : fallback;
  return { bounds, size, unit, normal, up };
}
