// 'linkwork view MODEL': sliders that run the model anew, and inputs of a run that goes by the clock.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { close, complaints, launch, LINKWORK, linkwork, open, page, picture, readCsv, run } from "./browser.mjs";

before(launch);
after(close);

/** Serves a model while `use` has its address. */
async function serving(args, use) {
  const server = spawn(LINKWORK, ["view", "--no-browser", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = await new Promise((done, fail) => {
      server.stdout.once("data", (text) => done(String(text).trim()));
      server.once("exit", (code) => fail(new Error(`view ended with ${code}`)));
    });
    await use(address);
  } finally {
    server.kill();
  }
}

const foreign = (address) => complaints.filter((complaint) => !complaint.startsWith(address));
const settled = () => page.waitForFunction(() => linkwork.live.state.textContent.startsWith("answered") && !linkwork.live.asking, null, { polling: 20 });
const slide = (name, value) =>
  page.evaluate(
    ([label, number]) => {
      const slider = document.querySelector(`.slider input[type="range"][aria-label="${label}"]`);
      slider.value = String(number);
      slider.dispatchEvent(new Event("input"));
    },
    [name, value],
  );

test("a slider gives the run that the command line gives", async () => {
  run("four_bar", "weak", "--end", "2", "--set", "torque=2");
  await serving(["four_bar", "--end", "2"], async (address) => {
    await open(address);
    await settled();
    await slide("torque", 2);
    await page.waitForFunction(() => linkwork.live.sliders.find(({ key }) => key === "p.torque").value === 2);
    await settled();
    const rows = readCsv("weak");
    const shown = await page.evaluate(() => {
      const [one] = linkwork.plots.runs;
      return [one.rows, one.find("q.theta")[one.rows - 1], one.summary.status];
    });
    assert.deepEqual(shown, [rows.length, rows[rows.length - 1]["q.theta"], "done"]);
    assert.deepEqual(foreign(address), []);
  });
});

// How long an answer takes depends on the machine: bench/page_latency.mjs measures it. What it takes to answer does not.
test("a move of a slider costs one run, and sends only what has changed", async () => {
  await serving(["four_bar", "--end", "2"], async (address) => {
    await open(address);
    await settled();
    const asked = [];
    const note = async (response) => {
      const body = await response.body();
      const head = JSON.parse(body.subarray(4, 4 + body.readUInt32LE(0)).toString());
      asked.push({ what: new URL(response.url()).pathname.split("/").at(-1), run: head.run, scene: "scene" in head });
    };
    page.on("response", note);
    for (const [name, value] of [["torque", 1], ["torque", 3], ["l2", 4.2]]) {
      asked.length = 0;
      await slide(name, value);
      await settled();
      await page.waitForTimeout(100);
      assert.equal(asked.filter(({ what }) => what === "run").length, 1, JSON.stringify(asked));
      assert.equal(new Set(asked.map(({ run }) => run)).size, 1, JSON.stringify(asked));
      assert.equal(asked.some(({ scene }) => scene), name === "l2", `scene, after ${name}: ${JSON.stringify(asked)}`);
    }
    page.off("response", note);
  });
});

test("many moves at once end with the last one", async () => {
  await serving(["four_bar", "--end", "1"], async (address) => {
    await open(address);
    await settled();
    await page.evaluate(() => {
      const slider = document.querySelector('.slider input[aria-label="torque"]');
      for (let k = 1; k <= 40; k++) {
        slider.value = String(k / 10);
        slider.dispatchEvent(new Event("input"));
      }
    });
    await settled();
    run("four_bar", "last", "--end", "1", "--set", "torque=4");
    const rows = readCsv("last");
    assert.equal(await page.evaluate(() => linkwork.plots.runs[0].find("q.theta").at(-1)), rows.at(-1)["q.theta"]);
  });
});

test("another length is drawn, and what cannot be assembled is said", async () => {
  await serving(["four_bar", "--end", "0.2"], async (address) => {
    await open(address);
    await settled();
    const before = (await picture()).url;
    await slide("l2", 4.4);
    await settled();
    assert.ok((await picture()).url !== before, "the picture does not change");
    await slide("l0", 6);
    await page.getByLabel("l0, value").fill("30");
    await page.getByLabel("l0, value").press("Tab");
    await page.waitForFunction(() => linkwork.live.state.classList.contains("bad"), null, { polling: 50 });
    assert.match(await page.locator(".live-head output").textContent(), /assembl|clos/);
    await page.getByRole("button", { name: "All values as in the file" }).click();
    await settled();
    assert.ok((await picture()).url === before, "the picture is not as it was");
  });
});

test("inputs act on a run that goes by the clock", async () => {
  writeFileSync(
    "pushed.toml",
    `linkwork = 1
name = "pushed"
[settings]
gravity = [0, 0, 0]
end = 60
step = 0.001
[[input]]
name = "push"
value = 0
[[body]]
name = "cart"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "slide"
type = "prismatic"
parent = { body = "ground" }
child = { body = "cart" }
axis = [1, 0, 0]
[[force]]
type = "force"
joint = "slide"
value = "u.push"
`,
  );
  linkwork("check", "pushed.toml");
  await serving(["pushed.toml", "--realtime"], async (address) => {
    await open(address);
    await page.waitForFunction(() => linkwork.plots.runs[0].end > 0.2, null, { polling: 50 });
    const still = await page.evaluate(() => linkwork.plots.runs[0].find("v.slide").at(-1));
    assert.equal(still, 0);
    await slide("push", 1);
    await page.waitForFunction(() => linkwork.plots.runs[0].find("v.slide").at(-1) > 0.1, null, { polling: 50 });
    const [velocity, time, pushed] = await page.evaluate(() => {
      const [one] = linkwork.plots.runs;
      const since = one.find("u.push").findIndex((value) => value === 1);
      return [one.find("v.slide").at(-1), one.end, one.time[since]];
    });
    assert.ok(Math.abs(velocity - (time - pushed)) < 0.03, `${velocity} m/s after ${time - pushed} s of 1 N on 1 kg`);
    assert.deepEqual(foreign(address), []);
  });
});

test("what no page of this server asks is not answered", async () => {
  await serving(["four_bar", "--end", "0.1"], async (address) => {
    for (const target of ["live/", "live/00000000000000000000000000000000/run?p.torque=1", "run?p.torque=1"]) assert.equal((await fetch(address + target)).status, 404);
  });
});
