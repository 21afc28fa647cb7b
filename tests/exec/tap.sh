# shellcheck shell=bash
# Sourced by tests of processes: what they print. `folder` has files err* with what was said.
number=0 failures=0

report() { # NAME, after the check
    local good=$?
    number=$((number + 1))
    if [ $good -eq 0 ]; then
        echo "ok $number - $1"
    else
        failures=$((failures + 1))
        echo "not ok $number - $1"
        head -n 20 "$folder"/err* | sed 's/^/# /'
    fi
}
