// What the pages of sweeps and of optimizations have in common.
import { toggleTheme } from "./colors";
import { element, short } from "./dom";

export function pageHeader(title: string, facts: string[]): HTMLElement {
  document.title = `${title} · Linkwork`;
  return element(
    "header",
    {},
    element("div", { class: "title" }, element("h1", {}, title), element("p", {}, facts.filter(Boolean).join("  ·  "))),
    element("div", { class: "corner" }, element("button", { class: "icon", title: "Light or dark", "aria-label": "Light or dark", onclick: () => toggleTheme() }, "◐")),
  );
}

export function card(title: string, value: string, detail: string, tone = "plain"): HTMLElement {
  return element("div", { class: `card ${tone}` }, element("h4", {}, title), element("p", { class: "value" }, value), element("p", {}, detail));
}

export function section(title: string, hint: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", {}, element("div", { class: "section-head" }, element("h2", {}, title), element("p", { class: "hint" }, hint)), ...children);
}

export function table(label: string, titles: string[], rows: HTMLTableRowElement[]): HTMLElement {
  const isNumber = (k: number) => rows[0]?.cells[k]?.classList.contains("number");
  const head = titles.map((title, k) => element("th", { scope: "col", class: isNumber(k) ? "number" : undefined }, title));
  return element(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": label },
    element("table", { class: "runs-table" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  );
}

export const number = (value: number | null | undefined, digits = 6) => (value === null || value === undefined || Number.isNaN(value) ? "–" : short(value, digits));

/** A word of a shell. */
function quoted(text: string): string {
  return /^[\w./=+,:@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that makes one run, all digits of its parameters included. */
export function commandOf(command: string, parameters: [string, number][]): string {
  return [command, ...parameters.map(([name, value]) => `--set ${quoted(`${name}=${value}`)}`)].join(" ");
}

export function copyable(text: string): HTMLElement {
  const button = element("button", { class: "small", onclick: () => void navigator.clipboard?.writeText(text) }, "Copy");
  return element("div", { class: "command" }, element("code", {}, text), button);
}
