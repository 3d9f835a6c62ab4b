// Bundles src/ into report.html, one self-contained page, and writes it once more as a C++ source for the library.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import * as esbuild from "esbuild";

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "inline",
    logLevel: "warning",
  });
  // "</script" or "<!--" in the text would end or change the element it stands in.
  return result.outputFiles[0].text.replaceAll(/<\/(script|style)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("src/main.ts");
const style = await bundle("src/style.css");
// Only our own script runs, and nothing is fetched; 'linkwork view' alone lets the page ask its own server for new rows.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data: blob:",
  "connect-src @LINKWORK_CONNECT@",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const html = readFileSync("src/page.html", "utf8")
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
writeFileSync("report.html", html);

// String literals are compiled much faster than arrays of numbers.
const octal = (byte) => "\\" + byte.toString(8).padStart(3, "0");
const plain = (byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c && byte !== 0x3f;
const bytes = Buffer.from(html, "utf8");
const lines = [];
for (let at = 0; at < bytes.length; at += 4000) {
  let line = "";
  for (const byte of bytes.subarray(at, at + 4000)) line += plain(byte) ? String.fromCharCode(byte) : octal(byte);
  lines.push(`    "${line}"`);
}
writeFileSync(
  "report_template.cpp",
  `#include "linkwork/io/report.h"

namespace {

constexpr char kPage[] =
${lines.join("\n")};

}  // namespace

std::string_view linkwork::report_template() { return {kPage, sizeof kPage - 1}; }
`,
);
