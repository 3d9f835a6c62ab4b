// What one can do with the report page: units, forces, bodies, distances, films, spectra, several runs.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, complaints, drawnByRsvg, launch, linkwork, models, open, page, picture, probed, readCsv, run, saved, screenPlace, time } from "./browser.mjs";

before(async () => {
  await launch();
  run("four_bar", "four", "--end", "1");
});
after(close);

const four = () => open(path.resolve("four/report.html"));
const button = (name, where = page) => where.getByRole("button", { name });
const pane = (title) => page.locator(".pane", { has: page.locator("h3", { hasText: title }) });
const axisLabels = (where) => where.locator("canvas").getAttribute("aria-label");
const WITH_UNITS = /; t \(s\)(; [^;]*\((rad|°|m|N|N·m|W|J|m\/s|rad\/s|m\/s²|rad\/s²|m or rad|m\/s or rad\/s|unit of the model|no unit)\))+$/;
const changed = async (act, what) => {
  const before = (await picture()).url;
  await act();
  assert.ok((await picture()).url !== before, `${what} changes nothing`);
};

test("plots open with what the model is about, and all axes have units", async () => {
  await four();
  const titles = await page.locator(".panel-plots, #panel-plots").locator("h3").allTextContents();
  assert.deepEqual(titles, ["Driven joints", "Other joints", "Loads", "Power", "Sensors", "Energy"].filter((title) => titles.includes(title)));
  assert.ok(titles.includes("Driven joints") && titles.includes("Energy"));
  for (const label of await page.locator(".area canvas").evaluateAll((all) => all.map((canvas) => canvas.getAttribute("aria-label")))) assert.match(label, WITH_UNITS);
  assert.match(await axisLabels(pane("Driven joints")), /^q\.theta; t \(s\); q\.theta \(rad\)$/);
  assert.match(await axisLabels(pane("Other joints")), /^q\.alpha, q\.phi; t \(s\); angle \(rad\)$/);
  assert.doesNotMatch(titles.join(), /error/i);
  await page.getByRole("tab", { name: "Errors" }).click();
  assert.match(await axisLabels(pane("Position error")), /error\.position/);
  assert.deepEqual(complaints, []);
});

test("every model opens with plots, all axes with units", async () => {
  for (const model of ["andrews", "chaplygin_sleigh", "excavator", "gripper", "measured_car", "motor_press", "pid_arm", "quick_return", "snakeboard", "stewart"]) {
    await open(run(model, `units/${model}`, "--end", "0.02"));
    const labels = await page.locator(".area canvas").evaluateAll((all) => all.map((canvas) => canvas.getAttribute("aria-label")));
    assert.ok(labels.length >= 2, model);
    for (const label of labels) assert.match(label, WITH_UNITS, model);
    assert.deepEqual(complaints, [], model);
  }
});

test("angles are shown in degrees on request", async () => {
  await four();
  const value = () => pane("Driven joints").locator(".value").first().textContent();
  await page.evaluate(() => linkwork.player.seek(0.5));
  const radians = parseFloat(await value());
  await button("Angles in degrees").first().click();
  assert.match(await value(), /°$/);
  assert.ok(Math.abs(parseFloat(await value()) - (radians * 180) / Math.PI) < 0.02);
  assert.match(await axisLabels(pane("Driven joints")), /q\.theta \(°\)/);
  await button("Angles in degrees").first().click();
  assert.ok(Math.abs(parseFloat(await value()) - radians) < 1e-9);
});

test("columns of several units get an axis each", async () => {
  await four();
  const one = pane("Driven joints");
  await one.getByRole("combobox", { name: "Add a column" }).fill("v.theta");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.match(await axisLabels(one), /q\.theta \(rad\); v\.theta \(rad\/s\)/);
});

