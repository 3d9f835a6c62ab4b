#!/usr/bin/env bash
# Columns that are chosen, formats, and starts from other runs.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

# The interpreter that has what Debian's packages bring.
python=
for one in python3 /usr/bin/python3; do
  if "$one" -c 'import h5py, scipy.io' 2>/dev/null; then python=$one; fi
done
[[ -n $python ]] || fail 'no Python with h5py and SciPy: ./dev setup test'

# Columns: options and settings, errors, resumed runs, reports.
"$LINKWORK" run four_bar --end 0.5 --quiet --out all
"$LINKWORK" run four_bar --end 0.5 --quiet --columns 'energy,force.*.x' --out some
python3 - <<'END'
import csv
read = lambda folder: list(csv.reader(open(f"{folder}/trajectory.csv", newline="")))
full, some = read("all"), read("some")
names = [n for n in full[0] if n == "t" or n.startswith("energy.") or (n.startswith("force.") and n.endswith(".x"))]
assert some[0] == names and 4 < len(names) < len(full[0]), some[0]
picked = [full[0].index(n) for n in names]
assert [[row[k] for k in picked] for row in full] == some, "other numbers"
END
expect 2 "--columns: no column fits 'forces'" "$LINKWORK" run four_bar --columns q,forces --out none
expect 2 '--columns: the list is empty' "$LINKWORK" run four_bar --columns , --out none
[[ ! -e none ]] || fail 'a refused run left a folder'
sed 's/^\[settings\]/[settings]\ncolumns = ["q", "energy.total"]/' "$SOURCE_DIR/models/pendulum.toml" >chosen.toml
grep -q '^columns' chosen.toml || fail 'the model has no settings'
"$LINKWORK" run chosen.toml --end 0.1 --quiet --out chosen
[[ $(head -n 1 chosen/trajectory.csv | tr ',' '\n' | wc -l) == 3 ]] || fail "$(head -n 1 chosen/trajectory.csv)"
sed -i 's/"energy.total"/"enrgy"/' chosen.toml
expect 2 "no column fits 'enrgy'; did you mean 'energy'?" "$LINKWORK" run chosen.toml --out chosen
grep -q 'chosen.toml:' stderr || fail 'no place'
expect 0 '1 run' "$LINKWORK" report some -o some.html

# HDF5 and MPI are loaded by those who need them: linked in, they would be half of every start.
if ldd "$LINKWORK" | grep -E 'libhdf5|libmpi|libsundials'; then fail 'the program is linked with libraries that few runs need'; fi
expect 2 'liblinkwork_hdf5.so cannot be loaded' env LINKWORK_HDF5_LIBRARY=/nowhere "$LINKWORK" run four_bar --format hdf5 --out none
expect 1 'liblinkwork_mpi.so cannot be loaded' env LINKWORK_MPI_LIBRARY=/nowhere PMI_RANK=0 "$LINKWORK" run four_bar --out none
[[ ! -e none ]] || fail 'a refused run left a folder'

# Formats: the same names and numbers, units, and what is not unique.
for format in hdf5 mat; do
  "$LINKWORK" run bricard --end 0.3 --quiet --format "$format" --out "$format"
  [[ ! -e $format/trajectory.csv ]] || fail "$format leaves a trajectory.csv"
  expect 0 '1 run' "$LINKWORK" report "$format"
done
"$LINKWORK" run bricard --end 0.3 --quiet --out csv
cat >compare.py <<'END'
import csv, json, sys
import h5py, numpy, scipy.io

table = list(csv.reader(open("csv/trajectory.csv", newline="")))
names, rows = table[0], numpy.array(table[1:], dtype=float)
open_ones = set(json.load(open("csv/summary.json"))["not_unique"])
assert open_ones
with h5py.File("hdf5/trajectory.h5") as file:
    assert sorted(file, key=lambda n: file[n].attrs["index"]) == names
    for k, name in enumerate(names):
        assert numpy.array_equal(file[name][:], rows[:, k]), name
        assert ("not_unique" in file[name].attrs) == (name in open_ones), name
    units = {name: file[name].attrs["unit"] for name in names}
units = {name: unit.decode() if isinstance(unit, bytes) else unit for name, unit in units.items()}
assert units["t"] == "s" and units["energy.total"] == "J", units
assert all(unit == "rad" for name, unit in units.items() if name.startswith("q.")), units
assert all(unit == "N" for name, unit in units.items() if name.startswith("force.")), units
mat = scipy.io.loadmat("mat/trajectory.mat", simplify_cells=True)
assert list(mat["columns"]) == names
assert [u if len(u) else "" for u in mat["units"]] == [units[n] for n in names]
assert set(numpy.atleast_1d(mat["not_unique"])) == open_ones
for k, (name, field) in enumerate(zip(names, mat["fields"])):
    value = mat
    for part in field.split("."):
        value = value[part]
    assert numpy.array_equal(value, rows[:, k]), name
    assert field == name, (field, name)
