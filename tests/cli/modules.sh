#!/usr/bin/env bash
# Modules joined by a glue: the same bytes on any number of threads and processes, and what a run says of its glue.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

for model in four_bar_modules ring_groups rover_modules chain_modules; do
  for threads in 1 2 4; do
    "$LINKWORK" run "$model" --end 0.03 --quiet --no-report --threads "$threads" --out "threads$threads"
    cmp threads1/trajectory.csv "threads$threads/trajectory.csv" || fail "$model differs on $threads threads"
  done
  if command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    for ranks in 1 2 3 4; do
      mpirun -n "$ranks" --oversubscribe "$LINKWORK" run "$model" --end 0.03 --quiet --no-report --out "ranks$ranks"
      cmp threads1/trajectory.csv "ranks$ranks/trajectory.csv" || fail "$model differs on $ranks ranks"
    done
    mpirun -n 2 --oversubscribe "$LINKWORK" run "$model" --end 0.03 --quiet --no-report --threads 2 --out both
    cmp threads1/trajectory.csv both/trajectory.csv || fail "$model differs on 2 ranks of 2 threads"
    mpirun -n 3 --oversubscribe "$LINKWORK" run "$model" --end 0.03 --quiet --no-report --glue hierarchical:tree=1 --out tree
    cmp threads1/trajectory.csv tree/trajectory.csv || fail "$model differs if messages go through the tree of groups"
    python3 -c "
