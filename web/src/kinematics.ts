// Where the bodies are: from the ground outward over the joints of the spanning tree, by the joint coordinates of a row.
import { Matrix4, Quaternion, Vector3 } from "three";
import type { Frame, Joint, Run } from "./data";

export function frameMatrix(frame: Frame): Matrix4 {
  const [w, x, y, z] = frame.q;
  return new Matrix4().compose(new Vector3(...frame.p), new Quaternion(x, y, z, w), new Vector3(1, 1, 1));
}

/** One body and the joint that carries it. */
interface Link {
  body: number;
  carrier: number; // the body it hangs on
  joint: Joint;
  backwards: boolean; // the tree runs through the joint from its child to its parent
  before: Matrix4; // joint frame on the carrier
  after: Matrix4; // body seen from its own joint frame
}

const turn = new Quaternion();
const turn2 = new Quaternion();
const shift = new Vector3();
const one = new Vector3(1, 1, 1);
const X = new Vector3(1, 0, 0);
const Y = new Vector3(0, 1, 0);
const Z = new Vector3(0, 0, 1);

/** The pose of a joint's child frame in its parent frame. The axis is z (universal: axes x and y). */
function jointMatrix(joint: Joint, q: ArrayLike<number>, result: Matrix4): Matrix4 {
  turn.identity();
  shift.set(0, 0, 0);
  switch (joint.type) {
    case "revolute":
      turn.setFromAxisAngle(Z, q[0]);
      break;
    case "prismatic":
      shift.z = q[0];
      break;
    case "screw":
      turn.setFromAxisAngle(Z, q[0]);
      shift.z = joint.pitch * q[0];
      break;
    case "cylindrical":
      turn.setFromAxisAngle(Z, q[0]);
      shift.z = q[1];
      break;
    case "universal":
      turn.setFromAxisAngle(X, q[0]).multiply(turn2.setFromAxisAngle(Y, q[1]));
      break;
    case "spherical":
      turn.set(q[1], q[2], q[3], q[0]).normalize();
      break;
    case "planar":
      shift.set(q[0], q[1], 0);
      turn.setFromAxisAngle(Z, q[2]);
      break;
    case "translational":
      shift.set(q[0], q[1], q[2]);
      break;
    case "free":
      shift.set(q[0], q[1], q[2]);
      turn.set(q[4], q[5], q[6], q[3]).normalize();
      break;
  }
  return result.compose(shift, turn, one);
}

export class Kinematics {
  readonly poses: Matrix4[];
  private readonly links: Link[] = [];
  private readonly q = new Float64Array(7);
  private readonly motion = new Matrix4();

  constructor(private readonly run: Run) {
    const { bodies, joints } = run.scene;
    this.poses = bodies.map(() => new Matrix4());
    const reached = bodies.map((_, index) => index === 0);
    const tree = joints.filter((joint) => !joint.cut);
    for (let grown = true; grown; ) {
      grown = false;
      for (const joint of tree) {
        const forwards = reached[joint.parent.body] && !reached[joint.child.body];
        const backwards = reached[joint.child.body] && !reached[joint.parent.body];
        if (!forwards && !backwards) continue;
        const [near, far] = forwards ? [joint.parent, joint.child] : [joint.child, joint.parent];
        reached[far.body] = true;
        grown = true;
        this.links.push({
          body: far.body,
          carrier: near.body,
          joint,
          backwards,
          before: frameMatrix(near),
          after: frameMatrix(far).invert(),
        });
      }
    }
  }

  /** Fills the poses for a moment between two rows. */
  update(row: number, part = 0): void {
    if (this.run.rows === 0) return;
    for (const link of this.links) {
      this.coordinates(link.joint, row, part);
      jointMatrix(link.joint, this.q, this.motion);
      if (link.backwards) this.motion.invert();
      this.poses[link.body].multiplyMatrices(this.poses[link.carrier], link.before).multiply(this.motion).multiply(link.after);
    }
  }

  private coordinates(joint: Joint, row: number, part: number): void {
    const next = Math.min(row + 1, this.run.rows - 1);
    const unit = joint.type === "spherical" ? 0 : joint.type === "free" ? 3 : -1;
    let sign = 1; // q and -q are the same rotation: go the short way
    if (unit >= 0 && part > 0) {
      let dot = 0;
      for (let k = unit; k < unit + 4; k++) dot += this.run.column(joint.q[k]!)[row] * this.run.column(joint.q[k]!)[next];
      if (dot < 0) sign = -1;
    }
    joint.q.forEach((index, k) => {
      const column = this.run.column(index!); // see Run.isDrawable
      const target = unit >= 0 && k >= unit ? sign * column[next] : column[next];
      this.q[k] = part === 0 ? column[row] : column[row] + part * (target - column[row]);
    });
  }
}
