// Pictures of the pages of eight ready models, to be looked at: desktop and phone, light and dark.
//
//   LINKWORK=build/linkwork WEB_TREE=build/web SOURCE_DIR=. CHROMIUM=/usr/bin/chromium node tests/browser/screenshots.mjs FOLDER [MODEL…]
//
// Writes FOLDER/MODEL-desktop-light.png and so on. Says what a look at them might miss: text that is cut or lies over other text,
// pages that are wider than the screen, and letters that stand out too little.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { close, complaints, launch, open, page, run } from "./browser.mjs";
import { troubles } from "./looks.mjs";

const [folder = "screenshots", ...chosen] = process.argv.slice(2);
const models = chosen.length > 0 ? chosen : ["four_bar", "stewart", "excavator", "latch", "pid_arm", "rover", "delta", "gear_train"];
const screens = { desktop: { width: 1280, height: 760 }, phone: { width: 390, height: 844 } };

mkdirSync(folder, { recursive: true });
await launch();
let bad = 0;
for (const model of models) {
  const file = run(model, path.join(folder, "runs", path.basename(model)));
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await open(file);
      await page.keyboard.press("v");
      await page.evaluate(() => {
        linkwork.player.seek(0.4 * linkwork.player.end);
        linkwork.view.render();
      });
      await page.waitForTimeout(400);
      const name = `${path.basename(model)}-${screen}-${colorScheme}`;
      await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: screen === "phone" });
      for (const trouble of [...complaints, ...(await troubles())]) {
        bad++;
        console.log(`${name}: ${trouble}`);
      }
    }
}
await close();
console.log(`${models.length} models, ${bad} ${bad === 1 ? "complaint" : "complaints"}`);
process.exitCode = bad > 0 ? 1 : 0;
