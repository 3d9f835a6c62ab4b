// Bundles src/ into self-contained pages, NAME.html, and writes all of them once more as a C++ source for the library.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import * as esbuild from "esbuild";

/** The licences of packages of which something is in a bundle, by name; also as files, for those who install the program. */
const licences = new Map();
function licencesOf(inputs) {
  const names = new Set(inputs.map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]).filter(Boolean));
  return [...names].sort().map((name) => {
    const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
    if (text.includes("*/")) throw new Error(`the licence of ${name} would end the comment it stands in`);
    licences.set(name, text);
    return `${name}\n\n${text}\n`;
  });
}

/** Their comments are lost when packages are made small, all but those that are marked: the licences are put back in front. */
function licenceComment(inputs) {
  const all = licencesOf(inputs);
  return all.length > 0 ? `/*! This page contains the following.\n\n${all.join("\n")}*/\n` : "";
}

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
    metafile: true,
  });
  // "</script" or "<!--" in the text would end or change the element it stands in.
  const safe = (text) => text.replaceAll(/<\/(script|style)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
  return { text: safe(result.outputFiles[0].text), licences: safe(licenceComment(Object.keys(result.metafile.inputs))) };
}

/** Unpacks the program that stands in the page, and runs it; its licences stay readable in front. */
const UNPACK = `(async()=>{
if(!window.DecompressionStream)return document.body.append("This page needs a browser of 2023 or newer.");
const program=document.getElementById("program"),text=program.textContent,packed=new Uint8Array((text.length/5|0)*4),view=new DataView(packed.buffer);
for(let i=0;i<text.length;i+=5){let n=0;for(let k=0;k<5;k++){const c=text.charCodeAt(i+k);n=n*85+(c==33?20:c==35?52:c-40);}view.setUint32(i/5*4,n);}
const made=document.createElement("script");
made.textContent=await new Response(new Blob([packed.subarray(0,program.dataset.bytes)]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
document.body.append(made);
})();`;

/** Four bytes in five letters from "(" to "|", with "!" and "#" for those that mean something in a page: less than base64 takes. */
function base85(bytes) {
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  let text = "";
  for (let at = 0; at < padded.length; at += 4) {
    let five = "";
    for (let rest = padded.readUInt32BE(at), k = 0; k < 5; k++, rest = Math.floor(rest / 85)) five = String.fromCharCode(40 + (rest % 85)) + five;
    text += five;
  }
  return text.replaceAll("<", "!").replaceAll("\\", "#");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The pages; the library offers each as NAME_template(), declared in linkwork/io/page.h. */
const pages = [
  { name: "report", title: "Linkwork report", script: "src/main.ts", style: "src/style.css", packed: true },
  { name: "study", title: "Linkwork study", script: "src/study.ts", style: "src/study.css" },
  { name: "compare", title: "Linkwork comparison", script: "src/compare.ts", style: "src/compare.css" },
  { name: "ensemble", title: "Linkwork ensemble", script: "src/ensemble.ts", style: "src/ensemble.css" },
];

async function build({ title, packed, ...entries }) {
  const program = await bundle(entries.script);
  const { text: style } = await bundle(entries.style);
  if (packed) program.text = `document.head.append(Object.assign(document.createElement("style"),{textContent:${JSON.stringify(style)}}));\n${program.text}`;
  const script = program.licences + (packed ? UNPACK : program.text);
  const packedText = deflateSync(program.text, { level: 9 });
  const packedProgram = packed ? `<script type="text/plain" id="program" data-bytes="${packedText.length}">${base85(packedText)}</script>\n` : "";
  // Only our own script runs, and nothing is fetched; 'linkwork view' alone lets the page ask its own server for new rows.
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}${packed ? ` ${hash(program.text)}` : ""}`,
    `style-src ${hash(style)}`,
    "img-src data: blob:",
    "connect-src @LINKWORK_CONNECT@",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return readFileSync("src/page.html", "utf8")
    .replace("@TITLE@", () => title)
    .replace("@POLICY@", () => policy)
    .replace("<style>@STYLE@</style>\n", () => (packed ? "" : `<style>${style}</style>\n`))
    .replace("@SCRIPT@", () => script)
    .replace("<script>", () => `${packedProgram}<script>`);
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

mkdirSync("licenses", { recursive: true });
for (const [name, text] of licences) writeFileSync(`licenses/${name.replaceAll("/", "-")}.txt`, `${text}\n`);