END
"$python" compare.py
expect 2 "unknown format 'hdf'" "$LINKWORK" run four_bar --format hdf
expect 2 "a variable of a MATLAB 5 file has less than 2 GB" "$LINKWORK" run four_bar --format mat --end 1e5 --every 1e-4 --out huge

# A run that is interrupted goes on in its format and columns.
"$LINKWORK" run four_bar --end 2 --columns q,efforts --format hdf5 --quiet --out whole
"$LINKWORK" run four_bar --end 2 --columns q,efforts --format hdf5 --quiet --out cut --checkpoint cut.ckpt --realtime 0.5 &
job=$!
for _ in $(seq 100); do
  if [[ -s cut/trajectory.csv && -s cut.ckpt ]]; then break; fi
  python3 -c 'import time; time.sleep(0.05)'
done
kill -TERM "$job"
wait "$job" && fail 'the interrupted run has ended well'
[[ -s cut/trajectory.csv && -s cut/trajectory.h5 ]] || fail 'an interrupted run with a checkpoint keeps both files'
"$LINKWORK" resume cut.ckpt --quiet
[[ ! -e cut/trajectory.csv ]] || fail 'the resumed run leaves a trajectory.csv'
"$python" - <<'END'
import h5py
with h5py.File("whole/trajectory.h5") as a, h5py.File("cut/trajectory.h5") as b:
    assert list(a) == list(b) and any(n.startswith("effort.") for n in a) and not any(n.startswith("v.") for n in a)
    assert all((a[n][:] == b[n][:]).all() for n in a)
END

# A start from another run, whatever its format.
for format in csv hdf5 mat; do "$LINKWORK" run four_bar --end 1 --quiet --format "$format" --out "first_$format"; done
"$LINKWORK" run four_bar --end 2 --quiet --out long
for format in csv hdf5 mat; do
  expect 0 "the start is the state of first_$format at t = 1 s" "$LINKWORK" run four_bar --end 1 --start-from "first_$format" --out "second_$format"
done
cmp second_csv/trajectory.csv second_hdf5/trajectory.csv
cmp second_csv/trajectory.csv second_mat/trajectory.csv
"$LINKWORK" run four_bar --end 1.5 --quiet --start-from long@0.501 --out half
python3 - <<'END'
import csv
def read(folder):
    return [{n: float(v) for n, v in row.items()} for row in csv.DictReader(open(f"{folder}/trajectory.csv", newline=""))]
long, second, half = read("long"), read("second_csv"), read("half")
for start, rows in ((100, second), (50, half)):
    for k in range(0, len(rows), 10):
        for name in rows[0]:
            if name[:2] in ("q.", "v."):
                assert abs(rows[k][name] - long[start + k][name]) < 1e-7, (start, k, name)
END
expect 2 'the joints of first_csv at t = 1 s are others: it has no column' "$LINKWORK" run slider_crank --start-from first_csv --out no
expect 2 'has rows from t = 0 to 1 s' "$LINKWORK" run four_bar --start-from first_csv@7 --out no
expect 2 "'soon' is no time" "$LINKWORK" run four_bar --start-from first_csv@soon --out no
expect 2 "there is no folder 'nowhere'" "$LINKWORK" run four_bar --start-from nowhere --out no
expect 2 'it has no column v.' "$LINKWORK" run four_bar --start-from cut --out no
mkdir empty
expect 2 'empty/trajectory.csv: cannot be opened' "$LINKWORK" run four_bar --start-from empty --out no

# The checkpoint keeps the start.
"$LINKWORK" run four_bar --end 1 --quiet --start-from first_csv --out kept --checkpoint kept.ckpt
cmp kept/trajectory.csv second_csv/trajectory.csv
rm -r first_csv
"$LINKWORK" resume kept.ckpt --quiet
cmp kept/trajectory.csv second_csv/trajectory.csv || fail 'resumed from another start'

# A check for programs.
for model in four_bar bricard rover_modules four_bar_driven; do
  "$LINKWORK" check "$model" --json >"$model.json"
  python3 - "$model.json" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))
assert list(found) == ["model", "bodies", "joints", "coordinates", "loops", "rows", "rank", "dof", "redundant", "not_unique", "start",
                       "singular_distance", "warnings"], list(found)
assert list(found["start"]) == ["position_error", "velocity_error", "moved"]
assert found["dof"] == found["coordinates"] - found["rank"] and found["rows"] == found["rank"] + len(found["redundant"])
END
done
grep -q '"force' bricard.json || fail 'bricard has reactions that are not unique'
