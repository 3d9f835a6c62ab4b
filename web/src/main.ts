// The page: animation on one side; plots, summary and model on the other.
import { Quaternion, Vector3 } from "three";
import { type Action, button, toggle } from "./controls";
import { distinctColor, toggleTheme } from "./colors";
import { type LiveModel, readData, type Run } from "./data";
import { element, icon, icons, short } from "./dom";
import { EventStrip } from "./events";
import { Following } from "./following";
import { findLayout } from "./layout";
import { Live, type LiveNews } from "./live";
import { Modes } from "./modes";
import { Player, speeds } from "./player";
import { Plots } from "./plots";
import { suggestErrors, suggestPlots } from "./suggested";
import { modelPanel, summaryPanel } from "./summary";
import { View } from "./view";
import { ViewControls } from "./view_controls";

class Page {
  readonly player = new Player();
  readonly plots: Plots;
  readonly errors: Plots;
  view: View | null = null;
  live: Live | null = null;
  private readonly master: Run; // the longest: its rows are the stops of the slider
  private readonly viewport = element("div", { class: "viewport" });
  private readonly notices = element("div", { class: "notices", role: "status" });
  private readonly slider: HTMLInputElement;
  private readonly clock = element("output", { class: "clock", "aria-label": "Time" });
  private readonly playButton: HTMLButtonElement;
  private readonly speedSelect: HTMLSelectElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly help: HTMLDialogElement;
  private readonly strip: EventStrip;
  private unseen = false; // a live model whose motion has not been seen to its end
  private readonly extra = element("div", { class: "stage-extra" }); // sliders of modes and of live models
  private readonly panels: { name: string; tab: HTMLButtonElement; panel: HTMLElement }[] = [];

  constructor(
    private readonly runs: Run[],
    following: boolean,
    live: LiveModel | null,
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
    this.plots = new Plots(runs, this.player, first.scene.modes ? [] : suggestPlots(first));
    this.errors = new Plots(runs, this.player, suggestErrors(first), "Nothing to violate: this mechanism has no closed loops, or errors were not written.");
    this.strip = new EventStrip(runs, this.player);
    document.body.append(this.header(), this.notices, this.body(), this.help);
    this.player.onState(() => this.showState());
    this.player.onTime((t) => this.showTime(t));
    document.addEventListener("keydown", (event) => this.onKey(event));
    for (const run of runs) this.sayThinned(run);
    if (first.rows > 0) this.openView();
    this.setRange();
    if (following) this.follow(first);
    if (live) this.runLive(first, live);
    if (first.scene.modes && first.scene.modes.length > 0 && first.rows > 0) this.showModes(first);
  }

  // Parts of the page ---------------------------------------------------------------------------------------------------------

