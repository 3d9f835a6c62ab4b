// The report page in a real browser: node report_test.mjs, with LINKWORK (the program), WEB_TREE (where the page's packages are),
// SOURCE_DIR and CHROMIUM in the environment, in an empty directory.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, complaints, launch, LINKWORK, linkwork, models, open, page, picture, readCsv, run, SOURCE_DIR, time } from "./browser.mjs";

const playing = () => page.evaluate(() => linkwork.player.playing);
const menu = (name) => page.locator("details.menu summary", { hasText: name });

/** Moves the slider as a user would, and lets the page react. */
function scrub(row) {
  return page.evaluate((value) => {
    const slider = document.querySelector('.timeline input[type="range"]');
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
  }, String(row));
}

before(async () => {
  await launch();
  run("four_bar", "four", "--end", "3");
});

after(close);

const fourBar = () => path.resolve("four/report.html");

test("loads without errors and asks nobody for anything", async () => {
  await open(fourBar());
  await picture();
  assert.deepEqual(complaints, []);
  assert.equal(await page.title(), "four-bar · Linkwork");
});

test("the picture is not blank, and changes when played", async () => {
  await open(fourBar());
  const still = await picture();
  assert.ok(still.colors > 50, `${still.colors} colours`);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction(() => linkwork.player.t > 0.3);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  assert.ok((await picture()).url !== still.url);
});

test("scrubbing shows the poses of the trajectory", async () => {
  await open(fourBar());
  const rows = readCsv("four");
  for (const row of [0, 57, 130, 300]) {
    await scrub(row);
    assert.equal(await time(), rows[row].t);
    const { p, q } = await page.evaluate(() => linkwork.pose("coupler"));
    const angle = 2 * Math.atan2(q[3], q[0]);
    const tip = [p[0] + 4 * Math.cos(angle), p[1] + 4 * Math.sin(angle)];
    assert.ok(Math.abs(tip[0] - rows[row]["p.C.x"]) < 1e-5 && Math.abs(tip[1] - rows[row]["p.C.y"]) < 1e-5, `row ${row}: ${tip}`);
  }
});

test("every joint type is drawn where it is", async () => {
  run(path.join(models, "all_joints.toml"), "joints");
  linkwork("report", "joints", "--double", "-o", "joints/double.html");
  const rows = readCsv("joints");
  for (const [file, tolerance] of [["report.html", 2e-6], ["double.html", 1e-12]]) {
    await open(path.resolve("joints", file));
    for (const row of [0, 4, 10]) {
      await scrub(row);
      for (let body = 1; body <= 12; body++) {
        const drawn = await page.evaluate((name) => linkwork.pose(name), `b${body}`);
        const expected = ["x", "y", "z", "qw", "qx", "qy", "qz"].map((part) => rows[row][`x.b${body}.${part}`]);
        const sign = drawn.q.reduce((sum, value, k) => sum + value * expected[3 + k], 0) < 0 ? -1 : 1;
        const found = [...drawn.p, ...drawn.q.map((value) => sign * value)];
        const worst = Math.max(...found.map((value, k) => Math.abs(value - expected[k])));
        assert.ok(worst < tolerance, `${file}, row ${row}, b${body}: off by ${worst}`);
      }
    }
  }
});

test("the keyboard reaches every control", async () => {
  await open(fourBar());
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("button, select, input, summary, canvas, [tabindex='0']")];
    const shown = all.filter((item) => item.tabIndex >= 0 && !item.disabled && item.checkVisibility() && !item.closest("details:not([open]) > div"));
    return shown.map((item, k) => (item.dataset.probe = String(k)));
  });
  await page.evaluate(() => document.activeElement.blur());
  const reached = new Set();
  for (let k = 0; k < wanted.length + 15; k++) {
    await page.keyboard.press("Tab");
    const probe = await page.evaluate(() => document.activeElement?.dataset?.probe);
    if (probe !== undefined) reached.add(probe);
  }
  assert.deepEqual([...reached].sort(), [...wanted].sort());
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, canvas")]
      .filter((item) => !item.getAttribute("aria-label") && !item.textContent.trim() && !item.labels?.length)
      .map((item) => item.outerHTML),
  );
  assert.deepEqual(nameless, []);
});