test("a spectrum has its peak where the motion has its frequency, and phase plots go round", async () => {
  // The frequency of its angle is that of its swings, counted in the rows.
  await open(run("pendulum", "swing", "--end", "40"));
  const one = page.locator(".pane").first();
  const name = (await one.locator(".chip span").first().textContent()).trim();
  await one.getByLabel("Horizontal axis").selectOption({ label: "over frequency" });
  assert.match(await axisLabels(one), /; frequency \(Hz\); amplitude of \S+ \(rad\)$/);
  const [, peak] = /most at ([\d.]+).Hz/.exec(await one.locator(".value").first().textContent()).map(Number);
  const rows = readCsv("swing");
  const middle = rows.reduce((sum, row) => sum + row[name] / rows.length, 0);
  const crossings = rows.flatMap((row, k) => (k > 0 && rows[k - 1][name] < middle && row[name] >= middle ? [row.t] : []));
  const measured = (crossings.length - 1) / (crossings[crossings.length - 1] - crossings[0]);
  assert.ok(Math.abs(peak - measured) < 1.5 / 40, `${peak} Hz is not ${measured} Hz`);
  await button("Phase plot", one).click();
  assert.ok(await one.locator(".now.dot").isVisible());
  assert.match(await axisLabels(one), /^v\.\S+; q\.\S+ \(rad\); v\.\S+ \(rad\/s\)$/);
  await button("Phase plot", one).click();
  assert.match(await axisLabels(one), /; t \(s\);/);
  assert.deepEqual(complaints, []);
});

test("a plot is saved as vectors, with its names as text", async () => {
  await open(run(path.join(models, "hostile.toml"), "hostile"));
  const one = page.locator(".pane").first();
  await one.locator("summary").click();
  const svg = (await saved(() => button("Save as a vector picture", one).click())).toString();
  assert.match(svg, /^<svg xmlns=/);
  assert.ok(svg.includes("t (s)") && !svg.includes("<img") && !svg.includes("<script"));
  const parsed = await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") === null, svg);
  assert.ok(parsed);
  const png = drawnByRsvg("plot.svg", svg);
  if (png) assert.ok(readFileSync(png).length > 2000, "librsvg draws nothing");
  assert.deepEqual(complaints, []);
});

test("what differs by rounding only is drawn as a line, on an axis that can be read", async () => {
  await four();
  await page.evaluate(() => {
    const { plots } = linkwork;
    plots.derive([{ name: "nearly four", unit: "m", compute: (one) => Float64Array.from(one.time, (_, k) => 4 + (k % 3) * 4e-16) }]);
    plots.show("Nearly", ["nearly four"]);
  });
  const [low, high] = await page.evaluate(() => {
    const { min, max } = linkwork.plots.panes.at(-1).plot.scales.y;
    return [min, max];
  });
  assert.ok(low < 3.9 && high > 4.1 && high < 10, `${low} to ${high}`);
  assert.deepEqual(complaints, []);
});

test("numbers too small for a logarithmic axis leave a gap", async () => {
  await four();
  await page.evaluate(() => {
    const { plots } = linkwork;
    plots.derive([{ name: "tiny", unit: "m", compute: (one) => Float64Array.from(one.time, (_, k) => 10 ** -(k % 300)) }]);
    plots.show("Tiny", ["tiny"]).setLog(true);
  });
  const { min, max } = await page.evaluate(() => linkwork.plots.panes.at(-1).plot.scales.y);
  assert.ok(min >= 1e-31 && max >= 1 && max <= 10, `${min} to ${max}`);
  assert.deepEqual(complaints, []);
});

test("forces are drawn to scale, by sort", async () => {
  await four();
  await page.evaluate(() => linkwork.player.seek(0.8));
  await page.locator("summary", { hasText: "forces" }).click();
  await changed(() => page.getByLabel("reactions of joints").check(), "reactions");
  assert.match(await page.locator(".scales").textContent(), /N/);
  await changed(() => page.getByLabel("applied forces").check(), "applied forces");
  assert.match(await page.locator(".scales").textContent(), /N·m/);
  await changed(() => page.getByLabel("Length of the arrows").fill("2"), "length");
  await changed(() => page.getByLabel("torques too").uncheck(), "torques");
  // The arrow in the pin is as long as its force, times the scale.
  const [drawn, scale, row] = await page.evaluate(() => {
    const { arrows } = linkwork.view.mechanisms[0];
    const arrow = arrows.all.find((one) => one.label === "force in C" || one.label.startsWith("force in"));
    const { shaft, head } = arrow.parts;
    return [[arrow.label, shaft.scale.z + head.scale.z], arrows.scale("N"), linkwork.view.mechanisms[0].row];
  });
  const values = readCsv("four")[row];
  const name = drawn[0].replace("force in ", "");
  const strength = Math.hypot(...["x", "y", "z"].map((part) => values[`force.${name}.${part}`]));
  assert.ok(Math.abs(drawn[1] - strength * scale) < 1e-4 * drawn[1], `${drawn[1]} is not ${strength * scale}`);
  assert.deepEqual(complaints, []);
});

