#!/usr/bin/env bash
# What `ninja install` installs works: programs, pages, completions, and the library with its
# header, for programs that know nothing but pkg-config.
#
#   library.sh SOURCE BUILD
# shellcheck disable=SC2154
set -u
source=$(realpath "$1") build=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck source=tests/exec/tap.sh
. "$source/tests/exec/tap.sh"

# The programs of the build, as ./run installs them; it is called from another folder.
mkdir "$folder/elsewhere"
run() {
    (cd "$folder/elsewhere" && env -u PKG_CONFIG_LIBDIR -u LD_LIBRARY_PATH PIPESIM_BUILD="$build" HOME="$folder" \
        bash "$source/run" "$@") >"$folder/out" 2>&1
}
prefix=$folder/elsewhere/root
run install --prefix root >"$folder/err.install" && grep -q "^installed $prefix/bin/pipesim" "$folder/out"
report "./run install, in a prefix relative to the folder of the call"
refused() { ! run "$@" && grep -q "$refusal" "$folder/out"; }
refusal="expected nothing" refused install --prefix && refusal="expected nothing" refused install here &&
    refusal="expected nothing" refused installl
report "./run install names what it expects"
: >"$folder/file"
refusal="$folder/file is no folder that you can write to" refused install --prefix "$folder/file/root" && [ ! -s "$folder/file" ]
report "a folder that cannot be written"

library=$(dirname "$(find "$prefix" -name libpipesched.so)")
PKG_CONFIG_LIBDIR=$library/pkgconfig
export PKG_CONFIG_LIBDIR LD_LIBRARY_PATH=$library
found() { pkg-config "$@" pipesched; }

# Nothing of this environment but the prefix: SimGrid is found from the place of the program.
alone() { (cd / && env -i PATH="$prefix/bin:/usr/bin:/bin" "$@"); }
version=$(sed -n "s/.*version: '\([0-9.]*\)'.*/\1/p" "$source/meson.build" | head -n 1)
[ "$(alone pipesim --version)" = "$("$build/sim/pipesim" --version)" ] &&
    alone pipesim --version | grep -q "^pipesim $version (engines: " && alone pipeexec --version | grep -q "$version" &&
    alone pipesim --schedule chimera --gpus 2048 >"$folder/out" &&
    LC_ALL=C "$build/sim/pipesim" --schedule chimera --gpus 2048 | diff - "$folder/out"
report "the programs run, and are those of version $version"
# shellcheck disable=SC2016
completed() { # what bash offers after "pipesim", for the word $1
    alone bash -c '. "$0" && COMP_WORDS=(pipesim "$1") COMP_CWORD=1 && _pipesim && echo "${COMPREPLY[@]}"' \
        "$prefix/share/bash-completion/completions/pipesim" "$1"
}
all_there() { for name in "$@"; do [ -n "$(find "$prefix" -name "$name*" -size +0)" ] || return 1; done; }
all_there pipesim.1 pipeexec.1 _pipesim _pipeexec pipesim.fish pipeexec.fish &&
    grep -q "^\.TH.*pipesim.*$version" "$prefix/share/man/man1/pipesim.1" &&
    completed --sched | grep -q -e --schedule
report "manual pages and completions"

# compile COMPILER FILE OUT
compile() {
    # shellcheck disable=SC2046
    $1 -Wall -Wextra -Werror "$2" $(found --cflags --libs) -o "$folder/$3" 2>"$folder/err.$3"
}
compile "${CC:-cc} -std=c11 -pedantic" "$source/docs/library.c" library && "$folder/library" >"$folder/out" &&
    sed -n '/^\$ .\/library$/,/^```$/p' "$source/docs/library.md" | sed '1d;$d' | diff - "$folder/out" >"$folder/err.page"
report "the example prints what its page says"
printf '#include <pipesched.h>\nint main() { return pipesched_version()[0] == 0; }\n' >"$folder/header.cc"
compile "${CXX:-c++} -std=c++11 -pedantic" "$folder/header.cc" header && "$folder/header" &&
    [ "$(found --modversion)" = "$("$prefix/bin/pipesim" --version | awk '{ print $2; exit }')" ]
report "the header in C++, and one version"
nm -D --defined-only "$library/libpipesched.so" | awk '$3 !~ /^pipesched_/ && $2 != "A" { print > "/dev/stderr"; bad = 1 } END { exit bad }' 2>"$folder/err.names"
report "no name but its own"

