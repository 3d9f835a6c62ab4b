// How soon 'linkwork view MODEL' answers a slider: node page_latency.mjs PROGRAM WEB_TREE [MODEL PARAMETER], where PROGRAM is build/linkwork
// and WEB_TREE is build/web, with the packages of the tests (./dev test). CHROMIUM names the browser, if it is not /usr/bin/chromium.
//
// Answered: from the move to the rows in the page. Drawn: to the next picture. Without a graphics card the picture takes most of it.
// Computed: the time of a processor that server and page take, which a busy machine hardly changes. With NO_PICTURE=1 in the environment the
// view is not drawn: what remains does not depend on the graphics card.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [program, webTree, model = "four_bar", parameter = "torque"] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(webTree), "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const server = spawn(program, ["view", "--no-browser", model], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  await page.goto(await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim()))));
  await page.waitForFunction(() => window.linkwork?.live && !linkwork.live.asking);
  if (process.env.NO_PICTURE) await page.evaluate(() => (linkwork.view.invalidate = () => {}));
  const move = (part) =>
    page.evaluate(
      async ([name, share]) => {
        const slider = document.querySelector(`.slider input[type="range"][aria-label="${name}"]`);
        const from = performance.now();
        slider.value = String(Number(slider.min) + share * (Number(slider.max) - Number(slider.min)));
        slider.dispatchEvent(new Event("input"));
        while (linkwork.live.asking) await new Promise((done) => setTimeout(done, 1));
        const whole = performance.now() - from;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return { answered: linkwork.live.milliseconds, whole, drawn: performance.now() - from };
      },
      [parameter, part],
    );
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const ofPage = async () => 1e3 * (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ThreadTime").value;
  const ofServer = () => {
    const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return 10 * (Number(fields[11]) + Number(fields[12])); // hundredths of a second
  };
  const all = [];
  for (let k = 0; k < 15; k++) {
    await page.waitForTimeout(500);
    const before = [ofServer(), await ofPage()];
    const made = await move(0.3 + 0.03 * k);
    all.push({ ...made, server: ofServer() - before[0], page: (await ofPage()) - before[1] });
  }
  const text = (name) => {
    const times = all.map((one) => one[name]).sort((a, b) => a - b);
    return `${times[7].toFixed(0)} ms (${times[0].toFixed(0)} to ${times[14].toFixed(0)})`;
  };
  console.log(`${model}, ${parameter}, ${all.length} moves: first rows after ${text("answered")}, the whole run after ${text("whole")}, drawn after ${text("drawn")}`);
  console.log(`computed: server ${text("server")}, page ${text("page")}${process.env.NO_PICTURE ? "" : " with its picture"}`);
} finally {
  server.kill();
  await browser.close();
}
