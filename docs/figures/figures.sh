#!/usr/bin/env bash
# Figures of docs/figures.md and docs/tutorials: the commands of each, and what runs them.
#
#   figures.sh [NAME...]          make these figures (without names: all), saying the commands
#   figures.sh --list             names
#   figures.sh --show [NAME...]   the commands alone
#
# pipesim and pipeexec are those in PATH. Files are made in the folder of this script, or in
# $FIGURES_DIR. A figure is NAME.png, its script NAME.gp, and NAME.csv, what it is drawn from.
set -euo pipefail

names=(chimera-bubbles breadth-first zero-bubble chimera-timeline executed bubble-timelines bubble-memory bubble-curve)
declare -A commands

# The published bars pin N = D: 2,048 sequences, one in a micro-batch, on 2,048 devices.
commands[chimera-bubbles]='
pipesim sweep --preset chimera-sc21 --schedule gems,gpipe,1f1b,chimera --pipelines 2,4 --pp 4:64:x2 --unit F=1,B=1 \
    --steps 1 --step-barrier on > chimera-bubbles.1.csv
pipesim sweep --preset chimera-sc21 --schedule pipedream,pipedream-2bw --pipelines 2 --pp 4:64:x2 --unit F=1,B=1 \
    --steps 64 --step-barrier off > chimera-bubbles.2.csv
pipesim sweep --merge chimera-bubbles.?.csv -o chimera-bubbles.csv && rm chimera-bubbles.?.csv
pipesim plot chimera-bubbles.csv -x pp --by schedule,pipelines --points published.chimera-bubbles.csv \
    --title "Bubble of D ranks and N = D micro-batches, B = F" -o chimera-bubbles.png
pipesim plot chimera-bubbles.csv -x pp --by schedule,pipelines --points published.chimera-bubbles.csv \
    --paper -o chimera-bubbles.gp
'

commands[breadth-first]='
pipesim sweep --preset bfs-52b --schedule bfs --tp 8 --gbs 8:256:x2 --framework plain --post early \
    --engine dag > breadth-first.1.csv
pipesim sweep --preset bfs-52b --schedule bfs --tp 4 --gbs 16:256:x2 --framework plain --post early \
    --engine dag > breadth-first.2.csv
pipesim sweep --preset bfs-52b --schedule bfs --tp 1 --gbs 64:256:x2 --framework plain --post early \
    --engine dag > breadth-first.3.csv
pipesim sweep --preset bfs-52b --schedule interleaved,1f1b --tp 8 --gbs 8:256:x2 --framework megatron --post batched \
    --engine dag > breadth-first.4.csv
pipesim sweep --merge breadth-first.?.csv -o breadth-first.csv && rm breadth-first.?.csv
pipesim plot breadth-first.csv -x gbs_per_gpu -y mfu --by schedule,tp \
    --title "52 B parameters on 64 V100, PP 8: breadth-first with ZeRO 3" -o breadth-first.png
pipesim plot breadth-first.csv -x gbs_per_gpu -y mfu --by schedule,tp --paper -o breadth-first.gp
'

# A chunk of a V is half of a stage, so its times are.
commands[zero-bubble]='
pipesim sweep --schedule 1f1b,zb-h1,zb-auto --max-activations 4:22:+1 --pp 8 --micro-batches 24 \
    --unit F=29.718,I=29.444,W=19.927,C=0.527 > zero-bubble.1.csv
pipesim sweep --schedule zb-h2 --max-activations 15 --pp 8 --micro-batches 24 \
    --unit F=29.718,I=29.444,W=19.927,C=0.527 > zero-bubble.2.csv
pipesim sweep --schedule zbv,v-half,v-min --max-activations 10 --pp 8 --micro-batches 24 \
    --unit F=14.859,I=14.722,W=9.9635,C=0.527 > zero-bubble.3.csv
pipesim sweep --merge zero-bubble.?.csv -o zero-bubble.csv && rm zero-bubble.?.csv
pipesim plot zero-bubble.csv --kind tradeoff -y span_bubble_frac --by schedule --points published.zero-bubble.csv \
    --title "Bubble over memory: 8 ranks, 24 micro-batches, times of GPT 6.2B" -o zero-bubble.png
pipesim plot zero-bubble.csv --kind tradeoff -y span_bubble_frac --by schedule --points published.zero-bubble.csv \
    --paper -o zero-bubble.gp
'

commands[chimera-timeline]='
pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --plot chimera-timeline.png
pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --plot chimera-timeline.gp --paper \
    --trace chimera-timeline.csv
'

commands[executed]='
pipeexec --schedule zbv --pp 4 --micro-batches 6 --calibrate-on 1f1b --steps 4 --trace executed-measured.csv \
    --predicted-trace executed-predicted.csv
pipesim plot executed-predicted.csv executed-measured.csv -o executed.png
pipesim plot executed-predicted.csv executed-measured.csv --paper -o executed.gp
'

# Of docs/tutorials/0-what-is-a-bubble.md.
commands[bubble-timelines]='
pipesim --schedule gpipe,1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --plot bubble-timelines.png
pipesim --schedule gpipe,1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --plot bubble-timelines.gp --paper
'

commands[bubble-memory]='
pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --plot-kind memory-time --plot bubble-memory.png
pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --plot-kind memory-time --plot bubble-memory.gp --paper
'

commands[bubble-curve]='
pipesim sweep --schedule 1f1b,interleaved,zb-h1 --pp 4 --micro-batches 4:64:x2 --unit F=1,I=1,W=1 > bubble-curve.csv
pipesim plot bubble-curve.csv --title "Bubble of 4 ranks, F = I = W" -o bubble-curve.png
pipesim plot bubble-curve.csv --paper -o bubble-curve.gp
'

fail() {
    printf 'figures.sh: error: %s\n' "$*" >&2
    exit 2
}

show() { printf '%s' "${commands[$1]#$'\n'}"; }

make() {
    local line
    while IFS= read line; do # joins lines that end in a backslash
        printf '$ %s\n' "$line"
        eval "$line" </dev/null
    done < <(show "$1")
}

what=make
case ${1:-} in
--list)
    printf '%s\n' "${names[@]}"
    exit
    ;;
--show) what=show && shift ;;
esac
for name; do
    [ -n "${commands[$name]:-}" ] || fail "there is no figure \"$name\"; there are: ${names[*]}"
done
cd "${FIGURES_DIR:-$(dirname "$0")}"
[ $# -gt 0 ] || set -- "${names[@]}"
for name; do
    "$what" "$name"
done
