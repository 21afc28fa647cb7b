#!/bin/sh
# docs/add-a-schedule.md must be true: copy the tree, add exactly what its blocks show, build, and
# run the unit tests that loop over the registry: those of schedules alone, or with PIPESIM_LONG=1
# all. Then break the schedule and see a test fail.
# Usage: add_schedule.sh SOURCE_ROOT
set -eu
export LC_ALL=C
source=$(cd "$1" && pwd)
doc=$source/docs/add-a-schedule.md
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM

fail() {
    echo "add_schedule: $*" >&2
    exit 1
}

# The block whose fence names FILE.
block() {
    awk -v file="$1" '/^```/ { on = !on && $2 == file; next } on' "$doc"
}

# Add a line to the alphabetical list of lines that match PATTERN.
insert() {
    awk -v row="$2" -v pattern="$3" '
        !done && (($0 ~ pattern && $0 > row) || (seen && $0 !~ pattern)) { print row; done = 1 }
        $0 ~ pattern { seen = 1 }
        { print }
        END { exit !done }' "$1" >"$temp/list" || fail "no place for '$2' in $1"
    cat "$temp/list" >"$1"
}

mkdir "$temp/tree"
(cd "$source" && tar cf - --exclude=./.git --exclude='./build*' .) | (cd "$temp/tree" && tar xf -)
cd "$temp/tree"

new=$(sed -n 's/^```c \(schedules\/.*\.c\)$/\1/p' "$doc" | grep -v registry)
block "$new" >"$temp/new"
cp "$temp/new" "$new"
[ -s "$new" ] || fail "$doc shows no schedule"
grep -q "$(basename "$new")" schedules/meson.build && fail "$new is there already"
block schedules/registry.c >"$temp/rows"
block schedules/meson.build >>"$temp/rows"
while IFS= read -r row; do
    case $row in
    extern*) insert schedules/registry.c "$row" '^extern const struct pp_schedule pp_schedule_' ;;
    '    &'*) insert schedules/registry.c "$row" '^    &pp_schedule_' ;;
    "  '"*) insert schedules/meson.build "$row" "^  '[a-z0-9_-]*[.]c',\$" ;;
    *) fail "do not know where to add: $row" ;;
    esac
done <"$temp/rows"

meson setup "$temp/build" --buildtype=debug -Dwerror=true >"$temp/log" 2>&1 || {
    cat "$temp/log"
    fail "meson setup failed"
}
tests=$(grep -rl --include='test_*.c' 'pp_schedules\b' tests/unit)
[ -n "${PIPESIM_LONG:-}" ] ||
    tests=$(echo "$tests" | xargs grep -LE '#include "(sim|exec|plots|traces|tests/unit/(support/)?sim|tests/unit/sim)')
tests=$(for test in $tests; do dirname "$test" | sed 's,tests/unit/,,; s,/,_,g; s,^,tests/unit/unit_,'; done | sort -u)
[ -n "$tests" ] || fail "no test loops over the registry"
build_and_run() {
    # shellcheck disable=SC2086
    ninja -C "$temp/build" $tests >"$temp/log" 2>&1 || {
        cat "$temp/log"
        fail "does not build"
    }
    : >"$temp/log"
    failed=0
    for test in $tests; do
        "$temp/build/$test" >>"$temp/log" 2>&1 && echo "passed with $new: $test" || failed=1
    done
    return $failed
}
build_and_run || {
    cat "$temp/log"
    fail "a test fails with $new"
}

sed -i 's/pp_phase(out, shape->micro_batches, "B")/pp_phase(out, shape->micro_batches - 1, "B")/' "$new"
build_and_run >/dev/null && fail "a schedule that misses a backward passes: is it in the registry?"
grep -q "$(basename "$new" .c).*missing" "$temp/log" || fail "the test that fails is not the one about $new"
echo "a broken $new is caught"
