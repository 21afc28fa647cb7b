#!/usr/bin/env bash
# Pages of --html next to --json and --trace of the same run; prints TAP. The checks are in check.py.
# PIPESIM_LONG=1: with the larger runs.
#
#   pages.sh PIPESIM ENGINE
set -u
pipesim=$(realpath "$1") engine=$2
check=$(realpath "$(dirname "$0")/check.py")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export LC_ALL=C NO_COLOR=1
number=0 failures=0

result() { # OK TEXT
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number - $2"
    else
        failures=$((failures + 1))
        echo "not ok $number - $2"
    fi
}

# One run: figures, ops, picture; and twice the same bytes.
one() {
    "$pipesim" "$@" --html page.html --json --trace trace.csv >report.json && python3 "$check" page.html report.json trace.csv &&
        "$pipesim" "$@" --html again.html --json --trace trace.csv >/dev/null &&
        cmp <(sed 's/again.html/page.html/' again.html) page.html
    result $? "$*"
}
# Several, or a run of several steps: figures only.
figures() {
    "$pipesim" "$@" --html page.html --json >report.json && python3 "$check" page.html report.json
    result $? "$*"
}

one --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2
one --schedule dualpipe --pp 4 --micro-batches 8 --unit F=1,B=2
one --schedule chimera --pp 4 --micro-batches 8 --concat halving --unit F=1,B=2
one --schedule seq1f1b --pp 4 --micro-batches 8 --unit F=1,B=2
one --schedule 1f1b --pp 1 --micro-batches 1 --unit F=1,B=0
one --schedule interleaved --model gpt2 --gpus 16 --gbs 64 --pp 4 --tp 2 --engine "$engine" --recompute full --zero 1
one --schedule 1f1b --model llama3-70b --gpus 64 --pp 4 --tp 2 --zero 0 --recompute none --engine dag
one --schedule 1f1b --model gpt2 --pp 4 --micro-batches 8 --offload os=host,a=host --engine dag --no-alternatives
one --schedule gpipe --model gpt2 --pp 2 --micro-batches 4 --offload p=host,os=host,a=host --cpu-optimizer --engine dag --no-alternatives
one --mode infer --model gpt2 --gpus 4 --pp 4 --batch 8 --groups 4 --tokens 4 --prompt 8 --engine dag
one --mode infer --unit F=1,P=4 --pp 4 --groups 4 --prompt-groups 8 --tokens 5
figures --schedule pipedream --model gpt2 --pp 4 --gpus 4 --gbs 64 --engine dag
figures --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --steps 5 --step-barrier off
figures --schedule gpipe,1f1b,zbv,chimera --pp 4 --micro-batches 6 --unit F=1,B=2
figures --schedule 1f1b,zbv --pp 4 --micro-batches 8 --unit F=1,B=2 --steps 4 --step-barrier off
if [ -n "${PIPESIM_LONG:-}" ]; then
    one --schedule 1f1b --pp 300 --micro-batches 8 --unit F=1,B=2
    one --schedule zbv --pp 8 --micro-batches 300 --unit F=1,I=1,W=1
    one --schedule chimera --gpus 2048 --engine "$engine"
    one --schedule interleaved --model gpt2 --gpus 16 --pp 4 --tp 2 --engine "$engine" --recompute full --zero 1
    figures --schedule pipedream --model gpt2 --pp 4 --gpus 4 --engine dag
    figures --schedule all --pp 5 --micro-batches 7 --unit F=1,B=2
    figures --schedule gpipe,1f1b,interleaved --model llama3-8b --gpus 64 --pp 8 --tp 2 --engine dag
fi

