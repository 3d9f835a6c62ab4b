// Pages of large runs open and move quickly: what they compute is bounded, however many rows there are.
import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { close, complaints, computed, launch, open, page, picture, run, time } from "./browser.mjs";

before(launch);
after(close);

const TIMES = 10;
/** Milliseconds for each of some calls in the page. */
const each = async (call) => (await computed(() => page.evaluate(call, TIMES))) / TIMES;

test("three hundred bodies are drawn, moved and found", async () => {
  const file = run("chain", "chain", "--set", "n=300", "--end", "0.3", "--step", "0.001");
  const opened = await computed(() => open(file));
  assert.equal(await page.evaluate(() => linkwork.view.mechanisms[0].bodies.length), 301);
  assert.ok((await picture()).colors > 50);
  const moved = await each((times) => {
    for (let k = 0; k < times; k++) linkwork.player.seek(0.03 * k);
  });
  const drawn = await each((times) => {
    for (let k = 0; k < times; k++) linkwork.view.render();
  });
  console.log(`300 bodies: opened in ${opened.toFixed(0)} ms, moved in ${moved.toFixed(1)} ms, drawn in ${drawn.toFixed(1)} ms`);
  assert.ok(opened < 4000 && moved < 60 && drawn < 60, `${opened}, ${moved}, ${drawn} ms`);
  await page.locator("summary", { hasText: "bodies" }).click();
  await page.getByLabel("Find a body").fill("300");
  assert.equal(await page.locator(".body-row").count(), 1);
  assert.deepEqual(complaints, []);
});

test("a million rows are thinned to a page that is small and quick, and says so", async () => {
  const file = run("pendulum", "long", "--end", "1000", "--every", "0.001");
  rmSync("long/trajectory.csv");
  assert.ok(statSync(file).size < 4e6, `${statSync(file).size} bytes`);
  const opened = await computed(() => open(file));
  const [shown, all] = await page.evaluate(() => [linkwork.plots.runs[0].rows, linkwork.plots.runs[0].allRows]);
  assert.equal(all, 1_000_001);
  assert.ok(shown > 10_000 && shown <= 20_001, String(shown));
  assert.match(await page.locator(".notices").textContent(), /shows 15,626 of 1,000,001 rows, one in 64/);
  await page.keyboard.press("End");
  assert.equal(await time(), 1000);
  const moved = await each((times) => {
    for (let k = 0; k < times; k++) linkwork.player.seek(100 * k);
  });
  const plotted = await each((times) => {
    for (let k = 0; k < times; k++) linkwork.plots.panes[0].rebuild();
  });
  console.log(`1,000,001 rows: opened in ${opened.toFixed(0)} ms, moved in ${moved.toFixed(1)} ms, a plot made in ${plotted.toFixed(1)} ms`);
  assert.ok(opened < 4000 && moved < 60 && plotted < 300, `${opened}, ${moved}, ${plotted} ms`);
  assert.deepEqual(complaints, []);
});
