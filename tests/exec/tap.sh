# shellcheck shell=bash
# Sourced by tests of processes: what they print, and their ports. `folder` has files err* with what was said.
number=0 failures=0

# The first of 64 ports that a script may use. They lie below those that the system gives to
# connections (from 32768 on), any of which may be taken at any time.
# shellcheck disable=SC2034
port=$((10000 + $$ * 64 % 22400))

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
