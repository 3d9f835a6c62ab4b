// Small tools of the report page: camera buttons, single rows, pictures, films of a part, finding events, zooming plots.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, complaints, launch, linkwork, models, open, page, picture, probed, run, saved, time } from "./browser.mjs";

before(async () => {
  await launch();
  run("four_bar", "four", "--end", "1");
});
after(close);

const four = () => open(path.resolve("four/report.html"));
const button = (name, where = page) => where.getByRole("button", { name });
const changed = async (act, what) => {
  const before = (await picture()).url;
  await act();
  assert.ok((await picture()).url !== before, `${what} changes nothing`);
};

test("buttons move the camera", async () => {
  await four();
  const first = (await picture()).url;
  for (const name of ["Top view", "Side view", "Front view", "Zoom in", "Zoom out"]) await changed(() => button(name).click(), name);
  await button("Zoom in").click();
  await changed(() => button("Fit (F)").click(), "fit");
  await button("First view").click();
  assert.ok((await picture()).url === first, "the first view is another one");
  assert.deepEqual(complaints, []);
});

test("single rows, speed, loop, theme and help have buttons", async () => {
  await four();
  await button("One row forward").click();
  await button("One row forward").click();
  await button("One row back").click();
  assert.ok(Math.abs((await time()) - 0.01) < 1e-9);
  await page.getByLabel("Speed", { exact: true }).selectOption("0.25");
  assert.equal(await page.evaluate(() => linkwork.player.speed), 0.25);
  await button("Loop").click();
  assert.equal(await page.evaluate(() => linkwork.player.loop), false);
  await changed(() => button("Light or dark").click(), "dark");
  await button("Light or dark").click();
  await button("Keyboard shortcuts").click();
  assert.ok(await page.getByRole("dialog").isVisible());
  await button("Close").first().click();
  assert.ok(!(await page.getByRole("dialog").isVisible()));
  assert.deepEqual(complaints, []);
});

test("the view is saved as a picture with its scale", async () => {
  await four();
  const plain = await saved(() => button("Save the view as a picture").click());
  assert.equal(plain.subarray(1, 4).toString(), "PNG");
  const [width, height] = await page.evaluate(() => [linkwork.view.canvas.width, linkwork.view.canvas.height]);
  assert.deepEqual([plain.readUInt32BE(16), plain.readUInt32BE(20)], [width, height]);
  await page.keyboard.press("v");
  assert.ok(!plain.equals(await saved(() => button("Save the view as a picture").click())), "forces are not in the picture");
});

test("a film can be of a part, and slow", async () => {
  await four();
  await button("Save a film").click();
  await page.waitForFunction(() => document.querySelector(".film select").options.length > 0);
  await page.getByLabel("Format").selectOption("gif");
  await page.getByLabel("Width").selectOption("360");
  await page.getByLabel("Frames per second").selectOption("10");
  await page.getByLabel("From, s").fill("0.9");
  await page.getByLabel("To, s").fill("0.5");
  assert.ok(await button("Save the film").isDisabled(), "a film that ends before it begins");
  await page.getByLabel("To, s").fill("1");
  await page.getByLabel("Speed of the film").fill("0.25");
  const gif = await saved(() => button("Save the film").click());
  const seen = probed("part.gif", gif);
  if (seen) assert.equal(seen[2], 4);
  assert.ok(await page.getByLabel("Progress").isVisible());
  await button("Close the dialog").click();
});

test("plots zoom by dragging, and show all again", async () => {
  await four();
  const span = () =>
    page.evaluate(() => {
      const { min, max } = linkwork.plots.panes[0].plot.scales.x;
      return max - min;
    });
  const whole = await span();
  const drag = async () => {
    const box = await page.locator(".u-over").first().boundingBox();
    await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.2 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.8 * box.height, { steps: 5 });
    await page.mouse.up();
    assert.ok(Math.abs((await span()) / whole - 0.3) < 0.05, `${await span()} of ${whole}`);
  };
  await drag();
  await button("Show the whole curves again").first().click();
  assert.equal(await span(), whole);
  await drag();
  await page.locator(".u-over").first().dblclick();
  await page.waitForFunction((wanted) => Math.abs(linkwork.plots.panes[0].plot.scales.x.max - linkwork.plots.panes[0].plot.scales.x.min - wanted) < 1e-9, whole);
});

test("events are found by words, and the table fits", async () => {
  await open(run("gripper", "grip"));
  const { events } = JSON.parse(readFileSync("grip/summary.json", "utf8"));
  await page.getByRole("tab", { name: "Summary" }).click();
  const names = () => page.locator(".events tbody th").allTextContents();
  assert.ok(new Set(await names()).size > 1);
  const [{ name }] = events;
  await page.getByLabel("Find events").fill(name);
  assert.deepEqual([...new Set(await names())], [name]);
  await page.getByLabel("Find events").fill("no such thing");
  assert.match(await page.locator(".event-list").textContent(), /no such event/);
  await page.getByLabel("Find events").fill("");
  for (const width of [1280, 1024, 390]) {
    await page.setViewportSize({ width, height: 760 });
    const [needed, there] = await page.locator(".event-list .scroll").evaluate((box) => [box.scrollWidth, box.clientWidth]);
    assert.ok(needed <= there, `at ${width} px the table is ${needed} px wide, of ${there}`);
  }
  await page.setViewportSize({ width: 1200, height: 760 });
  assert.deepEqual(complaints, []);
});

test("hostile names are text in the pages of modes and of several runs too", async () => {
  const file = path.join(models, "hostile.toml");
  linkwork("modes", file, "--quiet", "--out", "modes");
  run(file, "one");
  run(file, "two", "--step", "0.002");
  linkwork("report", "one", "two", "-o", "both.html");
  for (const made of ["modes/modes.html", "both.html"]) {
    await open(path.resolve(made));
    await page.locator("summary", { hasText: "bodies" }).click();
    await page.getByRole("tab", { name: "Summary" }).click();
    await picture();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(complaints, []);
  }
});
