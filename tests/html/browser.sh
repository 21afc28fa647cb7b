#!/usr/bin/env bash
# The script of a page in a browser: it runs without an error, and buttons, keys, wheel and pointer do what
# they should; prints TAP. Needs Chromium.
#
#   browser.sh PIPESIM
set -u
pipesim=$(realpath "$1")
actions=$(realpath "$(dirname "$0")/actions.js")
for browser in chromium chromium-browser google-chrome ''; do
    [ -z "$browser" ] || ! command -v "$browser" >/dev/null || break
done
if [ -z "$browser" ]; then
    echo "1..0 # SKIP no Chromium"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export HOME=$scratch LC_ALL=C
number=0 failures=0

# What the page looks like after the actions were played on it; and what they have written.
play() {
    sed "/<script>/e printf '<script>'; cat '$actions'; printf '</script>'" page.html >played.html
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --window-size="${size:-1000,800}" --user-data-dir="$scratch/profile" \
        --virtual-time-budget=20000 --dump-dom "file://$scratch/played.html" 2>/dev/null | sed -n 's/.*<pre id="played">//; t show; b; :show; /<\/pre>/{s/<\/pre>.*//; p; q}; p; n; b show'
}

page() {
    local before=$number
    "$pipesim" "$@" --html page.html >/dev/null
    while read -r verdict; do
        [ -n "$verdict" ] || continue
        number=$((number + 1))
        case $verdict in
        "ok "*) echo "ok $number - ${verdict#ok }: $*" ;;
        *)
            failures=$((failures + 1))
            echo "not ok $number - ${verdict#not ok }: $*"
            ;;
        esac
    done < <(play; echo)
    [ $number -gt "$before" ] || { echo "not ok $((++number)) - the browser has played: $*"; failures=1; }
}

page --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2
page --schedule dualpipe,chimera,seq1f1b --pp 4 --micro-batches 8 --unit F=1,B=2
page --schedule 1f1b --pp 64 --micro-batches 200 --unit F=1,B=2
size=400,700 page --schedule chimera --gpus 64 --model gpt2 --engine dag
for slow in 1 0.8; do
    "$pipesim" --schedule zbv --pp 4 --micro-batches 8 --unit F=1,B=2 --slow 1=$slow --trace slow-$slow.csv >/dev/null
done
page compare slow-1.csv slow-0.8.csv
echo "1..$number"
[ $failures = 0 ]