# A prediction next to a measurement: both traces, step by step where there are several.
trace() {
    "$pipesim" "${@:2}" --trace "$1" >/dev/null
}
compared() {
    "$pipesim" compare "$@" --html page.html --json >report.json && python3 "$check" page.html report.json "$1" "$2"
    result $? "compare $*"
}
trace told.csv --schedule zbv --pp 4 --micro-batches 8 --unit F=1,B=2,C=0.1
trace seen.csv --schedule zbv --pp 4 --micro-batches 8 --unit F=1,B=2,C=0.3 --slow 1=0.8 --jitter 4%
compared told.csv seen.csv
compared seen.csv told.csv --worst 0
compared told.csv told.csv
trace other.csv --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2
compared other.csv told.csv --allow-different
trace steps.csv --schedule zbv --pp 4 --micro-batches 8 --unit F=1,B=2 --jitter 3% --steps 7
"$pipesim" compare told.csv steps.csv --html page.html --json >report.json && python3 "$check" page.html report.json &&
    grep -q 'median of the steps' page.html
result $? "compare with a trace of several steps"

# Plans: of layouts, of state, and where nothing fits.
figures_of_plan() {
    "$pipesim" plan "$@" --html page.html --json >report.json && python3 "$check" page.html report.json
    result $? "plan $*"
}
figures_of_plan --gpus 16 --model gpt2 --engine dag --gbs 32 --jobs 1
figures_of_plan --gpus 32 --model llama2-13b --cluster a800 --free shard,recompute --engine dag
figures_of_plan --gpus 2 --model llama3-405b --engine dag --gbs 2 --jobs 1
figures_of_plan --mode infer --model llama2-7b --max-token-s 12ms --batch 4
figures_of_plan --mode infer --model gpt2 --gpus 2 --tokens 1

# More ops than a page holds one by one: the picture alone, and still small.
"$pipesim" --schedule 1f1b --pp 1 --micro-batches 30000 --unit F=1,B=2 --html page.html >/dev/null &&
    python3 "$check" page.html && ! grep -q 'class="ops"' page.html && grep -q 'too many to look at one by one' page.html
result $? "more ops than a page holds"
size=${PIPESIM_LONG:+512}
"$pipesim" --schedule gpipe --pp ${size:-256} --micro-batches ${size:-256} --unit F=1,B=2 --html page.html >/dev/null &&
    python3 "$check" page.html && grep -q 'class="ops"' page.html && grep -q 'one pipeline rank of' page.html
result $? "more ranks and ops than a page holds: some of them"

# Names of others are text, whatever is in them.
hostile='<script>alert(1)<|script>&"'\''x.csv' # a file name has no slash
"$pipesim" program --schedule 1f1b --pp 2 --micro-batches 4 --compute -o "$hostile"
one --schedule "./$hostile" --unit F=1,B=2
! grep -q '<script>alert' page.html
result $? "a file's name is no markup"
printf '{"_name_or_path": "</script><script>alert(1)//", "architectures": ["<b>&\\u0001\\ufffe"], "model_type": "gpt2", "n_layer": 4, "n_embd": 64, "n_head": 4, "vocab_size": 100, "n_positions": 64}' >'a&<i>.json'
figures --schedule 1f1b --model './a&<i>.json' --gpus 2 --gbs 8 --pp 2 --engine dag
! grep -qE '<script>alert|<i>' page.html
result $? "nor is a model's"
name=$'\xff\x01bad'
"$pipesim" program --schedule 1f1b --pp 2 --micro-batches 4 --compute -o "$name.csv"
one --schedule "./$name.csv" --unit F=1,B=2

# The command on the page makes the page.
"$pipesim" --schedule "./$hostile" --unit F=1,B=2 --title "it's" --plot x.gp --html page.html >/dev/null
cp page.html first.html
command=$(python3 -c 'import sys, xml.etree.ElementTree as e; print(["".join(p.itertext()) for p in e.parse(sys.argv[1]).iter("pre")][-1])' first.html)
PATH=$(dirname "$pipesim"):$PATH bash -c "$command" >/dev/null && cmp page.html first.html
result $? "$command"

echo "1..$number"
[ $failures = 0 ]