test("the keyboard plays, steps, and turns the view", async () => {
  await open(fourBar());
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Space");
  assert.equal(await playing(), true);
  await page.keyboard.press("Space");
  assert.equal(await playing(), false);
  await page.keyboard.press("End");
  assert.equal(await time(), 3);
  await page.keyboard.press("ArrowLeft");
  assert.ok(Math.abs((await time()) - 2.99) < 1e-9);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok(Math.abs((await time()) - 0.11) < 1e-9);
  await page.keyboard.press("]");
  assert.equal(await page.evaluate(() => linkwork.player.speed), 2);
  await page.keyboard.press("l");
  assert.equal(await page.getByRole("button", { name: "Loop" }).getAttribute("aria-pressed"), "false");

  let last = (await picture()).url;
  const changes = async (key) => {
    await page.keyboard.press(key);
    const { url } = await picture();
    assert.ok(url !== last, `key ${key} changes nothing`);
    last = url;
  };
  for (const key of ["2", "3", "1", "v"]) await changes(key);
  await page.locator(".viewport canvas").focus();
  for (const key of ["ArrowLeft", "ArrowUp", "Shift+ArrowRight", "+", "-", "f", "0"]) await changes(key);

  await page.keyboard.press("?");
  assert.ok(await page.getByRole("dialog").isVisible());
  await page.keyboard.press("Escape");
  await page.getByRole("slider", { name: "Time" }).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.ok(Math.abs((await time()) - 0.01) < 1e-9);
  await page.getByRole("tab", { name: "Plots" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.getByRole("tabpanel", { name: "Summary" }).isVisible());
  assert.deepEqual(complaints, []);
});

test("plots find columns, go logarithmic and against each other, and are saved", async () => {
  await open(fourBar());
  await page.getByRole("button", { name: "Add a plot" }).click();
  const pane = page.getByRole("region", { name: "Plot" }).last();
  await page.keyboard.type("v phi");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.equal(await pane.locator(".chip span").nth(0).textContent(), "v.phi");
  await pane.getByLabel("Horizontal axis").selectOption("q.phi");
  assert.ok(await pane.locator(".now.dot").isVisible());
  const save = async (name) => {
    await pane.locator("summary").click();
    const [download] = await Promise.all([page.waitForEvent("download"), pane.getByRole("button", { name }).click()]);
    return readFileSync(await download.path());
  };
  const table = (await save("Save the data shown")).toString().trimEnd().split("\n");
  assert.equal(table[0], "q.phi (rad),v.phi (rad/s)");
  assert.equal(table.length, 302);
  assert.ok(Math.abs(Number(table[101].split(",")[1]) - readCsv("four")[100]["v.phi"]) < 1e-5);
  assert.equal((await save("Save as a picture")).subarray(1, 4).toString(), "PNG");
  await pane.getByRole("button", { name: "Logarithmic axis" }).click();
  await pane.getByRole("button", { name: "Remove v.phi" }).click();
  assert.match(await pane.textContent(), /Choose columns/);
  await pane.getByRole("button", { name: "Remove this plot" }).click();
  await page.locator(".area").first().focus();
  const before = await page.locator(".area canvas").first().evaluate((canvas) => canvas.toDataURL());
  await page.keyboard.press("+");
  await page.waitForFunction((old) => document.querySelector(".area canvas").toDataURL() !== old, before);
  await page.keyboard.press("0");
  // A click on a plot goes to that moment.
  await page.locator(".u-over").first().click({ position: { x: 100, y: 20 } });
  assert.ok((await time()) > 0);
  assert.deepEqual(complaints, []);
});

test("names appear on hover, and traces of chosen points", async () => {
  await open(fourBar());
  await page.getByRole("button", { name: "Names of bodies" }).click();
  await picture();
  const label = await page.locator(".names span", { hasText: "coupler" }).boundingBox();
  await page.mouse.move(label.x + label.width / 2 + 1, label.y + label.height / 2);
  await page.mouse.move(label.x + label.width / 2, label.y + label.height / 2);
  await page.waitForFunction(() => document.querySelector(".tooltip").textContent === "coupler");
  const before = (await picture()).url;
  await menu("traces").click();
  await page.getByLabel("Find a point").fill("center coupler");
  await page.getByLabel("coupler (center of mass)").check();
  assert.ok((await picture()).url !== before);
  assert.deepEqual(complaints, []);
});

test("the summary is the run's, and the model's text is there", async () => {
  await open(fourBar());
  await page.getByRole("tab", { name: "Summary" }).click();
  const summary = JSON.parse(readFileSync("four/summary.json", "utf8"));
  const text = await page.getByRole("tabpanel", { name: "Summary" }).textContent();
  for (const part of ["Constraint error", "Energy drift", summary.formulation, ...summary.notes, String(summary.final["q.theta"])])
    assert.ok(text.includes(part), part);
  await page.getByRole("tab", { name: "Model" }).click();
  assert.equal(await page.locator("pre").textContent(), readFileSync(path.join(SOURCE_DIR, "models/four_bar.toml"), "utf8"));
});

test("how a run of modules kept pace with the clock is there", async () => {
  await open(run("four_bar_modules", "paced", "--end", "0.2", "--step", "0.01", "--realtime"));
  await page.getByRole("tab", { name: "Summary" }).click();
  const { realtime } = JSON.parse(readFileSync("paced/summary.json", "utf8"));
  const panel = page.getByRole("tabpanel", { name: "Summary" });
  const text = await panel.textContent();
  for (const part of ["Modules and glue", "Real time", `${realtime.overruns} of 20 steps`, "Steps by lateness"]) assert.ok(text.includes(part), part);
  const bars = await panel.locator("progress").evaluateAll((all) => all.map((bar) => bar.value));
  assert.equal(bars.reduce((sum, steps) => sum + steps, 0), 20);
  assert.deepEqual(complaints, []);
});

test("events can be read on a desk and on a phone", async () => {
  await open(run("latch", "latch"));
  await page.getByRole("tab", { name: "Summary" }).click();
  for (const width of [1200, 360]) {
    await page.setViewportSize({ width, height: 740 });
    const cells = await page.locator(".events tbody tr").first().locator("td, th").evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().width));
    assert.equal(cells.length, 6);
    for (const cell of cells) assert.ok(cell >= 40, `${width}: ${cells}`);
    assert.ok(cells[2] >= 150, `${width}: ${cells}`);
  }
  await page.setViewportSize({ width: 1200, height: 760 });
});

