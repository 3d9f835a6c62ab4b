// What stands around the 3-D view: camera, traces, forces, bodies, distances, films.
import type { ArrowChoice } from "./arrows";
import { BodyCard } from "./body_card";
import { button, menu, searchList, toggle } from "./controls";
import type { Run } from "./data";
import { download, element, fileName, short } from "./dom";
import { DOUBTS } from "./pane";
import { stillPicture } from "./film";
import { FilmDialog } from "./film_dialog";
import type { Player } from "./player";
import type { Plots } from "./plots";
import type { TracePoint } from "./traces";
import type { Side, View } from "./view";
import type { ShapesShown } from "./visuals";

export class ViewControls {
  private readonly card: BodyCard;
  private readonly arrows: ArrowChoice = { applied: false, reaction: false, torques: true, size: 1 };

  constructor(
    host: HTMLElement,
    private readonly view: View,
    private readonly runs: Run[],
    private readonly player: Player,
    plots: Plots,
    openPlots: () => void,
  ) {
    this.card = new BodyCard(view, runs, plots, openPlots);
    view.onPick = (pick) => this.card.show(pick);
    view.measures.onPlot = (column) => {
      plots.derive([column]);
      openPlots();
      plots.show("Distance", [column.name]);
    };
    for (const point of view.traces.points.filter(({ key }) => key.startsWith("sensor:")).slice(0, 2)) view.setTrace(point, true);
    host.prepend(element("div", { class: "toolbars" }, this.camera(), this.extras()));
    host.append(this.card.root, element("p", { id: "view-help", class: "for-readers" }, "Arrow keys orbit, with Shift they pan, plus and minus zoom. Click a body for its plots."));
    player.onTime((t) => view.show(t));
  }

  private camera(): HTMLElement {
    const { view } = this;
    const sides: [string, Side, string][] = [
      ["⌂", "home", "First view (0)"],
      ["front", "front", "Front view (1)"],
      ["top", "top", "Top view (2)"],
      ["side", "side", "Side view (3)"],
    ];
    return element(
      "div",
      { class: "toolbar left", role: "group", "aria-label": "Camera" },
      ...sides.map(([text, side, title]) => button(text, title, () => view.look(side))),
      button("fit", "Fit (F)", () => view.fit()),
      button("+", "Zoom in", () => view.zoom(1 / 1.2)),
      button("−", "Zoom out", () => view.zoom(1.2)),
    );
  }

  private extras(): HTMLElement {
    const { view } = this;
    const tools = element("div", { class: "toolbar right", role: "group", "aria-label": "What is shown" }, this.traceMenu(), this.forceMenu(), this.bodyMenu());
    tools.append(
      toggle("measure", "Measure distances: click two points (M)", false, (pressed) => (view.measure = pressed)),
      toggle("names", "Names of bodies (N)", false, (pressed) => (view.labels = pressed)),
    );
    if (this.runs.length > 1) tools.append(toggle("side by side", "Runs side by side (S)", false, (pressed) => (view.sideBySide = pressed)));
    const film = new FilmDialog(view, this.runs, this.player);
    document.body.append(film.root);
    tools.append(
      button("PNG", "Save the view as a picture", () => void this.savePicture()),
      button("film", "Save a film (GIF, video)", () => film.open()),
    );
    return tools;
  }

  private async savePicture(): Promise<void> {
    const blob = await stillPicture(this.view, this.player.t);
    if (blob) download(`${fileName(this.runs[0].scene.name)}-${short(this.player.t, 4)}s.png`, blob);
  }

  private traceMenu(): HTMLElement {
    const { view } = this;
    const list = searchList<TracePoint>(
      "Find a point",
      () => view.traces.points,
      (point) => point.label,
      (point) => {
        const box = element("input", { type: "checkbox", checked: view.traces.drawn.includes(point.key), onchange: () => view.setTrace(point, box.checked) });
        return element("label", {}, box, point.label);
      },
    );
    const hint = element("p", { class: "hint" }, "Any other point: click it in the picture.");
    return menu("traces", "Paths of points", element("div", {}, list.root, hint), list.fill);
  }

