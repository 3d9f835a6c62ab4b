#!/usr/bin/env bash
# Ranks that were given different things, or lack something, find out before they compute; and the reason of a failure is told.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"
command -v mpirun >/dev/null || exit 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

mkdir a b c
cp "$SOURCE_DIR/models/four_bar_modules.toml" a/m.toml
for folder in a b c; do cp -r "$SOURCE_DIR/models/parts" "$folder"; done
sed 's/^torque = 6.0/torque = 7.0/' a/m.toml >b/m.toml
if cmp -s a/m.toml b/m.toml; then fail 'the models do not differ'; fi

# ranks FRAGMENT ARGUMENTS... : ARGUMENTS...: refused, in one line of ours, and soon.
ranks() {
  local fragment=$1 code=0
  shift
  timeout 60 mpirun --oversubscribe "$@" >stdout 2>stderr || code=$?
  ((code != 124)) || fail "hangs: $*"
  ((code == 2)) || { cat stderr >&2; fail "exit $code: $*"; }
  (($(grep -c '^linkwork: ' stderr) == 1)) || { cat stderr >&2; fail "not one line of ours: $*"; }
  grep '^linkwork: ' stderr | grep -qF -- "$fragment" || { cat stderr >&2; fail "does not say '$fragment': $*"; }
}
run=("$LINKWORK" run m.toml --end 0.05 --no-report --quiet)
ranks 'rank 1 was given other input than rank 0: the file m.toml' -n 1 -wdir a "${run[@]}" : -n 1 -wdir b "${run[@]}"
ranks 'rank 1: m.toml: cannot be opened: No such file' -n 1 -wdir a "${run[@]}" : -n 1 -wdir c "${run[@]}"
ranks 'rank 0: m.toml: cannot be opened: No such file' -n 1 -wdir c "${run[@]}" : -n 1 -wdir a "${run[@]}"
ranks 'm.toml: cannot be opened: No such file' -n 2 -wdir c "${run[@]}"
ranks 'rank 1 was given other input than rank 0: the options' -n 1 -wdir a "${run[@]}" : -n 1 -wdir a "${run[@]}" --step 1e-4
ranks 'rank 1 was given other input than rank 0: the options' -n 1 -wdir a "${run[@]}" --set torque=2 : -n 1 -wdir a "${run[@]}"
ranks 'rank 1 was given other input than rank 0: the command' -n 1 -wdir a "${run[@]}" : -n 1 -wdir a "$LINKWORK" resume x.ckpt
rm -rf a/out
cp a/m.toml b/m.toml
echo '# other' >>b/parts/four_bar_right.toml
ranks 'rank 1 was given other input than rank 0: the file four_bar_right.toml' -n 1 -wdir a "${run[@]}" : -n 1 -wdir b "${run[@]}"

study=("$LINKWORK" study --quick --quiet --out studied)
ranks 'rank 1 was given other input than rank 0: the study' -n 1 "${study[@]}" hierarchical : -n 1 "${study[@]}" gluing
ranks "unknown study 'hierachical'; did you mean 'hierarchical'?" -n 2 "${study[@]}" hierachical
[[ ! -e studied ]] || fail 'a refused study leaves results'
cp a/m.toml a/sweep.toml
sed 's/^torque = 6.0/torque = 7.0/' a/m.toml >b/sweep.toml
sweep=("$LINKWORK" sweep sweep.toml --grid torque=1:2:2 --end 0.01 --out swept)
ranks 'rank 1 was given other input than rank 0: the model' -n 1 -wdir a "${sweep[@]}" : -n 1 -wdir b "${sweep[@]}"

# Commands that work in one process are not shared: the second of two in one folder is refused, and told so.
code=0
timeout 60 mpirun --oversubscribe -n 2 "$LINKWORK" kinematics four_bar_driven --end 100 --every 1e-4 --no-report --out driven >stdout 2>stderr || code=$?
((code == 2)) || { cat stderr >&2; fail "exit $code of two processes in one folder"; }
grep -q 'driven: another run is writing its results there; expected another folder (--out), or a command whose ranks share' stderr ||
  { cat stderr >&2; fail 'no reason for two processes in one folder'; }

# What only rank 0 finds out, the others learn.
touch a/occupied
ranks 'occupied: cannot be made: ' -n 2 -wdir a "${run[@]}" --out occupied
ranks 'm.toml: exists, is not a checkpoint' -n 2 -wdir a "${run[@]}" --checkpoint m.toml
ranks 'x.ckpt: there is no such file' -n 2 -wdir a "$LINKWORK" resume x.ckpt

# A disk that takes nothing: the reason comes before the end of all.
mkdir full && ln -s /dev/full full/trajectory.csv
code=0
timeout 60 mpirun --oversubscribe -n 2 -wdir a "${run[@]}" --out ../full >stdout 2>stderr || code=$?
((code != 0 && code != 124)) || fail "exit $code with a full disk"
grep -q 'linkwork: rank 0: .*full/trajectory.csv: No space left on device' stderr || { cat stderr >&2; fail 'no reason'; }

# The same input in two places is the same.
cp -r a/parts b
timeout 60 mpirun --oversubscribe -n 1 -wdir a "${run[@]}" : -n 1 -wdir b "${run[@]}" || fail 'the same input is refused'

# What is solved in one piece is solved by the first rank; the others do not keep it waiting, and with modules it says why.
alone() {
  local fragment=$1 code=0
  shift
  timeout 60 mpirun --oversubscribe -n 2 "$LINKWORK" run "$@" --end 0.05 --no-report --out alone >stdout 2>stderr || code=$?
  ((code == 0)) || { cat stderr >&2; fail "exit $code: $*"; }
  (($(grep -c "$fragment" stdout) == 1)) || { cat stdout >&2; fail "does not say once '$fragment': $*"; }
}
alone 'simulated    0.05 s' four_bar
alone "the modules are solved in one piece: integrator 'ida'" four_bar_modules --integrator ida
touch occupied
code=0
timeout 60 mpirun --oversubscribe -n 2 "$LINKWORK" run four_bar --out occupied >stdout 2>stderr || code=$?
((code == 2)) || { cat stderr >&2; fail "exit $code though the results have no place"; }