import json
summary = json.load(open('both/summary.json'))
assert (summary['ranks'], summary['threads']) == (2, min(2, max(1, summary['modules']['count'] // 2))), summary
summary = json.load(open('ranks3/summary.json'))
assert (summary['ranks'], summary['threads'], summary['glue']) == (3, 1, 'hierarchical'), summary
assert summary['modules']['messages_per_step'] > 0 and sum(summary['modules']['of_rank']) == summary['modules']['count']"
  fi
done
python3 -c "
import json
summary = json.load(open('threads2/summary.json'))
assert (summary['ranks'], summary['threads']) == (1, 2), summary
modules = summary['modules']
assert modules['sticky']['position_max'] < 1e-10 and 0 < modules['pretty'] < 1e-6 and modules['inexpensive'] > 0, modules
assert 'response D and R' in modules['green']['exposes'] and modules['green']['numbers'] > 0, modules"

# Every glue runs from the command line; one that joins nothing says so.
mapfile -t glues < <("$LINKWORK" list glues | grep -v '^ ' | cut -d' ' -f1)
for glue in "${glues[@]}"; do
  "$LINKWORK" run gear_train_modules --end 0.05 --quiet --no-report --glue "$glue" || fail "--glue $glue is listed but does not run"
done
expect 2 "there is nothing for glue 'hierarchical' to join: the model has no modules" "$LINKWORK" run four_bar --glue hierarchical
expect 2 "--threads: the model is solved in one piece" "$LINKWORK" run four_bar --threads 2
expect 2 "--threads: the value is '0'" "$LINKWORK" run four_bar_modules --threads 0
expect 2 "formulation 'index3' does not go with glue 'hierarchical'" \
  "$LINKWORK" run four_bar_modules --glue hierarchical --formulation index3
expect 2 "for stiff modules cvode-bdf or arkode" "$LINKWORK" run four_bar_modules --glue hierarchical --integrator ida
expect 0 "the modules are solved in one piece: integrator 'newmark'" "$LINKWORK" run four_bar_modules --end 0.01 --integrator newmark
expect 0 'lagrange' "$LINKWORK" run four_bar_modules --end 0.01 --formulation lagrange

# A process that dies ends the others, and is named.
if command -v mpirun >/dev/null; then
  mpirun -n 2 --oversubscribe "$LINKWORK" run chain_modules --set n=40 --end 100 --quiet --no-report --out dies >log 2>&1 &
  job=$!
  for _ in $(seq 200); do
    if [[ -s dies/trajectory.csv ]] || ! kill -0 "$job" 2>/dev/null; then break; fi
    sleep 0.1
  done
  kill -9 "$(pgrep -P "$job" | tail -n 1)"
  code=0
  wait "$job" || code=$?
  ((code != 0)) || fail 'a run went on without one of its processes'
  grep -q 'rank [01]' log || { cat log >&2; fail 'the dead process is not named'; }
  grep -qE 'rank [01] \(process [0-9]+ on .*\) has died; it had the modules .* and [0-9]+ more' log ||
    { cat log >&2; fail 'nobody says what the dead process was at work on'; }
fi

# Events, impacts and friction in modules and between them: the same bytes however many share the work.
for model in train_modules two_arms_modules clutch_modules; do
  "$LINKWORK" run "$model" --end 1.1 --step 4e-3 --quiet --no-report --out "$model-1" || fail "$model"
  grep -q '"glue": "hierarchical"' "$model-1/summary.json" || fail "$model is not solved apart"
  for threads in 2 4; do
    "$LINKWORK" run "$model" --end 1.1 --step 4e-3 --quiet --no-report --threads $threads --out "$model-t"
    cmp "$model-1/trajectory.csv" "$model-t/trajectory.csv" || fail "$model differs on $threads threads"
  done
  if command -v mpirun >/dev/null; then
    for ranks in 2 3 4; do
      mpirun --oversubscribe -n $ranks "$LINKWORK" run "$model" --end 1.1 --step 4e-3 --quiet --no-report --out "$model-r"
      cmp "$model-1/trajectory.csv" "$model-r/trajectory.csv" || fail "$model differs on $ranks ranks"
    done
    mpirun --oversubscribe -n 2 "$LINKWORK" run "$model" --end 1.1 --step 4e-3 --threads 2 --quiet --no-report --out "$model-b"
    cmp "$model-1/trajectory.csv" "$model-b/trajectory.csv" || fail "$model differs on 2 ranks of 2 threads"
  fi
done

# So do all other assemblies.
for model in geared_modules rolling_modules nested_modules moving_ground_modules stiff_modules gear_train_modules ring_modules \
  parallel_four_bar_modules; do
  "$LINKWORK" run "$model" --end 0.2 --step 4e-3 --quiet --no-report --out "$model-1" || fail "$model"
  for threads in 2 4; do
    "$LINKWORK" run "$model" --end 0.2 --step 4e-3 --quiet --no-report --threads $threads --out "$model-t"
    cmp "$model-1/trajectory.csv" "$model-t/trajectory.csv" || fail "$model differs on $threads threads"
  done
  if command -v mpirun >/dev/null; then
    for ranks in 2 3 4; do
      mpirun --oversubscribe -n $ranks "$LINKWORK" run "$model" --end 0.2 --step 4e-3 --quiet --no-report --out "$model-r"
      cmp "$model-1/trajectory.csv" "$model-r/trajectory.csv" || fail "$model differs on $ranks ranks"
    done
    mpirun --oversubscribe -n 2 "$LINKWORK" run "$model" --end 0.2 --step 4e-3 --threads 2 --quiet --no-report --out "$model-b"
    cmp "$model-1/trajectory.csv" "$model-b/trajectory.csv" || fail "$model differs on 2 ranks of 2 threads"
  fi
done

# Other methods inside modules and over them, likewise.
while read -r model arguments; do
  read -ra options <<<"$arguments"
  "$LINKWORK" run "$model" --end 0.1 "${options[@]}" --quiet --no-report --out methods-1 || fail "$model $arguments"
  grep -q '"glue": "hierarchical"' methods-1/summary.json || fail "$model $arguments is not solved apart"
  "$LINKWORK" run "$model" --end 0.1 "${options[@]}" --quiet --no-report --threads 2 --out methods-t
  cmp methods-1/trajectory.csv methods-t/trajectory.csv || fail "$model $arguments differs on 2 threads"
  if command -v mpirun >/dev/null; then
    mpirun --oversubscribe -n 3 "$LINKWORK" run "$model" --end 0.1 "${options[@]}" --quiet --no-report --out methods-r
    cmp methods-1/trajectory.csv methods-r/trajectory.csv || fail "$model $arguments differs on 3 ranks"
  fi
done <<'END'
rover_modules --stabilization post
rover_modules --coordinates CE
four_bar_modules --coordinates FA --formulation gigsp
stiff_modules --integrator cvode-bdf
stiff_modules --glue hierarchical --integrator generalized-alpha
clutch_modules --integrator arkode
END
