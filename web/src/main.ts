// The page: animation on one side; plots, summary and model on the other.
import { Quaternion, Vector3 } from "three";
import { runColors, toggleTheme } from "./colors";
import { readData, type Run } from "./data";
import { download, element, fileName, icon, icons, short } from "./dom";
import { Following } from "./following";
import { findLayout } from "./layout";
import { Player, speeds } from "./player";
import { Plots } from "./plots";
import { modelPanel, summaryPanel } from "./summary";
import { type Side, View } from "./view";

type Action = () => void;

function button(text: string | Node, title: string, action: Action, attributes: Record<string, string> = {}): HTMLButtonElement {
  return element("button", { title, "aria-label": title, onclick: action, ...attributes }, text);
}

/** A button that stays pressed. */
function toggle(text: string, title: string, pressed: boolean, action: (pressed: boolean) => void): HTMLButtonElement {
  const made = button(text, title, () => {
    const next = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(next));
    action(next);
  });
  made.setAttribute("aria-pressed", String(pressed));
  return made;
}

class Page {
  readonly player = new Player();
  readonly plots: Plots;
  view: View | null = null;
  private readonly master: Run; // the longest: its rows are the stops of the slider
  private readonly viewport = element("div", { class: "viewport" });
  private readonly notices = element("div", { class: "notices", role: "status" });
  private readonly slider: HTMLInputElement;
  private readonly clock = element("output", { class: "clock", "aria-label": "Time" });
  private readonly playButton: HTMLButtonElement;
  private readonly speedSelect: HTMLSelectElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly help: HTMLDialogElement;
  private readonly panels: { name: string; tab: HTMLButtonElement; panel: HTMLElement }[] = [];

