#!/bin/sh
# docs/add-a-schedule.md must be true. The script adds exactly what the page's blocks show to
# copies of the files that they name. It compiles the copies with the commands of an existing build. It links
# them before the build's libraries into pipesim and into the unit tests that loop over the registry. Those are
# the tests of tests/unit/schedules that take at most a few seconds, with a short registry; names and aliases
# meet the whole one. With PIPESIM_LONG=1 they are all of them, and the registry is whole.
# Then the script breaks the schedule and requires that a test fails.
# Usage: add_schedule.sh SOURCE_ROOT BUILD_ROOT
set -eu
export LC_ALL=C
source=$(cd "$1" && pwd)
doc=$source/docs/add-a-schedule.md
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM
cd "$2"

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

new=$(sed -n 's/^```c \(schedules\/.*\.c\)$/\1/p' "$doc")
[ -n "$new" ] || fail "$doc shows no schedule"
mkdir "$temp/schedules" "$temp/bin"
for file in $new; do
    grep -q "'${file##*/}'" "$source/schedules/meson.build" && fail "$file is there already"
    block "$file" >"$temp/$file"
done
objects=$(for file in $new; do printf " '%s'" "$temp/${file%.c}.o"; done)
cp "$source"/schedules/registry.c "$source"/schedules/rows.h "$source"/schedules/meson.build "$temp/schedules"
block schedules/rows.h >"$temp/rows"
block schedules/meson.build >>"$temp/rows"
while IFS= read -r row; do
    case $row in
    PP_SCHEDULE*) insert "$temp/schedules/rows.h" "$row" '^PP_SCHEDULE' ;;
    "  '"*) insert "$temp/schedules/meson.build" "$row" "^  '[a-z0-9_-]*[.]c',\$" ;;
    *) fail "do not know where to add: $row" ;;
    esac
done <"$temp/rows"

# The command of the build that makes TARGET.
command_of() { ninja -t commands "$1" | tail -n 1; }

compile() {
    compiler=$(command_of schedules/libschedules.a.p/registry.c.o | sed 's/ -MD .*//')
    eval "$compiler -Werror -iquote '$temp' -o '$temp/${1%.c}.o' -c '$temp/$1'" >"$temp/log" 2>&1 || {
        cat "$temp/log"
        fail "$1 does not compile"
    }
}

# Links TARGET with the copies; what they define is not taken from the library.
link() {
    eval "$(command_of "$1" | sed "s, -o [^ ]* , -o '$temp/bin/${1##*/}'$objects '$temp/schedules/registry.o' ,")" \
        >"$temp/log" 2>&1 || {
        cat "$temp/log"
        fail "$1 does not link with the schedules of $doc"
    }
}

files=$(cd "$source/tests/unit" && grep -rl --include='test_*.c' 'pp_schedules\b' .)
[ -n "${PIPESIM_LONG:-}" ] || files=$(echo "$files" | grep '^./schedules/' | grep -vE '/test_(lower|schedule_shapes)\.c$')
[ -n "$files" ] || fail "no test loops over the registry"
# The registry of the unit tests has the new schedules, and those that the tests name: others have been tested.
few_rows() {
    (cd "$source/tests/unit" && grep -ohE '"[a-z0-9]+(-[a-z0-9]+)*"' $files) | tr -d '"' | tr - _ >"$temp/named"
    sed -n 's/^PP_SCHEDULE(\(.*\))$/\1/p' "$temp/rows" >>"$temp/named"
    awk 'FNR == NR { named[$0]; next }
        { name = $0; gsub(/^PP_SCHEDULE[(]|[)]$/, "", name) }
        !/^PP_SCHEDULE[(]/ || name in named' "$temp/named" "$temp/schedules/rows.h" >"$temp/list"
    cat "$temp/list" >"$temp/schedules/rows.h"
}
program_of() { dirname "${1#./}" | sed 's,/,_,g; s,^,unit_,'; }
programs=$(for file in $files; do program_of "$file"; done | sort -u)
link_tests() { for program in $programs; do link "tests/unit/$program"; done; }
# run_tests FILE...: their suites
run_tests() {
    failed=0
    : >"$temp/log"
    for file in "$@"; do
        for suite in $(sed -nE 's/^(Parameterized)?Test\((\w+),.*/\2/p' "$source/tests/unit/$file" | sort -u); do
            "$temp/bin/$(program_of "$file")" --filter "$suite/*" >>"$temp/log" 2>&1 || failed=1
        done
        [ $failed = 1 ] || echo "passed with" $new": ${file#./}"
    done
    [ $failed = 0 ] || {
        cat "$temp/log"
        fail "a test fails with $new"
    }
}

compile schedules/registry.c
for file in $new; do compile "$file"; done
link sim/pipesim
for file in $new; do
    name=$(basename "$file" .c)
    for how in "--unit F=1,B=2" "--unit F=1,B=2 --explain" "--gpus 8 --model llama3-8b --explain"; do
        "$temp/bin/pipesim" --schedule "$name" --pp 4 --micro-batches 8 $how >>"$temp/log" ||
            fail "pipesim refuses --schedule $name $how"
    done
    "$temp/bin/pipesim" schedules "$name" --markdown >>"$temp/log" || fail "pipesim schedules refuses $name"
done
"$temp/bin/pipesim" schedules >>"$temp/log"
for file in $new; do
    grep -q "^$(basename "$file" .c): " "$temp/log" || fail "pipesim schedules does not list $file"
done
grep '(null)' "$temp/log" && fail "a field that may be left out is printed"
if grep -q '^\$ pipesim' "$doc"; then
    bash "$source/tests/cli/run.sh" "$temp/bin/pipesim" "$doc" || fail "a command of $doc prints something else"
fi
link_tests
if [ -n "${PIPESIM_LONG:-}" ]; then
    run_tests $files
else
    # They count schedules of a kind.
    counting='./schedules/evaluate/test_weight_stream.c ./schedules/build/test_lists.c'
    run_tests $counting
    "$temp/bin/unit_schedules" --filter 'schedule_shapes/names_are_found_and_complete' >"$temp/log" 2>&1 || {
        cat "$temp/log"
        fail "a name clashes with $new"
    }
    grep -q 'Tested: 1 ' "$temp/log" || fail "no test of names"
    few_rows
    compile schedules/registry.c
    link_tests
    run_tests $(echo "$files" | grep -vxF "$(printf '%s\n' $counting)")
fi

broken=$(grep -l 'pp_phase(out, shape->micro_batches, "B")' "$temp"/schedules/*.c)
sed -i 's/pp_phase(out, shape->micro_batches, "B")/pp_phase(out, shape->micro_batches - 1, "B")/' "$broken"
name=$(basename "$broken" .c)
compile "schedules/$name.c"
link tests/unit/unit_schedules
"$temp/bin/unit_schedules" --filter 'schedules/every_op_once_*' >"$temp/log" 2>&1 && fail "a schedule that misses a backward passes: is it in the registry?"
grep -q "$name.*missing" "$temp/log" || fail "the test that fails is not the one about $name"
echo "a broken $name is caught"
