// What is around a mechanism: light, floor, grid, and the directions of the axes in a corner.
import {
  type Box3,
  BufferGeometry,
  Color,
  type DirectionalLight,
  Float32BufferAttribute,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  type PerspectiveCamera,
  PlaneGeometry,
  type Scene,
  ShadowMaterial,
  Vector3,
} from "three";
import { theme } from "./colors";
import { roundDown } from "./dom";
import type { Layout } from "./layout";
import { planeFrame } from "./shapes";

export function corners(box: Box3): Vector3[] {
  return Array.from({ length: 8 }, (_, k) => new Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z));
}

/** How far along the normal (flat mechanisms) or upwards the grid lies. */
function floorLevel({ bounds, unit, normal, up }: Layout): number {
  const axis = normal ?? up;
  const lowest = Math.min(...corners(bounds).map((corner) => corner.dot(axis)));
  return lowest - (normal ? 4.5 : 3.7) * unit;
}

/** Light that throws shadows, and what they fall on, which is returned. */
export function addSunAndFloor(scene: Scene, sun: DirectionalLight, layout: Layout): Mesh {
  const { bounds, size, normal, up } = layout;
  const axis = normal ?? up;
  const center = bounds.getCenter(new Vector3());
  const aside = axis.clone().cross(Math.abs(axis.x) < 0.8 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0)).normalize();
  const across = axis.clone().cross(aside);
  const direction = axis.clone().multiplyScalar(1.6).addScaledVector(normal ? up : aside, 0.6).addScaledVector(normal ? up.clone().cross(axis) : across, 0.5);
  sun.position.copy(center).addScaledVector(direction, size);
  sun.target.position.copy(center);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.radius = 5;
  sun.shadow.bias = -0.0005;
  Object.assign(sun.shadow.camera, { left: -size, right: size, top: size, bottom: -size, near: 0.01 * size, far: 6 * size });
  sun.shadow.camera.updateProjectionMatrix();
  const floor = new Mesh(new PlaneGeometry(8 * size, 8 * size), new ShadowMaterial({ opacity: 0.16 }));
  floor.receiveShadow = true;
  planeFrame(axis, center.addScaledVector(axis, floorLevel(layout) - center.dot(axis))).decompose(floor.position, floor.quaternion, floor.scale);
  scene.add(sun, sun.target, floor);
  return floor;
}

/** The edge of a square of the grid, m. */
export const gridStep = ({ size }: Layout): number => roundDown(size / 8);

/** Behind a flat mechanism, under any other. */
export function makeGrid(layout: Layout): LineSegments {
  const { bounds, normal, up } = layout;
  const axis = normal ?? up;
  const step = gridStep(layout);
  const center = bounds.getCenter(new Vector3());
  const frame = planeFrame(axis, axis.clone().multiplyScalar(floorLevel(layout)));
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

const SVG = "http://www.w3.org/2000/svg";

export function makeTriad(): SVGSVGElement {
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

export function turnTriad(svg: SVGSVGElement, camera: PerspectiveCamera): void {
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
