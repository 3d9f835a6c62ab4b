// The page of a study: what a paper claims, what was measured, and whether it holds; with the tables and figures behind it.
import { Chart, type ChartData } from "./chart";
import { toggleTheme } from "./colors";
import { element, short } from "./dom";

type Holds = "yes" | "partly" | "no" | "not measured";
type Cell = string | number | null;

interface Part {
  title: string;
  text: string;
}

interface Claim {
  part: number;
  id: string;
  text: string;
  published: string;
  measured: string;
  holds: Holds;
  why: string;
}

interface Table {
  part: number;
  title: string;
  columns: string[];
  rows: Cell[][];
  caption: string;
}

interface Study {
  name: string;
  title: string;
  reference: string;
  citation: string;
  quick: boolean;
  version: string;
  wall_seconds: number;
  parts: Part[];
  claims: Claim[];
  tables: Table[];
  figures: (ChartData & { part: number })[];
}

const verdicts: Record<Holds, { text: string; mark: string; tone: string }> = {
  yes: { text: "holds", mark: "✓", tone: "good" },
  partly: { text: "holds partly", mark: "◐", tone: "fair" },
  no: { text: "does not hold", mark: "✗", tone: "bad" },
  "not measured": { text: "not measured", mark: "–", tone: "open" },
};

function verdict(holds: Holds): HTMLElement {
  const { text, mark, tone } = verdicts[holds];
  return element("span", { class: `verdict ${tone}` }, element("span", { "aria-hidden": "true" }, mark), ` ${text}`);
}

function claimCard(claim: Claim): HTMLElement {
  const fact = (name: string, value: string) => (value ? [element("dt", {}, name), element("dd", {}, value)] : []);
  return element(
    "article",
    { class: `claim ${verdicts[claim.holds].tone}`, id: `claim-${claim.id}` },
    element("div", { class: "claim-head" }, element("h4", {}, claim.text), verdict(claim.holds)),
    element("dl", {}, ...fact("Published", claim.published), ...fact("Measured", claim.measured), ...fact("Why", claim.why)),
  );
}

function cell(value: Cell): HTMLElement {
  const isNumber = typeof value === "number";
  return element("td", { class: typeof value === "string" ? undefined : "number" }, value === null ? "–" : isNumber ? short(value) : value);
}

function tableBlock(table: Table): HTMLElement {
  const isNumeric = (column: number) => column > 0 && table.rows.every((row) => typeof row[column] !== "string");
  const head = element("tr", {}, ...table.columns.map((name, column) => element("th", { scope: "col", class: isNumeric(column) ? "number" : undefined }, name)));
  const body = table.rows.map(([first, ...rest]) =>
    element("tr", {}, element("th", { scope: "row" }, typeof first === "number" ? short(first) : (first ?? "–")), ...rest.map(cell)),
  );
  return element(
    "figure",
    { class: "table-block" },
    element("h4", {}, table.title),
    element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": table.title }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))),
    table.caption ? element("figcaption", {}, table.caption) : null,
  );
}

function paragraphs(text: string): HTMLElement[] {
  return text.split(/\n\n+/).filter(Boolean).map((part) => element("p", {}, part));
}

function partSection(study: Study, part: Part, index: number): HTMLElement {
  const own = <T extends { part: number }>(all: T[]) => all.filter((item) => item.part === index);
  const figures = own(study.figures).map((figure) => new Chart(figure).root);
  return element(
    "section",
    { id: `part-${index}` },
    element("h2", {}, part.title),
    element("div", { class: "prose" }, ...paragraphs(part.text)),
    element("div", { class: "claims" }, ...own(study.claims).map(claimCard)),
    ...own(study.tables).map(tableBlock),
    figures.length > 0 ? element("div", { class: "figures" }, ...figures) : null,
  );
}

function scoreboard(claims: Claim[]): HTMLElement {
  const counts = (Object.keys(verdicts) as Holds[]).map((holds) => {
    const count = claims.filter((claim) => claim.holds === holds).length;
    const { text, tone } = verdicts[holds];
    return element("div", { class: `score ${tone}` }, element("b", {}, String(count)), count === 1 ? text : text.replace("holds", "hold").replace("does", "do"));
  });
  return element("div", { class: "scores" }, ...counts);
}

function overview(study: Study): HTMLElement {
  const rows = study.claims.map((claim) =>
    element(
      "tr",
      {},
      element("td", {}, verdict(claim.holds)),
      element("td", {}, element("a", { href: `#claim-${claim.id}` }, claim.text)),
      element("td", { class: "small" }, claim.published),
      element("td", { class: "small" }, claim.measured),
    ),
  );
  const head = element("tr", {}, ...["", "Claim", "Published", "Measured"].map((name) => element("th", { scope: "col" }, name)));
  return element(
    "section",
    { id: "overview" },
    element("h2", {}, "Claims"),
    scoreboard(study.claims),
    element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Claims" }, element("table", { class: "overview" }, element("thead", {}, head), element("tbody", {}, ...rows))),
  );
}

function page(study: Study): void {
  document.title = `${study.title} · Linkwork`;
  const facts = [study.citation || study.reference, study.quick ? "quick: smaller sizes and shorter runs" : "", `Linkwork ${study.version}, ${short(study.wall_seconds, 3)} s`].filter(Boolean);
  const links = study.parts.map((part, index) => element("a", { href: `#part-${index}` }, part.title));
  document.body.append(
    element(
      "header",
      {},
      element("div", { class: "title" }, element("h1", {}, study.title), element("p", {}, facts.join("  ·  "))),
      element("div", { class: "corner" }, element("button", { class: "icon", title: "Light or dark", "aria-label": "Light or dark", onclick: () => toggleTheme() }, "◐")),
    ),
    element("div", { class: "study" }, element("nav", { "aria-label": "Parts" }, element("a", { href: "#overview" }, "Claims"), ...links), element("main", {}, overview(study), ...study.parts.map((part, index) => partSection(study, part, index)))),
  );
}

page(JSON.parse(document.getElementById("data")!.textContent!) as Study);
