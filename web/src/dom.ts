// Small helpers to build the page. Text from a model reaches the page only as text, never as HTML.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | undefined | ((event: any) => void)>;

/** An element with attributes ("on..." are listeners, true and false set or leave out), and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** A 16 x 16 icon drawn by one path. */
export function icon(path: string, filled = true): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.setAttribute("class", filled ? "filled" : "stroked");
  svg.append(shape);
  return svg;
}

export const icons = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  back: "M12 3v10L5.5 8zM3.5 3H5v10H3.5z",
  forward: "M4 3v10l6.5-5zM11 3h1.5v10H11z",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
};

/** A number for a person: short, and never "-0". */
export function short(value: number, digits = 5): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(digits - 3, 1)).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

/** 1, 2 or 5 times a power of ten, not above a number: values that people write. */
export function roundDown(most: number): number {
  const decade = 10 ** Math.floor(Math.log10(most));
  return decade * (most / decade >= 5 ? 5 : most / decade >= 2 ? 2 : 1);
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function fileName(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "linkwork";
}
