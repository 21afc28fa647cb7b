#!/usr/bin/env bash
# Platforms are well-formed XML, for every preset and shape; prints TAP. Needs xmllint or python3.
set -u
program=$(realpath "$1")
if command -v xmllint >/dev/null; then
    check() { xmllint --noout -; }
elif command -v python3 >/dev/null; then
    check() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)'; }
else
    echo "1..0 # SKIP neither xmllint nor python3"
    exit 0
fi
number=0 failures=0

platform() {
    number=$((number + 1))
    if "$program" clusters "$@" --xml | check; then
        echo "ok $number - $*"
    else
        echo "not ok $number - $*"
        failures=$((failures + 1))
    fi
}

for preset in $("$program" clusters | sed -n 's/^\([a-z0-9-]*\): .*/\1/p'); do
    platform "$preset"
done
platform "a100 nic:4x200Gbps"
platform "node:100 gpu:8 leaf:20 oversub:2 routing:static"
platform "gpu:1 torus:4x4x4" --gpus 40
platform "gpu:2 torus:4x2"
platform "gpu:1 dragonfly:3x2x4x2 routing:static"
platform "gpu:1 dragonfly:1x1x4x2"
platform "gpu:2 dragonfly:3x2x4x1 rank1:1GBps"
platform "fabric:star"
platform "gpu:1 fabric:star"
platform "fabric:ideal" --gpus 12
platform "gpu:4 pcie:25GBps host:64GBps nic:2x100Gbps"
platform "gpu:2 latency:1us"
echo "1..$number"
[ $failures -eq 0 ]
