// A model that the server runs anew as its parameters and inputs are moved ('linkwork view MODEL').
import { button } from "./controls";
import type { LiveModel, Run, Scene, Summary } from "./data";
import { element, roundDown, short } from "./dom";

/** The head of an answer; rows follow it, number by number. */
interface Answer {
  run: number;
  done: boolean;
  error?: string;
  columns?: string[]; // with the first rows of a run
  not_unique?: string[]; // with them
  scene_id?: number;
  scene?: Scene; // unless it is the one that is here
  summary?: Summary;
}

export interface LiveNews {
  begins: boolean; // these rows are the first of a run
  anew: boolean; // the first run, or as in the file again
  rows: Float64Array;
  scene: Scene | null;
  summary: Summary | null;
  done: boolean;
}

interface Slider {
  key: string; // "p.torque", "u.motor"
  value: number;
  start: number; // as in the file
  moved: boolean;
  show(): void;
}

export class Live {
  readonly root: HTMLElement;
  private readonly sliders: Slider[] = [];
  private readonly state = element("output", { class: "hint", role: "status" });
  private current = -1; // the run that rows are taken from
  private at = 0; // rows of it that are here
  private scene: number; // the scene that is here
  private anew = true;
  private wanted = false; // something was moved since it was last asked
  private asking = false;
  private asked = 0;
  milliseconds = NaN; // from a change to its first rows

  constructor(
    private readonly model: LiveModel,
    private readonly run: Run,
    private readonly onNews: (news: LiveNews) => void,
  ) {
    const { parameters, inputs, paced } = model;
    this.scene = model.scene;
    const rows = [
      ...parameters.map(({ name, value, start, whole }) => this.slider(`p.${name}`, name, value, start, whole)),
      ...inputs.filter((input) => !input.recorded).map(({ name, value }) => this.slider(`u.${name}`, name, value, value, false)),
    ];
    const restart = button(paced ? "start again" : "as in the file", paced ? "Start the run again" : "All values as in the file", () => {
      if (!paced)
        for (const slider of this.sliders) {
          slider.value = slider.start;
          slider.moved = false;
          slider.show();
        }
      this.anew = true;
      this.change();
    });
    const nothing = rows.length === 0 ? element("p", { class: "hint" }, "This model has neither parameters nor inputs to move.") : null;
    this.root = element("div", { class: "live", role: "group", "aria-label": "Parameters and inputs" }, element("div", { class: "live-head" }, restart, this.state), nothing, element("div", { class: "sliders" }, ...rows));
    this.change();
  }

  private slider(key: string, name: string, value: number, start: number, whole: boolean): HTMLElement {
    const [low, high] = start > 0 ? [0, 2 * start] : start < 0 ? [2 * start, 0] : [-1, 1];
    const range = element("input", { type: "range", min: Math.min(low, value), max: Math.max(high, value), step: whole ? 1 : roundDown((high - low) / 300), value, "aria-label": name, oninput: () => set(Number(range.value)) });
    const field = element("input", { type: "number", step: "any", value: short(value, 6), "aria-label": `${name}, value`, onchange: () => set(Number(field.value)) });
    const slider: Slider = {
      key,
      value,
      start,
      moved: value !== start,
      show: () => {
        if (slider.value < Number(range.min)) range.min = String(slider.value);
        if (slider.value > Number(range.max)) range.max = String(slider.value);
        range.value = String(slider.value);
        if (document.activeElement !== field) field.value = short(slider.value, 6);
      },
    };
    const set = (next: number) => {
      if (!Number.isFinite(next)) return;
      slider.value = next;
      slider.moved = true;
      slider.show();
      if (this.model.paced && key.startsWith("u.")) void this.ask(`input?${this.query([slider])}`);
      else this.change();
    };
    this.sliders.push(slider);
    return element("div", { class: "slider" }, element("span", { class: key.startsWith("u.") ? "input" : "" }, name), range, field);
  }

  private query(sliders: Slider[]): string {
    return sliders.filter(({ moved }) => moved).map(({ key, value }) => `${encodeURIComponent(key)}=${value}`).join("&");
  }

  /** Asks for a run with the values of now; of many changes only the last counts. */
  private change(): void {
    this.asked = performance.now();
    this.wanted = true;
    void this.go();
  }

  private async go(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    for (;;) {
      const fresh = this.wanted;
      this.wanted = false;
      const target = fresh ? `run?scene=${this.scene}&${this.query(this.sliders)}` : `more?scene=${this.scene}&run=${this.current}&from=${this.at}`;
      const done = await this.ask(target);
      if (done && !this.wanted) break;
    }
    this.asking = false;
  }

  /** Whether there is nothing more to come. */
  private async ask(target: string): Promise<boolean> {
    try {
      const response = await fetch(`${this.model.path}${target}`, { cache: "no-store" });
      if (!response.ok) throw new Error(await response.text());
      const buffer = await response.arrayBuffer();
      const length = new DataView(buffer).getUint32(0, true);
      const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Answer;
      if (target.startsWith("input")) return true;
      if (answer.error) {
        this.state.textContent = answer.error;
        this.state.classList.add("bad");
        return true;
      }
      if (answer.columns && answer.columns.join() !== this.run.columns.join()) {
        location.reload(); // another mechanism: other plots
        return true;
      }
      const rows = new Float64Array(buffer.slice(4 + length));
      if (answer.run !== this.current) [this.current, this.at] = [answer.run, 0];
      const begins = this.at === 0 && rows.length > 0;
      if (answer.not_unique) this.run.notUnique = answer.not_unique;
      if (begins && answer.scene) this.scene = answer.scene_id!;
      this.at += rows.length / this.run.columns.length;
      if (rows.length > 0 || answer.summary) this.onNews({ begins, anew: begins && this.anew, rows, scene: begins ? (answer.scene ?? null) : null, summary: answer.summary ?? null, done: answer.done });
      if (begins) {
        this.milliseconds = performance.now() - this.asked;
        this.anew = false;
      }
      const ended = answer.summary && answer.summary.status !== "done" && !answer.summary.status.startsWith("ended");
      this.state.classList.toggle("bad", Boolean(ended));
      this.state.textContent = ended ? answer.summary!.status : this.model.paced ? (answer.done ? "the run has ended" : "running by the clock") : `answered in ${this.milliseconds.toFixed(0)} ms`;
      return answer.done;
    } catch (error) {
      this.state.textContent = `The server does not answer: ${String(error)}`;
      this.state.classList.add("bad");
      return true;
    }
  }
}
