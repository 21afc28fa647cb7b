# shellcheck shell=bash
# Sourced by tests that run programs on the emulated device: a folder for what they write, and what they
# print.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0 status=0
check() { # WHAT COMMAND...
    number=$((number + 1))
    if "${@:2}" >"$folder/log" 2>&1; then echo "ok $number - $1"; else
        echo "not ok $number - $1"
        sed 's/^/# /' "$folder/log"
        status=1
    fi
}
# A program of sh.
script() { # FILE LINES
    mkdir -p "$(dirname "$1")" && printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"
}
# The last line of a test.
end_checks() {
    echo "1..$number"
    exit $status
}
