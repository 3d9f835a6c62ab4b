// A plot as a vector picture (SVG) for documents: axes with their units, curves, legend.
import type uPlot from "uplot";
import type { Line } from "./lines";
import { theme } from "./colors";

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
const rounded = (value: number) => String(Math.round(value * 10) / 10);

/** Points of a curve, those left out that would not be seen. */
function path(points: [number, number][][]): string {
  const parts: string[] = [];
  for (const piece of points) {
    let last: [number, number] | null = null;
    piece.forEach((point, k) => {
      const near = last && k < piece.length - 1 && Math.abs(point[0] - last[0]) < 0.15 && Math.abs(point[1] - last[1]) < 0.15;
      if (near) return;
      parts.push(`${last ? "L" : "M"}${rounded(point[0])} ${rounded(point[1])}`);
      last = point;
    });
  }
  return parts.join("");
}

/** uPlot keeps the ticks of its axes in fields that its types do not name. */
interface Ticks {
  _splits?: number[] | null;
  _values?: (string | number | null)[] | null;
}

export function plotSvg(u: uPlot, lines: Line[], scaleOf: (line: Line) => string, title: string, shown: (values: ArrayLike<number>) => (number | null)[], titles: string[]): string {
  const colors = theme();
  const ratio = u.ctx.canvas.width / u.width;
  const box = { left: u.bbox.left / ratio, top: u.bbox.top / ratio, width: u.bbox.width / ratio, height: u.bbox.height / ratio };
  const row = 18;
  const height = u.height + row * (lines.length + 0.5);
  const at = (value: number, scale: string) => u.valToPos(value, scale) + (scale === "x" ? box.left : box.top);
  const parts: string[] = [];
  const text = (x: number, y: number, content: string, anchor: string, extra = "") =>
    parts.push(`<text x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}" fill="${colors.muted}"${extra}>${escaped(content)}</text>`);
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    parts.push(`<path d="M${rounded(x1)} ${rounded(y1)}L${rounded(x2)} ${rounded(y2)}" stroke="${colors.gridStrong}" stroke-width="0.6" fill="none"/>`);

  let right = 0;
  u.axes.forEach((axis, k) => {
    const { _splits: splits, _values: values } = axis as Ticks;
    const scale = axis.scale ?? (k === 0 ? "x" : "y");
    const opposite = axis.side === 1;
    const bar = opposite ? box.left + box.width + 62 * right++ : box.left;
    (splits ?? []).forEach((value, j) => {
      const label = String(values?.[j] ?? "");
      const place = at(value, scale);
      if (k === 0) {
        if (place < box.left - 1 || place > box.left + box.width + 1) return;
        line(place, box.top, place, box.top + box.height);
        text(place, box.top + box.height + 15, label, "middle");
      } else {
        if (place < box.top - 1 || place > box.top + box.height + 1 || label === "") return;
        if (!opposite) line(box.left, place, box.left + box.width, place);
        text(opposite ? bar + 6 : bar - 6, place + 4, label, opposite ? "start" : "end");
      }
    });
    if (k === 0) text(box.left + box.width / 2, box.top + box.height + 32, titles[0], "middle");
    else {
      const x = opposite ? bar + 56 : 11;
      const y = box.top + box.height / 2;
      text(x, y, titles[k] ?? "", "middle", ` transform="rotate(-90 ${rounded(x)} ${rounded(y)})"`);
    }
  });
  parts.push(`<clipPath id="c"><rect x="${rounded(box.left)}" y="${rounded(box.top)}" width="${rounded(box.width)}" height="${rounded(box.height)}"/></clipPath>`);
  parts.push(`<g clip-path="url(#c)" fill="none" stroke-linejoin="round">`);
  lines.forEach((one) => {
    const values = shown(one.y);
    const pieces: [number, number][][] = [[]];
    for (let k = 0; k < one.x.length; k++) {
      const value = values[k];
      if (value === null || !Number.isFinite(one.x[k])) {
        if (pieces[pieces.length - 1].length > 0) pieces.push([]);
        continue;
      }
      pieces[pieces.length - 1].push([at(one.x[k], "x"), at(value, scaleOf(one))]);
    }
    parts.push(`<path d="${path(pieces)}" stroke="${one.color}" stroke-width="${one.doubt ? 1.1 : 1.6}"${one.dash.length > 0 ? ` stroke-dasharray="${one.dash.join(" ")}"` : ""}/>`);
  });
  parts.push("</g>");
  lines.forEach((one, k) => {
    const y = u.height + row * (k + 0.6);
    parts.push(`<path d="M12 ${rounded(y)}H40" stroke="${one.color}" stroke-width="2"${one.dash.length > 0 ? ` stroke-dasharray="${one.dash.join(" ")}"` : ""}/>`);
    parts.push(`<text x="48" y="${rounded(y + 4)}" fill="${colors.text}">${escaped(one.label)}</text>`);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${u.width} ${rounded(height)}" width="${u.width}" height="${rounded(height)}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" fill="${colors.background}"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}
