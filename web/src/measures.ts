// Distances between two points that were clicked: a line and a number that follow the motion.
import { Color, Mesh, MeshBasicMaterial, type PerspectiveCamera, type Scene, SphereGeometry, Vector3 } from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { theme } from "./colors";
import { type BodyPoint, distanceColumn, frameOf } from "./derived";
import { element, icon, icons, short } from "./dom";
import type { Layout } from "./layout";
import type { Mechanism } from "./mechanism";
import type { Derived } from "./data";

interface Measure {
  a: BodyPoint;
  b: BodyPoint;
  line: Line2;
  ends: Mesh[];
  label: HTMLElement;
  text: HTMLElement;
  middle: Vector3;
}

export class Measures {
  readonly labels = element("div", { class: "measures" });
  private readonly all: Measure[] = [];
  private first: BodyPoint | null = null;
  private readonly mark: Mesh;
  onPlot: (column: Derived) => void = () => {};
  onChange: () => void = () => {};

  constructor(
    private readonly scene: Scene,
    public mechanism: Mechanism,
    private readonly layout: Layout,
  ) {
    this.mark = this.end();
    this.mark.visible = false;
  }

  /** A point was clicked; the second one makes a distance. Whether another is wanted. */
  take(point: BodyPoint): boolean {
    if (!this.first) {
      this.first = point;
      this.place();
      return true;
    }
    this.add(this.first, point);
    this.cancel();
    return false;
  }

  cancel(): void {
    this.first = null;
    this.mark.visible = false;
  }

  private end(): Mesh {
    const mesh = new Mesh(new SphereGeometry(0.55 * this.layout.unit, 16, 12), new MeshBasicMaterial({ color: theme().select, depthTest: false, transparent: true }));
    mesh.renderOrder = 10;
    this.scene.add(mesh);
    return mesh;
  }

  private add(a: BodyPoint, b: BodyPoint): void {
    const line = new Line2(new LineGeometry(), new LineMaterial({ color: new Color(theme().select).getHex(), linewidth: 2.2, depthTest: false, transparent: true }));
    line.renderOrder = 9;
    line.frustumCulled = false;
    this.scene.add(line);
    const text = element("output");
    const plot = element("button", { class: "small", title: "Plot this distance", "aria-label": "Plot this distance", onclick: () => this.onPlot(distanceColumn(a, b)) }, "plot");
    const remove = element("button", { class: "icon", title: "Remove this distance", "aria-label": "Remove this distance", onclick: () => this.remove(measure) }, icon(icons.close, false));
    const label = element("div", { class: "measure" }, text, plot, remove);
    const measure: Measure = { a, b, line, ends: [this.end(), this.end()], label, text, middle: new Vector3() };
    this.all.push(measure);
    this.labels.append(label);
    this.place();
  }

  private remove(measure: Measure): void {
    this.all.splice(this.all.indexOf(measure), 1);
    this.scene.remove(measure.line, ...measure.ends);
    measure.label.remove();
    this.onChange();
  }

  /** Puts everything where its bodies are. */
  place(): void {
    const { run } = this.mechanism;
    const world = (point: BodyPoint) => {
      const frame = frameOf(run, point);
      return frame ? this.mechanism.place(frame) : new Vector3();
    };
    if (this.first) {
      this.mark.position.copy(world(this.first));
      this.mark.visible = true;
    }
    for (const measure of this.all) {
      const [a, b] = [world(measure.a), world(measure.b)];
      measure.line.geometry.setPositions([...a.toArray(), ...b.toArray()]);
      measure.ends[0].position.copy(a);
      measure.ends[1].position.copy(b);
      measure.text.textContent = `${short(a.distanceTo(b), 4)}\u202fm`;
      measure.middle.copy(a).add(b).multiplyScalar(0.5);
    }
  }

  project(camera: PerspectiveCamera, width: number, height: number): void {
    for (const { middle, label } of this.all) {
      const point = middle.clone().project(camera);
      label.hidden = point.z > 1;
      label.style.transform = `translate(${(((point.x + 1) / 2) * width).toFixed(1)}px, ${(((1 - point.y) / 2) * height).toFixed(1)}px) translate(-50%, -130%)`;
    }
  }
}
