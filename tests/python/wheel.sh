#!/usr/bin/env bash
# Makes a wheel and uses it in a fresh environment with nothing but numpy: wheel.sh SOURCE BUILD PYTHON VERSION WORK.
set -euo pipefail
source=$1 build=$2 python=$3 version=$4 work=$5

rm -rf "$work"
mkdir -p "$work/site"
wheel=$("$python" "$source/python/wheel.py" "$build/python/linkwork" "$version" "$work/wheel")
"$python" -m venv --without-pip "$work/venv"
site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
# No network: numpy is linked from the system, and what pip would do with a wheel is to unpack it.
numpy=$("$python" -c 'import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent)')
ln -s "$numpy" "$site/numpy"
"$work/venv/bin/python" -m zipfile -e "$wheel" "$site"
cd "$work"
env -u PYTHONPATH "$work/venv/bin/python" - <<'END'
import linkwork as lw
assert "venv" in lw.__file__
r = lw.run("four_bar", end=0.1)
assert len(r) == 11 and r.report().startswith("<!")
libraries = [line.split()[-1] for line in open("/proc/self/maps") if ".so" in line]
own = {path for path in libraries if "sundials" in path or "libfmt" in path or "pugixml" in path}
assert own and all("venv" in path for path in own), own
print("the wheel works, with libraries of its own")
END
"$work/venv/bin/python" - "$wheel" <<'END'
# What pip checks: every file is listed with its checksum.
import base64, hashlib, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
record, = (name for name in archive.namelist() if name.endswith("RECORD"))
listed = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
assert {name for name, _, _ in listed} == set(archive.namelist())
for name, digest, size in listed:
    if digest:
        data = archive.read(name)
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() and int(size) == len(data)
# The licences of the libraries that it brings along, where the system tells them.
import shutil
libraries = [name for name in archive.namelist() if name.startswith("linkwork/libs/")]
licenses = [name for name in archive.namelist() if ".dist-info/licenses/" in name]
assert libraries and (not shutil.which("dpkg") or any("fmt" in name for name in licenses)), licenses
assert "linkwork/linkwork_fmu.licenses.txt" in archive.namelist()
END
