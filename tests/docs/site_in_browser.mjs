// The documentation in a real browser, opened as a file: node site_in_browser.mjs, with SITE (the folder with index.html), WEB_TREE (where
// playwright-core is), SOURCE_DIR and CHROMIUM in the environment. Exit code 77: there is no site.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

const { SITE } = process.env;
if (!existsSync(path.join(SITE, "index.html"))) {
  console.log("the site was not built");
  process.exit(77);
}
const browser = await import(path.join(process.env.SOURCE_DIR, "tests/browser/browser.mjs"));
const PAGES = ["index", "start", "tutorials/suspension", "made/gallery", "made/models/four_bar", "theory/formulations", "which-method", "model-format",
  "made/command-line", "made/python-api", "made/cpp-api", "made/results", "develop/map", "messages", "glossary", "file-formats", "tutorials/glued-modules",
  "theory/distribution", "getting-started", "first-script", "first-robot", "tutorials/parallel-robot", "tutorials/research", "tutorials/cpp-program",
  "tutorials/large-assembly", "network", "benchmarks", "studies", "made/changelog"];

before(browser.launch);
after(browser.close);

async function open(name) {
  browser.complaints.length = 0;
  await browser.page.goto(`file://${SITE}/${name}`, { waitUntil: "load" });
}

test("pages load without errors, and nothing from elsewhere", async () => {
  for (const name of PAGES) {
    await open(`${name}.html`);
    assert.deepEqual(browser.complaints, [], name);
  }
});

test("neither a phone nor a desktop need scroll sideways", async () => {
  for (const [width, height] of [[390, 844], [1400, 900]]) {
    await browser.page.setViewportSize({ width, height });
    for (const name of PAGES) {
      await open(`${name}.html`);
      const beyond = await browser.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(beyond <= 1, `${name} is ${beyond} px too wide for ${width}`);
    }
  }
  await browser.page.setViewportSize({ width: 1200, height: 760 });
});

test("on a phone, keys of model files and options of commands are read without scrolling, and options stay in one piece", async () => {
  await browser.page.setViewportSize({ width: 390, height: 844 });
  await open("model-format.html");
  const tables = await browser.page.locator("table.keys").evaluateAll((all) => all.map((table) => table.scrollWidth - table.parentElement.clientWidth));
  assert.ok(tables.length > 10 && tables.every((beyond) => beyond <= 1), tables.join(" "));
  for (const [name, things, many] of [["made/command-line", "dl.myst dd", 100], ["theory/formulations", "table.keys td[data-label]", 40]]) {
    await open(`${name}.html`);
    const beyond = await browser.page.locator(things).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right - window.innerWidth));
    assert.ok(beyond.length > many && beyond.every((by) => by <= 1), `${name}: ${Math.max(...beyond)} of ${beyond.length}`);
  }
  await open("which-method.html");
  const torn = await browser.page.locator(".highlight-sh .whole, article code .whole").evaluateAll((all) => all.filter((word) => word.getClientRects().length > 1).length);
  assert.equal(torn, 0);
  await browser.page.setViewportSize({ width: 1200, height: 760 });
});

test("search finds a word and leads to its page", async () => {
  await open("search.html?q=baumgarte");
  const link = browser.page.locator("#search-results li a").first();
  await link.waitFor();
  const titles = await browser.page.locator("#search-results li a").allTextContents();
  assert.ok(titles.some((title) => title.includes("Drift control")), titles.join("; "));
  await link.click();
  await browser.page.waitForLoadState();
  assert.ok((await browser.page.textContent("article")).toLowerCase().includes("baumgarte"));
});

test("dark where the reader's system is, and where the reader asks for it", async () => {
  const brightness = () => browser.page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
    return (r + g + b) / 3;
  });
  // Those that are shown, whether or not they have been fetched yet.
  const films = () => browser.page.locator("figure img").evaluateAll(
    (all) => all.filter((film) => getComputedStyle(film).display !== "none").map((film) => film.className).join());
  await browser.page.emulateMedia({ colorScheme: "light" });
  await open("index.html");
  assert.ok((await brightness()) > 200);
  assert.equal(await films(), "for-light");
  await browser.page.emulateMedia({ colorScheme: "dark" });
  assert.ok((await brightness()) < 60);
  assert.equal(await films(), "for-dark");
  await browser.page.emulateMedia({ colorScheme: "light" });
  await browser.page.evaluate(() => document.querySelector(".theme-toggle").click());
  assert.ok((await brightness()) < 60);
  assert.equal(await films(), "for-dark");
  await open("develop/map.html");
  const filter = () => browser.page.locator("article img").evaluate((diagram) => getComputedStyle(diagram).filter);
  assert.match(await filter(), /invert/);
  await browser.page.evaluate(() => localStorage.clear());
  await open("develop/map.html");
  assert.equal(await filter(), "none");
});

test("formulas are set", async () => {
  await open("theory/formulations.html");
  assert.ok((await browser.page.locator(".formula .katex-html").count()) > 8);
  assert.ok(await browser.page.evaluate(() => document.fonts.check("16px KaTeX_Math")));
});
