// The page of a comparison in a real browser: node compare_test.mjs, with LINKWORK (the program), WEB_TREE (where the page's packages
// are) and CHROMIUM in the environment, in an empty directory.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

const { LINKWORK, WEB_TREE, CHROMIUM } = process.env;
const { chromium } = createRequire(path.join(WEB_TREE, "package.json"))("playwright-core");

let context;
let page;
let complaints = []; // errors and requests of the page, which must not be

const row = (formulation, step, error, wall, more = {}) => ({
  problem: "",
  coordinates: "TA",
  formulation,
  stabilization: "projection",
  integrator: "rk4",
  step,
  rtol: null,
  atol: null,
  status: "ran",
  reason: "",
  error,
  error_coordinate: "q.theta",
  error_time: 1,
  position_error: 1e-12,
  velocity_error: 1e-11,
  energy_drift: 10 * error,
  steps: Math.round(1 / step),
  rejected_steps: 0,
  evaluations: Math.round(4 / step),
  us_per_evaluation: (1e6 * wall * step) / 4,
  wall_seconds: wall,
  repeats: 3,
  simulated_seconds: 1,
  ...more,
});

const invented = {
  model: "an <b>invented</b> model",
  end: 1,
  every: 0.01,
  references: [{ problem: "", method: "tight", check: "less tight", estimated_error: 1e-10, evaluations: 1, wall_seconds: 1, trouble: "" }],
  rows: [
    row("slow", 0.01, 1e-5, 0.02),
    row("slow", 0.001, 1e-9, 0.2),
    row("fast", 0.01, 2e-5, 0.001),
    row("fast", 0.001, 1e-12, 0.01),
    row("broken", 0.01, null, null, { status: "stopped", reason: "stopped at t = 0 s: <i>it</i> broke" }),
    row("broken", 0.001, null, null, { status: "stopped", reason: "stopped at t = 0 s: <i>it</i> broke" }),
  ],
};

/** A page with these data, made from the template as the program makes it. */
function pageOf(comparison) {
  const template = readFileSync(path.join(WEB_TREE, "compare.html"), "utf8");
  const json = JSON.stringify(comparison).replaceAll("<", "\\u003c");
  writeFileSync("made.html", template.replace("@LINKWORK_CONNECT@", "'none'").replace("@LINKWORK_DATA@", () => json));
  return path.resolve("made.html");
}

async function open(file) {
  complaints = [];
  await page.goto(`file://${file}`);
  await page.waitForSelector("main");
  await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("canvas")));
}

/** How many colours the figure has: few if nothing is drawn. */
function colors(chart) {
  return chart.locator("canvas").evaluate((canvas) => {
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
  });
}

const cells = (column) => page.locator(`.runs-table tbody td:nth-child(${column})`).allTextContents();

before(async () => {
  const profile = mkdtempSync(path.join(tmpdir(), "linkwork-browser-"));
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: ["--no-sandbox", ...quiet],
    viewport: { width: 1200, height: 760 },
    acceptDownloads: true,
  });
  page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(20_000);
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("request", (sent) => {
    if (!/^(file|data|blob):/.test(sent.url())) complaints.push(sent.url());
  });
});

after(() => context?.close());

test("the page of a real comparison shows every run and draws every figure", async () => {
  const lists = ["--formulations", "schur,lagrange", "--integrators", "rk4,dopri45", "--steps", "4e-3,2e-3", "--tolerances", "1e-4,1e-6"];
  execFileSync(LINKWORK, ["compare", "five_bar_redundant", "--end", "0.2", "--quiet", "--out", "real", ...lists]);
  await open(path.resolve("real/compare.html"));
  assert.deepEqual(complaints, []);
  assert.equal(await page.title(), "five-bar-redundant: methods compared · Linkwork");
  const { rows } = JSON.parse(readFileSync("real/compare.json", "utf8"));
  assert.equal((await cells(1)).length, rows.filter((made) => made.status === "ran").length);
  const charts = page.locator(".chart");
  assert.ok((await charts.count()) >= 2);
  for (let k = 0; k < (await charts.count()); k++) assert.ok((await colors(charts.nth(k))) > 5, `figure ${k}`);
  assert.match(await page.getByRole("region", { name: "What did not run" }).textContent(), /needs independent constraint rows/);
});