test("a body that is clicked can be plotted, traced, followed, coloured and hidden", async () => {
  await four();
  await page.evaluate(() => linkwork.player.seek(0.3));
  await page.mouse.click(...(await screenPlace("coupler", [2, 0, 0])));
  const card = page.getByRole("region", { name: "Body" });
  assert.match(await card.textContent(), /^coupler1 kg/);
  await button("Plot the place of this point", card).click();
  const place = pane("Point of coupler");
  assert.match(await axisLabels(place), /length \(m\)/);
  const shown = (await place.locator(".value").allTextContents()).map(parseFloat);
  const row = readCsv("four")[30];
  const turned = row["q.theta"] + row["q.alpha"];
  const [x, y] = await page.evaluate(() => {
    const names = linkwork.plots.columnNames.filter((name) => name.startsWith("point coupler"));
    return names[0].match(/\((.*)\)/)[1].split(",").map(Number);
  });
  const expected = [Math.cos(row["q.theta"]) + x * Math.cos(turned) - y * Math.sin(turned), Math.sin(row["q.theta"]) + x * Math.sin(turned) + y * Math.cos(turned)];
  for (const k of [0, 1]) assert.ok(Math.abs(shown[k] - expected[k]) < 5e-3, `${shown} is not ${expected}`);
  await button("Plot the coordinates of its joints", card).click();
  assert.match(await axisLabels(pane("Joints of coupler")), /q\.alpha/);
  await button("Plot the forces in its joints", card).click();
  assert.match(await axisLabels(pane("Forces on coupler")), /force/);
  await button("Plot the speed of this point", card).click();
  await changed(() => button("Draw the path of this point", card).click(), "trace");
  await changed(() => card.getByLabel("Colour of coupler").fill("#00ff00"), "colour");
  await changed(() => card.getByLabel("Opacity of coupler").fill("0.3"), "opacity");
  await button("The camera follows", card).click();
  const before = await screenPlace("coupler");
  await page.evaluate(() => linkwork.player.seek(0.9));
  const later = await screenPlace("coupler");
  assert.ok(Math.hypot(before[0] - later[0], before[1] - later[1]) < 2, "the camera does not follow");
  await changed(() => button("Hide this body", card).click(), "hide");
  assert.ok(!(await card.isVisible()));
  await page.locator("summary", { hasText: "bodies" }).click();
  assert.ok(!(await page.getByLabel("Show coupler").isChecked()));
  await changed(() => page.getByLabel("Show coupler").check(), "show");
  await changed(() => page.getByLabel("Colour of crank").fill("#ff00ff"), "colour in the list");
  await changed(() => page.getByLabel("Opacity of all bodies").fill("0.5"), "opacity of all");
  await changed(() => button("Show all bodies").click(), "show all");
  await page.getByLabel("Camera follows", { exact: true }).selectOption({ label: "camera stands still" });
  assert.deepEqual(complaints, []);
});

test("distances follow the motion, and can be plotted", async () => {
  await four();
  await page.keyboard.press("m");
  await page.mouse.click(...(await screenPlace("crank", [1, 0, 0])));
  await page.mouse.click(...(await screenPlace("rocker", [2.5, 0, 0])));
  const value = () => page.locator(".measure output").textContent();
  assert.ok(Math.abs(parseFloat(await value()) - 4) < 1e-3, await value()); // the coupler's length
  await page.evaluate(() => linkwork.player.seek(0.9));
  assert.ok(Math.abs(parseFloat(await value()) - 4) < 1e-3);
  await button("Plot this distance").click();
  assert.match(await axisLabels(pane("Distance")), /distance .* \(m\)$/);
  await button("Remove this distance").click();
  assert.equal(await page.locator(".measure").count(), 0);
  assert.deepEqual(complaints, []);
});

