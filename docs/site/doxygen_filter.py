#!/usr/bin/env python3
"""A header as Doxygen shall read it: doxygen_filter.py FILE. Comments at the end of a line describe what stands before them, and what is for
the library itself is left out."""

import re
import sys

is_hidden = False
for line in open(sys.argv[1], encoding="utf-8"):
    if re.match(r"\s*// (What follows is f|F)or the library itself", line):
        is_hidden = True
    if re.match(r"\};| private:", line):
        is_hidden = False
    print("" if is_hidden else re.sub(r"([;,{}])( +)// ", r"\1\2///< ", line.rstrip("\n")))
