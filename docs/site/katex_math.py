"""Formulas become HTML and MathML while the site is built, by KaTeX in Node: readers need neither scripts nor a network."""

import json
import subprocess

from docutils import nodes
from sphinx.errors import ExtensionError

RENDERER = """
const katex = require(process.env.LINKWORK_KATEX + '/katex.min.js');
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const {tex, display} = JSON.parse(line);
  let answer;
  try { answer = {html: katex.renderToString(tex, {displayMode: display, throwOnError: true, strict: 'ignore'})}; }
  catch (error) { answer = {error: String(error)}; }
  process.stdout.write(JSON.stringify(answer) + '\\n');
});
"""


class Renderer:
    def __init__(self):
        self.process = None

    def __call__(self, tex, display):
        if self.process is None:
            self.process = subprocess.Popen(["node", "-e", RENDERER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise ExtensionError(f"formula '{tex}': {answer['error']}")
        return answer["html"]


render = Renderer()


def visit_math(writer, node):
    writer.body.append(render(node.astext(), False))
    raise nodes.SkipNode


def visit_math_block(writer, node):
    writer.body.append(f'<div class="formula">{render(node.astext(), True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.config.html_math_renderer = "katex"
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
