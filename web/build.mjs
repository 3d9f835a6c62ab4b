// Bundles src/ into self-contained pages, NAME.html, and writes all of them once more as a C++ source for the library.
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

/** The pages; the library offers each as NAME_template(), declared in linkwork/io/page.h. */
const pages = [
  { name: "report", title: "Linkwork report", script: "src/main.ts", style: "src/style.css" },
  { name: "study", title: "Linkwork study", script: "src/study.ts", style: "src/study.css" },
  { name: "compare", title: "Linkwork comparison", script: "src/compare.ts", style: "src/compare.css" },
];

async function build({ title, ...entries }) {
  const script = await bundle(entries.script);
  const style = await bundle(entries.style);
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
  return readFileSync("src/page.html", "utf8")
    .replace("@TITLE@", () => title)
    .replace("@POLICY@", () => policy)
    .replace("@STYLE@", () => style)
    .replace("@SCRIPT@", () => script);
}

// String literals are compiled much faster than arrays of numbers.
const octal = (byte) => "\\" + byte.toString(8).padStart(3, "0");
const plain = (byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c && byte !== 0x3f;
function literal(html) {
  const bytes = Buffer.from(html, "utf8");
  const lines = [];
  for (let at = 0; at < bytes.length; at += 4000) {
    let line = "";
    for (const byte of bytes.subarray(at, at + 4000)) line += plain(byte) ? String.fromCharCode(byte) : octal(byte);
    lines.push(`    "${line}"`);
  }
  return lines.join("\n");
}

const sources = [];
for (const page of pages) {
  const html = await build(page);
  writeFileSync(`${page.name}.html`, html);
  sources.push(`namespace {

constexpr char k_${page.name}[] =
${literal(html)};

}  // namespace

std::string_view linkwork::${page.name}_template() { return {k_${page.name}, sizeof k_${page.name} - 1}; }
`);
}
writeFileSync("page_templates.cpp", `#include "linkwork/io/page.h"\n\n${sources.join("\n")}`);
