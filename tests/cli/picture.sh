#!/usr/bin/env bash
# Pictures and films without a browser. Other programs read them back, where they are installed.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'four_bar.svg' "$LINKWORK" picture four_bar -o four_bar.svg
head -c 4 four_bar.svg | grep -qF '<svg' || fail 'no SVG'
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("four_bar.svg")' || fail 'the SVG is not XML'
expect 0 'stewart.png' "$LINKWORK" picture stewart --at 0.2 --size 320x240 --dark -o stewart.png
head -c 8 stewart.png | cmp - <(printf '\x89PNG\r\n\x1a\n') || fail 'no PNG'
python3 -c '
import struct
assert struct.unpack(">II", open("stewart.png", "rb").read()[16:24]) == (320, 240)' || fail 'another size'
"$LINKWORK" picture four_bar --at 1 -o later.svg >/dev/null
cmp -s four_bar.svg later.svg && fail '--at makes no difference'
"$LINKWORK" picture four_bar --at 1 -o again.svg >/dev/null
cmp later.svg again.svg || fail 'not the same bytes'

"$LINKWORK" run four_bar --end 0.4 --quiet --no-report --out run
expect 0 'of_run.png' "$LINKWORK" picture run --at 0.3 -o of_run.png
expect 0 'film.gif: 10 pictures, 0.4 s' "$LINKWORK" animate run --size 200x150 -o film.gif
head -c 6 film.gif | grep -qF 'GIF89a' || fail 'no GIF'
expect 0 'slow.gif: 20 pictures, 2 s' "$LINKWORK" animate run --rate 10 --speed 0.2 --size 200x150 -o slow.gif

if command -v rsvg-convert >/dev/null; then
  for file in four_bar later; do rsvg-convert $file.svg -o $file.rsvg.png || fail "rsvg cannot draw $file.svg"; done
  cmp -s four_bar.rsvg.png later.rsvg.png && fail 'rsvg draws the same'
fi
if command -v ffprobe >/dev/null; then
  count() { ffprobe -v error -count_frames -select_streams v -show_entries stream=width,height,nb_read_frames -of csv=p=0 "$1"; }
  [[ $(count film.gif) == 200,150,10 ]] || fail "ffprobe reads $(count film.gif) in film.gif"
  for format in mp4 webm; do
    expect 0 "film.$format: 10 pictures" "$LINKWORK" animate run --size 201x151 -o film.$format
    [[ $(count film.$format) == 202,152,10 ]] || fail "ffprobe reads $(count film.$format) in film.$format"
  done
fi
# Without ffmpeg it says what is needed.
mkdir none
expect 2 'needs the program ffmpeg' env PATH="$PWD/none" "$LINKWORK" animate run -o film.mp4
expect 2 'apt install ffmpeg' env PATH="$PWD/none" "$LINKWORK" animate run -o film.webm

expect 2 "'.jpg' is no format" "$LINKWORK" picture four_bar -o four_bar.jpg
expect 2 "'.avi' is no format" "$LINKWORK" animate run -o film.avi
expect 2 "'big' is no size" "$LINKWORK" picture four_bar --size big -o x.png
expect 2 'cannot be drawn' "$LINKWORK" picture four_bar --size 9x9 -o x.png
expect 2 'is no time' "$LINKWORK" picture four_bar --at=-1 -o x.png
expect 2 'scene.json: cannot be read' "$LINKWORK" animate none -o film.gif
"$LINKWORK" run four_bar --end 0.1 --columns energy --quiet --no-report --out blind
expect 2 'positions were not written' "$LINKWORK" animate blind -o film.gif
