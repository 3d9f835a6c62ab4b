"""Debian's package of the theme lacks parts that its stylesheets and its script are compiled from; they are put back here."""

import re
import shutil
from pathlib import Path

NORMALIZE = "/javascript/normalize.css/normalize.css"

# The script as packaged imports a module, which browsers refuse from file://.
SCRIPT = """
(() => {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const chosen = () => { try { return localStorage.getItem('theme') || 'auto'; } catch { return 'auto'; } };
  const show = () => { document.body.dataset.theme = chosen(); };
  document.addEventListener('DOMContentLoaded', () => {
    document.documentElement.classList.remove('no-js');
    show();
    for (const button of document.getElementsByClassName('theme-toggle'))
      button.addEventListener('click', () => {
        const now = chosen(), isDark = now === 'dark' || (now === 'auto' && dark.matches);
        const next = now === 'auto' ? (isDark ? 'light' : 'dark') : (now === 'dark') === dark.matches ? 'auto' : (isDark ? 'light' : 'dark');
        try { localStorage.setItem('theme', next); } catch { /* a browser that keeps nothing */ }
        document.body.dataset.theme = next;
      });
    const header = document.querySelector('header');
    const places = new Map([...document.querySelectorAll('.toc-tree a[href^="#"]')].map(link => [link.hash.slice(1), link.parentElement]));
    let before = window.scrollY;
    const follow = () => {
      if (header) header.classList.toggle('scrolled', Math.floor(header.getBoundingClientRect().top) === 0);
      document.documentElement.classList.toggle('show-back-to-top', window.scrollY > 64 && window.scrollY < before);
      before = window.scrollY;
      let current = null;
      for (const [id, item] of places) {
        const place = document.getElementById(id);
        if (place && place.getBoundingClientRect().top < 120) current = item;
        item.classList.remove('scroll-current');
      }
      if (current) current.classList.add('scroll-current');
    };
    window.addEventListener('scroll', () => requestAnimationFrame(follow), {passive: true});
    follow();
  });
})();
"""


def mend(html):
    """Changes the theme's files in a finished site where they need it."""
    static = Path(html) / "_static"
    style = static / "styles" / "furo.css"
    text = style.read_text(encoding="utf-8")
    if NORMALIZE in text:
        shutil.copy(Path("/usr/share") / NORMALIZE.lstrip("/"), static / "normalize.css")
        text = text.replace(NORMALIZE, "../normalize.css")
    if "prefers-color-scheme" not in text:
        colours = re.search(r'body\[data-theme="dark"\] \{(.*?)\}', text, re.DOTALL)[1]
        text += f'\n@media not print {{ @media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{colours}}} }} }}\n'
    style.write_text(text, encoding="utf-8")
    script = static / "scripts" / "furo.js"
    if script.read_text(encoding="utf-8").lstrip().startswith("import "):
        script.write_text(SCRIPT, encoding="utf-8")
