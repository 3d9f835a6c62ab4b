// Reactions: the largest are listed, and those that rigid bodies do not determine are marked wherever they appear.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, complaints, launch, LINKWORK, linkwork, open, page, picture, readCsv, run, saved, time } from "./browser.mjs";

let columns; // not unique

before(async () => {
  await launch();
  run("five_bar_redundant", "redundant", "--end", "0.5");
  run("five_bar_redundant", "coarse", "--end", "0.5", "--step", "0.01");
  columns = JSON.parse(readFileSync("redundant/summary.json", "utf8")).not_unique;
  assert.ok(columns.length > 0);
});
after(close);

const redundant = () => open(path.resolve("redundant/report.html"));
const canvasLabel = (pane) => pane.locator("canvas").getAttribute("aria-label");

/** Shows forces, and says of each arrow what it is and whether it is hollow. */
async function arrows() {
  if (!(await page.evaluate(() => linkwork.view.mechanisms[0].arrows.group.visible))) await page.keyboard.press("v");
  await picture();
  return page.evaluate(() => linkwork.view.mechanisms[0].arrows.all.filter((one) => one.parts).map((one) => ({ doubt: one.doubt, hollow: one.parts.shaft.children[0].isLineSegments === true, label: one.label })));
}

async function add(pane, name) {
  await pane.getByRole("combobox", { name: "Add a column" }).fill(name);
  const offered = await pane.getByRole("option").first().textContent();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  return offered;
}

test("arrows are hollow, and the scale, the menu and the names say so", async () => {
  await redundant();
  const all = await arrows();
  assert.ok(all.some(({ doubt }) => doubt));
  for (const { doubt, hollow, label } of all) {
    assert.equal(hollow, doubt === "not unique");
    assert.equal(label.endsWith("(not unique)"), hollow);
  }
  assert.match(await page.locator(".scales").textContent(), /hollow arrows: not unique/);
  await page.locator("summary", { hasText: "forces" }).click();
  assert.match(await page.locator(".menu[open]").textContent(), /Hollow arrows are not unique.*do not determine/);
  assert.deepEqual(complaints, []);
});

test("curves are dotted; legend, axis, list and table of the plot say so", async () => {
  await redundant();
  const pane = page.locator(".pane").first();
  const [name] = columns.filter((column) => column.startsWith("force."));
  assert.equal(await add(pane, name), `${name} (not unique)`);
  const chip = pane.locator(".chip.open");
  assert.equal(await chip.locator("span").first().textContent(), `${name} (not unique)`);
  assert.match(await chip.locator(".swatch").evaluate((swatch) => swatch.style.background), /repeating-linear-gradient/);
  assert.match(await canvasLabel(pane), new RegExp(`; ${name} \\(N\\), not unique$`));
  await pane.locator("summary").click();
  const table = (await saved(() => pane.getByRole("button", { name: "Save the data shown" }).click())).toString();
  assert.ok(table.split("\n")[0].includes(`${name} (not unique) (N)`), table.split("\n")[0]);
  await pane.locator("summary").click();
  const svg = (await saved(() => pane.getByRole("button", { name: "Save as a vector picture" }).click())).toString();
  assert.ok(svg.includes(`>${name} (not unique)</text>`) && /stroke-dasharray="2 3"/.test(svg));
  await add(pane, "force.theta2.z");
  assert.match(await canvasLabel(pane), /force \(N\), some not unique$/);
});

test("so is what is drawn over such a reaction, or its spectrum", async () => {
  await redundant();
  const pane = page.locator(".pane").first();
  const [name] = columns;
  await pane.getByLabel("Horizontal axis").selectOption(name);
  assert.match(await canvasLabel(pane), new RegExp(`; ${name} \\(N\\), not unique; `));
  for (const line of await page.evaluate(() => linkwork.plots.panes[0].lines.map(({ dash }) => dash))) assert.deepEqual(line, [2, 3]);
  await add(pane, name);
  await pane.getByLabel("Horizontal axis").selectOption({ label: "over frequency" });
  assert.match(await canvasLabel(pane), /not unique\); .*not unique$/);
});

