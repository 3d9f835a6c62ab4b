// Rows of a run that is still going, asked from the server the page came from ('linkwork view').
import type { Run, Summary } from "./data";

export interface News {
  rows: number[][];
  summary: Summary | null;
}

export class Following {
  private at = 0; // bytes of trajectory.csv already here
  private failures = 0;

  constructor(
    private readonly run: Run,
    private readonly onNews: (news: News) => void,
    private readonly onEnd: (reason: "done" | "lost") => void,
  ) {
    void this.ask();
  }

  private async ask(): Promise<void> {
    try {
      const answer = await fetch(`rows?from=${this.at}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const ended = answer.headers.get("x-run-ended") === "1";
      this.at = Number(answer.headers.get("x-next"));
      const rows = parse(await answer.text(), this.run.columns.length);
      this.failures = 0;
      if (rows.length === 0 && ended) {
        const summary = (await (await fetch("summary.json", { cache: "no-store" })).json()) as Summary;
        this.onNews({ rows, summary });
        this.onEnd("done");
        return;
      }
      if (rows.length > 0) this.onNews({ rows, summary: null });
      setTimeout(() => void this.ask(), rows.length > 0 || ended ? 100 : 500);
    } catch {
      if (++this.failures > 5) this.onEnd("lost");
      else setTimeout(() => void this.ask(), 1000);
    }
  }
}

function parse(text: string, columns: number): number[][] {
  const rows: number[][] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const row = line.split(",").map(Number);
    if (row.length === columns) rows.push(row);
  }
  return rows;
}
