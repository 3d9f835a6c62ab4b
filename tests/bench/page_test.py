#!/usr/bin/env python3
"""The page of the comparison with other engines, made from a small file of results: page_test.py SOURCE_DIR"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        folder = Path(cls.work.name)
        shutil.copy(SOURCE / "tests/bench/peers.json", folder)
        command = [sys.executable, SOURCE / "bench/peers/page.py", folder / "peers.json", "--docs", folder / "docs"]
        cls.printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        cls.results = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
        cls.docs = folder / "docs"
        cls.page = (cls.docs / "benchmarks.md").read_text(encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def goal(self, name):
        return next(goal for goal in self.results["goals"] if goal["goal"] == name)

    def test_ratios_are_those_of_the_best_choice(self):
        first = self.results["ratios"][0]
        self.assertEqual(first["best"], "Linkwork TA")
        self.assertAlmostEqual(first["auto_over_best"], 1.4)
        self.assertAlmostEqual(first["times_faster_than"]["Simbody"], 120.0)

    def test_growth_is_a_power_of_the_size(self):
        powers = {g["engine"]: g["power"] for g in self.results["growth"]}
        self.assertAlmostEqual(powers["Linkwork best"], 1.0)
        self.assertAlmostEqual(powers["Simbody"], 2.0)

    def test_equal_accuracy_takes_the_fastest_run_that_is_good_enough(self):
        found = {(e["after"], e["target"]): e["engines"] for e in self.results["equal_accuracy"]}
        self.assertAlmostEqual(found[1, 1e-3]["Linkwork rk4"]["speed"], 1000.0)
        self.assertAlmostEqual(found[10, 1e-6]["Linkwork rk4"]["speed"], 100.0)
        self.assertEqual(found[10, 1e-3]["Linkwork rk4"]["step"], 0.001)
        self.assertIsNone(found[10, 1e-3]["Simbody"]["speed"])
        self.assertIsNone(found[1, 1e-6]["Simbody"]["speed"])
        self.assertEqual(found[1, 1e-6]["Simbody"]["error"], 1e-3)

    def test_goals_are_met_missed_or_unknown(self):
        self.assertIs(self.goal("four-bar: times faster than Simbody")["met"], True)
        self.assertIs(self.goal("closed chain 8: times faster than Simbody")["met"], False)
        self.assertIsNone(self.goal("four-bar: times faster than MuJoCo")["met"])
        self.assertIs(self.goal("time with auto over the best choice, worst model")["met"], False)
        self.assertIs(self.goal("four-bar, 10 s at 1 ms: loop error, m")["met"], True)
        self.assertIs(self.goal("rover, 10 s at 1 ms: loop error, m")["met"], False)
        self.assertAlmostEqual(self.goal("four-bar, 10 s at 1 ms: speed over the fastest with that loop error")["measured"], 100.0)
        self.assertIs(self.goal("rover, 10 s at 1 ms: speed over the fastest with that loop error")["met"], False)
        self.assertAlmostEqual(self.goal("closed chain 8, 10 s at 1 ms: speed over the fastest with that loop error")["measured"], 4.0)
        self.assertIs(self.goal("closed chain 64, 10 s at 1 ms: comes to the end")["met"], False)
        self.assertIs(self.goal("four-bar, spherical in place of pin: cost")["met"], True)
        self.assertIs(self.goal("four-bar, revolute in place of pin: cost")["met"], False)
        self.assertIs(self.goal("four-bar, revolute in place of pin: difference of accelerations")["met"], False)
        self.assertIn("NOT met  closed chain 8", self.printed)

    def test_page_has_every_table_and_no_broken_row(self):
        self.assertNotIn("{", self.page)
        for text in ("Some processor", "quick run", "| closed chain 64 |", "Simbody", "its accelerations", "the loop cannot be closed"):
            self.assertIn(text, self.page)
        columns = None
        for line in self.page.splitlines():
            if not line.startswith("|"):
                columns = None
                continue
            count = line.replace("\\|", "").count("|")
            self.assertEqual(count, columns or count, line)
            columns = count

    def test_plots_are_well_formed_and_used(self):
        for name in ("benchmarks-evaluations.svg", "benchmarks-accuracy.svg"):
            self.assertIn(f"images/{name}", self.page)
            circles = ElementTree.parse(self.docs / "images" / name).iter("{http://www.w3.org/2000/svg}circle")
            self.assertGreaterEqual(len(list(circles)), 3)


if __name__ == "__main__":
    unittest.main()
