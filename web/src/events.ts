// What happened at an instant of a run: marks on the time line, and a table to read.
import type { EventRecord, Run } from "./data";
import { element, short } from "./dom";
import type { Player } from "./player";

const MOST_ROWS = 300;

/** The events of the runs that are shown, with a line of text for each. */
export function eventsOf(runs: Run[]): { t: number; label: string; event: EventRecord }[] {
  const many = runs.length > 1;
  return runs
    .filter((run) => run.visible)
    .flatMap((run) => (run.summary?.events ?? []).map((event) => ({ t: event.t, label: `${short(event.t, 6)} s · ${event.name}: ${event.what}${many ? ` · ${run.label}` : ""}`, event })));
}

/** A strip above the slider with a mark for every event; those that would cover one another are one. */
export class EventStrip {
  readonly root = element("div", { class: "event-strip", role: "group", "aria-label": "Events" });

  constructor(
    private readonly runs: Run[],
    private readonly player: Player,
  ) {
    player.onState(() => this.place());
  }

  place(): void {
    const { start, end } = this.player;
    const seen = new Map<number, string[]>();
    const times = new Map<number, number>();
    if (end > start)
      for (const { t, label } of eventsOf(this.runs)) {
        const slot = Math.round((300 * (t - start)) / (end - start));
        if (slot < 0 || slot > 300) continue;
        if (!times.has(slot)) times.set(slot, t);
        seen.set(slot, [...(seen.get(slot) ?? []), label]);
      }
    this.root.hidden = seen.size === 0;
    const key = [...seen.keys()].join() + `${start},${end}`;
    if (this.root.dataset.key === key) return;
    this.root.dataset.key = key;
    this.root.replaceChildren(
      ...[...seen].map(([slot, labels]) => {
        const title = labels.length > 3 ? [...labels.slice(0, 3), `and ${labels.length - 3} more`].join("\n") : labels.join("\n");
        const mark = element("button", { class: "mark", title, "aria-label": `Go to ${labels[0]}`, tabindex: -1, onclick: () => this.player.seek(times.get(slot)!) });
        mark.style.left = `${(slot / 3).toFixed(2)}%`;
        return mark;
      }),
    );
  }
}

interface Group {
  from: EventRecord;
  to: EventRecord;
  count: number;
}

/** Events of one name that follow one another and say the same are one row: chatter does not bury the rest. */
function grouped(events: EventRecord[]): Group[] {
  const groups: Group[] = [];
  for (const event of events) {
    const last = groups[groups.length - 1];
    if (last && last.from.name === event.name && last.from.what === event.what && last.from.dof === event.dof) {
      last.to = event;
      last.count++;
    } else groups.push({ from: event, to: event, count: 1 });
  }
  return groups;
}

function impulses(event: EventRecord): string {
  const all = Object.entries(event.impulses)
    .filter(([, value]) => value !== 0)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const shown = all.slice(0, 4).map(([name, value]) => `${name} ${short(value, 3)}`);
  return shown.join(", ") + (all.length > 4 ? ` and ${all.length - 4} more` : "");
}

/** Small numbers are rounding: saying them would only distract. */
const matters = (value: number) => Math.abs(value) > 1e-9;

export function eventsTable(events: EventRecord[], player: Player): HTMLElement {
  const search = element("input", { type: "search", placeholder: "Find events", "aria-label": "Find events" });
  const body = element("tbody");
  const foot = element("p", { class: "hint" });
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = grouped(events.filter((event) => words.every((word) => `${event.name} ${event.what}`.toLowerCase().includes(word))));
    body.replaceChildren(...groups.slice(0, MOST_ROWS).map((group) => row(group, player)));
    foot.textContent = groups.length > MOST_ROWS ? `and ${groups.length - MOST_ROWS} more in summary.json` : groups.length === 0 ? "no such event" : "";
  };
  search.addEventListener("input", fill);
  fill();
  const heads = ["Time", "Event", "What happened", "Velocity jump (m/s, rad/s)", "Energy change", "Freedom after"];
  const table = element(
    "table",
    { class: "facts events" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    body,
  );
  return element(
    "div",
    { class: "event-list" },
    events.length > 8 ? search : null,
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Events" }, table, foot),
  );
}

function row({ from, to, count }: Group, player: Player): HTMLElement {
  const go = (event: EventRecord) =>
    element("button", { class: "link", title: "Show this moment", "aria-label": `Show ${short(event.t, 6)} s`, onclick: () => player.seek(event.t) }, `${short(event.t, 6)} s`);
  const detail = impulses(from);
  const cell = (head: string, ...children: (Node | string | null)[]) => element("td", { "data-head": head }, ...children);
  return element(
    "tr",
    {},
    element("td", { class: "number time" }, go(from), ...(count > 1 ? [" to ", go(to)] : [])),
    element("th", { scope: "row" }, from.name),
    element("td", { class: "what" }, count > 1 ? `${from.what}, ${count} times` : from.what, detail ? element("p", { class: "hint" }, `impulses (N·s, N·m·s): ${detail}`) : null),
    cell("velocity jump (m/s, rad/s)", matters(from.velocity_jump) ? short(from.velocity_jump, 3) : "–"),
    cell("energy change", matters(from.energy) ? `${short(from.energy, 3)} J` : "–"),
    cell("degrees of freedom after", from.dof >= 0 ? String(from.dof) : "–"),
  );
}
