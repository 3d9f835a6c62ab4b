// What can be done with a body that was clicked: plots, paths, looks, camera.
import { button } from "./controls";
import type { Run } from "./data";
import { pathColumns, pointName } from "./derived";
import { element, icon, icons, short } from "./dom";
import type { Look } from "./mechanism";
import type { Plots } from "./plots";
import type { Pick } from "./pointing";
import { pointOfBody } from "./traces";
import type { View } from "./view";

export class BodyCard {
  readonly root = element("section", { class: "body-card", "aria-label": "Body", hidden: true });

  constructor(
    private readonly view: View,
    private readonly runs: Run[],
    private readonly plots: Plots,
    private readonly openPlots: () => void,
  ) {}

  setLook(name: string, change: Partial<Look>): void {
    for (const { run, looks } of this.view.mechanisms) {
      const body = run.scene.bodies.findIndex((candidate) => candidate.name === name);
      if (body > 0) Object.assign(looks[body], change);
    }
    this.view.repaint();
  }

  show(pick: Pick | null): void {
    const ground = pick !== null && pick.body === 0;
    this.view.select(pick && !ground ? pick.point.body : null);
    this.root.hidden = pick === null || ground;
    if (!pick || ground) return;
    const { mechanism, body, point } = pick;
    const { name, mass } = mechanism.run.scene.bodies[body];
    const look = mechanism.looks[body];
    const trace = pointOfBody(point);
    const color = element("input", { type: "color", value: look.color ?? mechanism.ownColor(body), "aria-label": `Colour of ${name}`, oninput: () => this.setLook(name, { color: color.value }) });
    const opacity = element("input", { type: "range", min: 0.1, max: 1, step: 0.05, value: look.opacity, "aria-label": `Opacity of ${name}`, oninput: () => this.setLook(name, { opacity: Number(opacity.value) }) });
    const index = this.runs[0].scene.bodies.findIndex((candidate) => candidate.name === name);
    const follow = button("follow", "The camera follows this body, or stands still again", () => {
      const on = this.view.following !== index;
      this.view.follow(on ? index : -1);
      follow.setAttribute("aria-pressed", String(on));
    });
    follow.setAttribute("aria-pressed", String(this.view.following === index));
    const joints = this.jointColumns(mechanism.run, body);
    const loads = this.reactionColumns(mechanism.run, body);
    this.root.replaceChildren(
      element("div", { class: "card-head" }, element("strong", {}, name), element("span", { class: "hint" }, `${short(mass, 4)} kg`), button(icon(icons.close, false), "Close", () => this.show(null), { class: "icon" })),
      element("p", { class: "hint" }, `point ${pointName(point)} of the body, m`),
      element(
        "div",
        { class: "card-tools" },
        button("plot joint", "Plot the coordinates of its joints", () => this.plot(`Joints of ${name}`, joints), joints.length > 0 ? {} : { disabled: "" }),
        button("plot point", "Plot the place of this point", () => {
          const columns = pathColumns(point);
          this.plots.derive(columns);
          this.plot(`Point of ${name}`, columns.slice(0, 3).map((column) => column.name));
        }),
        button("plot speed", "Plot the speed of this point", () => {
          const columns = pathColumns(point);
          this.plots.derive(columns);
          this.plot(`Point of ${name}`, [columns[3].name]);
        }),
        button("plot reactions", "Plot the forces in its joints", () => this.plot(`Forces on ${name}`, loads), loads.length > 0 ? {} : { disabled: "" }),
        button("trace", "Draw the path of this point, or no longer", () => this.view.setTrace(trace, !this.view.traces.drawn.includes(trace.key))),
        follow,
        button("hide", "Hide this body; the menu 'bodies' shows it again", () => {
          this.setLook(name, { visible: false });
          this.show(null);
        }),
      ),
      element("label", {}, "colour", color),
      element("label", {}, "opacity", opacity),
    );
  }

  private plot(title: string, columns: string[]): void {
    this.openPlots();
    this.plots.show(title, columns);
  }

  /** Coordinates of the joints that carry it, or else of all that it has. */
  private jointColumns(run: Run, body: number): string[] {
    const { joints } = run.scene;
    const carrying = joints.filter((joint) => joint.child.body === body);
    const own = carrying.length > 0 ? carrying : joints.filter((joint) => joint.parent.body === body);
    return own.flatMap((joint) => joint.q.flatMap((column) => (column === null ? [] : [run.columns[column]]))).slice(0, 7);
  }

  private reactionColumns(run: Run, body: number): string[] {
    const { joints, closures } = run.scene;
    const names = [
      ...joints.filter((joint) => joint.child.body === body || joint.parent.body === body).map(({ name }) => name),
      ...closures.filter((closure) => !closure.cut && (closure.a.body === body || closure.b.body === body)).map(({ name }) => name),
    ];
    const all = names.flatMap((name) => ["x", "y", "z"].map((part) => `force.${name}.${part}`)).filter((name) => run.has(name));
    const moving = all.filter((name) => run.find(name)!.some((value) => Math.abs(value) > 1e-9));
    return (moving.length > 0 ? moving : all).slice(0, 6);
  }
}