test("and the difference of two runs", async () => {
  linkwork("report", "redundant", "coarse", "-o", "both.html");
  await open(path.resolve("both.html"));
  const pane = page.locator(".pane").first();
  await add(pane, columns[0]);
  await page.getByRole("button", { name: "Difference from redundant" }).click();
  assert.equal(await pane.locator(".chip.open span").first().textContent(), `Δ ${columns[0]} · coarse (not unique)`);
});

test("the largest loads are those of the rows, lead to their moment, and are marked", async () => {
  run("four_bar", "four", "--end", "1");
  await open(path.resolve("four/report.html"));
  await page.getByRole("tab", { name: "Summary" }).click();
  const table = page.getByRole("region", { name: "Largest loads" });
  const rows = readCsv("four");
  const strength = (row) => Math.hypot(row["force.theta.x"], row["force.theta.y"], row["force.theta.z"]);
  const worst = rows.reduce((a, b) => (strength(b) > strength(a) ? b : a));
  const line = table.locator("tr", { has: page.locator("th", { hasText: /^theta$/ }) });
  const shown = parseFloat(await line.locator("td").first().textContent());
  assert.ok(Math.abs(shown - strength(worst)) < 1e-3 * strength(worst), `${shown} is not ${strength(worst)}`);
  await line.getByRole("button").first().click();
  assert.ok(Math.abs((await time()) - worst.t) < 1e-9);
  assert.doesNotMatch(await table.textContent(), /not unique/);
  await redundant();
  await page.getByRole("tab", { name: "Summary" }).click();
  const cells = await table.locator("tbody tr").evaluateAll((all) => all.map((row) => [row.querySelector("th").textContent, row.querySelector("td").textContent]));
  assert.ok(cells.length > 0);
  for (const [name, text] of cells) assert.equal(/not unique/.test(text), columns.some((column) => column.startsWith(`force.${name}.`)), `${name}: ${text}`);
  assert.deepEqual(complaints, []);
});

/** A server of the program, while `use` has its address. */
async function serving(args, use) {
  const server = spawn(LINKWORK, ["view", "--no-browser", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await use(await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim()))));
  } finally {
    server.kill();
  }
}

test("a run by the clock marks them from its first row", async () => {
  for (const [model, expected] of [["five_bar_redundant", "not unique"], ["four_bar", ""]])
    await serving([model, "--realtime", "--end", "60"], async (address) => {
      await open(address);
      await page.waitForFunction(() => linkwork.plots.runs[0].rows > 5, null, { polling: 50 });
      assert.equal(await page.evaluate(() => linkwork.plots.runs[0].summary), null);
      const all = await arrows();
      assert.ok(all.length > 0);
      assert.equal(all.find(({ doubt }) => doubt)?.doubt ?? "", expected);
    });
});

test("a run of modules is judged as a whole", async () => {
  await serving(["parallel_four_bar_modules", "--end", "0.1"], async (address) => {
    run("parallel_four_bar_modules", "modules", "--end", "0.1");
    const { not_unique: expected } = JSON.parse(readFileSync("modules/summary.json", "utf8"));
    await open(address);
    await page.waitForFunction(() => linkwork.plots.runs[0].summary !== null, null, { polling: 50 });
    assert.deepEqual(await page.evaluate(() => linkwork.plots.runs[0].summary.not_unique), expected);
  });
});

test("of a run that is followed nobody knows before its end", async () => {
  mkdirSync("going", { recursive: true });
  for (const file of ["scene.json", "trajectory.csv"]) copyFileSync(`redundant/${file}`, `going/${file}`);
  await serving(["going"], async (address) => {
    await open(address);
    await page.waitForFunction(() => linkwork.plots.runs[0].rows > 10, null, { polling: 50 });
    const before = await arrows();
    assert.ok(before.length > 0);
    for (const { doubt, hollow } of before) assert.deepEqual([doubt, hollow], ["perhaps not unique", true]);
    copyFileSync("redundant/summary.json", "going/summary.json");
    await page.waitForFunction(() => linkwork.plots.runs[0].summary !== null, null, { polling: 50 });
    await page.waitForFunction(() => linkwork.view.mechanisms[0].arrows.doubt === "not unique", null, { polling: 50 });
    assert.ok((await arrows()).every(({ doubt }) => doubt !== "perhaps not unique"));
  });
});
