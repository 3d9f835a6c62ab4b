// Draws report_four_bar.png and report_stewart.png: node report_pages.mjs PROGRAM WEB_TREE, where PROGRAM is build/linkwork and
// WEB_TREE is build/web, with the packages of the tests (./dev test). CHROMIUM names the browser, if it is not /usr/bin/chromium.
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [program, webTree] = process.argv.slice(2).map((argument) => path.resolve(argument));
const { chromium } = createRequire(path.join(webTree, "package.json"))("playwright-core");
const here = path.dirname(fileURLToPath(import.meta.url));
const work = mkdtempSync(path.join(tmpdir(), "linkwork-pages-"));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1.25 });

async function draw(model, t, image, prepare) {
  execFileSync(program, ["run", model, "--end", "6", "--quiet", "--out", path.join(work, model), ...prepare.options]);
  await page.goto(`file://${path.join(work, model, "report.html")}`);
  await page.waitForFunction(() => window.linkwork !== undefined);
  await prepare.page();
  await page.evaluate((moment) => linkwork.player.seek(moment), t);
  await page.mouse.move(2, 2);
  await page.evaluate(() => {
    document.activeElement?.blur();
    linkwork.view.render();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  await page.screenshot({ path: path.join(here, image) });
}

const forces = () => page.keyboard.press("v");
const trace = async (label) => {
  await page.locator("details.menu summary", { hasText: "traces" }).click();
  await page.getByLabel("Find a point").fill(label.split(" (")[0]);
  await page.getByLabel(label, { exact: true }).check();
  await page.keyboard.press("Escape");
};

await draw("four_bar", 2.02, "report_four_bar.png", {
  options: ["--set", "torque=0"],
  page: async () => {
    await trace("coupler (center of mass)");
    await forces();
  },
});
await draw("stewart", 1.25, "report_stewart.png", { options: [], page: forces });
await browser.close();
