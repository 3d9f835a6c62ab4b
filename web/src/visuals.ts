// Shapes that are only drawn: primitives and meshes of robot files, in their colours.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Mesh, MeshStandardMaterial, SRGBColorSpace, Vector3 } from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { bytesOf, type EmbeddedMesh, type Visual } from "./data";
import type { Mechanism } from "./mechanism";
import { ball, box, rod, tube } from "./shapes";

export type ShapesShown = "shown" | "transparent" | "hidden";

const ORIGIN = new Vector3();

function meshGeometry(mesh: EmbeddedMesh): BufferGeometry {
  const whole = new Uint16Array(bytesOf(mesh.positions).buffer);
  const positions = new Float32Array(whole.length);
  for (let i = 0; i < whole.length; i++) positions[i] = mesh.low[i % 3] + mesh.step[i % 3] * whole[i];
  const bytes = bytesOf(mesh.indices).buffer;
  const indices = whole.length / 3 > 65536 ? new Uint32Array(bytes) : new Uint16Array(bytes);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setIndex(new BufferAttribute(indices, 1));
  // Smooth where faces meet at less than 30°. For very many triangles that takes too long: flat faces then.
  if (indices.length < 150_000) return toCreasedNormals(geometry, Math.PI / 6);
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function primitive(visual: Visual): BufferGeometry {
  const half = new Vector3(0, 0, visual.length / 2);
  switch (visual.shape) {
    case "box":
      return box(ORIGIN, new Vector3(...visual.size));
    case "cylinder":
      return tube(half.clone().negate(), half, visual.radius, 48);
    case "capsule":
      return rod(half.clone().negate(), half, visual.radius);
    case "ellipsoid":
      return ball(ORIGIN, 1).scale(...visual.size);
    default:
      return ball(ORIGIN, visual.radius);
  }
}

interface Part {
  body: number;
  mesh: Mesh;
  material: MeshStandardMaterial;
  color: Color;
  opacity: number;
}

export class Shapes {
  private readonly parts: Part[] = [];
  private readonly bodies = new Set<number>();
  private readonly geometries = new Map<number, BufferGeometry>(); // of files, by their number

  constructor(private readonly mechanism: Mechanism) {
    for (const visual of mechanism.run.scene.visuals ?? []) this.draw(visual);
  }

  get count(): number {
    return this.parts.length;
  }

  has(body: number): boolean {
    return this.bodies.has(body);
  }

  private geometry(visual: Visual): BufferGeometry | null {
    if (visual.shape !== "mesh") return primitive(visual);
    const file = this.mechanism.run.scene.meshes?.[visual.mesh ?? -1];
    if (!file) return null;
    let made = this.geometries.get(visual.mesh!);
    if (!made) this.geometries.set(visual.mesh!, (made = meshGeometry(file)));
    return made;
  }

  private draw(visual: Visual): void {
    const geometry = this.geometry(visual);
    if (!geometry) return;
    const { scene } = this.mechanism.run;
    const body = visual.at.body;
    const [r, g, b, a] = visual.color;
    const isMesh = visual.shape === "mesh";
    const material = new MeshStandardMaterial({ roughness: 0.55, metalness: 0.05, side: isMesh ? DoubleSide : undefined });
    const mesh = new Mesh(geometry, material);
    const file = isMesh ? ` (${scene.meshes![visual.mesh!].file})` : "";
    mesh.userData.label = `${scene.bodies[body].name}${file}`;
    mesh.castShadow = true;
    if (isMesh) mesh.scale.set(...visual.size);
    this.mechanism.at(visual.at, mesh);
    this.parts.push({ body, mesh, material, color: new Color().setRGB(r, g, b, SRGBColorSpace), opacity: a });
    this.bodies.add(body);
  }

  recolor(shown: ShapesShown): void {
    for (const part of this.parts) {
      const look = this.mechanism.looks[part.body];
      this.mechanism.paint(part.material, look.color ?? part.color, part.opacity * look.opacity * (shown === "transparent" ? 0.25 : 1), part.body);
      part.mesh.visible = look.visible && shown !== "hidden";
      part.mesh.castShadow = shown === "shown" && this.mechanism.isSolid;
    }
  }
}
