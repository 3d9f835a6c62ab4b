// Buttons and menus that pages share.
import { element } from "./dom";

export type Action = () => void;

export function button(text: string | Node, title: string, action: Action, attributes: Record<string, string> = {}): HTMLButtonElement {
  return element("button", { title, "aria-label": title, onclick: action, ...attributes }, text);
}

/** A button that stays pressed. */
export function toggle(text: string, title: string, pressed: boolean, action: (pressed: boolean) => void): HTMLButtonElement {
  const made = button(text, title, () => {
    const next = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(next));
    action(next);
  });
  made.setAttribute("aria-pressed", String(pressed));
  return made;
}

/** A button with a panel below it, which closes on Escape and clicks elsewhere. `open` is called when it opens. */
export function menu(text: string, title: string, panel: HTMLElement, open: Action = () => {}): HTMLDetailsElement {
  const made = element("details", { class: "menu" }, element("summary", { title, "aria-label": title }, text), panel);
  made.addEventListener("toggle", () => made.open && open());
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    made.open = false;
    made.querySelector("summary")!.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!made.contains(event.target as Node)) made.open = false;
  });
  return made;
}

/** A list that is searched by parts of names; only the first entries are made. */
export function searchList<T>(label: string, items: () => T[], nameOf: (item: T) => string, make: (item: T) => HTMLElement): { root: HTMLElement; fill: Action } {
  const list = element("div", { class: "choice-list" });
  const search = element("input", { type: "search", placeholder: label, "aria-label": label, oninput: () => fill() });
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = items().filter((item) => words.every((word) => nameOf(item).toLowerCase().includes(word)));
    list.replaceChildren(...found.slice(0, 150).map(make));
    if (found.length > 150) list.append(element("p", { class: "hint" }, `and ${found.length - 150} more`));
  };
  return { root: element("div", {}, search, list), fill };
}