  private header(): HTMLElement {
    const { scene, summary } = this.runs[0];
    const bodies = scene.bodies.length - 1;
    const facts = [
      `${bodies} ${bodies === 1 ? "body" : "bodies"}`,
      `${scene.joints.length} ${scene.joints.length === 1 ? "joint" : "joints"}`,
      summary ? `${summary.dof} ${summary.dof === 1 ? "degree" : "degrees"} of freedom` : "",
      summary ? `${short(summary.simulated_seconds, 4)} s` : "",
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
      swatch.style.borderColor = distinctColor(index);
      const box = element("input", {
        type: "checkbox",
        checked: true,
        onchange: () => {
          run.visible = box.checked;
          this.view?.setVisible();
          this.rebuildPlots();
          this.strip.place();
        },
      });
      return element("label", {}, box, swatch, run.label);
    });
    return element("fieldset", { class: "runs" }, element("legend", {}, "Runs"), ...entries);
  }

  private body(): HTMLElement {
    const stage = element("section", { class: "stage", "aria-label": "Animation" }, this.viewport, this.transport(), this.extra);
    this.panels.push(
      { name: "Plots", tab: element("button"), panel: this.plots.root },
      { name: "Summary", tab: element("button"), panel: summaryPanel(this.runs, this.player) },
      { name: "Errors", tab: element("button"), panel: this.errors.root },
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
    for (const plots of [this.plots, this.errors]) if (!plots.root.hidden) plots.freshen();
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
      element("div", { class: "timeline" }, this.strip.root, this.slider),
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
      const [layout, ...others] = this.runs.map(findLayout);
      others.forEach(({ bounds }, k) => this.runs[k + 1].rows > 0 && layout.bounds.union(bounds));
      const view = new View(this.viewport, this.runs, layout);
      this.view = view;
      new ViewControls(this.viewport, view, this.runs, this.player, this.plots, () => this.openTab(0));
    } catch (error) {
      this.viewport.replaceChildren(element("p", { class: "hint" }, `The 3-D view needs WebGL, which this browser does not offer (${String(error)}).`));
    }
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
      ["V", "forces and reactions"],
      ["N", "names of bodies"],
      ["M", "measure distances"],
      ["S", "runs side by side"],
      ["D", "light or dark"],
      ["in the view", "arrows orbit, with Shift they pan, + and − zoom"],
      ["in a plot", "+ and − zoom, 0 shows all"],
      ["mouse", "drag orbits, right button pans, wheel zooms; click a body for its plots"],
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
    const { speed } = this.player;
    if (!speeds.includes(speed) && ![...this.speedSelect.options].some((option) => Number(option.value) === speed))
      this.speedSelect.append(element("option", { value: speed }, `${short(speed, 2)}×`));
    this.speedSelect.value = String(speed);
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
      v: () => this.viewport.querySelector('[aria-label^="Forces"]')?.closest("details")?.dispatchEvent(new Event("allforces")),
      n: () => press("Names"),
      m: () => press("Measure"),
      s: () => press("Runs side by side"),
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
        this.errors.refresh();
        line.textContent = `Following the run: ${short(run.end, 4)} of ${short(run.scene.settings.end, 4)} s`;
      },
      (reason) => {
        line.textContent = reason === "done" ? "" : "The server has gone; what had arrived stays.";
        this.view?.refreshTraces();
        for (const mechanism of this.view?.mechanisms ?? []) mechanism.arrows.renew();
        this.rebuildPlots();
        this.showSummary();
        this.sayThinned(run);
      },
    );
  }

  private rebuildPlots(): void {
    this.plots.rebuild();
    this.errors.rebuild();
  }

  private showSummary(): void {
    this.panels[1].panel.replaceChildren(...summaryPanel(this.runs, this.player).childNodes);
    this.strip.place();
  }

  // Models that run as they are moved, and modes ---------------------------------------------------------------------------------

  private runLive(run: Run, model: LiveModel): void {
    this.live = new Live(model, run, (news) => this.showLive(run, model, news));
    this.extra.append(this.live.root);
    if (model.paced) this.player.setLoop(false);
  }

  private showLive(run: Run, model: LiveModel, { begins, anew, rows, scene, summary, done }: LiveNews): void {
    const atEnd = this.player.t >= this.player.end;
    if (begins) run.replace(0, run.columns.map(() => new Float64Array(0)));
    run.appendFlat(rows);
    this.unseen ||= anew;
    if (scene) this.renewScene(run, scene, done);
    if (summary) run.summary = summary;
    if (!this.view && run.rows > 0) this.openView();
    if (done) this.showReach(run);
    this.setRange();
    if (model.paced && atEnd && !this.player.playing) this.player.seek(run.end);
    this.plots.refresh();
    this.errors.refresh();
    if (begins || done) for (const mechanism of this.view?.mechanisms ?? []) mechanism.arrows.renew();
    if (!done) return;
    this.view?.refreshTraces();
    if (summary) this.showSummary();
  }

  /** Other parameters may give bodies of other sizes. */
  private renewScene(run: Run, scene: Run["scene"], done: boolean): void {
    const shape = ({ bodies, joints, closures, springs, sensors, visuals, forces }: Run["scene"]) => JSON.stringify([bodies, joints, closures, springs, sensors, visuals, forces]);
    const same = shape(run.scene) === shape(scene);
    Object.assign(run.scene, scene);
    if (same) return;
    this.unseen = true;
    if (run.rows > 0 && !done) this.view?.renew(findLayout(run));
  }

  /** How far a whole run moves is known at its end. The view then fits it; after small changes it only grows, so as not to jump. */
  private showReach(run: Run): void {
    const layout = findLayout(run);
    if (this.unseen) this.view?.renew(layout);
    else this.view?.extend(layout.bounds);
    this.unseen = false;
  }

  private showModes(run: Run): void {
    const pane = this.plots.add("Motion", []);
    let shown = "";
    const modes = new Modes(run, this.player, (moved) => {
      if (moved.join() !== shown) pane.columns.splice(0, pane.columns.length, ...moved);
      shown = moved.join();
      this.setRange();
      this.view?.refreshTraces();
      this.rebuildPlots();
    });
    this.extra.append(modes.root);
    this.player.play();
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

const { runs, following, live } = readData();
Object.assign(window, { linkwork: new Page(runs, following, live) });
