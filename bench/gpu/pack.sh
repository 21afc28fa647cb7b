#!/usr/bin/env bash
# Builds the programs of bench/gpu.sh for a machine that has a GPU, but no libraries or no network.
#
#   bench/gpu/pack.sh [FOLDER]
#
# FOLDER (build-gpu) gets the programs of bench/gpu/build.sh, and jansson, libcsv and zlib. CUDA's own
# libraries come from the other machine. Copy the sources and FOLDER there, and run bench/gpu.sh with
# WORK=FOLDER. It uses these programs if they start there and are of the same sources, else it builds.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-build-gpu}
build=$folder/build
rm -rf "$build/lib"
bench/gpu/build.sh "$build"
mkdir -p "$build/lib"
programs=("$build"/{pipeexec,kernels} "$build"/test_*)
[ ! -e "$build/probe" ] || programs+=("$build/probe")
ldd "${programs[@]}" | awk '/lib(jansson|csv|z)\.so/ { print $3 }' | sort -u | xargs -I{} cp -L {} "$build/lib"
strip --strip-debug "${programs[@]}" "$build"/*.so
rm -rf "$build"/{o,libhost.a,text_builtin.c,todo}
git rev-parse --short HEAD >"$build/commit"
du -sh "$folder"
