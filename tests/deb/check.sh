#!/usr/bin/env bash
# Installs the Debian packages of a folder into a bare Debian 12 and uses them: check.sh PACKAGES [MIRROR]. As root; needs debootstrap.
set -euo pipefail
packages=$(cd "$1" && pwd)
mirror=${2:-$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1 || true)}
mirror=${mirror:-http://deb.debian.org/debian}
bare=$(mktemp -d)
trap 'umount "$bare/proc" 2>/dev/null || true; rm -rf "$bare"' EXIT

command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap
debootstrap --variant=minbase bookworm "$bare" $mirror >"$packages/debootstrap.log" 2>&1 || { tail "$packages/debootstrap.log" >&2; exit 1; }
mount -t proc proc "$bare/proc" || true
cp /etc/apt/apt.conf.d/*proxy* "$bare/etc/apt/apt.conf.d/" 2>/dev/null || true
cp "$packages"/*.deb "$bare/tmp"
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }

inside sh -c 'apt-get update && apt-get install -y --no-install-recommends /tmp/linkwork_*.deb /tmp/python3-linkwork_*.deb' >"$packages/install.log" 2>&1 ||
  { tail "$packages/install.log" >&2; exit 1; }
inside sh -c 'cd /tmp && linkwork run four_bar --end 1'
inside python3 -c 'import linkwork as lw; r = lw.run("four_bar", end=1); print(lw.__file__, r)'
inside sh -c 'apt-get install -y --no-install-recommends /tmp/liblinkwork-dev_*.deb g++ cmake make' >>"$packages/install.log" 2>&1 ||
  { tail "$packages/install.log" >&2; exit 1; }
mkdir -p "$bare/tmp/user/examples"
cp "$(dirname "${BASH_SOURCE[0]}")/../consumer/CMakeLists.txt" "$bare/tmp/user/"
cp "$(dirname "${BASH_SOURCE[0]}")"/../../examples/*.{cpp,h} "$bare/tmp/user/examples/"
inside sh -c 'cmake -S /tmp/user -B /tmp/user/build -DCMAKE_BUILD_TYPE=Release && cmake --build /tmp/user/build --target build_in_code && /tmp/user/build/build_in_code' \
  >"$packages/consumer.log" 2>&1 || { tail "$packages/consumer.log" >&2; exit 1; }
tail -n 1 "$packages/consumer.log"
echo "the packages install and work on a bare Debian: program, Python package, library"