test("names from the model are text, never markup", async () => {
  await open(pageOf(invented));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator("h1").textContent(), "an <b>invented</b> model: methods compared");
  assert.equal(await page.locator("main b, main td i:not(.swatch)").count(), 0);
});

test("the best of each column is marked, and errors below the reference's are not told apart", async () => {
  await open(pageOf(invented));
  assert.deepEqual(await cells(3), ["1.00e-5", "1.00e-9", "2.00e-5", "★ < 1.00e-10"]);
  assert.deepEqual((await cells(9)).map((text) => text.startsWith("★")), [false, false, true, false]);
});

test("a click on a title sorts by the column, up, down, and as given", async () => {
  await open(pageOf(invented));
  const title = page.getByRole("button", { name: "Wall, s" });
  const walls = async () => (await cells(9)).map((text) => Number(text.replace("★ ", "")));
  await title.click();
  assert.deepEqual(await walls(), [0.001, 0.01, 0.02, 0.2]);
  assert.equal(await page.locator('th[aria-sort="ascending"]').count(), 1);
  await title.click();
  assert.deepEqual(await walls(), [0.2, 0.02, 0.01, 0.001]);
  await title.click();
  assert.deepEqual(await walls(), [0.02, 0.2, 0.001, 0.01]);
  assert.equal(await page.locator("th[aria-sort]").count(), 0);
});

test("filters take methods out of table and figures, and bring them back", async () => {
  await open(pageOf(invented));
  const button = page.getByRole("group", { name: "Formulation" }).getByRole("button", { name: "slow" });
  await button.click();
  assert.equal((await cells(1)).length, 2);
  assert.deepEqual(await page.locator(".chart").first().locator(".chip").allTextContents(), ["fast", "error of the reference"]);
  await button.click();
  assert.equal((await cells(1)).length, 4);
});

test("what failed for one reason stands in one line", async () => {
  await open(pageOf(invented));
  const lines = page.getByRole("region", { name: "What did not run" }).locator("tbody tr");
  assert.equal(await lines.count(), 1);
  assert.match(await lines.textContent(), /broken.*step 0.01, step 0.001.*stopped.*<i>it<\/i> broke/);
});

test("figures say what the point under the cursor is", async () => {
  await open(pageOf(invented));
  const chart = page.locator(".chart").first();
  const over = chart.locator(".u-over");
  const box = await over.boundingBox();
  let text = "";
  for (let x = 4; x < box.width && !/step/.test(text); x += 12)
    for (let y = 4; y < box.height && !/step/.test(text); y += 12) {
      await page.mouse.move(box.x + x, box.y + y);
      const reading = chart.locator(".reading");
      if (await reading.isVisible()) text = await reading.textContent();
    }
  assert.match(text, /(slow|fast).*step 0\.0/);
});

test("the table is saved as a file", async () => {
  await open(pageOf(invented));
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator(".section-head button").click()]);
  const lines = readFileSync(await saved.path(), "utf8").trimEnd().split("\n");
  assert.equal(lines.length, 7);
  assert.match(lines[0], /^problem,coordinates,formulation/);
});

test("cases of a parameter get a figure of their own", async () => {
  const rows = [2, 4].flatMap((n) => [row("slow", 0.01, 1e-5, 0.02 * n * n, { problem: `n=${n}` }), row("fast", 0.01, 1e-5, 0.001 * n, { problem: `n=${n}` })]);
  const references = [2, 4].map((n) => ({ ...invented.references[0], problem: `n=${n}` }));
  await open(pageOf({ ...invented, rows, references }));
  assert.equal(await page.getByRole("heading", { name: "Cost over n" }).count(), 1);
  assert.deepEqual(complaints, []);
});
