#!/usr/bin/env bash
# What needs gnuplot itself. Words of a file or of the command line stay words in every picture:
# neither gnuplot nor a shell runs anything in them.
#
#   plot_words.sh PIPESIM
set -uo pipefail
pipesim=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
number=0 failures=0
check() { # name, exit code of the test
    number=$((number + 1))
    [ "$2" -eq 0 ] && echo "ok $number - $1" || { echo "not ok $number - $1"; failures=$((failures + 1)); }
}
if ! command -v gnuplot >/dev/null; then
    echo "1..0 # SKIP gnuplot is not installed"
    exit 0
fi

words=(
    $'x\nEOD\n!touch run1\nsystem("touch run1")\n$y << EOD'
    '`touch run2`'
    $'\'; system("touch run3"); #'
    '".system("touch run4")."'
    '@a \ ^ {x} $(touch run5)'
)
{
    echo 'schedule,pp,bubble_frac,label'
    for word in "${words[@]}"; do
        quoted=\"${word//\"/\"\"}\"
        for pp in 4 8; do echo "$quoted,$pp,0.$pp$RANDOM,$quoted"; done
    done
} >table.csv
{ sed -n 1p table.csv && echo '4,4,0.5,4'; } >few.csv

draw() { # arguments of plot
    "$pipesim" plot "$@" >out 2>messages
    local code=$?
    [ $code -eq 0 ] || cat out messages | sed 's/^/# /'
    check "plot $(printf '%q ' "$@")" $code
}
for format in png pdf svg tex gp; do
    draw table.csv -x pp -y bubble_frac --by schedule -o fig.$format
    draw table.csv -x schedule -y bubble_frac --where pp=4 --by none -o category.$format
    draw few.csv -x pp -y bubble_frac --points table.csv --by none -o marks.$format
done
gnuplot fig.gp && gnuplot category.gp && gnuplot marks.gp
check 'the scripts draw again' $?
draw table.csv -x pp -y bubble_frac --by schedule
for word in "${words[@]}"; do
    draw table.csv -x pp -y bubble_frac --by schedule --title "$word" -o title.png
done
for name in "it's.png" '`touch run6`.png' '$(touch run7).pdf' $'a\nb.svg' 'a"b.tex' '";!touch run8.png'; do
    draw table.csv -x pp -y bubble_frac --by schedule -o "./$name"
    [ -s "./$name" ]
    check "$(printf '%q' "$name") is there" $?
done
# A title that is longer than the terminal takes lines, and keeps off the name of the axis.
COLUMNS=44 "$pipesim" plot few.csv -x pp -y bubble_frac --by none 2>/dev/null \
    --title "one two three four five six seven eight nine ten eleven twelve" | head -n 4 >out
diff - out <<'END'
 one two three four five six seven eight
 nine ten eleven twelve

 bubble (% of the step)
END
check 'a long title in a narrow terminal' $?
! ls run* 2>/dev/null
check 'nothing was run' $?
echo "1..$number"
[ $failures -eq 0 ]
