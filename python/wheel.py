#!/usr/bin/env python3
"""Makes a wheel of the built package: wheel.py PACKAGE VERSION OUT, run by the interpreter that it was built for.

The shared libraries that the extension needs, beside those of every Linux system, go along in linkwork/libs, where it looks first.
"""

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

# What a Linux system with Python has, or what must be the system's own.
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libresolv|libgcc_s|libstdc\+\+)\.so")

METADATA = """Metadata-Version: 2.1
Name: linkwork
Version: {version}
Summary: Simulation of constrained mechanical systems
License: Apache-2.0
Requires-Python: >={python}
Requires-Dist: numpy

Linkages, parallel robots, gear trains, anything built of rigid bodies, joints and closed loops: load, run, step, control, analyse.
"""


def needed_libraries(extension):
    """Names and files of all libraries that the extension and its libraries need."""
    shown = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", shown, re.MULTILINE))
    return {name: Path(file).resolve() for name, file in sorted(found.items()) if not OF_THE_SYSTEM.match(name)}


def licenses_of(library):
    """The file with the licence of the package that a library is from; none where there is no dpkg."""
    try:
        shown = subprocess.run(["dpkg", "-S", library.name], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return []
    packages = {line.split(":")[0] for line in shown.splitlines() if line.endswith(f"/{library.name}")}
    files = [Path("/usr/share/doc", package, "copyright") for package in sorted(packages)]
    return [file for file in files if file.exists()]


def main():
    package, version, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"linkwork-{version}.dist-info"
    extension, = package.glob("_core.*.so")
    files = {f"linkwork/{file.relative_to(package)}": file.read_bytes() for file in sorted(package.rglob("*"))
             if file.is_file() and "__pycache__" not in file.parts}
    for name, file in needed_libraries(extension).items():
        files[f"linkwork/libs/{name}"] = file.read_bytes()
        # Debian has the licence of a library beside the library's package.
        for license in licenses_of(file):
            files[f"{info}/licenses/{license.parent.name}.txt"] = license.read_bytes()
    files[f"{info}/METADATA"] = METADATA.format(version=version, python=f"3.{sys.version_info.minor}").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: linkwork\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nlinkwork = linkwork.__main__:main\n"
    records = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
               for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*records, f"{info}/RECORD,,", ""]).encode()
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("linkwork-*.whl"):
        old.unlink()
    wheel = out / f"linkwork-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # without a time: the same files make the same wheel
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    main()