test("the lines of three runs have different marks in the legend", async () => {
  const folders = ["0", "1", "2"].map((torque) => (run("four_bar", `torque${torque}`, "--end", "0.1", "--set", `torque=${torque}`), `torque${torque}`));
  linkwork("report", ...folders, "--out", "three.html");
  await open(path.resolve("three.html"));
  const marks = await page.locator(".chips").first().locator(".swatch").evaluateAll((all) => all.map((swatch) => swatch.style.background));
  assert.ok(marks.length >= 3);
  assert.equal(new Set(marks).size, marks.length);
});

test("hostile names are shown as text", async () => {
  await open(run(path.join(models, "hostile.toml"), "hostile"));
  await page.getByRole("button", { name: "Names of bodies" }).click();
  for (const name of ["traces", "forces", "bodies"]) await menu(name).click();
  for (const tab of ["Summary", "Errors", "Model", "Plots"]) await page.getByRole("tab", { name: tab }).click();
  await picture();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("h1").textContent(), "<img src=x onerror='hacked=1'><!--");
  assert.equal(await page.locator(".names span").textContent(), "<img src=x onerror='hacked=2'>");
  assert.deepEqual(complaints, []);
});

test("two runs are laid over each other and subtracted", async () => {
  run("four_bar", "other", "--end", "2", "--set", "torque=3", "--every", "0.02");
  linkwork("report", "four", "other", "-o", "both.html");
  await open(path.resolve("both.html"));
  await scrub(100);
  const both = await picture();
  const rows = readCsv("other");
  const { p } = await page.evaluate(() => linkwork.pose("coupler", 1));
  assert.ok(Math.abs(p[0] - Math.cos(rows[50]["q.theta"])) < 1e-5, "the ghost is not where its run is");
  const label = await page.locator(".chip span").first().textContent();
  assert.equal(label, "q.theta · four");
  await page.getByRole("button", { name: "Difference from four" }).click();
  const [chip, value] = await page.locator(".chip").first().locator("span").allTextContents();
  assert.equal(chip, "Δ q.theta · other");
  const expected = rows[50]["q.theta"] - readCsv("four")[100]["q.theta"];
  assert.ok(Math.abs(parseFloat(value) - expected) < 1e-4 * Math.abs(expected), `${value} is not ${expected}`);
  await page.getByRole("checkbox", { name: "other" }).uncheck();
  assert.ok((await picture()).url !== both.url);
  assert.deepEqual(complaints, []);
});

test("fits a phone and the dark", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  try {
    await open(fourBar());
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(background, "rgb(10, 14, 20)");
    assert.ok((await picture()).colors > 50);
  } finally {
    await page.setViewportSize({ width: 1200, height: 760 });
    await page.emulateMedia({ colorScheme: "light" });
  }
});

/** The answer of a server to a request under a given host name. */
function statusFor(address, host) {
  return new Promise((done, fail) => {
    const sent = request(address, { headers: { host } }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    sent.on("error", fail);
    sent.end();
  });
}

test("view follows a run that is still going, on this machine only", async () => {
  mkdirSync("going", { recursive: true });
  copyFileSync("four/scene.json", "going/scene.json");
  const [header, ...lines] = readFileSync("four/trajectory.csv", "utf8").trimEnd().split("\n");
  writeFileSync("going/trajectory.csv", `${[header, ...lines.slice(0, 100)].join("\n")}\n${lines[100].slice(0, 20)}`);
  const server = spawn(LINKWORK, ["view", "going", "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = await new Promise((done) => server.stdout.once("data", (text) => done(String(text).trim())));
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    assert.equal(await statusFor(address, "evil.example"), 403);
    await open(address);
    await page.waitForFunction(() => linkwork.plots.runs[0].rows === 100);
    appendFileSync("going/trajectory.csv", `${lines[100].slice(20)}\n${lines.slice(101).join("\n")}\n`);
    await page.waitForFunction(() => linkwork.plots.runs[0].rows === 301);
    assert.equal(await time(), 3);
    copyFileSync("four/summary.json", "going/summary.json");
    await page.waitForFunction(() => linkwork.plots.runs[0].summary !== null);
    const foreign = complaints.filter((complaint) => !complaint.startsWith(address));
    assert.deepEqual(foreign, []);
  } finally {
    server.kill();
  }
  assert.ok(existsSync("going/summary.json"));
});
