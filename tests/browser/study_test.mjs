// The page of a study in a real browser: node study_test.mjs, with LINKWORK (the program), WEB_TREE (where the page's packages are)
// and CHROMIUM in the environment, in an empty directory.
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

/** A page with these data, made from the template as the program makes it. */
function pageOf(study) {
  const template = readFileSync(path.join(WEB_TREE, "study.html"), "utf8");
  const json = JSON.stringify(study).replaceAll("<", "\\u003c");
  writeFileSync("made.html", template.replace("@LINKWORK_CONNECT@", "'none'").replace("@LINKWORK_DATA@", () => json));
  return path.resolve("made.html");
}

const invented = {
  name: "invented",
  title: "An <b>invented</b> study",
  reference: "Key2000",
  citation: "Somebody",
  quick: false,
  version: "0",
  wall_seconds: 1,
  parts: [{ title: "Only part", text: "First.\n\nSecond." }],
  claims: [
    { part: 0, id: "one", text: "Right", published: "1", measured: "1.00", holds: "yes", why: "" },
    { part: 0, id: "two", text: "Nearly", published: "2", measured: "2.2", holds: "partly", why: "rounding" },
    { part: 0, id: "three", text: "Wrong", published: "3", measured: "5", holds: "no", why: "a misprint" },
    { part: 0, id: "four", text: "Fast", published: "4 s", measured: "not measured", holds: "not measured", why: "busy" },
  ],
  tables: [{ part: 0, title: "Numbers", columns: ["what", "value"], rows: [["a", 1.25], ["b", null]], caption: "" }],
  figures: [
    {
      part: 0,
      title: "Decay",
      x_label: "n",
      y_label: "error",
      x_log: true,
      y_log: true,
      caption: "falls",
      series: [
        { name: "fast", style: "line-points", x: [1, 10, 100], y: [1, 1e-2, 1e-4] },
        { name: "slow", style: "dashed", x: [1, 10, 100], y: [1, null, 1e-2] },
      ],
    },
  ],
};

async function open(file) {
  complaints = [];
  await page.goto(`file://${file}`);
  await page.waitForSelector("main");
  await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("canvas")));
}

/** How many colours the figure has: one if nothing is drawn. */
function colors(chart) {
  return chart.locator("canvas").evaluate((canvas) => {
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size;
  });
}

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

test("every study shows each claim with its verdict, and draws every figure", async () => {
  const names = execFileSync(LINKWORK, ["list", "studies"], { encoding: "utf8" }).trimEnd().split("\n").map((line) => line.split(" ")[0]);
  assert.ok(names.length > 0);
  for (const name of names) {
    execFileSync(LINKWORK, ["study", name, "--quick", "--quiet", "--out", name]);
    const study = JSON.parse(readFileSync(path.join(name, "study.json"), "utf8"));
    await open(path.resolve(name, "study.html"));
    assert.deepEqual(complaints, []);
    const words = { yes: "✓ holds", partly: "◐ holds partly", no: "✗ does not hold", "not measured": "– not measured" };
    for (const claim of study.claims) {
      const card = page.locator(`#claim-${claim.id}`);
      assert.equal(await card.locator("h4").textContent(), claim.text);
      assert.equal(await card.locator(".verdict").textContent(), words[claim.holds]);
    }
    const charts = page.locator(".chart");
    assert.equal(await charts.count(), study.figures.length);
    for (let k = 0; k < study.figures.length; k++) assert.ok((await colors(charts.nth(k))) > 5, study.figures[k].title);
    assert.equal(await page.locator(".table-block").count(), study.tables.length);
  }
});

test("a claim that does not hold is shown as such, with the reason", async () => {
  await open(pageOf(invented));
  assert.deepEqual(complaints, []);
  assert.equal(await page.locator("h1").textContent(), "An <b>invented</b> study");
  assert.deepEqual(await page.locator(".score").allTextContents(), ["1holds", "1holds partly", "1does not hold", "1not measured"]);
  const wrong = page.locator("#claim-three");
  assert.match(await wrong.textContent(), /does not hold.*Published3.*Measured5.*Whya misprint/);
  const tones = await page.locator(".claim").evaluateAll((cards) => cards.map((card) => getComputedStyle(card).borderLeftColor));
  assert.equal(new Set(tones).size, 4);
});

test("figures hide curves, tell values and are saved", async () => {
  await open(pageOf(invented));
  const chart = page.locator(".chart");
  const picture = () => chart.locator("canvas").evaluate((canvas) => canvas.toDataURL());
  const whole = await picture();
  const fast = chart.getByRole("button", { name: "fast" });
  await fast.click();
  assert.equal(await fast.getAttribute("aria-pressed"), "false");
  assert.notEqual(await picture(), whole);
  await fast.click();
  assert.equal(await picture(), whole);

  // The middle of the curve, on logarithmic axes from 1 to 100 and from 1e-4 to 1.
  const box = await chart.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  assert.equal(await chart.locator(".reading").textContent(), "fast: 10, 0.01");

  const save = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), chart.getByRole("button", { name }).click()]);
    return readFileSync(await download.path());
  };
  assert.equal((await save("CSV")).toString(), '"series","n","error"\n"fast",1,1\n"fast",10,0.01\n"fast",100,0.0001\n"slow",1,1\n"slow",10,\n"slow",100,0.01\n');
  assert.equal((await save("PNG")).subarray(1, 4).toString(), "PNG");
  assert.deepEqual(complaints, []);
});

test("fits a phone and the dark", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  try {
    await open(pageOf(invented));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(10, 14, 20)");
  } finally {
    await page.setViewportSize({ width: 1200, height: 760 });
    await page.emulateMedia({ colorScheme: "light" });
  }
});