test("films are GIF and video files", async () => {
  await four();
  const film = async (format) => {
    await button("Save a film").click();
    await page.waitForFunction(() => document.querySelector(".film select").options.length > 0);
    await page.getByLabel("Format").selectOption(format);
    await page.getByLabel("Width").selectOption("360");
    await page.getByLabel("Frames per second").selectOption("10");
    await page.getByLabel("To, s").fill("0.5");
    const bytes = await saved(() => button("Save the film").click());
    await button("Close the dialog").click();
    return bytes;
  };
  const gif = await film("gif");
  assert.equal(gif.subarray(0, 6).toString(), "GIF89a");
  assert.equal(gif.readUInt16LE(6), 360);
  assert.equal(gif[gif.length - 1], 0x3b);
  const height = gif.readUInt16LE(8);
  const seen = probed("film.gif", gif);
  if (seen) assert.deepEqual(seen, [360, height, 5]);
  // Read back by the browser's own decoders.
  const frames = await page.evaluate(async (base64) => {
    const data = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/gif" });
    await decoder.completed;
    await decoder.tracks.ready;
    const { image } = await decoder.decode({ frameIndex: decoder.tracks.selectedTrack.frameCount - 1 });
    const seen = [decoder.tracks.selectedTrack.frameCount, image.displayWidth];
    image.close();
    return seen;
  }, gif.toString("base64"));
  assert.deepEqual(frames, [5, 360]);
  const webm = await film("webm");
  assert.equal(webm.readUInt32BE(0), 0x1a45dfa3);
  const film_seen = probed("film.webm", webm);
  if (film_seen) assert.deepEqual(film_seen, [360, 2 * Math.round(height / 2), 5]);
  // Browsers that make no MP4 do not offer it.
  if (await page.getByLabel("Format").locator("option[value=mp4]").count()) {
    const mp4 = await film("mp4");
    assert.equal(mp4.subarray(4, 8).toString(), "ftyp");
    const recorded = probed("film.mp4", mp4);
    if (recorded) assert.deepEqual(recorded, [360, 2 * Math.round(height / 2), 5]);
  }
  assert.ok(await page.locator(".viewport canvas").isVisible());
  assert.deepEqual(complaints, []);
});

test("events are marked on the time line and in plots, and lead to their moment", async () => {
  await open(run("latch", "latch"));
  const { events } = JSON.parse(readFileSync("latch/summary.json", "utf8"));
  const first = events.find((event) => event.t > 0);
  await page.locator(".event-strip .mark").first().click();
  assert.ok(Math.abs((await time()) - events[0].t) < 1e-9);
  await page.evaluate(() => linkwork.player.seek(0));
  const over = page.locator(".u-over").first();
  const x = await page.evaluate((t) => {
    const area = document.querySelector(".area .u-over").getBoundingClientRect();
    return (area.width * t) / linkwork.player.end;
  }, first.t);
  await over.click({ position: { x: Math.round(x), y: 5 } });
  assert.ok(Math.abs((await time()) - first.t) < 1e-9, `${await time()} is not ${first.t}`);
  await page.evaluate(() => linkwork.player.seek(0));
  await page.getByRole("tab", { name: "Summary" }).click();
  const table = page.locator("table.events");
  assert.match(await table.locator("thead").textContent(), /TimeEventWhat happened/);
  assert.match(await table.locator("tbody").textContent(), new RegExp(first.name));
  await table.getByRole("button", { name: `Show ${Number(first.t.toPrecision(6))} s` }).first().click();
  assert.ok(Math.abs((await time()) - first.t) < 1e-9);
  assert.deepEqual(complaints, []);
});

test("twelve runs have twelve colours, and two stand side by side under one camera", async () => {
  const folders = Array.from({ length: 12 }, (_, k) => (run("four_bar", `t${k}`, "--end", "0.1", "--set", `torque=${k}`), `t${k}`));
  linkwork("report", ...folders, "--out", "twelve.html");
  await open(path.resolve("twelve.html"));
  const swatches = await page.locator(".runs .swatch").evaluateAll((all) => all.map((swatch) => swatch.style.borderColor));
  const channels = swatches.map((color) => color.match(/\d+/g).map(Number));
  const distance = ([r, g, b], [R, G, B]) => Math.hypot(2 * (r - R), 3 * (g - G), b - B) / Math.sqrt(14); // the eye sees green best
  channels.forEach((one, k) => channels.slice(0, k).forEach((other, j) => assert.ok(distance(one, other) > 20, `colours ${k} and ${j} are alike: ${distance(one, other)}`)));
  linkwork("report", "t0", "t9", "--out", "two.html");
  await open(path.resolve("two.html"));
  await page.evaluate(() => linkwork.player.seek(0.1));
  await changed(() => button("Runs side by side").click(), "side by side");
  assert.deepEqual(await page.locator(".tile-names span").allTextContents(), ["t0", "t9"]);
  const halves = () =>
    page.evaluate(() => {
      linkwork.view.render();
      const { canvas } = linkwork.view;
      return [0, 1].map((half) => {
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [Math.floor(canvas.width / 2), canvas.height];
        copy.getContext("2d").drawImage(canvas, -half * Math.floor(canvas.width / 2), 0);
        return copy.toDataURL();
      });
    });
  const first = await halves();
  await button("Top view").click();
  const second = await halves();
  assert.ok(first[0] !== second[0] && first[1] !== second[1], "one camera for both");
  assert.deepEqual(complaints, []);
});

