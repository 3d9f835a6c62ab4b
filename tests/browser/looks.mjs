// What is wrong with the look of the page that is open, as far as a program can tell.
import { page } from "./browser.mjs";

/** Contrast of small letters, as the guidelines for web pages (WCAG 2, AA) count it. */
const LEAST_CONTRAST = 4.5;

export function troubles() {
  return page.evaluate((least) => {
    const found = [];
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    if (wide > 0) found.push(`the page is ${wide} px too wide`);

    const channels = (text) => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return text.startsWith("color(srgb") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const background = (item) => {
      const layers = [];
      for (let one = item; one; one = one.parentElement) layers.push(channels(getComputedStyle(one).backgroundColor));
      return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
    };
    const luminance = ([r, g, b]) =>
      [r, g, b].map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, part, k) => sum + part * [0.2126, 0.7152, 0.0722][k], 0);

    const texts = [...document.querySelectorAll("body *")].filter(
      (item) => item.checkVisibility({ visibilityProperty: true }) && [...item.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()) && !item.closest("option, script, style, .for-readers, .triad"),
    );
    const boxes = [];
    for (const item of texts) {
      const behind = background(item);
      const [a, b] = [luminance(over(channels(getComputedStyle(item).color), behind)), luminance(behind)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const about = `"${item.textContent.trim().slice(0, 40)}"`;
      if (contrast < least && !item.closest(":disabled")) found.push(`${about} has a contrast of ${contrast.toFixed(1)} only`);
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(item).overflowX) || item.closest("pre, .scroll");
      if (item.scrollWidth > item.clientWidth + 1 && item.clientWidth > 0 && !scrolls && !item.title) found.push(`${about} is cut`);
      // Lines of text, to find those that lie over one another. What opens over the page may do so.
      if (!item.closest(".names, .tooltip, dialog, .choices")) {
        const range = document.createRange();
        range.selectNodeContents(item);
        for (const box of range.getClientRects()) if (box.width > 2) boxes.push({ item, box, about });
      }
    }
    boxes.forEach((one, k) => {
      for (const other of boxes.slice(k + 1)) {
        if (one.item.contains(other.item) || other.item.contains(one.item)) continue;
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const along = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > 2 && along > 4) found.push(`${one.about} lies over ${other.about}`);
      }
    });
    return [...new Set(found)];
  }, LEAST_CONTRAST);
}
