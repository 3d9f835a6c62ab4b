#!/usr/bin/env bash
# A sweep over ranks of MPI leaves the same bytes as one process does.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"
command -v mpirun >/dev/null || exit 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

sweep=("$LINKWORK" sweep four_bar --end 0.2 --grid l1=0.5:9:3 --sample 'torque=uniform(0,6)' --runs 7 --sampling sobol
       --measure 'max(v.theta)' --keep q.phi --trajectories --quiet)
run "${sweep[@]}" --threads 2 --out one
((code == 0)) || fail "$(cat stderr)"
for ranks in 2 3; do
  timeout 100 mpirun -n "$ranks" --oversubscribe "${sweep[@]}" --out "ranks$ranks" >stdout 2>stderr || fail "$ranks ranks: $(cat stderr)"
  for file in sweep.csv sweep.json kept.csv sweep.html runs/000005/trajectory.csv runs/000005/summary.json; do
    cmp "one/$file" "ranks$ranks/$file" || fail "$file differs on $ranks ranks"
  done
done
timeout 100 mpirun -n 2 --oversubscribe "${sweep[@]}" --threads 2 --out both >stdout 2>stderr || fail "$(cat stderr)"
cmp one/sweep.csv both/sweep.csv || fail 'differs on two ranks with two threads each'

# Refused once, and soon; fewer runs than ranks.
code=0
timeout 60 mpirun -n 3 --oversubscribe "${sweep[@]}" --out bad --measure 'max(q.thet)' >stdout 2>stderr || code=$?
((code == 2)) || fail "exit $code: $(cat stderr)"
(($(grep -c "did you mean 'q.theta'" stderr) == 1)) || fail "$(cat stderr)"
timeout 60 mpirun -n 3 --oversubscribe "$LINKWORK" sweep four_bar --end 0.05 --grid torque=1:1:1 --out few --quiet || fail 'one run'
[[ $(wc -l <few/sweep.csv) == 2 ]] || fail 'one run on three ranks'

# A disk that takes nothing ends all of them, with the reason.
mkdir full && ln -s /dev/full full/sweep.csv
code=0
timeout 60 mpirun -n 2 --oversubscribe "${sweep[@]}" --out full >stdout 2>stderr || code=$?
((code != 0 && code != 124)) || fail "exit $code with a full disk"
grep -q 'No space left on device' stderr || fail "$(cat stderr)"
