// The dialog that saves a film.
import { button } from "./controls";
import type { Run } from "./data";
import { download, element, fileName, short } from "./dom";
import { describeFilm, type FilmChoice, filmFormats, makeFilm } from "./film";
import type { Player } from "./player";
import type { View } from "./view";

const LABELS = { gif: "GIF (everywhere, large files)", webm: "WebM video", mp4: "MP4 video" };

export class FilmDialog {
  readonly root: HTMLDialogElement;
  private readonly format = element("select", { "aria-label": "Format" });
  private readonly width = element("select", { "aria-label": "Width" }, ...[360, 480, 640, 960, 1280, 1920].map((value) => element("option", { value, selected: value === 640 }, `${value} pixels`)));
  private readonly rate = element("select", { "aria-label": "Frames per second" }, ...[10, 12.5, 20, 25, 50].map((value) => element("option", { value, selected: value === 20 }, `${value} per second`)));
  private readonly speed = element("input", { type: "number", min: 0.001, step: "any", value: 1, "aria-label": "Speed of the film" });
  private readonly from = element("input", { type: "number", step: "any", "aria-label": "From, s" });
  private readonly to = element("input", { type: "number", step: "any", "aria-label": "To, s" });
  private readonly extent = element("p", { class: "hint", role: "status" });
  private readonly bar = element("progress", { max: 1, value: 0, "aria-label": "Progress", hidden: true });
  private readonly start: HTMLButtonElement;
  private stopped = false;
  private busy = false;

  constructor(
    private readonly view: View,
    private readonly runs: Run[],
    private readonly player: Player,
  ) {
    this.start = button("Save", "Save the film", () => void this.make(), { class: "primary" });
    const row = (name: string, field: HTMLElement) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, field));
    const table = element("table", {}, element("tbody", {}, row("format", this.format), row("width", this.width), row("frames", this.rate), row("speed", this.speed), row("from, s", this.from), row("to, s", this.to)));
    this.root = element("dialog", { class: "film", "aria-label": "Save a film" }, element("h2", {}, "Save a film"), table, this.extent, this.bar, element("div", { class: "dialog-tools" }, this.start, button("Close", "Close the dialog", () => this.close())));
    for (const field of [this.format, this.width, this.rate, this.speed, this.from, this.to]) field.addEventListener("input", () => this.tell());
    this.root.addEventListener("cancel", () => (this.stopped = true));
  }

  open(): void {
    this.player.pause();
    if (this.format.options.length === 0)
      void filmFormats().then((formats) => {
        this.format.replaceChildren(...formats.map((value) => element("option", { value }, LABELS[value])));
        this.tell();
      });
    this.speed.value = String(this.player.speed);
    this.from.value = short(this.player.start, 6);
    this.to.value = short(Math.min(this.player.end, this.player.start + 10 * this.player.speed), 6);
    this.bar.hidden = true;
    this.tell();
    this.root.showModal();
  }

  private close(): void {
    this.stopped = true;
    if (!this.busy) this.root.close();
  }

  private get choice(): FilmChoice {
    const { canvas } = this.view;
    const width = Number(this.width.value);
    return {
      format: this.format.value as FilmChoice["format"],
      width,
      height: Math.round((width * canvas.clientHeight) / Math.max(canvas.clientWidth, 1)),
      rate: Number(this.rate.value),
      speed: Number(this.speed.value),
      from: Number(this.from.value),
      to: Number(this.to.value),
    };
  }

  private tell(): void {
    const { from, to, speed } = this.choice;
    const right = to > from && speed > 0 && (to - from) / speed <= 600;
    this.start.disabled = !right || this.busy;
    this.extent.textContent = right ? describeFilm(this.choice) : "Choose a time span of at most 600 s of film.";
  }

  private async make(): Promise<void> {
    const { choice } = this;
    const before = this.player.t;
    this.busy = true;
    this.stopped = false;
    this.start.disabled = true;
    this.bar.hidden = false;
    try {
      const film = await makeFilm(this.view, choice, (part) => {
        this.bar.value = part;
        return !this.stopped;
      });
      if (film) download(`${fileName(this.runs[0].scene.name)}.${choice.format}`, film);
      this.extent.textContent = film ? `saved: ${(film.size / 1e6).toFixed(1)} MB` : "stopped";
    } catch (error) {
      this.extent.textContent = `This browser cannot make it: ${String(error)}`;
    }
    this.busy = false;
    this.start.disabled = false;
    this.player.seek(before);
    if (this.stopped) this.root.close();
  }
}