test("modes are moved, one after the other", async () => {
  linkwork("modes", "double_pendulum", "--quiet", "--out", "modes");
  const { modes } = JSON.parse(readFileSync("modes/modes.json", "utf8"));
  await open(path.resolve("modes/modes.html"));
  const select = page.getByLabel("Mode", { exact: true });
  assert.equal(await select.locator("option").count(), modes.length);
  const period = await page.evaluate(() => linkwork.player.end);
  assert.ok(Math.abs(period * modes[0].frequency_hz - 1) < 1e-9);
  await page.evaluate(() => linkwork.player.pause());
  assert.match(await axisLabels(pane("Motion")), /; t \(s\); angle \(rad\)$/);
  await changed(() => select.selectOption("1"), "another mode");
  assert.ok(Math.abs((await page.evaluate(() => linkwork.player.end)) * modes[1].frequency_hz - 1) < 1e-9);
  await page.evaluate(() => linkwork.player.pause());
  await changed(() => page.getByLabel("Amplitude").fill("0"), "amplitude");
  // The largest coordinate goes as far as asked, and all in proportion to the shape.
  const swings = await page.evaluate(() => {
    const [run] = linkwork.plots.runs;
    return Object.fromEntries(run.columns.slice(1).map((name) => [name, run.find(name)[0] - run.find(name)[30]]));
  });
  const shape = modes[1].shape;
  const largest = Math.max(...Object.values(shape).map(Math.abs));
  for (const [name, value] of Object.entries(shape)) assert.ok(Math.abs(swings[name] - value / largest) < 1e-2, `${name}: ${swings[name]}`);
  assert.deepEqual(complaints, []);
});

test("meshes are drawn where their file has them", async () => {
  // A tetrahedron of 1 m, moved by 2 m along x of its link.
  const corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const facet = (...which) => `facet normal 0 0 0\nouter loop\n${which.map((k) => `vertex ${corners[k].join(" ")}`).join("\n")}\nendloop\nendfacet`;
  writeFileSync("tetrahedron.stl", `solid t\n${[facet(0, 2, 1), facet(0, 1, 3), facet(0, 3, 2), facet(1, 2, 3)].join("\n")}\nendsolid t\n`);
  writeFileSync(
    "meshed.urdf",
    `<robot name="meshed"><link name="base"/>
     <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
       <visual><origin xyz="2 0 0"/><geometry><mesh filename="tetrahedron.stl"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual></link>
     <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>`,
  );
  await open(run("meshed.urdf", "meshed", "--end", "0.1"));
  const box = await page.evaluate(() => {
    const [mechanism] = linkwork.view.mechanisms;
    let found = null;
    mechanism.root.traverse((object) => {
      if (object.isMesh && object.material.color?.r > 0.9 && object.material.color?.g < 0.1) {
        object.updateWorldMatrix(true, false);
        object.geometry.computeBoundingBox();
        const { min, max } = object.geometry.boundingBox.clone().applyMatrix4(object.matrixWorld);
        found = [min, max].map((corner) => corner.toArray());
      }
    });
    return found;
  });
  assert.ok(box, "there is no mesh of that colour");
  [2, 0, 0, 3, 1, 1].forEach((value, k) => assert.ok(Math.abs(box.flat()[k] - value) < 1e-3, String(box)));
  assert.deepEqual(complaints, []);
});

test("shapes of robot files are shown, transparent or hidden", async () => {
  await open(run(path.join(models, "../../models/desk_lamp.urdf"), "lamp", "--end", "0.2"));
  await page.locator("summary", { hasText: "bodies" }).click();
  await changed(() => page.getByLabel("Shapes").selectOption("transparent"), "transparent");
  await changed(() => page.getByLabel("Shapes").selectOption("hidden"), "hidden");
  assert.deepEqual(complaints, []);
});
