#!/usr/bin/env python3
"""Compiles drive.c and packs it as an FMU: make.py drive.fmu. Needs a C compiler."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

GUID = "{5d1c2d3e-press-drive}"
PARAMETERS = {"torque": 40.0, "idle": 8.0, "inertia": 1.2, "radius": 0.15}
PORT_INPUTS = ["fx", "fy", "fz", "tx", "ty", "tz"]
PORT_OUTPUTS = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "dwx", "dwy", "dwz"]


def description():
    """modelDescription.xml. Variables are in the order of their value references, as in the enum of drive.c."""
    def variable(name, causality, variability, attributes=""):
        listed.append(name)
        return (f'    <ScalarVariable name="{name}" valueReference="{len(listed) - 1}" causality="{causality}" variability="{variability}">'
                f"<Real{attributes}/></ScalarVariable>\n")

    listed = []
    text = variable("angle", "local", "continuous", ' start="3.14159265358979323846"') + variable("speed", "local", "continuous", ' start="0"')
    text += variable("der(angle)", "local", "continuous", ' derivative="1"') + variable("der(speed)", "local", "continuous", ' derivative="2"')
    text += "".join(variable(name, "parameter", "fixed", f' start="{value}"') for name, value in PARAMETERS.items())
    text += "".join(variable(f"tip.{name}", "input", "continuous", ' start="0"') for name in PORT_INPUTS)
    text += "".join(variable(f"tip.{name}", "output", "continuous") for name in PORT_OUTPUTS)
    outputs = "".join(f'<Unknown index="{listed.index(f"tip.{name}") + 1}"/>' for name in PORT_OUTPUTS)
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="2.0" modelName="drive" guid="{GUID}">\n'
            f'  <ModelExchange modelIdentifier="drive"/>\n  <ModelVariables>\n{text}  </ModelVariables>\n'
            f'  <ModelStructure><Outputs>{outputs}</Outputs><Derivatives><Unknown index="3"/><Unknown index="4"/></Derivatives></ModelStructure>\n'
            "</fmiModelDescription>\n")


def main():
    source = Path(__file__).resolve().with_name("drive.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "drive.so"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-ffp-contract=off", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", description())
            archive.write(library, "binaries/linux64/drive.so")
    print(f"{sys.argv[1]}: an FMU with the port 'tip'")


if __name__ == "__main__":
    main()