  private forceMenu(): HTMLElement {
    const { view, arrows } = this;
    const show = () => (view.arrows = arrows);
    const panel = element("div", { class: "choices" });
    const fill = () => {
      const { sorts, hasTorques, doubt } = view.mechanisms[0].arrows;
      const box = (label: string, key: "applied" | "reaction" | "torques", there: boolean) => {
        const input = element("input", {
          type: "checkbox",
          checked: arrows[key] && there,
          disabled: !there,
          onchange: () => {
            arrows[key] = input.checked;
            show();
          },
        });
        return element("label", { class: there ? `sort ${key}` : "hint" }, input, label);
      };
      const size = element("input", {
        type: "range",
        min: -4,
        max: 6,
        step: 0.05,
        value: Math.log2(arrows.size),
        "aria-label": "Length of the arrows",
        oninput: () => {
          arrows.size = 2 ** Number(size.value);
          show();
        },
      });
      panel.replaceChildren(
        box("applied forces", "applied", sorts.has("applied")),
        box("reactions of joints", "reaction", sorts.has("reaction")),
        box("torques too (arcs)", "torques", hasTorques),
        element("label", {}, "length", size),
        element("p", { class: "hint" }, `Reactions act on the child, or body b.${doubt && ` Hollow arrows are ${doubt}. ${DOUBTS[doubt]}`}`),
      );
    };
    const made = menu("forces", "Forces and reactions (V)", panel, fill);
    made.addEventListener("allforces", () => {
      const on = !(arrows.applied || arrows.reaction);
      arrows.applied = arrows.reaction = on;
      show();
      if (made.open) fill();
    });
    return made;
  }

  private bodyMenu(): HTMLElement {
    const { view } = this;
    const { bodies } = this.runs[0].scene;
    const names = bodies.slice(1).map(({ name }, k) => ({ name, index: k + 1 }));
    const follow = element(
      "select",
      { "aria-label": "Camera follows", onchange: () => view.follow(Number(follow.value)) },
      element("option", { value: -1 }, "camera stands still"),
      ...names.map(({ name, index }) => element("option", { value: index }, `camera follows ${name}`)),
    );
    const list = searchList(
      "Find a body",
      () => names,
      ({ name }) => name,
      ({ name, index }) => this.bodyRow(name, index),
    );
    const opacity = element("input", {
      type: "range",
      min: 0.1,
      max: 1,
      step: 0.05,
      value: 1,
      "aria-label": "Opacity of all bodies",
      oninput: () => {
        for (const mechanism of view.mechanisms) for (const look of mechanism.looks.slice(1)) look.opacity = Number(opacity.value);
        view.repaint();
      },
    });
    const all = button("show all", "Show all bodies as they were", () => {
      for (const mechanism of view.mechanisms) for (const look of mechanism.looks) Object.assign(look, { color: null, opacity: 1, visible: true });
      opacity.value = "1";
      view.repaint();
      list.fill();
    });
    const panel = element("div", { class: "choices" }, follow, element("label", {}, "opacity", opacity));
    if (view.hasShapes) panel.append(this.shapeSelect());
    panel.append(list.root, all);
    return menu("bodies", "Bodies: colours, transparency, camera", panel, () => {
      follow.value = String(view.following);
      list.fill();
    });
  }

  /** Eye and colour of a body. */
  private bodyRow(name: string, index: number): HTMLElement {
    const [{ looks }] = this.view.mechanisms;
    const eye = element("input", { type: "checkbox", checked: looks[index].visible, "aria-label": `Show ${name}`, onchange: () => this.card.setLook(name, { visible: eye.checked }) });
    const color = element("input", {
      type: "color",
      value: looks[index].color ?? this.view.mechanisms[0].ownColor(index),
      "aria-label": `Colour of ${name}`,
      oninput: () => this.card.setLook(name, { color: color.value }),
    });
    return element("div", { class: "body-row" }, element("label", {}, eye, name), color);
  }

  private shapeSelect(): HTMLElement {
    const states: [ShapesShown, string][] = [
      ["shown", "shapes shown"],
      ["transparent", "shapes transparent"],
      ["hidden", "shapes hidden"],
    ];
    const select: HTMLSelectElement = element(
      "select",
      { "aria-label": "Shapes", onchange: () => (this.view.shapes = select.value as ShapesShown) },
      ...states.map(([value, text]) => element("option", { value }, text)),
    );
    return select;
  }
}
