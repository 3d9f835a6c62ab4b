#!/usr/bin/env bash
# Every study that is listed runs, says of each claim whether it holds, and writes its files.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

mapfile -t names < <("$LINKWORK" list studies | grep -v '^ ' | cut -d' ' -f1)
((${#names[@]} > 0)) || fail 'no studies'

for name in "${names[@]}"; do
  expect 0 ' partly, ' "$LINKWORK" study "$name" --quick --out "$name"
  has "$name/study.json"
  [[ -s stderr ]] || fail "$name shows no progress"
  python3 - "$name" stdout <<'END'
import json, sys
name, printed = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
study = json.load(open(f"{name}/study.json", encoding="utf-8"))
assert study["name"] == name and study["quick"] is True, study["name"]
assert study["title"] and study["reference"] and study["claims"], "incomplete"
for claim in study["claims"]:
    assert claim["holds"] in ("yes", "partly", "no", "not measured"), claim
    assert claim["text"] and claim["text"] in printed, claim
    assert claim["measured"], f"{claim['id']}: nothing measured"
    assert claim["holds"] == "yes" or claim["why"], f"{claim['id']}: does not hold, and nothing says why"
    assert 0 <= claim["part"] < len(study["parts"])
for figure in study["figures"]:
    drawn = [y for series in figure["series"] for y in series["y"] if y is not None]
    assert drawn, f"{figure['title']}: nothing to draw"
END
  if ! grep -qF 'built without the pages' stdout; then
    grep -qF "connect-src 'none'" "$name/study.html" || fail 'the page may ask others for data'
    if grep -oE '(src|href)="?https?:' "$name/study.html"; then fail 'the page refers to the network'; fi
  fi
done

run "$LINKWORK" study "${names[0]}" --quick --quiet --out quiet
[[ $code == 0 && ! -s stdout && ! -s stderr ]] || fail "--quiet: exit $code, $(cat stdout stderr)"
expect 2 "unknown study 'no-such-study'" "$LINKWORK" study no-such-study
expect 2 'NAME' "$LINKWORK" study

# Under mpirun the first rank writes; the others help.
if command -v mpirun >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  timeout 600 mpirun -n 2 --oversubscribe "$LINKWORK" study generalized-inverse --quick --quiet --out ranks >stdout 2>stderr ||
    { cat stderr >&2; fail 'the study does not run on ranks'; }
  grep -q 'on 2 MPI ranks' ranks/study.json || fail 'the study does not use its ranks'
fi
