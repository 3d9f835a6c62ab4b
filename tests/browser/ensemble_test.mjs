// The pages of sweeps and optimizations in a real browser: node ensemble_test.mjs, with LINKWORK (the program), WEB_TREE, SOURCE_DIR and
// CHROMIUM in the environment, in an empty directory.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, complaints, launch, linkwork, page, WEB_TREE } from "./browser.mjs";

before(launch);
after(close);

async function open(file) {
  complaints.length = 0;
  await page.goto(`file://${path.resolve(file)}`);
  await page.waitForSelector("main");
}

const colors = (canvas) =>
  canvas.evaluate((drawn) => {
    const pixels = new Uint32Array(drawn.getContext("2d").getImageData(0, 0, drawn.width, drawn.height).data.buffer);
    return new Set(pixels).size;
  });

test("the page of a sweep draws every pair, opens a run by a click, and tells what failed", async () => {
  linkwork("sweep", "four_bar", "--end", "0.2", "--grid", "l1=0.5:9:3", "--sample", "torque=uniform(0,6)", "--runs", "5", "--measure", "fast=max(v.theta)", "--measure", "final(q.phi)", "--keep", "q.theta,q.phi", "--trajectories", "--out", "swept", "--quiet");
  await open("swept/sweep.html");
  assert.deepEqual(complaints, []);
  assert.equal(await page.title(), "four-bar: 15 runs · Linkwork");
  const cells = page.locator(".matrix canvas");
  assert.equal(await cells.count(), 10); // 4 series: 4 histograms and 6 clouds
  for (let k = 0; k < 10; k++) assert.ok((await colors(cells.nth(k))) > 3, `cell ${k}`);
  assert.equal(await page.locator(".envelope").count(), 2);
  assert.ok((await colors(page.locator(".envelope canvas").first())) > 10);
  assert.match(await page.getByRole("region", { name: "What failed" }).textContent(), /11, 12, 13, 14, 15.*cut/);
  const best = page.getByRole("region", { name: "Best runs" }).locator("tbody tr");
  assert.equal(await best.count(), 10);
  const run = await best.first().locator("td").first().textContent();
  await best.first().click();
  const opened = page.locator(".opened");
  assert.match(await opened.textContent(), new RegExp(`Run ${run}`));
  assert.match(await opened.locator("code").textContent(), /^linkwork run four_bar --end 0.2 --set l1=[\d.]+ --set torque=[\d.]+$/);
  assert.equal(await opened.locator("a").getAttribute("href"), `runs/${run.padStart(6, "0")}/trajectory.csv`);
  await opened.getByRole("button", { name: "Close" }).click();
  assert.equal(await opened.isVisible(), false);
});

test("a dot of the scatter matrix says which run it is and opens it", async () => {
  await open("swept/sweep.html");
  const cloud = page.getByRole("img", { name: "fast over torque" });
  const box = await cloud.boundingBox();
  let text = "";
  for (let x = 2; x < box.width && !text; x += 6)
    for (let y = 2; y < box.height && !text; y += 6) {
      await page.mouse.move(box.x + x, box.y + y);
      const reading = await page.locator(".matrix p").textContent();
      if (/^Run \d+: torque .*, fast /.test(reading)) {
        text = reading;
        await page.mouse.click(box.x + x, box.y + y);
      }
    }
  assert.match(text, /^Run/);
  assert.equal(await page.locator(".opened h2").textContent(), text.split(":")[0]);
});

test("what is shown and sorted by can be chosen", async () => {
  await open("swept/sweep.html");
  await page.getByRole("group", { name: "Shown" }).getByRole("button", { name: "l1" }).click();
  assert.equal(await page.locator(".matrix canvas").count(), 6);
  await page.getByLabel("Sorted by").selectOption("final(q.phi)");
  const column = async () => (await page.getByRole("region", { name: "Best runs" }).locator("td.best").allTextContents()).map(Number);
  const up = await column();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  await page.getByRole("button", { name: "Largest first" }).click();
  const down = await column();
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  assert.deepEqual(complaints, []);
});

test("the page of a fit shows data, history and confidence", async () => {
  linkwork("run", "pendulum", "--set", "l=0.83", "--end", "1", "--columns", "q.theta", "--out", "made", "--quiet", "--no-report");
  linkwork("optimize", "pendulum", "--fit", "made/trajectory.csv", "--over", "l=0.5:2", "--out", "fit", "--quiet");
  await open("fit/optimize.html");
  await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("canvas")));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator(".chart").count(), 3);
  const found = await page.getByRole("region", { name: "What was found" }).textContent();
  assert.match(found, /l1?1?0\.8[23]/);
  assert.equal(await page.locator(".bounds .range").count(), 1);
  assert.match(await page.locator("code").textContent(), /^linkwork run pendulum --set l=0\.8/);
});

test("names from the model are text, never markup", async () => {
  const invented = {
    kind: "sweep", model: "<b>bold</b>", runs: 2, failed: 1, sampling: "grid", samples: 0, seed: 1,
    parameters: [{ name: "<i>p</i>", kind: "grid" }], measures: [], constraint_error_max: 1, energy_drift_max: null,
    failures: [{ run: 2, status: "<u>broken</u>" }], command: "linkwork run '<s>'", folders: false, stride: 1, run: [1, 2],
    row_status: ["done", "<u>broken</u>"], columns: { "<i>p</i>": [1, 2], constraint_error: [1, null], energy_drift: [null, null] },
  };
  const template = readFileSync(path.join(WEB_TREE, "ensemble.html"), "utf8");
  writeFileSync("made.html", template.replace("@LINKWORK_CONNECT@", "'none'").replace("@LINKWORK_DATA@", () => JSON.stringify(invented).replaceAll("<", "\\u003c")));
  await open("made.html");
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator("h1").textContent(), "<b>bold</b>: 2 runs");
  assert.equal(await page.locator("main b, main u, main i, main s").count(), 0);
});