  constructor(
    private readonly runs: Run[],
    following: boolean,
  ) {
    const [first] = runs;
    document.title = `${runs.length > 1 ? runs.map((run) => run.label).join(", ") : first.scene.name} · Linkwork`;
    this.master = runs.reduce((longest, run) => (run.end > longest.end ? run : longest), first);
    this.playButton = button("", "Play", () => this.player.toggle(), { class: "play" });
    this.speedSelect = element(
      "select",
      { "aria-label": "Speed", title: "Speed", onchange: () => this.player.setSpeed(Number(this.speedSelect.value)) },
      ...speeds.map((speed) => element("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    this.loopButton = toggle("loop", "Loop", true, (pressed) => this.player.setLoop(pressed));
    this.slider = element("input", {
      type: "range",
      min: 0,
      step: 1,
      value: 0,
      "aria-label": "Time",
      oninput: () => this.player.seek(this.master.time[Number(this.slider.value)]),
    });
    this.help = this.makeHelp();
    this.plots = new Plots(runs, this.player);
    document.body.append(this.header(), this.notices, this.body(), this.help);
    this.player.onState(() => this.showState());
    this.player.onTime((t) => this.showTime(t));
    document.addEventListener("keydown", (event) => this.onKey(event));
    for (const run of runs) this.sayThinned(run);
    if (first.rows > 0) this.openView();
    this.setRange();
    if (following) this.follow(first);
  }

  // Parts of the page ---------------------------------------------------------------------------------------------------------

  private header(): HTMLElement {
    const { scene, summary } = this.runs[0];
    const bodies = scene.bodies.length - 1;
    const facts = [
      `${bodies} ${bodies === 1 ? "body" : "bodies"}`,
      `${scene.joints.length} ${scene.joints.length === 1 ? "joint" : "joints"}`,
      summary ? `${summary.dof} ${summary.dof === 1 ? "degree" : "degrees"} of freedom` : "",
      summary ? `${summary.formulation} · ${summary.stabilization} · ${summary.integrator}` : "",
    ].filter(Boolean);
    const failed = summary && summary.status !== "done" && !summary.status.startsWith("ended") ? element("span", { class: "badge bad" }, "stopped early") : null;
    return element(
      "header",
      {},
      element("div", { class: "title" }, element("h1", {}, scene.name), failed, element("p", {}, facts.join("  ·  "))),
      this.runs.length > 1 ? this.runList() : null,
      element(
        "div",
        { class: "corner" },
        button("◐", "Light or dark", () => toggleTheme(), { class: "icon" }),
        button("?", "Keyboard shortcuts", () => this.help.showModal(), { class: "icon" }),
      ),
    );
  }

  private runList(): HTMLElement {
    const entries = this.runs.map((run, index) => {
      const swatch = element("i", { class: "swatch" });
      swatch.style.borderColor = runColors[index % runColors.length];
      const box = element("input", {
        type: "checkbox",
        checked: true,
        onchange: () => {
          run.visible = box.checked;
          this.view?.setVisible(run);
          this.plots.rebuild();
        },
      });
      return element("label", {}, box, swatch, run.label);
    });
    return element("fieldset", { class: "runs" }, element("legend", {}, "Runs"), ...entries);
  }

  private body(): HTMLElement {
    const stage = element("section", { class: "stage", "aria-label": "Animation" }, this.viewport, this.transport());
    this.panels.push(
      { name: "Plots", tab: element("button"), panel: this.plots.root },
      { name: "Summary", tab: element("button"), panel: summaryPanel(this.runs) },
      { name: "Model", tab: element("button"), panel: modelPanel(this.runs) },
    );
    const tabs = this.panels.map((entry, index) => {
      const id = entry.name.toLowerCase();
      entry.tab = element("button", { role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, onclick: () => this.openTab(index), onkeydown: (event: KeyboardEvent) => this.onTabKey(event, index) }, entry.name);
      entry.panel.id = `panel-${id}`;
      entry.panel.setAttribute("role", "tabpanel");
      entry.panel.setAttribute("aria-labelledby", entry.tab.id);
      return entry.tab;
    });
    const side = element("section", { class: "side", "aria-label": "Results" }, element("div", { class: "tabs", role: "tablist", "aria-label": "Results" }, ...tabs), ...this.panels.map(({ panel }) => panel));
    this.openTab(0);
    return element("main", {}, stage, side);
  }

  private openTab(index: number): void {
    this.panels.forEach(({ tab, panel }, k) => {
      tab.setAttribute("aria-selected", String(k === index));
      tab.tabIndex = k === index ? 0 : -1;
      panel.hidden = k !== index;
    });
  }

  private onTabKey(event: KeyboardEvent, index: number): void {
    const count = this.panels.length;
    const target = { ArrowRight: (index + 1) % count, ArrowLeft: (index + count - 1) % count, Home: 0, End: count - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.openTab(target);
    this.panels[target].tab.focus();
  }

  private transport(): HTMLElement {
    return element(
      "div",
      { class: "transport", role: "group", "aria-label": "Playback" },
      this.playButton,
      button(icon(icons.back), "One row back", () => this.step(-1), { class: "icon" }),
      button(icon(icons.forward), "One row forward", () => this.step(1), { class: "icon" }),
      this.slider,
      this.clock,
      this.speedSelect,
      this.loopButton,
    );
  }

  private openView(): void {
    if (!this.runs.every((run) => run.isDrawable)) {
      this.viewport.replaceChildren(element("p", { class: "hint" }, "Nothing can be drawn: the positions (columns q) were not written."));
      return;
    }
    try {
      const view = new View(this.viewport, this.runs, findLayout(this.runs[0]));
      this.view = view;
      const sides: [string, Side, string][] = [
        ["⌂", "home", "First view (0)"],
        ["front", "front", "Front view (1)"],
        ["top", "top", "Top view (2)"],
        ["side", "side", "Side view (3)"],
      ];
      const camera = element(
        "div",
        { class: "toolbar left", role: "group", "aria-label": "Camera" },
        ...sides.map(([text, side, title]) => button(text, title, () => view.look(side))),
        button("fit", "Fit (F)", () => view.fit()),
        button("+", "Zoom in", () => view.zoom(1 / 1.2)),
        button("−", "Zoom out", () => view.zoom(1.2)),
      );
      const extras = element("div", { class: "toolbar right", role: "group", "aria-label": "What is shown" });
      extras.append(this.traceMenu(view));
      if (view.hasForces) extras.append(toggle("forces", "Closure forces (V)", false, (pressed) => (view.forces = pressed)));
      extras.append(
        toggle("names", "Names of bodies (N)", false, (pressed) => (view.labels = pressed)),
        button("PNG", "Save the view as a picture", () => void this.savePicture(view)),
      );
      this.viewport.prepend(camera, extras);
      this.viewport.append(element("p", { id: "view-help", class: "for-readers" }, "Arrow keys orbit, with Shift they pan, plus and minus zoom."));
      this.player.onTime((t) => view.show(t));
    } catch (error) {
      this.viewport.replaceChildren(element("p", { class: "hint" }, `The 3-D view needs WebGL, which this browser does not offer (${String(error)}).`));
    }
  }

  private traceMenu(view: View): HTMLElement {
    const points = view.tracePoints();
    const list = element("div", { class: "trace-list" });
    const fill = (filter: string) => {
      const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
      const found = points.filter((point) => words.every((word) => point.label.toLowerCase().includes(word)));
      list.replaceChildren(
        ...found.slice(0, 150).map((point) => {
          const box = element("input", { type: "checkbox", checked: view.traced.includes(point.key), onchange: () => view.setTrace(point, box.checked) });
          return element("label", {}, box, point.label);
        }),
      );
    };
    for (const point of points.filter(({ key }) => key.startsWith("sensor:")).slice(0, 2)) view.setTrace(point, true);
    const search = element("input", { type: "search", placeholder: "Find a point", "aria-label": "Find a point", oninput: () => fill(search.value) });
    const menu = element("details", { class: "menu" }, element("summary", { title: "Paths of points" }, "traces"), element("div", {}, search, list));
    menu.addEventListener("toggle", () => menu.open && fill(search.value));
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary")!.focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!menu.contains(event.target as Node)) menu.open = false;
    });
    return menu;
  }

  private async savePicture(view: View): Promise<void> {
    const blob = await view.image();
    if (blob) download(`${fileName(this.runs[0].scene.name)}-${short(this.player.t, 4)}s.png`, blob);
  }

  private makeHelp(): HTMLDialogElement {
    const keys: [string, string][] = [
      ["Space", "play or pause"],
      ["← →", "one row back or forward; with Shift ten"],
      ["Home, End", "to the start or the end"],
      ["[ ]", "slower, faster"],
      ["L", "loop"],
      ["0 1 2 3", "first, front, top and side view"],
      ["F", "fit everything into the view"],
      ["V", "closure forces"],
      ["N", "names of bodies"],
      ["D", "light or dark"],
      ["in the view", "arrows orbit, with Shift they pan, + and − zoom"],
      ["in a plot", "+ and − zoom, 0 shows all"],
      ["mouse", "drag orbits, right button pans, wheel zooms"],
    ];
    const rows = keys.map(([key, meaning]) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, key)), element("td", {}, meaning)));
    const dialog = element("dialog", { "aria-label": "Keyboard shortcuts" }, element("h2", {}, "Keyboard"), element("table", {}, element("tbody", {}, ...rows)));
    dialog.append(button("Close", "Close", () => dialog.close()));
    return dialog;
  }

  private notice(text: string): HTMLElement {
    const made = element("p", {}, text);
    this.notices.append(made);
    return made;
  }

  private sayThinned(run: Run): void {
    if (run.stride > 1)
      this.notice(
        `${this.runs.length > 1 ? `${run.label}: ` : ""}this page shows ${run.rows.toLocaleString("en")} of ${run.allRows.toLocaleString("en")} rows, one in ${run.stride}; the result file has them all.`,
      );
  }

  // Time ----------------------------------------------------------------------------------------------------------------------

  private setRange(): void {
    this.slider.max = String(Math.max(0, this.master.rows - 1));
    this.player.setRange(Math.min(...this.runs.map((run) => run.start)), this.master.end);
  }

  private showState(): void {
    const title = this.player.playing ? "Pause" : "Play";
    this.playButton.replaceChildren(icon(this.player.playing ? icons.pause : icons.play));
    this.playButton.title = `${title} (space)`;
    this.playButton.setAttribute("aria-label", title);
    this.speedSelect.value = String(this.player.speed);
    this.loopButton.setAttribute("aria-pressed", String(this.player.loop));
  }

  private showTime(t: number): void {
    const text = `${t.toFixed(this.player.end >= 100 ? 2 : 3)} s`;
    this.clock.textContent = text;
    this.slider.value = String(this.master.locate(t + 1e-12).row);
    this.slider.setAttribute("aria-valuetext", text);
    this.view?.canvas.setAttribute("aria-label", `${this.runs[0].scene.name} at ${text}`);
  }

  step(rows: number): void {
    this.player.pause();
    const { row, part } = this.master.locate(this.player.t + 1e-12);
    const target = rows < 0 && part > 1e-6 ? row + rows + 1 : row + rows;
    this.player.seek(this.master.time[Math.min(this.master.rows - 1, Math.max(0, target))]);
  }

  private changeSpeed(by: number): void {
    const index = speeds.indexOf(this.player.speed) + by;
    if (index >= 0 && index < speeds.length) this.player.setSpeed(speeds[index]);
  }

  private onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const types = target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox";
    if (types || target instanceof HTMLSelectElement) return;
    if (event.key === " " && target.closest("button, summary, input")) return;
    if (target instanceof HTMLInputElement && target.type === "range" && event.key !== " " && !event.shiftKey && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    if (target.closest(".scroll, pre, .model") && /^(Arrow|Home|End)/.test(event.key)) return;
    const press = (title: string) => this.viewport.querySelector<HTMLElement>(`[aria-label^="${title}"]`)?.click();
    const actions: Record<string, Action> = {
      " ": () => this.player.toggle(),
      ArrowLeft: () => this.step(event.shiftKey ? -10 : -1),
      ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
      Home: () => this.player.seek(this.player.start),
      End: () => this.player.seek(this.player.end),
      "[": () => this.changeSpeed(-1),
      "]": () => this.changeSpeed(1),
      l: () => this.player.setLoop(!this.player.loop),
      f: () => this.view?.fit(),
      "0": () => this.view?.look("home"),
      "1": () => this.view?.look("front"),
      "2": () => this.view?.look("top"),
      "3": () => this.view?.look("side"),
      v: () => press("Closure forces"),
      n: () => press("Names"),
      d: () => toggleTheme(),
      "?": () => this.help.showModal(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    action();
    event.preventDefault();
  }

  // A run that is still going ------------------------------------------------------------------------------------------------

  private follow(run: Run): void {
    const line = this.notice("Waiting for the run…");
    let measured = 0;
    new Following(
      run,
      ({ rows, summary }) => {
        const atEnd = this.player.t >= this.player.end;
        run.append(rows);
        if (summary) run.summary = summary;
        if (!this.view && run.rows > 0) this.openView();
        if (this.view && run.rows > 2 * measured) {
          measured = run.rows;
          Object.assign(this.view.layout.bounds, findLayout(run).bounds);
          this.view.refit();
          this.view.refreshTraces();
        }
        this.setRange();
        if (atEnd && !this.player.playing) this.player.seek(run.end);
        this.plots.refresh();
        line.textContent = `Following the run: ${short(run.end, 4)} of ${short(run.scene.settings.end, 4)} s`;
      },
      (reason) => {
        line.textContent = reason === "done" ? "" : "The server has gone; what had arrived stays.";
        this.view?.refreshTraces();
        this.plots.rebuild();
        this.panels[1].panel.replaceChildren(...summaryPanel(this.runs).childNodes);
        this.sayThinned(run);
      },
    );
  }

  /** Where a body is drawn, for tests and the curious: position and quaternion (w, x, y, z). */
  pose(body: string, run = 0): { p: number[]; q: number[] } | null {
    const mechanism = this.view?.mechanisms[run];
    const index = this.runs[run].scene.bodies.findIndex(({ name }) => name === body);
    if (!mechanism || index < 0) return null;
    const group = mechanism.bodies[index];
    group.updateWorldMatrix(true, false);
    const [p, q] = [new Vector3(), new Quaternion()];
    group.matrixWorld.decompose(p, q, new Vector3());
    return { p: p.toArray(), q: [q.w, q.x, q.y, q.z] };
  }
}

const { runs, following } = readData();
const page = new Page(runs, following);
Object.assign(window, { linkwork: page });
