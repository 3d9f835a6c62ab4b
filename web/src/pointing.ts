// What is pointed at in the view: names at the pointer, and the body and point that are clicked.
import { type Object3D, Raycaster, Vector2, Vector3 } from "three";
import type { Triple } from "./data";
import type { BodyPoint } from "./derived";
import { element } from "./dom";
import { bodyPoints } from "./layout";
import type { Mechanism } from "./mechanism";
import type { View } from "./view";

/** What was clicked: a body of a run, and the point of it. */
export interface Pick {
  mechanism: Mechanism;
  body: number;
  point: BodyPoint;
}

export class Pointing {
  private readonly tooltip = element("div", { class: "tooltip", role: "status", hidden: true });
  private readonly raycaster = new Raycaster();
  private pointer: Vector2 | null = null;

  constructor(
    private readonly view: View,
    host: HTMLElement,
    private readonly onPick: (pick: Pick | null) => void,
  ) {
    host.append(this.tooltip);
    view.canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    view.canvas.addEventListener("pointerleave", () => this.hideTooltip());
    this.listenForClicks();
  }

  private onPointer(event: PointerEvent): void {
    if (event.buttons !== 0) return this.hideTooltip();
    const first = this.pointer === null;
    this.pointer = this.placeOf(event);
    if (first) requestAnimationFrame(() => this.hover());
  }

  private placeOf(event: MouseEvent): Vector2 {
    const bounds = this.view.canvas.getBoundingClientRect();
    return new Vector2(event.clientX - bounds.left, event.clientY - bounds.top);
  }

  /** The first thing that is seen at a place of the picture. */
  private hit({ x, y }: Vector2, wanted: (object: Object3D, mechanisms: Mechanism[]) => boolean = () => true): { mechanism: Mechanism; object: Object3D; point: Vector3 } | null {
    const tile = this.view.tiles().find(({ left, top, width, height }) => x >= left && x < left + width && y >= top && y < top + height);
    if (!tile) return null;
    const place = new Vector2(((x - tile.left) / tile.width) * 2 - 1, 1 - ((y - tile.top) / tile.height) * 2);
    this.raycaster.setFromCamera(place, this.view.camera);
    const roots = tile.mechanisms.map((mechanism) => mechanism.root);
    const hit = this.raycaster.intersectObjects(roots).find(({ object }) => isShown(object, roots) && object.userData.label !== undefined && wanted(object, tile.mechanisms));
    if (!hit) return null;
    return { mechanism: tile.mechanisms.find(({ root }) => isInside(hit.object, root))!, object: hit.object, point: hit.point };
  }

  private hover(): void {
    if (!this.pointer) return;
    const at = this.pointer;
    this.pointer = null;
    const hit = this.hit(at);
    if (!hit) return this.hideTooltip();
    const label = hit.object.userData.label as string;
    this.tooltip.textContent = this.view.runs.length > 1 ? `${label} · ${hit.mechanism.run.label}` : label;
    this.tooltip.style.transform = `translate(${Math.round(at.x + 14)}px, ${Math.round(at.y + 14)}px)`;
    this.tooltip.hidden = false;
  }

  private hideTooltip(): void {
    this.pointer = null;
    this.tooltip.hidden = true;
  }

  private listenForClicks(): void {
    let from = new Vector2(NaN, NaN);
    this.view.canvas.addEventListener("pointerdown", (event) => (from = this.placeOf(event)));
    this.view.canvas.addEventListener("click", (event) => {
      const at = this.placeOf(event);
      if (event.button !== 0 || !(at.distanceTo(from) < 5)) return;
      this.onPick(this.pick(at));
    });
  }

  /** The body at a place, and its point there; if a joint, sensor or end is near, that one. */
  private pick(at: Vector2): Pick | null {
    const bodyOf = (part: Object3D, { bodies }: Mechanism) => {
      for (let object: Object3D | null = part; object; object = object.parent) if (bodies.includes(object as never)) return bodies.indexOf(object as never);
      return -1;
    };
    const hit = this.hit(at, (object, mechanisms) => mechanisms.some((mechanism) => bodyOf(object, mechanism) >= 0)); // not arrows or springs
    if (!hit) return null;
    const { mechanism, point } = hit;
    const body = bodyOf(hit.object, mechanism);
    const local = point.clone().applyMatrix4(mechanism.kinematics.poses[body].clone().invert());
    const near = bodyPoints(mechanism.run)[body].find((candidate) => {
      const offset = candidate.clone().sub(local);
      const { normal } = this.view.layout;
      if (normal) {
        const own = normal.clone().transformDirection(mechanism.kinematics.poses[body].clone().invert());
        offset.addScaledVector(own, -offset.dot(own)); // links are drawn in layers, their points are not
      }
      return offset.length() < 1.7 * this.view.layout.unit;
    });
    const p = (near ?? this.flattened(local, mechanism, body)).toArray() as Triple;
    return { mechanism, body, point: { body: mechanism.run.scene.bodies[body].name, p } };
  }

  /** Of a flat mechanism: the point in the plane of its joints, from which the layers are lifted. */
  private flattened(local: Vector3, mechanism: Mechanism, body: number): Vector3 {
    const { normal } = this.view.layout;
    const [known] = bodyPoints(mechanism.run)[body];
    if (!normal || !known) return local;
    const own = normal.clone().transformDirection(mechanism.kinematics.poses[body].clone().invert());
    return local.addScaledVector(own, known.clone().sub(local).dot(own));
  }
}

/** Whether neither it nor what it is part of is hidden, below the roots: those of runs are shown in turn. */
function isShown(object: Object3D, roots: Object3D[]): boolean {
  for (let at: Object3D | null = object; at && !roots.includes(at); at = at.parent) if (!at.visible) return false;
  return true;
}

function isInside(object: Object3D, root: Object3D): boolean {
  for (let at: Object3D | null = object; at; at = at.parent) if (at === root) return true;
  return false;
}
