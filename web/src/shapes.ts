// Geometry of links, glyphs and arrows.
import {
  BoxGeometry,
  BufferGeometry,
  CylinderGeometry,
  ExtrudeGeometry,
  Matrix4,
  Quaternion,
  Shape,
  SphereGeometry,
  Vector2,
  Vector3,
} from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const Y = new Vector3(0, 1, 0);

/** A cylinder between two points. */
export function tube(from: Vector3, to: Vector3, radius: number, segments = 24): BufferGeometry {
  const along = to.clone().sub(from);
  const geometry = new CylinderGeometry(radius, radius, along.length(), segments);
  const turn = new Quaternion().setFromUnitVectors(Y, along.clone().normalize());
  return geometry.applyMatrix4(
    new Matrix4().compose(from.clone().add(to).multiplyScalar(0.5), turn, new Vector3(1, 1, 1)),
  );
}

export function ball(center: Vector3, radius: number): BufferGeometry {
  return new SphereGeometry(radius, 24, 16).translate(center.x, center.y, center.z);
}

/** A cylinder with round ends. */
export function rod(from: Vector3, to: Vector3, radius: number): BufferGeometry {
  if (from.distanceTo(to) < 1e-12) return ball(from, radius);
  return merge([tube(from, to, radius), ball(from, radius), ball(to, radius)]);
}

export function box(center: Vector3, size: Vector3): BufferGeometry {
  return new BoxGeometry(size.x, size.y, size.z).translate(center.x, center.y, center.z);
}

export function merge(parts: BufferGeometry[]): BufferGeometry {
  const plain = parts.map((part) => (part.index ? part.toNonIndexed() : part));
  return plain.length === 1 ? plain[0] : mergeGeometries(plain);
}

/** The convex hull of points of the plane, counter-clockwise (Andrew's monotone chain). */
function hull(points: Vector2[]): Vector2[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const half = (input: Vector2[]) => {
    const chain: Vector2[] = [];
    for (const point of input) {
      while (chain.length > 1) {
        const [a, b] = chain.slice(-2);
        if ((b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x) > 0) break;
        chain.pop();
      }
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** A frame whose z is the normal. */
export function planeFrame(normal: Vector3, origin: Vector3): Matrix4 {
  const z = normal.clone().normalize();
  const x = new Vector3(Math.abs(z.x) < 0.8 ? 1 : 0, Math.abs(z.x) < 0.8 ? 0 : 1, 0);
  x.addScaledVector(z, -x.dot(z)).normalize();
  return new Matrix4().makeBasis(x, z.clone().cross(x), z).setPosition(origin);
}

/** A plate with round corners that covers all the points: a bar if they are two, a disc if one. */
export function plate(points: Vector3[], normal: Vector3, radius: number, thickness: number, offset = 0): BufferGeometry {
  const frame = planeFrame(normal, points[0]);
  const inverse = frame.clone().invert();
  const corners: Vector2[] = [];
  for (const point of points) {
    const flat = point.clone().applyMatrix4(inverse);
    for (let k = 0; k < 40; k++) {
      const angle = (k * Math.PI) / 20;
      corners.push(new Vector2(flat.x + radius * Math.cos(angle), flat.y + radius * Math.sin(angle)));
    }
  }
  const bevel = 0.16 * thickness;
  const geometry = new ExtrudeGeometry(new Shape(hull(corners)), {
    depth: thickness - 2 * bevel,
    bevelThickness: bevel,
    bevelSize: bevel,
    bevelOffset: -bevel,
    bevelSegments: 2,
    curveSegments: 1,
  });
  return geometry.translate(0, 0, offset - thickness / 2 + bevel).applyMatrix4(frame);
}

/** The normal of points that lie in one plane but not on one line. */
export function commonNormal(points: Vector3[]): Vector3 | null {
  const reach = Math.max(...points.map((point) => point.distanceTo(points[0])));
  let normal: Vector3 | null = null;
  for (const a of points)
    for (const b of points) {
      const cross = a.clone().sub(points[0]).cross(b.clone().sub(points[0]));
      if (!normal || cross.length() > normal.length()) normal = cross;
    }
  if (!normal || normal.length() < 1e-4 * reach * reach) return null;
  normal.normalize();
  return points.every((point) => Math.abs(point.clone().sub(points[0]).dot(normal!)) < 1e-3 * reach) ? normal : null;
}

/** Points of a coil from 0 to 1 along z. */
export function coil(radius: number, turns: number): Vector3[] {
  const points = [new Vector3(0, 0, 0), new Vector3(0, 0, 0.1)];
  const count = turns * 16;
  for (let k = 0; k <= count; k++) {
    const angle = (k / 16) * 2 * Math.PI;
    const swell = Math.min(1, k / 8, (count - k) / 8);
    points.push(new Vector3(swell * radius * Math.cos(angle), swell * radius * Math.sin(angle), 0.12 + (0.76 * k) / count));
  }
  return [...points, new Vector3(0, 0, 0.9), new Vector3(0, 0, 1)];
}
