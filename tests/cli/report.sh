#!/usr/bin/env bash
# The report pages of 'run' and 'report', and what 'report' and 'view' say of folders that are none.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

run "$LINKWORK" run four_bar --end 0.5 --out one
((code == 0)) || fail "exit $code: $(cat stderr)"
[[ -f one/scene.json ]] || fail 'no scene.json'
if grep -qF 'built without the report page' stdout; then # LINKWORK_WEB=OFF
  [[ ! -e one/report.html ]] || fail 'a report out of nothing'
  expect 2 'built without the report page' "$LINKWORK" report one
  expect 2 'built without the report page' "$LINKWORK" view one
  exit 0
fi
has 'one/report.html'
grep -qF "connect-src 'none'" one/report.html || fail 'the page may ask others for data'
(($(stat -c %s one/report.html) < 1500000)) || fail 'the page is large'
if grep -oE '(src|href)="?https?:' one/report.html; then fail 'the page refers to the network'; fi
for holder in 'Leon Sorokin' 'three.js authors'; do
  grep -q "Copyright.*$holder" one/report.html || fail "the page lacks the licence of $holder"
done

# The same page again from the files of the run, but for the name: that of the folder.
cp one/report.html written.html
expect 0 'one/report.html: 1 run' "$LINKWORK" report one
cmp <(sed 's/"label":"four-bar"//' written.html) <(sed 's/"label":"one"//' one/report.html) || fail 'not the same page'

"$LINKWORK" run four_bar --end 0.5 --set torque=0 --quiet --no-report --out two
[[ ! -e two/report.html ]] || fail '--no-report writes one'
expect 0 'report.html: 2 runs' "$LINKWORK" report one two
expect 0 'both.html: 2 runs' "$LINKWORK" report one two --double -o both.html
(($(stat -c %s both.html) > $(stat -c %s report.html))) || fail '--double adds nothing'

# 10 s at 100 Hz of 30 bodies.
"$LINKWORK" run chain --set n=30 --end 10 --step 0.0005 --quiet --out thirty
(($(stat -c %s thirty/report.html) < 2000000)) || fail "the page of 30 bodies takes $(stat -c %s thirty/report.html) bytes"

mkdir empty
expect 2 'scene.json: cannot be read' "$LINKWORK" report empty
expect 2 'scene.json: cannot be read' "$LINKWORK" view empty
expect 2 'cannot be written' "$LINKWORK" report one -o nowhere/page.html
expect 2 'DIR' "$LINKWORK" report
