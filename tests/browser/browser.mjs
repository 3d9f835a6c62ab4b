// What the tests of the report page have in common: a browser, runs of the program, the picture that is drawn.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

export const { LINKWORK, WEB_TREE, SOURCE_DIR, CHROMIUM } = process.env;
const { chromium } = createRequire(path.join(WEB_TREE, "package.json"))("playwright-core");
export const models = path.join(SOURCE_DIR, "tests/browser");

export let page;
let context;
let session;
export const complaints = []; // errors and requests of the page, which must not be

export function linkwork(...args) {
  return execFileSync(LINKWORK, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

export function run(model, out, ...args) {
  linkwork("run", model, "--quiet", "--out", out, ...args);
  return path.resolve(out, "report.html");
}

export function readCsv(folder) {
  const [header, ...lines] = readFileSync(path.join(folder, "trajectory.csv"), "utf8").trimEnd().split("\n");
  const columns = header.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, k) => [columns[k], Number(value)])));
}

export async function launch() {
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
  page.setDefaultTimeout(180_000); // without a graphics card, on a busy machine
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("request", (sent) => {
    if (!/^(file|data|blob):/.test(sent.url())) complaints.push(sent.url());
  });
}

export const close = () => context?.close();

/** Milliseconds that the page's own thread has computed, however busy the machine and without what a graphics card would do. */
export async function computed(act) {
  session ??= await context.newCDPSession(page).then(async (made) => (await made.send("Performance.enable"), made));
  const now = async () => 1e3 * (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ThreadTime").value;
  const before = await now();
  await act();
  return (await now()) - before;
}

export async function open(file) {
  complaints.length = 0;
  await page.goto(file.startsWith("http") ? file : `file://${file}`);
  await page.waitForFunction(() => window.linkwork !== undefined, null, { polling: 50 });
}

/** The picture drawn last, as a string to compare, and how many colours it has. */
export function picture() {
  return page.evaluate(() => {
    linkwork.view.render();
    const source = linkwork.view.canvas;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [source.width, source.height];
    const context = copy.getContext("2d");
    context.drawImage(source, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
    return { url: source.toDataURL(), colors: new Set(pixels).size };
  });
}

export const time = () => page.evaluate(() => linkwork.player.t);

/** Where a point of a body is on the screen. */
export function screenPlace(body, p = null) {
  return page.evaluate(
    ([name, point]) => {
      const { view } = linkwork;
      view.render();
      const [mechanism] = view.mechanisms;
      const index = mechanism.run.scene.bodies.findIndex((one) => one.name === name);
      const at = mechanism.place({ body: index, p: point ?? mechanism.run.scene.bodies[index].com, q: [1, 0, 0, 0] }).project(view.camera);
      const bounds = view.canvas.getBoundingClientRect();
      return [bounds.left + ((at.x + 1) / 2) * bounds.width, bounds.top + ((1 - at.y) / 2) * bounds.height];
    },
    [body, p],
  );
}

/** What a click saves, as bytes. */
export async function saved(click) {
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 120_000 }), click()]);
  return readFileSync(await download.path());
}

/** What another program says of a file, or null where it is not installed; that it cannot read it is an error. */
function told(program, args) {
  const done = spawnSync(program, args, { encoding: "utf8" });
  if (done.error?.code === "ENOENT") return null;
  if (done.status !== 0 || done.stderr) throw new Error(`${program}: ${done.stderr}`);
  return done.stdout.trim();
}

/** Width, height and number of frames of a film, as ffprobe counts them. */
export function probed(file, bytes) {
  writeFileSync(file, bytes);
  const text = told("ffprobe", ["-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", "stream=width,height,nb_read_frames", "-of", "csv=p=0", file]);
  return text === null ? null : text.split(",").map(Number);
}

/** Draws an SVG by librsvg. The PNG's name, or null where it is not installed. */
export function drawnByRsvg(file, text) {
  writeFileSync(file, text);
  return told("rsvg-convert", [file, "-o", `${file}.png`]) === null ? null : `${file}.png`;
}
