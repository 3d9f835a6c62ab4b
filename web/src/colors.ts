// Colours of bodies, lines and surroundings, for light and dark.

export const bodyColors = ["#3b82c4", "#e2803a", "#4ba06b", "#c9556e", "#8a6cc2", "#c2a233", "#3aa6a6", "#b0703f", "#6c7fd8", "#86a23c"];
export const lineColors = ["#2f7fd1", "#e0732b", "#2f9e63", "#cf4662", "#8159c6", "#b58a17", "#169a9f", "#a8612d", "#d557a8", "#6b8f1e"];

const distinct = [...lineColors];

/** Colours that differ however many there are: after those chosen by hand always the one that is farthest from all before. */
export function distinctColor(index: number): string {
  while (distinct.length <= index) distinct.push(farthest(distinct));
  return distinct[index];
}

function farthest(taken: string[]): string {
  let [best, most] = ["", -1];
  for (let hue = 0; hue < 360; hue += 10)
    for (const [lightness, saturation] of [[0.28, 0.7], [0.36, 0.9], [0.45, 0.75], [0.52, 0.3], [0.6, 0.8], [0.7, 0.7]]) {
      const color = hex(hue, saturation, lightness);
      if (Math.abs(brightness(color) - 0.47) > 0.17) continue; // to be seen on white and on black
      const least = Math.min(...taken.map((other) => difference(color, other)));
      if (least > most) [best, most] = [color, least];
    }
  return best;
}

const channels = (color: string) => [1, 3, 5].map((from) => parseInt(color.slice(from, from + 2), 16) / 255);

function brightness(color: string): number {
  const [r, g, b] = channels(color);
  return 0.21 * r + 0.72 * g + 0.07 * b;
}

/** How different two colours look: the eye sees green best. */
function difference(a: string, b: string): number {
  const other = channels(b);
  return Math.hypot(...channels(a).map((value, k) => [2, 3, 1][k] * (value - other[k])));
}

/** three's colours know no "hsl()" with spaces, nor do inputs: six digits do for all. */
function hex(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (n: number) => {
    const k = (n + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

export interface Theme {
  background: string;
  grid: string;
  gridStrong: string;
  text: string;
  muted: string;
  ground: string;
  joint: string;
  closure: string;
  trace: string;
  force: string;
  applied: string;
  select: string;
  spring: string;
}

const light: Theme = {
  background: "#f6f8fb",
  grid: "#dfe5ee",
  gridStrong: "#c9d2df",
  text: "#17202e",
  muted: "#5b6779",
  ground: "#8b97a8",
  joint: "#39424f",
  closure: "#d6336c",
  trace: "#d6336c",
  force: "#d9480f",
  applied: "#1864ab",
  select: "#0b7285",
  spring: "#5c7a29",
};

const dark: Theme = {
  background: "#10151d",
  grid: "#1e2733",
  gridStrong: "#2c3849",
  text: "#e7edf5",
  muted: "#94a2b5",
  ground: "#6f7d90",
  joint: "#c4cedb",
  closure: "#ff6b9d",
  trace: "#ff6b9d",
  force: "#ff922b",
  applied: "#74c0fc",
  select: "#3bc9db",
  spring: "#a9c46c",
};

const preference = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : preference.matches;
}

export function theme(): Theme {
  return isDark() ? dark : light;
}

export function onThemeChange(listener: () => void): void {
  preference.addEventListener("change", listener);
  document.addEventListener("themechange", listener);
}

export function toggleTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  document.dispatchEvent(new Event("themechange"));
}
