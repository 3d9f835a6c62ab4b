// A field that finds columns by parts of their names, and offers them in a list (the combobox pattern of ARIA).
import { element } from "./dom";

let count = 0;

export class ColumnSearch {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private active = -1;

  constructor(
    label: string,
    private readonly names: () => string[],
    private readonly labelOf: (name: string) => string,
    private readonly choose: (name: string) => void,
  ) {
    const id = `columns-${++count}`;
    this.list = element("ul", { id, role: "listbox", "aria-label": label, hidden: true });
    this.input = element("input", {
      type: "text",
      role: "combobox",
      placeholder: label,
      "aria-label": label,
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.open(),
      onfocus: () => this.open(),
      onblur: () => this.close(),
      onkeydown: (event: KeyboardEvent) => this.onKey(event),
    });
    this.root = element("div", { class: "search" }, this.input, this.list);
  }

  private matches(): string[] {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.names().filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  }

  private open(): void {
    const found = this.matches();
    const shown = found.slice(0, 200).map((name, index) =>
      element(
        "li",
        {
          id: `${this.list.id}-${index}`,
          role: "option",
          "aria-selected": "false",
          "data-name": name,
          onpointerdown: (event: Event) => {
            event.preventDefault();
            this.take(name);
          },
        },
        this.labelOf(name),
      ),
    );
    if (found.length === 0) shown.push(element("li", { class: "hint" }, "no such column"));
    if (found.length > 200) shown.push(element("li", { class: "hint" }, `and ${found.length - 200} more`));
    this.list.replaceChildren(...shown);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.activate(found.length > 0 && this.input.value ? 0 : -1);
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.active = -1;
  }

  private take(name: string): void {
    this.input.value = "";
    this.choose(name);
    if (document.activeElement === this.input) this.open();
  }

  private activate(index: number): void {
    const options = [...this.list.querySelectorAll<HTMLElement>("[role=option]")];
    this.active = options.length === 0 || index < 0 ? -1 : (index + options.length) % options.length;
    options.forEach((option, k) => option.setAttribute("aria-selected", String(k === this.active)));
    const current = options[this.active];
    if (current) {
      this.input.setAttribute("aria-activedescendant", current.id);
      current.scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  private onKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.open();
      this.activate(event.key === "ArrowDown" ? this.active + 1 : Math.max(this.active, 0) - 1);
      event.preventDefault();
    } else if (event.key === "Enter") {
      const option = this.list.querySelectorAll<HTMLElement>("[role=option]")[this.active];
      if (option && !this.list.hidden) this.take(option.dataset.name!);
      event.preventDefault();
    } else if (event.key === "Escape") {
      this.close();
    }
  }
}
