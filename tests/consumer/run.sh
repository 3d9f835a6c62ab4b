#!/usr/bin/env bash
# Installs a build into an empty prefix, then builds and runs the project beside this script against it: run.sh BUILD WORK.
set -euo pipefail
build=$1 work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
mkdir "$work/source"
cp -r "$here/CMakeLists.txt" "$here/../../examples" "$work/source"
cmake -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
cmake --build "$work/build"
models=$work/prefix/share/linkwork/models
"$work/build/load_and_plot" "$models/four_bar.toml" "$work/plot.svg"
"$work/build/build_in_code"
"$work/build/pd_controller"
"$work/build/custom_force"
"$work/build/own_module" "$models/four_bar_modules.toml"
"$work/build/batch" "$models/four_bar.toml"

installed_files=(bin/linkwork share/linkwork/models/four_bar.toml share/doc/linkwork/LICENSE)
for package in libeigen3-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libfmt-dev libpugixml-dev libsundials-dev; do
  if [[ -e /usr/share/doc/$package/copyright ]]; then installed_files+=("share/doc/linkwork/licenses/$package.txt"); fi
done
if [[ -d $build/web/licenses ]]; then installed_files+=(share/doc/linkwork/licenses/{three,uplot}.txt); fi
for installed in "${installed_files[@]}"; do
  [[ -e $work/prefix/$installed ]] || { echo "not installed: $installed" >&2; exit 1; }
done

# Python finds the package in a prefix that is the user's own, as ~/.local is.
if compgen -G "$build/python/linkwork/_core*.so" >/dev/null; then
  read -r python _ <"$build/python/interpreter.txt"
  folder=$(PYTHONUSERBASE=$work/prefix "$python" -m site --user-site || true)
  [[ -e $folder/linkwork/__init__.py ]] || { echo "Python does not find the package: it looks into $folder" >&2; exit 1; }
fi