compile "${CC:-cc} -std=c11" "$source/tests/library_times.c" times
pipesim="$prefix/bin/pipesim"
unit="--unit F=1,I=1,W=1,C=0.25"
program() { # SCHEDULE PP MICRO_BATCHES: its text; only schedules that search take costs
    # shellcheck disable=SC2086
    "$pipesim" program --compute --schedule "$1" --pp "$2" --micro-batches "$3" $unit 2>/dev/null ||
        "$pipesim" program --compute --schedule "$1" --pp "$2" --micro-batches "$3"
}
same() {
    "$folder/times" "$@" >"$folder/library" || return 1
    # shellcheck disable=SC2086
    "$pipesim" --schedule "$1" --pp "$2" --micro-batches "$3" $unit --json >"$folder/json" || return 1
    awk '/"iteration_s"/ { printf "%.17g\n", $2 }' "$folder/json" >"$folder/program"
    program "$@" >>"$folder/program"
    diff "$folder/library" "$folder/program"
}
count=0
for schedule in $("$pipesim" schedules | sed -n 's/^\([a-z0-9-]*\): .*/\1/p'); do
    same "$schedule" 4 8 >"$folder/err.$schedule" 2>&1 && rm "$folder/err.$schedule"
    count=$((count + 1))
done
[ "$count" -ge 20 ] && [ -z "$(find "$folder" -name 'err.*' ! -name err.install -size +0)" ]
report "steps and programs of $count schedules are those of pipesim"

# A prefix with characters that sed and pkg-config treat specially, and with links to folders.
# shellcheck disable=SC1003
odd=$folder/elsewhere/'r&o|o t\1'
list=lib/pipesim/installed
mv "$prefix" "$odd" && mv "$odd/share/man" "$odd/man" && ln -s ../man "$odd/share/man" && rm "$odd"/man/man1/*
touch "$odd/share/left" "$odd/own" "$folder/far" && echo share/left >>"$odd/$list"
run install --prefix "$odd" && [ -L "$odd/share/man" ] && [ -s "$odd/man/man1/pipesim.1" ] && [ ! -e "$odd/share/left" ] &&
    [ -e "$odd/own" ] && (cd "$odd" && xargs ls -d <"$list" && ! find . -name '*.part' | grep .) >"$folder/listed" &&
    [ "$(tail -n 1 "$odd/$list")" = "$list" ] &&
    [ "$(PKG_CONFIG_LIBDIR=$odd/${library#"$prefix"/}/pkgconfig found --variable=prefix | sed 's/\\\(.\)/\1/g')" = "$odd" ]
report "a second ./run install: links to folders stay, files of the first one that are left over go"
rm "$odd/bin/pipesim" && mkdir "$odd/bin/pipesim"
refusal="^run: error: cannot install in .*: mv: " refused install --prefix "$odd" && [ -z "$(find "$odd" -name '*.part')" ]
report "./run install says that it failed"

# Nothing is built to remove files.
remove() { PIPESIM_BUILD=$folder/none run uninstall --prefix "$odd" && [ ! -e "$folder/none" ]; }
bad_list() { # LINE: it names no path inside the prefix, and nothing is removed
    cp "$odd/$list" "$folder/list" && echo "$1" >>"$odd/$list"
    refusal="names '$1', which is no path inside" refused uninstall --prefix "$odd" && [ -e "$odd/bin/pipeexec" ] &&
        [ -e "$folder/far" ] && cp "$folder/list" "$odd/$list"
}
bad_list ../../far && bad_list "$folder/far" && bad_list share/../../../far && bad_list ""
report "./run uninstall removes nothing outside its prefix"
! remove && grep -q "^run: error: cannot remove all files from .*pipesim" "$folder/out" && ! grep -q ^removed "$folder/out" &&
    [ -e "$odd/$list" ] && rmdir "$odd/bin/pipesim" && touch "$odd/lib/pipesim/own" && remove &&
    [ "$(cd "$odd" && find . ! -type d | sort | xargs)" = "./lib/pipesim/own ./own ./share/man" ] &&
    refusal="there is no .*/$list" refused uninstall --prefix "$odd"
report "./run uninstall says that it failed, can be repeated, and leaves no file but those of others"
ln -s loop "$folder/loop"
refusal="loop is no folder that you can write to" refused install --prefix "$folder/loop/root"
report "a link that leads nowhere"
wheel() { bash "$source/python/wheel.sh" "$@" >"$folder/out" 2>&1; }
! wheel "$folder/none" && grep -q "is no folder" "$folder/out" && ! wheel "$folder" && grep -q "has no /usr/bin/python3" "$folder/out" &&
    ! wheel --none && grep -q "unknown option --none" "$folder/out" && ! wheel -o && grep -q "needs a folder" "$folder/out"
report "python/wheel.sh names what it expects"

echo "1..$number"
[ "$failures" -eq 0 ]
