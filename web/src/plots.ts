// The plots of a tab, and what they have in common.
import { onThemeChange } from "./colors";
import type { Derived, Run } from "./data";
import { element, icon, icons } from "./dom";
import { Pane } from "./pane";
import type { Player } from "./player";
import type { Suggestion } from "./suggested";
import { inDegrees, isAngular, onUnitsChange, setDegrees } from "./units";

export class Plots {
  readonly root: HTMLElement;
  columnNames: string[];
  difference = false;
  private readonly list = element("div", { class: "panes" });
  private panes: Pane[] = [];
  private stale = false; // rows have come in while others were shown

  constructor(
    readonly runs: Run[],
    readonly player: Player,
    suggestions: Suggestion[],
    nothing = "",
  ) {
    this.columnNames = [...new Set(runs.flatMap((run) => run.columns))];
    const add = element("button", { class: "add", onclick: () => this.add("", []).focus() }, icon(icons.plus, false), "Add a plot");
    const tools = element("div", { class: "plot-tools" }, add);
    if (runs.some((run) => run.columns.some((name) => isAngular(run.unit(name))))) tools.append(this.degreesButton());
    if (runs.length > 1) tools.append(this.differenceButton());
    tools.append(element("span", { class: "hint" }, "drag: zoom · double-click: all · click: go there"));
    this.root = element("div", { class: "plots" }, tools, this.list);
    if (suggestions.length === 0 && nothing) this.list.append(element("p", { class: "hint" }, nothing));
    for (const { title, columns, log } of suggestions) this.add(title, columns, log);
    player.onTime(() => this.panes.forEach((pane) => pane.mark()));
    onThemeChange(() => this.rebuild());
    onUnitsChange(() => this.rebuild());
  }

  private degreesButton(): HTMLElement {
    const toggle = element("button", { title: "Angles in degrees", "aria-label": "Angles in degrees", onclick: () => setDegrees(!inDegrees()) }, "degrees");
    const show = () => toggle.setAttribute("aria-pressed", String(inDegrees()));
    onUnitsChange(show);
    show();
    return toggle;
  }

  private differenceButton(): HTMLElement {
    const toggle = element(
      "button",
      {
        "aria-pressed": "false",
        title: `Subtract ${this.runs[0].label} from the other runs`,
        onclick: () => {
          this.difference = !this.difference;
          toggle.setAttribute("aria-pressed", String(this.difference));
          this.rebuild();
        },
      },
      `Difference from ${this.runs[0].label}`,
    );
    return toggle;
  }

  /** Columns that the page computes itself become known, to be plotted like the others. */
  derive(columns: Derived[]): void {
    for (const run of this.runs) for (const column of columns) run.derive(column);
    this.columnNames = [...new Set([...this.columnNames, ...columns.map(({ name }) => name)])];
  }

  add(title: string, columns: string[], log = false): Pane {
    const pane = new Pane(this, title, columns, log);
    this.panes.push(pane);
    this.list.append(pane.root);
    pane.rebuild();
    return pane;
  }

  /** A new plot above the others, in sight. */
  show(title: string, columns: string[]): Pane {
    const pane = this.add(title, columns);
    this.list.prepend(pane.root);
    pane.root.scrollIntoView({ block: "nearest" });
    return pane;
  }

  remove(pane: Pane): void {
    this.panes = this.panes.filter((other) => other !== pane);
    pane.root.remove();
    this.root.querySelector<HTMLElement>(".add")?.focus();
  }

  rebuild(): void {
    for (const pane of this.panes) pane.rebuild();
  }

  /** New rows have come in. What is not seen can wait. */
  refresh(): void {
    this.stale = this.root.hidden;
    if (!this.stale) for (const pane of this.panes) pane.refresh();
  }

  /** They are seen again. */
  freshen(): void {
    if (this.stale) this.rebuild();
    this.stale = false;
  }
}
